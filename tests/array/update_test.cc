// Changing part of a shard that other programs have written, or damaged.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "base/endian.hpp"
#include "sherd/sherd.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd {
namespace update_test {

constexpr std::uint64_t kTebibyte = std::uint64_t{1} << 40;
const Box kAll{{0, 0}, {32, 32}};
const Box kFirst{{0, 0}, {8, 8}};

class Update : public ::testing::Test {
 protected:
  // One shard of 4 x 4 chunks; its index has no checksum, so that entries can be changed.
  Array sharded() {
    CreateOptions options{.shape = {32, 32}, .dtype = DType::uint16};
    options.chunk_grid = Json::parse(R"({"name": "regular", "configuration": {"chunk_shape": [32, 32]}})").value();
    options.raw_codecs = Json::parse(R"([{"name": "sharding_indexed", "configuration": {"chunk_shape": [8, 8],
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}}])")
                             .value();
    options.config.max_unused = 1.0;
    const Array array = create_array(folder_.path(), options).value();
    array.write(kAll, std::span<const std::uint16_t>(std::vector<std::uint16_t>(32 * 32, 3))).value();
    return array;
  }
  // Moves the index behind a hole, and gives `slot` this length instead of its own.
  void stretch(std::uint64_t slot, std::uint64_t length) {
    std::string index(16 * 16, '\0');
    {
      std::ifstream file(shard(), std::ios::binary);
      file.seekg(-static_cast<std::streamoff>(index.size()), std::ios::end);
      file.read(index.data(), static_cast<std::streamsize>(index.size()));
    }
    if (length != 0) store_little(reinterpret_cast<std::byte*>(index.data() + 16 * slot + 8), length);
    std::filesystem::resize_file(shard(), kTebibyte);
    std::fstream file(shard(), std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(-static_cast<std::streamoff>(index.size()), std::ios::end);
    file.write(index.data(), static_cast<std::streamsize>(index.size()));
  }
  [[nodiscard]] std::uint64_t bytes_on_disk() const {
    struct stat status{};
    return ::stat(shard().c_str(), &status) == 0 ? static_cast<std::uint64_t>(status.st_blocks) * 512
                                                 : ~std::uint64_t{0};
  }
  [[nodiscard]] std::string shard() const { return folder_ / "c/0/0"; }
  static void write_nines(const Array& array) {
    array.write(kFirst, std::span<const std::uint16_t>(std::vector<std::uint16_t>(64, 9))).value();
  }
  static std::uint16_t at(const Array& array, std::uint64_t row, std::uint64_t column) {
    std::vector<std::uint16_t> value(1);
    array.read(Box{{row, column}, {1, 1}}, std::span(value)).value();
    return value[0];
  }

  TempDir folder_;
};

TEST_F(Update, DoesNotCopyATebibyteHole) {
  const Array array = sharded();
  stretch(0, 0);
  write_nines(array);
  EXPECT_LT(bytes_on_disk(), std::uint64_t{1} << 20);
  EXPECT_EQ(at(array, 0, 0), 9);
  EXPECT_EQ(at(array, 31, 31), 3);
}

TEST_F(Update, DoesNotCopyChunksLargerThanAnyEncoding) {
  const Array array = sharded();
  stretch(5, kTebibyte / 2);
  const std::vector<std::uint16_t> nines(64, 9);
  const auto refused = array.write(kFirst, std::span<const std::uint16_t>(nines));
  EXPECT_EQ(refused.error().code(), ErrorCode::corrupt);
  EXPECT_EQ(refused.error().slot(), 5);
  EXPECT_LT(bytes_on_disk(), std::uint64_t{1} << 20);
  EXPECT_EQ(at(array, 0, 0), 3);
  EXPECT_EQ(at(array, 31, 31), 3);
}

}  // namespace update_test
}  // namespace sherd
