// Raw files, the blocks that whole arrays pass through, and import and export from end to end.
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "sherd/group.hpp"
#include "tests/io/files_testing.hpp"

namespace sherd {
namespace raw_test {

using namespace files_testing;

ImportOptions raw_options(Shape shape, const DType& dtype) {
  ImportOptions options;
  options.from = "raw";
  options.shape = std::move(shape);
  options.dtype = dtype;
  return options;
}

TEST(Raw, ElementsOfEitherByteOrderAreRead) {
  const Folder folder;
  save(folder / "a.raw", std::string("\x01\x02\x03\x04", 4));
  auto options = raw_options({2}, DType::uint16);
  auto little = open_file(folder / "a.raw", options).value();
  EXPECT_EQ(values_of<std::uint16_t>(read_all(*little).value()), (std::vector<std::uint16_t>{0x0201, 0x0403}));
  options.big_endian = true;
  auto big = open_file(folder / "a.raw", options).value();
  EXPECT_EQ(values_of<std::uint16_t>(read_all(*big).value()), (std::vector<std::uint16_t>{0x0102, 0x0304}));
}

TEST(Raw, ASizeThatDoesNotAgreeIsAnError) {
  const Folder folder;
  save(folder / "a.raw", "12345");
  EXPECT_TRUE(refuses(folder / "a.raw", ErrorCode::invalid_argument, "needs 4 bytes, the file has 5",
                      raw_options({2}, DType::uint16)));
  EXPECT_TRUE(refuses(folder / "a.raw", ErrorCode::invalid_argument, "needs 6 bytes", raw_options({3}, DType::uint16)));
  EXPECT_TRUE(refuses(folder / "a.raw", ErrorCode::corrupt, "more bytes than any file",
                      raw_options({std::uint64_t{1} << 63, 2}, DType::uint16)));
  EXPECT_TRUE(refuses(folder / "a.raw", ErrorCode::invalid_argument, "give its shape", ImportOptions{}));
  EXPECT_TRUE(refuses(folder / "a.raw", ErrorCode::invalid_argument, "no fixed size", raw_options({5}, DType::string)));
}

TEST(Raw, OnlyRegularFilesAreRead) {
  const Folder folder;
  EXPECT_TRUE(refuses(folder / "none.raw", ErrorCode::not_found, "cannot open", raw_options({1}, DType::uint8)));
  ASSERT_EQ(::mkfifo((folder / "pipe.raw").c_str(), 0600), 0);
  EXPECT_TRUE(refuses(folder / "pipe.raw", ErrorCode::invalid_argument, "regular", raw_options({1}, DType::uint8)));
  EXPECT_TRUE(refuses("/dev/zero", ErrorCode::invalid_argument, "regular", raw_options({1}, DType::uint8)));
}

// ---- blocks ----

struct Cut {
  BlockRequest request;
  Shape block;
};

TEST(Blocks, FollowShardsThenChunksWithinTheBudget) {
  const Cut cuts[] = {
      {{{100, 50, 50}, {20, 20, 20}, {10, 10, 10}, 1000000, true}, {100, 50, 50}},
      {{{100, 50, 50}, {20, 20, 20}, {10, 10, 10}, 100000, true}, {40, 50, 50}},
      {{{100, 50, 50}, {20, 20, 20}, {10, 10, 10}, 99999, true}, {20, 50, 50}},
      {{{100, 50, 50}, {20, 20, 20}, {10, 10, 10}, 40000, true}, {20, 40, 50}},
      {{{100, 50, 50}, {20, 20, 20}, {10, 10, 10}, 8000, true}, {20, 20, 20}},
      {{{100, 50, 50}, {20, 20, 20}, {10, 10, 10}, 7999, true}, {10, 20, 20}},
      {{{100, 50, 50}, {20, 20, 20}, {10, 10, 10}, 999, true}, {5, 10, 10}},
      {{{100, 50, 50}, {20, 20, 20}, {10, 10, 10}, 1, true}, {1, 1, 1}},
      {{{100, 50, 50}, {20, 20, 20}, {10, 10, 10}, 125000, false}, {40, 50, 50}},
      {{{100, 50, 50}, {20, 20, 20}, {10, 10, 10}, 49999, false}, {10, 50, 50}},
      {{{100, 50, 50}, {20, 20, 20}, {10, 10, 10}, 2500, false}, {1, 50, 50}},
      {{{100, 50, 50}, {20, 20, 20}, {10, 10, 10}, 1200, false}, {1, 20, 50}},
      {{{100, 50, 50}, {}, {}, 49, false}, {1, 1, 49}},
      {{{}, {}, {}, 1, true}, {}},
      {{{0, 4}, {2, 2}, {1, 1}, 1, true}, {0, 4}},
  };
  for (const Cut& cut : cuts)
    EXPECT_EQ(choose_block(cut.request), cut.block) << cut.request.elements << " " << cut.request.random_access;
}

TEST(Blocks, CoverEveryElementOnceInOrder) {
  const Shape shape = {5, 7, 3};
  for (const Shape& block : {Shape{2, 3, 2}, Shape{5, 7, 3}, Shape{1, 1, 1}, Shape{1, 4, 3}}) {
    std::vector<int> seen(5 * 7 * 3, 0);
    BlockWalk walk(shape, block);
    while (const auto box = walk.next()) {
      std::uint64_t expected = 0;
      ASSERT_TRUE(
          for_each_run(shape, *box, [&](std::uint64_t first, std::uint64_t at, std::uint64_t count) -> Result<void> {
            EXPECT_EQ(at, expected);
            expected += count;
            for (std::uint64_t i = 0; i < count; ++i) ++seen[first + i];
            return {};
          }));
      EXPECT_EQ(expected, element_count(box->shape));
    }
    EXPECT_THAT(seen, ::testing::Each(1));
  }
  BlockWalk scalar({}, {});
  EXPECT_TRUE(scalar.next().has_value());
  EXPECT_FALSE(scalar.next().has_value());
  EXPECT_FALSE(BlockWalk({3, 0}, {1, 1}).next().has_value());
}

TEST(Blocks, ABlockOfWholeRowsIsOneRun) {
  int runs = 0;
  ASSERT_TRUE(for_each_run({4, 5, 6}, Box{{1, 0, 0}, {2, 5, 6}}, [&](auto, auto, auto) -> Result<void> {
    ++runs;
    return {};
  }));
  EXPECT_EQ(runs, 1);
}

// ---- import and export ----

CreateOptions small_shards() {
  CreateOptions create;
  create.chunks = {2, 2, 2};
  create.shards = {4, 4, 4};
  create.config.durable = false;
  return create;
}

template <class T>
std::vector<T> whole(const Array& array) {
  std::vector<T> values(element_count(array.shape()).value());
  array.with_config({}).read(Box{Shape(array.ndim(), 0), array.shape()}, std::span(values)).value();
  return values;
}

TEST(Import, KeepsElementsNamesAndAttributes) {
  const Folder folder;
  ImportOptions options;
  options.create = small_shards();
  options.create.attributes = Json::parse(R"({"units": "mine", "subject": 7})").value();
  auto array = import_file(data("sform.nii"), folder / "a.zarr", options);
  ASSERT_TRUE(array) << array.error().text();
  EXPECT_EQ(array->shape(), (Shape{3, 5, 7}));
  EXPECT_EQ(array->dimension_names()[2], "x");
  EXPECT_EQ(array->attributes().find("units")->text(), "mine");
  EXPECT_EQ(array->attributes().find("subject")->as_int(), 7);
  EXPECT_EQ(array->attributes().find("affine")->size(), 4u);
  EXPECT_EQ(whole<std::int16_t>(*array), pattern_of<std::int16_t>(105));
  EXPECT_EQ(whole<std::int16_t>(open_array(folder / "a.zarr").value()), pattern_of<std::int16_t>(105));
}

TEST(Import, IsTheSameWithinAnyBudget) {
  const Folder folder;
  for (const char* name : {"sform.nii", "qform.nii.gz", "f4_fortran.npy", "deflate.tif", "strips.tif"})
    for (const std::uint64_t budget : {16u, 100u, 1000u, 1u << 20}) {
      SCOPED_TRACE(std::string(name) + " within " + std::to_string(budget));
      ImportOptions options;
      options.create = small_shards();
      options.create.overwrite = true;
      options.create.config.memory_budget = budget;
      std::uint64_t last = 0, total = 0;
      options.create.config.progress = [&](const Progress& progress) {
        EXPECT_GT(progress.done, last);
        last = progress.done;
        total = progress.total;
      };
      auto array = import_file(data(name), folder / "a.zarr", options);
      ASSERT_TRUE(array) << array.error().text();
      EXPECT_EQ(array->shape(), (Shape{3, 5, 7}));
      EXPECT_EQ(last, total);
      EXPECT_EQ(total, 105 * array->dtype().size());
      if (array->dtype() == DType::float32)
        EXPECT_EQ(whole<float>(*array), pattern_of<float>(105));
      else if (array->dtype() == DType::float64)
        EXPECT_EQ(whole<double>(*array), pattern_of<double>(105));
      else if (array->dtype() == DType::int16)
        EXPECT_EQ(whole<std::int16_t>(*array), pattern_of<std::int16_t>(105));
      else
        EXPECT_EQ(whole<std::uint16_t>(*array), pattern_of<std::uint16_t>(105));
    }
}

TEST(Import, AFailureKeepsTheExistingArray) {
  const Folder folder;
  save(folder / "good.raw", std::string(1000, 'g'));
  auto options = raw_options({1000}, DType::uint8);
  options.create.chunks = {100};
  import_file(folder / "good.raw", folder / "a.zarr", options).value();
  options.create.overwrite = true;
  save(folder / "bad.raw", std::string(1000, 'b'));
  int polls = 0;
  options.create.config.interrupted = [&] { return ++polls > 2; };
  const auto failed = import_file(folder / "bad.raw", folder / "a.zarr", options);
  ASSERT_FALSE(failed);
  std::vector<std::uint8_t> read(1000);
  open_array(folder / "a.zarr").value().read(Box{{0}, {1000}}, std::span(read)).value();
  EXPECT_EQ(read, std::vector<std::uint8_t>(1000, 'g'));
  std::size_t entries = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder / "a.zarr")) ++entries;
  EXPECT_EQ(entries, 2U) << "zarr.json and c";
}

TEST(Import, ScalarsAndEmptyArraysAreArraysToo) {
  const Folder folder;
  auto scalar = import_file(data("scalar.npy"), folder / "s.zarr").value();
  EXPECT_EQ(whole<double>(scalar), std::vector<double>{11});
  auto empty = import_file(data("empty.npy"), folder / "e.zarr").value();
  EXPECT_EQ(empty.shape(), (Shape{0, 3}));
}

TEST(Import, ADirectoryHasTheFormatOfItsFiles) {
  const Folder folder;
  auto array = import_file(data("stack"), folder / "a.zarr").value();
  EXPECT_EQ(whole<std::uint8_t>(array), pattern_of<std::uint8_t>(11 * 9 * 13));
  std::filesystem::create_directory(folder / "mixed");
  save(folder / "mixed/a.png", load(data("gray8.png")));
  save(folder / "mixed/a.tif", load(data("rgb.tif")));
  EXPECT_TRUE(fails(import_file(folder / "mixed", folder / "b.zarr"), ErrorCode::invalid_argument, "several formats"));
  std::filesystem::create_directory(folder / "empty");
  EXPECT_TRUE(fails(import_file(folder / "empty", folder / "b.zarr"), ErrorCode::not_found, "empty"));
  EXPECT_TRUE(
      fails(import_file(folder / "none.xyz", folder / "b.zarr"), ErrorCode::not_found, "none.xyz': cannot open"));
}

TEST(Import, LeavesNoHalfArrayBehind) {
  const Folder folder;
  const std::string bytes = load(data("qform.nii.gz"));
  save(folder / "cut.nii.gz", std::string_view(bytes).substr(0, bytes.size() - 20));
  ImportOptions options;
  options.create = small_shards();
  EXPECT_TRUE(fails(import_file(folder / "cut.nii.gz", folder / "a.zarr", options), ErrorCode::corrupt, "cut.nii.gz"));
  EXPECT_TRUE(fails(open_array(folder / "a.zarr"), ErrorCode::not_found, ""));
  options.create.config.interrupted = [] { return true; };
  EXPECT_TRUE(fails(import_file(data("sform.nii"), folder / "a.zarr", options), ErrorCode::unavailable, "interrupted"));
  EXPECT_TRUE(fails(open_array(folder / "a.zarr"), ErrorCode::not_found, ""));
}

TEST(Import, RemovesNothingBeforeTheFileIsKnownToBeReadable) {
  const Folder folder;
  ImportOptions options;
  options.create.overwrite = true;
  import_file(data("u1.npy"), folder / "a.zarr", options).value();
  EXPECT_FALSE(import_file(data("object.npy"), folder / "a.zarr", options));
  EXPECT_EQ(open_array(folder / "a.zarr").value().shape(), (Shape{3, 5, 7}));
  options.create.overwrite = false;
  EXPECT_TRUE(fails(import_file(data("u1.npy"), folder / "a.zarr", options), ErrorCode::conflict, ""));
}

TEST(Export, ReproducesTheFileWithinAnyBudget) {
  const Folder folder;
  for (const char* name : {"u1.npy", "sform.nii", "strips.tif"})
    for (const std::uint64_t budget : {16u, 1000u, 1u << 20}) {
      SCOPED_TRACE(std::string(name) + " within " + std::to_string(budget));
      ImportOptions options;
      options.create = small_shards();
      options.create.overwrite = true;
      options.create.config.memory_budget = budget;
      const Array array = import_file(data(name), folder / "a.zarr", options).value();
      const std::string out = folder / (std::string("out_") + name);
      auto written = export_file(array, out);
      ASSERT_TRUE(written) << written.error().text();
      auto before = open_file(data(name)).value(), after = open_file(out).value();
      EXPECT_EQ(after->array().shape, before->array().shape);
      EXPECT_EQ(read_all(*after).value(), read_all(*before).value());
    }
  EXPECT_EQ(load(folder / "out_u1.npy"), load(data("u1.npy")));
}

TEST(Export, WritesIntoAPipeFrontToBack) {
  const Folder folder;
  const Array array = import_file(data("u1.npy"), folder / "a.zarr").value();
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  std::string piped;
  std::thread reader([&] { piped = load(folder / "pipe"); });
  const auto written = export_file(array, folder / "pipe", ExportOptions{.to = "npy"});
  if (!written) std::ofstream(folder / "pipe");  // so that the reader ends
  reader.join();
  ASSERT_TRUE(written);
  EXPECT_TRUE(std::filesystem::is_fifo(folder / "pipe"));
  EXPECT_EQ(piped, load(data("u1.npy")));
}

TEST(Export, AFailureKeepsTheExistingFile) {
  const Folder folder;
  ImportOptions options;
  options.create = small_shards();
  const Array array = import_file(data("u1.npy"), folder / "a.zarr", options).value();
  save(folder / "a.npy", "old");
  EXPECT_TRUE(
      fails(export_file(array, folder / "a.npy", {.to = {}, .overwrite = false}), ErrorCode::conflict, "exists"));
  Config config = array.config();
  config.interrupted = [] { return true; };
  EXPECT_TRUE(fails(export_file(array.with_config(config), folder / "a.npy"), ErrorCode::unavailable, "interrupted"));
  EXPECT_EQ(load(folder / "a.npy"), "old");
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"a.npy", "a.zarr"}));
}

TEST(Export, ReplacesTheFileBehindALinkAndKeepsTheLink) {
  const Folder folder;
  const Array array = import_file(data("u1.npy"), folder / "a.zarr").value();
  save(folder / "real.npy", "old");
  std::filesystem::create_symlink("real.npy", folder / "link.npy");
  ASSERT_TRUE(export_file(array, folder / "link.npy"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.npy"));
  EXPECT_EQ(load(folder / "real.npy"), load(data("u1.npy")));
}

}  // namespace raw_test
}  // namespace sherd
