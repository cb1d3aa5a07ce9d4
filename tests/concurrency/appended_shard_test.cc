// A shard to which another process appends all the time, while it is read: each read returns one version of every
// chunk, and none is given up, although no pause of the writer is long enough for it.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <span>
#include <string>
#include <vector>

#include "sherd/sherd.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd {
namespace appended_shard_test {

constexpr std::uint64_t kSide = 2048, kChunk = 64;
constexpr std::uint64_t kChunks = kSide / kChunk;

class AppendedShard : public testing::TestWithParam<IndexLocation> {
 protected:
  void SetUp() override {
    CreateOptions options{
        .shape = {kSide, kSide}, .dtype = DType::uint32, .chunks = {kChunk, kChunk}, .shards = {kSide, kSide}};
    options.codecs = {Json("bytes")};
    options.index_location = GetParam();
    options.config.durable = false;
    options.config.threads = 1;  // a process with threads cannot fork under the thread sanitizer and then start some
    const std::vector<std::uint32_t> zeros(kSide * kSide, 1);
    create_array(store(), options).value().write(Box{{0, 0}, {kSide, kSide}}, std::span(zeros)).value();
    if (const Appending appending = file_store(store()).value()->open("c/0/0").value()->appending();
        appending.alignment == 0)
      GTEST_SKIP() << appending.obstacle;
    writer_ = ::fork();
    if (writer_ == 0) write_for_ever();
  }
  void TearDown() override {
    if (writer_ <= 0) return;
    ::kill(writer_, SIGKILL);
    ::waitpid(writer_, nullptr, 0);
  }

  [[nodiscard]] std::string store() const { return directory_ / "a"; }

  static Array open(const std::string& store, bool writable) {
    Config config;
    config.durable = false;
    config.update = Update::append;
    config.threads = writable ? 1 : 0;
    config.max_unused = 0.9;
    return open_array(store, {.writable = writable, .config = config}).value();
  }

  /// Chunks have one value each, that of the round in which they were written.
  [[noreturn]] void write_for_ever() const {
    const Array array = open(store(), true);
    for (std::uint32_t round = 2;; ++round) {
      for (std::uint64_t chunk = 0; chunk < kChunks * kChunks; chunk += 7) {
        const std::vector<std::uint32_t> values(kChunk * kChunk, round);
        const Box box{{chunk / kChunks * kChunk, chunk % kChunks * kChunk}, {kChunk, kChunk}};
        if (!array.write(box, std::span(values))) ::_exit(1);
      }
    }
  }

  /// Whether each chunk has one value.
  static bool is_whole(const std::vector<std::uint32_t>& values) {
    for (std::uint64_t row = 0; row < kSide; ++row)
      for (std::uint64_t column = 0; column < kSide; ++column)
        if (values[row * kSide + column] != values[row / kChunk * kChunk * kSide + column / kChunk * kChunk])
          return false;
    return true;
  }

  const TempDir directory_{TempDir::Where::disk};
  pid_t writer_ = -1;
};

TEST_P(AppendedShard, IsReadWithoutConflictsWhileItGrows) {
  const Array array = open(store(), false);
  std::vector<std::uint32_t> values(kSide * kSide), before;
  int changed = 0;
  for (int i = 0; i < 60; ++i) {
    const auto read = array.read(Box{{0, 0}, {kSide, kSide}}, std::span(values));
    ASSERT_TRUE(read) << read.error().text();
    ASSERT_TRUE(is_whole(values)) << "read " << i;
    changed += values != before;
    before = values;
  }
  EXPECT_GT(changed, 10) << "the writer does its work meanwhile";
  int status = 0;
  EXPECT_EQ(::waitpid(writer_, &status, WNOHANG), 0) << "the writer has ended";
}

INSTANTIATE_TEST_SUITE_P(Index, AppendedShard, testing::Values(IndexLocation::end, IndexLocation::start),
                         [](const auto& at) { return at.param == IndexLocation::end ? "AtTheEnd" : "AtTheStart"; });

}  // namespace appended_shard_test
}  // namespace sherd
