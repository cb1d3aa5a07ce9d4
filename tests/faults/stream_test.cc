// A stream appends to a Zarr array, and each of its system calls fails in turn, or is the last one before the process
// is killed or the power is cut. A reader finds the slices of whole flushes, at least those that were acknowledged; the
// next stream continues.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "tests/crash/operations.hpp"
#include "tests/faults/faults.hpp"

namespace faults {
namespace stream_test {

using operations::Values;

constexpr std::uint64_t kBefore = 12, kColumns = 8, kRows = 5, kFlushes = 2;

class AStream : public testing::Test {
 protected:
  void SetUp() override {
    sherd::CreateOptions options{.shape = {kBefore, kColumns}, .dtype = sherd::DType::uint16, .chunks = {4, 8}};
    options.shards = {8, 8};
    if (technique_ == sherd::Technique::preallocated) options.codecs = std::vector<sherd::Json>{};
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
      sherd::Appender appender = array.appender({.technique = technique_, .auto_flush = false}).value();
      for (std::uint64_t i = 0; i < kFlushes; ++i) {
        append(appender, kBefore + i * kRows);
        appender.flush().value();
        acknowledged_ = i + 1;
        if (simulation_ != nullptr) acknowledged_after_.push_back(simulation_->effects().size());
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

  void expect_to_be_continued_after_power_cuts(bool in_order);
  void expect_to_be_continued_after_power_cuts() {
    for (const bool in_order : {true, false}) expect_to_be_continued_after_power_cuts(in_order);
  }

  sherd::Technique technique_ = sherd::Technique::automatic;
  Faults faults_{[this](const std::string& folder) { return begin(folder); }};
  std::uint64_t acknowledged_ = 0;
  const Simulation* simulation_ = nullptr;
  std::vector<std::size_t> acknowledged_after_;  // so many effects
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

void AStream::expect_to_be_continued_after_power_cuts(bool in_order) {
  SCOPED_TRACE(in_order ? "names in order" : "names in any order");
  faults_.keep_names_in_order(in_order);
  acknowledged_after_.clear();
  const Recording recording = faults_.record([this](const Simulation& simulation) { simulation_ = &simulation; });
  simulation_ = nullptr;
  ASSERT_EQ(acknowledged_after_.size(), kFlushes);
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
  cut_power(recording, [&](const Tree& tree, std::size_t at) {
    const auto is_before = [&](std::size_t after) { return after <= at; };
    acknowledged_ = static_cast<std::uint64_t>(std::ranges::count_if(acknowledged_after_, is_before));
    if (HasFailure() || !seen.emplace(tree.hash(), acknowledged_).second) return;
    tree.store(faults_.folder());
    expect_to_be_continued();
  });
  EXPECT_GT(seen.size(), 10U);
  RecordProperty("trees", static_cast<int>(seen.size()));
}

TEST_F(AStream, IsContinuedAfterAPowerCut) { expect_to_be_continued_after_power_cuts(); }

/// A stream whose slices replace zeros of shards that have their whole index.
class PreallocatedStream : public AStream {
 protected:
  PreallocatedStream() { technique_ = sherd::Technique::preallocated; }
};

TEST_F(PreallocatedStream, IsContinuedAfterAPowerCut) { expect_to_be_continued_after_power_cuts(); }

}  // namespace stream_test
}  // namespace faults
