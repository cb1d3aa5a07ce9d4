// How the techniques of streams store slices in files.
#include "array/stream_plan.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sherd/sherd.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd {
namespace stream_plan_test {

TEST(StreamTechnique, ThreeOverwritesChunksOfOneFile) {
  const TempDir directory;
  CreateOptions options{.shape = {0, 64, 64}, .dtype = DType::uint16, .chunks = {1, 64, 64}, .shards = {64, 64, 64}};
  options.codecs = {Json("bytes")};
  create_array(directory.path(), options).value();
  Config config;
  config.recorder = std::make_shared<Recorder>();
  Appender appender = open_array(directory.path(), {.writable = true, .config = config})
                          .value()
                          .appender({.technique = Technique::preallocated})
                          .value();
  const std::vector<std::uint16_t> frame(64 * 64, 7);
  std::vector<std::pair<ino_t, std::int64_t>> files;
  for (int flush = 0; flush < 3; ++flush) {
    appender.append(std::span(frame)).value();
    appender.flush().value();
    struct stat status{};
    ASSERT_EQ(::stat((directory / "c/0/0/0").c_str(), &status), 0);
    files.emplace_back(status.st_ino, status.st_size);
    EXPECT_LT(status.st_blocks * 512, 64 * 64 * 64 * 2 / 4) << "zeros use no space";
  }
  EXPECT_EQ(files[0], files[1]);
  EXPECT_EQ(files[1], files[2]);
  EXPECT_EQ(config.recorder->updates(), (std::map<std::string, std::uint64_t>{{"in_place", 3}}));
}

}  // namespace stream_plan_test
}  // namespace sherd
