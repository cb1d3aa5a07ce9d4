// Hostile volumes and collections of Neuroglancer's precomputed format: 94 to 96 of docs/limits.md, and of 38 to 55 and
// 73 to 75 what they can have. The good volume has 8 chunks of 64 bytes in one shard: an array of 32 bytes, the chunks,
// and from byte 544 on a list of 96 bytes, four entries, for the even ids, then one for the odd. Offsets count from 32
// on.
#include <sys/stat.h>

#include "base/endian.hpp"
#include "sherd/precomputed.hpp"
#include "tests/hostile/hostile.hpp"

namespace sherd::hostile {
namespace precomputed_test {

using namespace neuroglancer;

constexpr std::uint64_t kMax = ~std::uint64_t{0};
constexpr std::size_t kFirstList = 32 + 8 * 64;
constexpr const char* kVolumeShard = "s/0.shard";

Json sharding(std::uint64_t preshift, std::uint64_t minishard, std::uint64_t shard, const std::string& data = "raw") {
  return Json::Object{{"@type", "neuroglancer_uint64_sharded_v1"},
                      {"preshift_bits", preshift},
                      {"hash", "identity"},
                      {"minishard_bits", minishard},
                      {"shard_bits", shard},
                      {"minishard_index_encoding", "raw"},
                      {"data_encoding", data}};
}

/// An info with unchecked parameters.
void set_info(Store& store, const Json& how) {
  Json scale{Json::Object{{"key", "s"}, {"encoding", "raw"}, {"sharding", how}}};
  for (const auto& [member, value] : {std::pair{"size", 8}, {"resolution", 8}})
    scale.set(member, Json(Json::Array{value, value, value}));
  scale.set("chunk_sizes", Json(Json::Array{Json(Json::Array{4, 4, 4})}));
  const Json info{Json::Object{
      {"type", "image"}, {"data_type", "uint8"}, {"num_channels", 1}, {"scales", Json(Json::Array{std::move(scale)})}}};
  store.set("info", info.dump()).value();
}

void make_volume(Store& store, const std::string& data = "raw") {
  set_info(store, sharding(0, 1, 0, data));
  const std::shared_ptr<Store> borrowed(&store, [](Store*) {});
  const Array array = open_array(borrowed, {.writable = true}).value();
  std::vector<std::uint8_t> values(512);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint8_t>(i % 250 + 1);
  array.write(Box{Shape(4, 0), array.shape()}, std::span<const std::uint8_t>(values)).value();
}

/// A volume whose first chunk is gzip of these bytes.
void put_gzip(Store& store, std::span<const std::byte> bytes) {
  make_volume(store, "gzip");
  const std::shared_ptr<Store> borrowed(&store, [](Store*) {});
  const auto ids = ShardedStore::open(prefixed_store(borrowed, "s/"), sharding(0, 1, 0, "gzip"), {.writable = true});
  ids->put({0, bytes}).value();
}

using Bytes = std::string;
void set_word(Bytes& bytes, std::size_t at, std::uint64_t value) {
  store_little(reinterpret_cast<std::byte*>(bytes.data()) + at, value);
}

/// The good volume with its shard changed.
auto shard(const std::function<void(Bytes&)>& change) {
  return [change](Store& store, const std::string&) {
    make_volume(store);
    Bytes bytes = store.get(kVolumeShard).value().value();
    change(bytes);
    store.set(kVolumeShard, bytes).value();
  };
}
/// With one word of the list of even ids changed: row 0 ids, row 1 offsets, row 2 sizes.
auto entry(std::size_t row, std::size_t i, std::uint64_t value) {
  return shard([=](Bytes& bytes) { set_word(bytes, kFirstList + 8 * (4 * row + i), value); });
}
auto bits(const Json& how) {
  return [how](Store& store, const std::string&) { set_info(store, how); };
}

Result<void> read_box(const std::shared_ptr<Store>& store, const Shape& shape) {
  const auto array = open_array(store);
  if (!array) return array.error();
  std::vector<std::uint8_t> values(*element_count(shape));
  return array->read(Box{Shape(4, 0), shape}, std::span<std::uint8_t>(values));
}
const auto read_all = [](const std::shared_ptr<Store>& store) { return read_box(store, {8, 8, 8, 1}); };
const auto read_first = [](const std::shared_ptr<Store>& store) { return read_box(store, {4, 4, 4, 1}); };
const auto write_first = [](const std::shared_ptr<Store>& store) -> Result<void> {
  const auto array = open_array(store, {.writable = true});
  if (!array) return array.error();
  const std::vector<std::uint8_t> values(64, 9);
  return array->write(Box{Shape(4, 0), {4, 4, 4, 1}}, std::span<const std::uint8_t>(values));
};

/// As if the shard had this size, as a sparse file.
auto sparse(std::uint64_t size, const std::function<void(Bytes&)>& change) {
  return [=](Store& store, const std::string& root) {
    shard(change)(store, root);
    std::filesystem::resize_file(root + "/" + kVolumeShard, size);
  };
}

std::vector<StoredCase> parameters() {
  return {
      {94, "minishard_bits 64", bits(sharding(0, 64, 0)), read_all, corrupt_code, "minishard_bits"},
      {94, "minishard_bits 33", bits(sharding(0, 33, 0)), read_all, corrupt_code, "minishard_bits"},
      {94, "minishard_bits 32 over an empty store", bits(sharding(0, 32, 0)), read_all},
      {94, "minishard_bits 32 over a small shard",
       [](Store& store, const std::string&) {
         make_volume(store);
         set_info(store, sharding(0, 32, 0));
       },
       read_all, corrupt_code, "too small"},
      {94, "minishard_bits 32, and a chunk is written", bits(sharding(0, 32, 0)), write_first, unsupported_code,
       "index_bytes"},
      {95, "a step of ids that wraps", entry(0, 1, kMax), read_first},
      {95, "a step of offsets that wraps to the array at the beginning", entry(1, 0, kMax - 31), read_first},
      {95, "a step of offsets that wraps to before the shard", entry(1, 0, kMax - 32), read_first, corrupt_code,
       "0.shard"},
      {95, "a size of 2^64-1", entry(2, 0, kMax), read_first, corrupt_code, "reaches beyond"},
      {95, "an offset and a size that wrap to an extent inside", entry(1, 0, kMax - 40), read_first, corrupt_code,
       "0.shard"},
      {96, "preshift_bits 65", bits(sharding(65, 0, 0)), read_all, corrupt_code, "preshift_bits"},
      {96, "minishard_bits and shard_bits of 65", bits(sharding(0, 1, 64)), read_all, corrupt_code, "shard_bits"},
      {96, "preshift_bits 64, and shards of all bits", bits(sharding(64, 0, 64)), read_all},
      {96, "bits far beyond any id", bits(sharding(std::uint64_t{1} << 40, 0, 0)), read_all, corrupt_code,
       "preshift_bits"},
  };
}

std::vector<StoredCase> shards() {
  return {
      {38, "an empty shard", shard([](Bytes& bytes) { bytes.clear(); }), read_all, corrupt_code, kVolumeShard},
      {38, "an empty shard, and a chunk is written", shard([](Bytes& bytes) { bytes.clear(); }), write_first,
       corrupt_code, kVolumeShard},
      {39, "a shard of one byte", shard([](Bytes& bytes) { bytes.resize(1); }), read_all, corrupt_code, "too small"},
      {40, "the last byte is missing", shard([](Bytes& bytes) { bytes.pop_back(); }), read_all, corrupt_code,
       "minishard 1"},
      {42, "a list that ends before it begins", shard([](Bytes& bytes) { set_word(bytes, 8, 8); }), read_first,
       corrupt_code, kVolumeShard},
      {42, "a list whose extent wraps", shard([](Bytes& bytes) {
         set_word(bytes, 0, kMax - 15);
         set_word(bytes, 8, kMax);
       }),
       read_first, corrupt_code, kVolumeShard},
      {44, "a list whose end alone is 2^64-1", shard([](Bytes& bytes) { set_word(bytes, 8, kMax); }), read_first,
       corrupt_code, kVolumeShard},
      {45, "a list beyond the end", shard([](Bytes& bytes) {
         set_word(bytes, 0, 4096);
         set_word(bytes, 8, 4096 + 96);
       }),
       read_first, corrupt_code, kVolumeShard},
      {45, "a list of no whole number of entries", shard([](Bytes& bytes) { set_word(bytes, 8, 607); }), read_first,
       corrupt_code, kVolumeShard},
      {48, "a list that overlaps another one", shard([](Bytes& bytes) {
         set_word(bytes, 16, 512);
         set_word(bytes, 24, 608);
       }),
       read_first},
      {45, "an offset beyond the end", entry(1, 0, 1000), read_first, corrupt_code, "reaches beyond"},
      {45, "an offset beyond the end, and another chunk of the list is written", entry(1, 0, 1000),
       [](const std::shared_ptr<Store>& store) -> Result<void> {
         const auto array = open_array(store, {.writable = true});
         if (!array) return array.error();
         const std::vector<std::uint8_t> values(64, 9);
         return array->write(Box{{4, 4, 0, 0}, {4, 4, 4, 1}}, std::span<const std::uint8_t>(values));
       },
       corrupt_code, kVolumeShard},
      {46, "a chunk that is the list itself", entry(1, 0, kFirstList - 32), read_first},
      {47, "all chunks are one range", shard([](Bytes& bytes) {
         for (std::size_t i = 1; i < 4; ++i) set_word(bytes, kFirstList + 32 + 8 * i, kMax - 63);
       }),
       read_all},
      {49, "a chunk of no bytes", entry(2, 0, 0), read_first, corrupt_code, "64"},
      {50, "2^63 bytes in a sparse shard",
       sparse(std::uint64_t{1} << 42U, [](Bytes& bytes) { set_word(bytes, kFirstList + 64, std::uint64_t{1} << 63U); }),
       read_first, corrupt_code, kVolumeShard},
      {54, "4 TiB of nothing behind the lists", sparse(std::uint64_t{1} << 42U, [](Bytes&) {}), read_all},
      {54, "a list of 4 TiB",
       sparse(std::uint64_t{1} << 42U,
              [](Bytes& bytes) { set_word(bytes, 8, (std::uint64_t{1} << 42U) / 24 * 24 - 48); }),
       read_first, unsupported_code, "index_bytes"},
      {55, "a FIFO as the shard",
       [](Store& store, const std::string& root) {
         make_volume(store);
         const std::string path = root + "/" + kVolumeShard;
         std::filesystem::remove(path);
         if (::mkfifo(path.c_str(), 0600) != 0) std::abort();
       },
       read_all, corrupt_code, "not a regular file"},
      {73, "a gzip chunk that decodes short",
       [](Store& store, const std::string&) { put_gzip(store, std::as_bytes(std::span<const char>("short", 5))); },
       read_first, corrupt_code, kVolumeShard},
      {74, "a gzip chunk that decodes long",
       [](Store& store, const std::string&) { put_gzip(store, std::vector<std::byte>(std::size_t{200} << 20U)); },
       read_first, corrupt_code, kVolumeShard},
  };
}

// ---- objects ----

Bytes words(std::initializer_list<std::uint32_t> values) {
  Bytes bytes(4 * values.size(), '\0');
  std::size_t at = 0;
  for (const std::uint32_t value : values) {
    store_little(reinterpret_cast<std::byte*>(bytes.data()) + at, value);
    at += 4;
  }
  return bytes;
}

/// A collection with this object, of id 1.
auto object(const std::string& info, const std::string& key, const Bytes& bytes) {
  return [=](Store& store, const std::string&) {
    store.set("info", info).value();
    store.set(key, bytes).value();
  };
}
template <class Read>
auto reading(const Read& read) {
  return [read](const std::shared_ptr<Store>& store) -> Result<void> {
    const auto collection = Collection::open(store);
    if (!collection) return collection.error();
    const auto found = read(*collection);
    if (!found) return found.error();
    return found->has_value() ? Result<void>() : not_found("nothing");
  };
}
const auto read_skeleton = reading([](const Collection& all) { return all.read_skeleton(1); });
const auto read_mesh = reading([](const Collection& all) { return all.read_mesh(1); });
const auto read_meshes = reading([](const Collection& all) { return all.read_multiscale_mesh(1); });
const auto read_mark = reading([](const Collection& all) { return all.read_related(0, 1); });

std::vector<StoredCase> objects() {
  const std::string skeletons = R"({"@type": "neuroglancer_skeletons"})";
  const std::string meshes =
      R"({"@type": "neuroglancer_multilod_draco", "vertex_quantization_bits": 10, "lod_scale_multiplier": 1})";
  const std::string marks =
      R"({"@type": "neuroglancer_annotations_v1", "dimensions": {"x": [1, "m"]}, "lower_bound": [0],
          "upper_bound": [1], "annotation_type": "polyline", "properties": [], "by_id": {"key": "i"},
          "relationships": [{"id": "r", "key": "r"}], "spatial": []})";
  const Bytes manifest = words({0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0xFFFFFFFFU});
  return {
      {75, "a skeleton of 2^32-1 vertices", object(skeletons, "1", words({0xFFFFFFFFU, 0})), read_skeleton,
       corrupt_code, "skeleton 1"},
      {75, "a skeleton of 2^32-1 edges", object(skeletons, "1", words({0, 0xFFFFFFFFU})), read_skeleton, corrupt_code,
       "skeleton 1"},
      {75, "an edge to nowhere", object(skeletons, "1", words({1, 1, 0, 0, 0, 0, 7})), read_skeleton, corrupt_code,
       "vertex 7"},
      {75, "an empty skeleton object", object(skeletons, "1", ""), read_skeleton, corrupt_code, "skeleton 1"},
      {75, "a manifest of 2^32-1 levels", object(meshes, "1.index", words({0, 0, 0, 0, 0, 0, 0xFFFFFFFFU})),
       read_meshes, corrupt_code, "4294967295 levels"},
      {75, "a manifest of 4 GiB of fragments that are not there", object(meshes, "1.index", manifest), read_meshes,
       corrupt_code, "4294967295"},
      {75, "a sharded manifest of more fragments than the shard has",
       [meshes, manifest](Store& store, const std::string&) {
         const std::shared_ptr<Store> borrowed(&store, [](Store*) {});
         auto builder = ShardedBuilder::create(borrowed, sharding(0, 0, 0)).value();
         builder.add(1, std::as_bytes(std::span(manifest))).value();
         builder.finish().value();
         Json info = Json::parse(meshes).value();  // comes last: a build next to it would refuse that
         info.set("sharding", sharding(0, 0, 0));
         store.set("info", info.dump()).value();
       },
       read_meshes, corrupt_code, "4294967295 bytes before it"},
      {75, "a legacy mesh without its fragment",
       object(R"({"@type": "neuroglancer_legacy_mesh"})", "1:0", R"({"fragments": ["gone"]})"), read_mesh, corrupt_code,
       "'gone'"},
      {76, "a fragment outside the collection",
       object(R"({"@type": "neuroglancer_legacy_mesh"})", "1:0", R"({"fragments": ["../../outside"]})"), read_mesh,
       ErrorCode::invalid_argument, ".."},
      {75, "2^63 annotations", object(marks, "r/1", words({0, 0x80000000U})), read_mark, corrupt_code,
       "9223372036854775808 annotations"},
      {75, "a polyline of 2^32-1 points", object(marks, "r/1", words({1, 0, 0xFFFFFFFFU, 0, 0, 0})), read_mark,
       corrupt_code, "4294967295 points"},
  };
}

INSTANTIATE_TEST_SUITE_P(PrecomputedParameters, HostileStore, testing::ValuesIn(parameters()), stored_name);
INSTANTIATE_TEST_SUITE_P(PrecomputedShards, HostileStore, testing::ValuesIn(shards()), stored_name);
INSTANTIATE_TEST_SUITE_P(PrecomputedObjects, HostileStore, testing::ValuesIn(objects()), stored_name);

}  // namespace precomputed_test
}  // namespace sherd::hostile
