// Any text as an info document of precomputed objects, or as the manifest of a legacy mesh, is refused or read; what is
// read is printed to a document that reads as the same.
#include <cstdlib>

#include "sherd/neuroglancer.hpp"

namespace {

using namespace sherd;
using namespace sherd::neuroglancer;

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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto document = Json::parse({reinterpret_cast<const char*>(data), size});
  if (!document) return 0;
  check<SkeletonInfo>(*document);
  check<LegacyMeshInfo>(*document);
  check<LegacyMeshManifest>(*document);
  check<MultiscaleMeshInfo>(*document);
  check<AnnotationInfo>(*document);
  check<SegmentProperties>(*document);
  return 0;
}
