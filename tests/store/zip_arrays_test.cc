// Arrays of every format in archives made by Python's zipfile.
#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>

#include "sherd/sherd.hpp"
#include "store/zip.hpp"
#include "tests/store/round_trips.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd {
namespace zip_arrays_test {

struct Kind {
  std::string name;
  std::function<Array(const std::shared_ptr<Store>& store)> make;
};

constexpr std::uint64_t kSide = 32;

Kind zarr(const std::string& name, CreateOptions options) {
  options.shape = {kSide, kSide, kSide, 1};
  options.dtype = DType::uint16;
  options.chunks = {8, 8, 8, 1};
  return {name, [options](const auto& store) { return create_array(store, "a", options).value(); }};
}

Json sharding() {
  return Json::Object{{"@type", "neuroglancer_uint64_sharded_v1"},
                      {"preshift_bits", 2},
                      {"hash", "murmurhash3_x86_128"},
                      {"minishard_bits", 2},
                      {"shard_bits", 2},
                      {"minishard_index_encoding", "gzip"},
                      {"data_encoding", "gzip"}};
}

Kind volume(const std::string& name, const Json& sharding) {
  return {name, [sharding](const auto& store) {
            neuroglancer::VolumeInfo info;
            info.data_type = DType::uint16;
            info.scales.push_back(
                {.key = "s", .size = {kSide, kSide, kSide}, .chunk_sizes = {{8, 8, 8}}, .resolution = {1, 1, 1}});
            info.scales[0].encoding = "raw";
            info.scales[0].sharding = sharding;
            return neuroglancer::create_precomputed(store, "a", info).value();
          }};
}

std::vector<Kind> kinds() {
  return {zarr("Zarr3", {}),
          zarr("Zarr3Sharded", {.shards = {16, 16, 16, 1}}),
          zarr("Zarr3IndexAtStart", {.shards = {16, 16, 16, 1}, .index_location = IndexLocation::start}),
          zarr("Zarr2", {.format = "zarr2"}),
          zarr("Draft2022", {.shards = {16, 16, 16, 1}, .format = "draft2022"}),
          volume("Volume", Json()),
          volume("HashedVolume", sharding()),
          {"DualFormat", [](const auto& store) {
             CreateOptions options{.shape = {kSide, kSide, kSide}, .dtype = DType::uint16, .chunks = {8, 8, 8}};
             options.shards = {16, 16, 16};
             options.config.layout = Layout::zarr_neuroglancer;
             return create_array(store, "a", options).value();
           }}};
}

class ZippedArray : public testing::TestWithParam<Kind> {
 protected:
  static Box box(const Array& array, std::uint64_t origin, std::uint64_t side) {
    Box box{Shape(array.ndim(), origin), Shape(array.ndim(), side)};
    if (array.ndim() == 4) box.origin[3] = 0, box.shape[3] = 1;
    return box;
  }
  void zip(const std::string& method) const {
    const std::string script =
        "import shutil, zipfile, sys, pathlib\n"
        "root = pathlib.Path(sys.argv[1])\n"
        "with zipfile.ZipFile(sys.argv[2], 'w', zipfile." +
        method +
        ") as archive:\n"
        "    for path in sorted(root.rglob('*')):\n"
        "        archive.write(path, path.relative_to(root))\n";
    const std::string command =
        "python3 -c \"" + script + "\" '" + directory_ / "tree" + "' '" + directory_ / "outer/a.zip" + "'";
    ASSERT_EQ(std::system(command.c_str()), 0);
  }

  TempDir directory_;
};

INSTANTIATE_TEST_SUITE_P(Formats, ZippedArray, testing::ValuesIn(kinds()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(ZippedArray, IsReadAsItWasWritten) {
  std::vector<std::uint16_t> values(kSide * kSide * kSide);
  std::iota(values.begin(), values.end(), std::uint16_t{1});
  const auto tree = file_store(directory_ / "tree", {.durable = false}).value();
  const Array array = GetParam().make(tree);
  const Box all = box(array, 0, kSide), part = box(array, 5, 11);
  array.write(all, std::span<const std::uint16_t>(values)).value();
  const auto outer = file_store(directory_ / "outer", {.durable = false}).value();
  outer->set("made", "so that there is a directory").value();
  for (const char* method : {"ZIP_STORED", "ZIP_DEFLATED"}) {
    zip(method);
    for (const auto& around : {outer, std::shared_ptr<Store>(slow_store(outer))}) {
      const auto store = zip_store(around, "a.zip", {}).value();
      const Array zipped = open_array(store, {.path = "a"}).value();
      std::vector<std::uint16_t> read(values.size()), expected(element_count(part.shape).value()),
          some(expected.size());
      zipped.read(all, std::span(read)).value();
      EXPECT_EQ(read, values);
      array.read(part, std::span(expected)).value();
      zipped.read(part, std::span(some)).value();
      EXPECT_EQ(some, expected);
      // In an archive the two names of a dual-format file are two members.
      const auto faults = check(store, {.path = "a", .data = true}).value().faults;
      EXPECT_EQ(faults.empty(), GetParam().name != "DualFormat");
    }
  }
}

TEST_P(ZippedArray, TakesNoMoreRoundTripsThanTheTree) {
  const auto tree = file_store(directory_ / "tree", {.durable = false}).value();
  const Array array = GetParam().make(tree);
  const std::vector<std::uint16_t> values(kSide * kSide * kSide, 7);
  const Box all = box(array, 0, kSide);
  array.write(all, std::span<const std::uint16_t>(values)).value();
  file_store(directory_ / "outer").value()->set("made", "").value();
  zip("ZIP_STORED");
  const auto rounds = [&](RoundTrips& slow, const std::shared_ptr<Store>& store) {
    const Array opened = open_array(store, {.path = "a"}).value();
    std::vector<std::uint16_t> read(values.size());
    opened.read(all, std::span(read)).value();
    EXPECT_EQ(read, values);
    return slow.batches.exchange(0);
  };
  const auto slow_tree = slow_store(tree);
  const auto slow_outer = slow_store(file_store(directory_ / "outer").value());
  const auto of_tree = rounds(*slow_tree, slow_tree);
  const auto of_zip = rounds(*slow_outer, zip_store(slow_outer, "a.zip", {}).value());
  EXPECT_LE(of_zip, of_tree + 2) << "its end and its directory";
}

}  // namespace zip_arrays_test
}  // namespace sherd
