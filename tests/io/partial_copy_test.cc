#include "src/io/partial_copy.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace sherd {
namespace partial_copy_test {

constexpr std::uint64_t kKiB = 1024, kMiB = 1024 * kKiB;

std::string bytes_of(std::uint64_t size) {
  std::string bytes(size, '\0');
  for (std::uint64_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 2654435761U >> 13U);
  return bytes;
}

/// An object in memory, and a partial copy of it that counts what it asks for.
struct Copied {
  explicit Copied(std::uint64_t size) : bytes(bytes_of(size)) {
    const auto memory = memory_store();
    EXPECT_TRUE(memory->set("in/x.nc", bytes).has_value());
    copy = PartialCopy::make(*recorded_store(memory, recorder), "in/x.nc", "its URL").value();
  }
  std::string read(std::uint64_t offset, std::uint64_t length) const {
    std::string got(length, '\0');
    const auto done = copy->read_at(offset, std::as_writable_bytes(std::span(got)));
    return done ? got : "";
  }
  [[nodiscard]] std::string expected(std::uint64_t offset, std::uint64_t length) const {
    return bytes.substr(offset, length);
  }
  [[nodiscard]] std::string local() const {
    std::ifstream file(copy->path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  /// Requests and bytes since the last call.
  std::pair<std::uint64_t, std::uint64_t> counts() {
    const Recorder::Stats now = recorder->stats(), was = std::exchange(before, now);
    return {now.requests - was.requests, now.bytes_read - was.bytes_read};
  }

  std::string bytes;
  std::shared_ptr<Recorder> recorder = std::make_shared<Recorder>();
  Recorder::Stats before = {};
  std::shared_ptr<PartialCopy> copy;
};

TEST(PartialCopy, OfASmallObjectTakesOneRequest) {
  Copied it(10'000);
  EXPECT_EQ(it.counts(), std::pair(std::uint64_t{1}, std::uint64_t{10'000}));
  EXPECT_EQ(it.read(3, 9'997), it.expected(3, 9'997));
  EXPECT_EQ(it.local(), it.bytes);
  EXPECT_EQ(it.counts().first, 0U);
}

TEST(PartialCopy, OfAnEmptyObjectIsEmpty) {
  Copied it(0);
  EXPECT_EQ(it.copy->size_bound(), 0U);
  EXPECT_EQ(it.local(), "");
}

TEST(PartialCopy, KeepsTheBlocksThatWereReadUntilItIsToldToStop) {
  Copied it(8 * kMiB);
  EXPECT_EQ(it.counts(), std::pair(std::uint64_t{1}, kMiB));
  EXPECT_EQ(it.read(5 * kMiB + 7, 100), it.expected(5 * kMiB + 7, 100));
  EXPECT_EQ(it.counts(), std::pair(std::uint64_t{1}, 64 * kKiB));
  it.copy->stop_keeping();
  EXPECT_EQ(it.read(7 * kMiB, 100), it.expected(7 * kMiB, 100));
  std::string local(8 * kMiB, '\0');
  local.replace(0, kMiB, it.expected(0, kMiB));
  local.replace(5 * kMiB, 64 * kKiB, it.expected(5 * kMiB, 64 * kKiB));
  EXPECT_TRUE(it.local() == local);
}

TEST(PartialCopy, ReadsMoreTogetherTheLongerReadsGoOnInOrder) {
  Copied it(128 * kMiB);
  it.copy->stop_keeping();
  it.counts();
  for (std::uint64_t at = 8 * kMiB; at < 56 * kMiB; at += 512 * kKiB)
    EXPECT_TRUE(it.read(at, 512 * kKiB) == it.expected(at, 512 * kKiB)) << at;
  EXPECT_LE(it.counts().first, 20U);
  EXPECT_EQ(it.read(120 * kMiB, 1), it.expected(120 * kMiB, 1));
  EXPECT_EQ(it.counts().second, 64 * kKiB) << "elsewhere";
}

TEST(PartialCopy, AsksForTheMissingPartsOfManyRangesTogether) {
  Copied it(32 * kMiB);
  it.copy->stop_keeping();
  std::string got(31, '\0'), expected;
  std::vector<RangeRead> ranges;
  for (std::uint64_t i = 0; i < got.size(); ++i) {
    ranges.push_back({(i + 1) * kMiB - 1, std::as_writable_bytes(std::span(got)).subspan(i, 1)});
    expected += it.expected((i + 1) * kMiB - 1, 1);
  }
  it.counts();
  ASSERT_TRUE(it.copy->read(ranges));
  EXPECT_EQ(got, expected);
  const auto [requests, bytes] = it.counts();
  EXPECT_EQ(requests, 30U) << "the first one is in what was read at the start";
  EXPECT_EQ(bytes, 30 * 64 * kKiB);
}

TEST(PartialCopy, ForgetsTheOldestOfWhatItDoesNotKeep) {
  Copied it(160 * kMiB);
  it.copy->stop_keeping();
  it.read(2 * kMiB, 1);
  it.read(20 * kMiB, 120 * kMiB);
  it.counts();
  EXPECT_EQ(it.read(2 * kMiB, 1), it.expected(2 * kMiB, 1));
  EXPECT_EQ(it.counts().first, 1U);
  it.read(139 * kMiB, kMiB);
  it.read(0, kMiB);
  EXPECT_EQ(it.counts().first, 0U);
}

TEST(PartialCopy, KeepsAllWithProgress) {
  Copied it(40 * kMiB);
  std::uint64_t last = 0;
  Config config;
  config.progress = [&](Progress now) { last = now.done; };
  ASSERT_TRUE(it.copy->keep(0, it.copy->size_bound(), config));
  EXPECT_EQ(last, 40 * kMiB);
  EXPECT_TRUE(it.local() == it.bytes);
}

TEST(PartialCopy, RemembersTheFirstFailureOnce) {
  Copied it(1000);
  EXPECT_EQ(it.read(990, 11), "");
  EXPECT_EQ(it.read(2000, 1), "");
  const auto failure = it.copy->take_failure();
  ASSERT_FALSE(failure.has_value());
  EXPECT_EQ(failure.error().code(), ErrorCode::corrupt);
  EXPECT_NE(failure.error().text().find("11 bytes are wanted at byte 990"), std::string::npos);
  EXPECT_TRUE(it.copy->take_failure().has_value());
}

TEST(PartialCopy, RemovesItsFile) {
  std::filesystem::path path;
  {
    const Copied it(10);
    path = it.copy->path();
    EXPECT_EQ(path.filename(), "x.nc");
    EXPECT_TRUE(std::filesystem::exists(path));
  }
  EXPECT_FALSE(std::filesystem::exists(path.parent_path()));
}

TEST(PartialCopy, OfWhatDoesNotExistIsNone) {
  EXPECT_EQ(PartialCopy::make(*memory_store(), "x", "its URL").value(), nullptr);
}

}  // namespace partial_copy_test
}  // namespace sherd
