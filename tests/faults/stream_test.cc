// A stream appends to a Zarr array, and each of its system calls fails in turn, or is the last one before the process
// is killed. A reader finds the slices of whole flushes, at least those that were acknowledged; the next stream
// continues.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "tests/crash/operations.hpp"
#include "tests/faults/faults.hpp"

namespace faults {
namespace {

using operations::Values;

constexpr std::uint64_t kBefore = 12, kColumns = 8, kRows = 5, kFlushes = 2;

class AStream : public testing::Test {
 protected:
  void SetUp() override {
    sherd::CreateOptions options{.shape = {kBefore, kColumns}, .dtype = sherd::DType::uint16, .chunks = {4, 8}};
    options.shards = {8, 8};
    sherd::create_array(sherd::file_store(faults_.clean()).value(), "a", options).value();
    operations::write(open(faults_.clean()), {{0, 0}, {kBefore, kColumns}}, 1);
    ASSERT_EQ(faults_.run(), std::nullopt);
    ASSERT_EQ(acknowledged_, kFlushes);
    expect_whole_flushes();
    calls_ = faults_.calls();
    ASSERT_GT(calls_.size(), 30U);
  }

  static sherd::Array open(const std::string& folder) {
    return operations::open(folder, {.threads = 1, .durable = false});
  }

  /// Appends rows that hold their number, from `first` on.
  static void append(sherd::Appender& appender, std::uint64_t first) {
    Values rows;
    for (std::uint64_t row = first; row < first + kRows; ++row)
      rows.insert(rows.end(), kColumns, static_cast<std::uint16_t>(row));
    appender.append(std::span(rows)).value();
  }

  std::function<void()> begin(const std::string& folder) {
    acknowledged_ = 0;
    return [this, array = operations::open(folder, operations::config_of(1))]() mutable {
      sherd::Appender appender = array.appender({.auto_flush = false}).value();
      for (std::uint64_t i = 0; i < kFlushes; ++i) {
        append(appender, kBefore + i * kRows);
        appender.flush().value();
        acknowledged_ = i + 1;
      }
      appender.close().value();
    };
  }

  std::uint64_t expect_whole_flushes() const {
    const sherd::Array array = open(faults_.folder());
    const std::uint64_t length = array.shape()[0];
    EXPECT_GE(length, kBefore + acknowledged_ * kRows);
    EXPECT_EQ((length - kBefore) % kRows, 0U);
    Values values(length * kColumns);
    array.read(sherd::Box{{0, 0}, array.shape()}, std::span(values)).value();
    for (std::uint64_t i = 0; i < values.size(); ++i) {
      const std::uint64_t row = i / kColumns;
      EXPECT_EQ(values[i], row < kBefore ? 1 : row) << "row " << row;
    }
    return length;
  }

  void expect_to_be_continued() {
    const std::uint64_t length = expect_whole_flushes();
    {
      sherd::Appender next = open(faults_.folder()).appender().value();
      append(next, length);
      next.close().value();
    }
    EXPECT_EQ(expect_whole_flushes(), length + kRows);
  }

  Faults faults_{[this](const std::string& folder) { return begin(folder); }};
  std::uint64_t acknowledged_ = 0;
  std::vector<Call> calls_;
};

TEST_F(AStream, EndsWithWholeFlushesWhenACallFails) {
  for (const auto kind : {Fault::Kind::once, Fault::Kind::onward})
    for_each_failure(calls_, kind, [&](const Fault& fault, const Call& call) {
      const auto error = faults_.run(fault);
      expect_bytes_are_not_lost_silently(call, error.has_value());
      if (!error) {
        EXPECT_EQ(acknowledged_, kFlushes);
      } else {
        EXPECT_EQ(error->code(), sherd::ErrorCode::io) << error->text();
      }
      expect_to_be_continued();
    });
}

TEST_F(AStream, IsContinuedAfterAKillAtAnyCall) {
  for_each_kill(calls_, [&](const Fault& fault, const Call& /*call*/) {
    (void)faults_.run(fault);
    expect_to_be_continued();
  });
}

}  // namespace
}  // namespace faults
