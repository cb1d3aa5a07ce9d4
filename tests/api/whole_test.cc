// What is checked of an archive as a whole.
#include "api/whole.hpp"

#include <gtest/gtest.h>
#include <libdeflate.h>

#include <fstream>
#include <string>

#include "base/checksum.hpp"
#include "sherd/tools.hpp"
#include "tests/child.hpp"
#include "tests/store/temp_dir.hpp"
#include "tests/store/zip_bytes.hpp"

namespace sherd {
namespace whole_test {

#if SHERD_MEASURES_MEMORY
/// A member of so many zeros, compressed with deflate.
ZipPiece zeros(const std::string& name, std::size_t count) {
  const std::string text(count, '\0');
  libdeflate_compressor* const compressor = libdeflate_alloc_compressor(1);
  std::string data(libdeflate_deflate_compress_bound(compressor, count), '\0');
  data.resize(libdeflate_deflate_compress(compressor, text.data(), count, data.data(), data.size()));
  libdeflate_free_compressor(compressor);
  return {.name = name, .data = data, .method = 8, .size = count, .crc = crc32(std::as_bytes(std::span(text)))};
}

TEST(CheckedMembers, ThatAreDecodedAsAWholeShareTheMemory) {
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  const TempDir folder;
  ZipBytes archive;
  archive.add({"zarr.json", R"({"zarr_format":3,"node_type":"group"})"});
  for (const char* const name : {"a", "b", "c", "d"}) archive.add(zeros(name, 48 * kMiB));
  std::ofstream(folder / "a.zip", std::ios::binary) << archive.finish();
  CheckOptions options{.data = true};
  options.config.threads = 4;
  options.config.memory_budget = 64 * kMiB;
  const std::uint64_t grown = growth_in_child([&] { return [&] { check(folder / "a.zip", options).value(); }; });
  EXPECT_LE(grown / kMiB, 100U);
}
#endif

}  // namespace whole_test
}  // namespace sherd
