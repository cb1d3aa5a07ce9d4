// Any text as an info document of a volume or of precomputed objects, or as the manifest of a legacy mesh, is rejected
// or read; the result is printed as a document that reads as the same. The first scales of a volume are opened, and one
// element of each is read.
#include <cstdlib>

#include "fuzz/nodes.hpp"

namespace {

using namespace sherd;
using namespace sherd::neuroglancer;

constexpr std::size_t kScales = 4;

template <class Info>
void check(const Json& document) {
  const auto info = Info::parse(document);
  if (!info) {
    (void)info.error().text();
    return;
  }
  const auto printed = info->print();
  if (!printed) std::abort();
  const auto again = Info::parse(*printed);
  if (!again || !(*again == *info)) std::abort();
}

void read_scales(std::string_view document) {
  const auto store = memory_store();
  if (!store->set("info", document)) std::abort();
  for (std::size_t scale = 0; scale < kScales; ++scale) {
    const auto array = open_array(store, {.config = fuzz::small_config(), .scale = scale});
    if (!array) continue;
    // No chunk is stored: if a chunk can be addressed at all, it contains zeros.
    if (const auto read = fuzz::read_corner(*array); !read) (void)read.error().text();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto document = Json::parse(text);
  if (!document) return 0;
  check<VolumeInfo>(*document);
  read_scales(text);
  check<SkeletonInfo>(*document);
  check<LegacyMeshInfo>(*document);
  check<LegacyMeshManifest>(*document);
  check<MultiscaleMeshInfo>(*document);
  check<AnnotationInfo>(*document);
  check<SegmentProperties>(*document);
  return 0;
}
