// Any bytes as a fragment of a legacy mesh and as a multi-resolution manifest are rejected or read. The result prints
// as the same bytes (a manifest only if it is in Z-curve order), and every fragment has a position.
#include <cstdlib>

#include "sherd/neuroglancer.hpp"

namespace {

using namespace sherd;
using namespace sherd::neuroglancer;

void check_places(const MultiscaleMeshManifest& manifest) {
  std::uint64_t end = 0;
  for (std::size_t level = 0; level < manifest.levels.size(); ++level)
    for (std::size_t i = 0; i < manifest.levels[level].fragments.size(); ++i) {
      const ByteRange range = manifest.fragment_range(level, i).value();
      if (range.offset != end) std::abort();
      end += range.length;
      (void)manifest.place({{{0, 1023, 70000}}, {}}, level, i, 16);
    }
  if (end != manifest.fragments_size()) std::abort();
  if (manifest.fragments_before(end).value() != ByteRange{0, end}) std::abort();
  if (end != 0 && manifest.fragments_before(end - 1)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes = std::as_bytes(std::span(data, size));
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto mesh = Mesh::parse(bytes); mesh && mesh->print().value() != text) std::abort();
  const auto manifest = MultiscaleMeshManifest::parse(bytes);
  if (!manifest) return 0;
  check_places(*manifest);
  const auto printed = manifest->print();
  if (printed.has_value() != manifest->check_order().has_value()) std::abort();
  if (printed && *printed != text) std::abort();
  return 0;
}
