// Any bytes as an object of a collection, or as its shard. The first byte chooses the kind, and whether it is sharded.
// A check reports faults and never fails; if it reports no error with data, every object can be read; and an object
// that is written can be read back.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "fuzz/nodes.hpp"
#include "sherd/collection.hpp"
#include "sherd/sherd.hpp"

namespace {

using namespace sherd;
using namespace sherd::neuroglancer;

void expect(bool holds) {
  if (!holds) std::abort();
}

Json sharding(bool gzip) {
  const char* encoding = gzip ? "gzip" : "raw";
  return Json::Object{{"@type", "neuroglancer_uint64_sharded_v1"},
                      {"preshift_bits", 0},
                      {"hash", "identity"},
                      {"minishard_bits", 0},
                      {"shard_bits", 0},
                      {"minishard_index_encoding", encoding},
                      {"data_encoding", encoding}};
}

CollectionInfo info_of(unsigned kind, const Json& how) {
  if (kind == 0) {
    SkeletonInfo skeletons;
    skeletons.vertex_attributes = {{.id = "radius"}};
    skeletons.sharding = how;
    return skeletons;
  }
  if (kind == 1) {
    MultiscaleMeshInfo meshes;
    meshes.sharding = how;
    return meshes;
  }
  if (kind == 2) return LegacyMeshInfo{};
  AnnotationInfo marks;
  marks.dimensions = {{"x", 1, "m"}};
  marks.lower_bound = {0};
  marks.upper_bound = {1};
  marks.type = AnnotationType::polyline;
  marks.properties = {{.id = "score"}};
  marks.by_id = {"i", how};
  marks.spatial = {{{"s", how}, {3}, {1}, 1}};
  return marks;
}

/// Whether everything can be read.
bool read_all(const Collection& collection) {
  bool good = true;
  const auto whole = collection.list([&](std::uint64_t id) {
    const unsigned kind = static_cast<unsigned>(collection.info().index());
    good = good && (kind == 0   ? collection.read_skeleton(id).has_value()
                    : kind == 1 ? collection.read_mesh(id).has_value()
                    : kind == 2 ? collection.read_multiscale_mesh(id).has_value()
                                : collection.read_annotation(id).has_value());
    return true;
  });
  (void)collection.read_cell(0, std::vector<std::uint64_t>{1});
  return good && whole.has_value();
}

void write_one(const Collection& collection) {
  if (std::holds_alternative<SkeletonInfo>(collection.info())) {
    Skeleton skeleton;
    skeleton.attributes.push_back({DType::float32, 1, {}});
    if (collection.write_skeleton(7, skeleton)) expect(collection.read_skeleton(7).value() == skeleton);
  } else if (std::holds_alternative<MultiscaleMeshInfo>(collection.info())) {
    MultiscaleMesh mesh;
    mesh.manifest.levels.push_back({1, {}, {{{0, 0, 0}, 3}}});
    mesh.fragments = "abc";
    if (collection.write_multiscale_mesh(7, mesh)) expect(collection.read_multiscale_mesh(7).value() == mesh);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const unsigned choice = data[0];
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const bool sharded = (choice & 4U) != 0;
  const auto store = memory_store();
  const Config config = fuzz::small_config();
  const auto made = Collection::create(store, info_of(choice & 3U, sharded ? sharding((choice & 8U) != 0) : Json()),
                                       {.config = config});
  expect(made.has_value());
  for (const char* key : {"0.shard", "i/0.shard", "s/0.shard", "5", "5.index", "5:0", "i/5", "s/1", "6.gz"})
    store->set(key, bytes).value();
  const auto report = check(store, {.data = true, .config = config});
  expect(report.has_value());
  const Collection collection = Collection::open(store, {.writable = true, .config = config}).value();
  const bool readable = read_all(collection);
  if (report->ok()) expect(readable);
  write_one(collection);
  return 0;
}
