// A stream appends to a Zarr array, and each of its system calls or allocations fails in turn, or a call is the last
// one before the process is killed or the power is cut. A reader finds the slices of whole flushes, at least those that
// were acknowledged; the next stream continues.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "tests/crash/operations.hpp"
#include "tests/faults/allocations.hpp"
#include "tests/faults/faults.hpp"

namespace faults {
namespace stream_test {

using operations::kColumns;
using operations::kFlushes;
using operations::kRowsBefore;
using operations::kRowsOfFlush;
using operations::Values;
using sherd::Technique;

class AStream : public testing::TestWithParam<Technique> {
 protected:
  void SetUp() override {
    operations::create_streamed(faults_.clean(), GetParam());
    ASSERT_EQ(faults_.run(), std::nullopt);
    ASSERT_EQ(acknowledged_, kFlushes);
    expect_whole_flushes();
    calls_ = faults_.calls();
    ASSERT_GT(calls_.size(), 30U);
    expect_updates_of_technique();
  }

  static sherd::Array open(const std::string& folder) {
    return operations::open(folder, {.threads = 1, .durable = false});
  }

  std::function<void()> begin(const std::string& folder) {
    acknowledged_ = 0;
    sherd::Config config = operations::config_of(1);
    if (GetParam() == Technique::append) config.max_unused = 100;  // shards this small are rewritten otherwise
    config.recorder = recorder_ = std::make_shared<sherd::Recorder>();
    return [this, array = operations::open(folder, config)]() mutable {
      operations::stream(array, GetParam(), [&](std::uint64_t /*length*/) {
        ++acknowledged_;
        if (simulation_ != nullptr) acknowledged_after_.push_back(simulation_->effects().size());
      });
    };
  }

  void expect_updates_of_technique() const {
    std::set<std::string> kinds;
    for (const auto& [how, count] : recorder_->updates()) kinds.insert(how.substr(0, how.find(':')));
    const std::map<Technique, std::set<std::string>> expected{{Technique::automatic, {"rewrite"}},
                                                              {Technique::whole_shards, {}},
                                                              {Technique::append, {"append"}},
                                                              {Technique::preallocated, {"append", "in_place"}},
                                                              {Technique::arrival, {"append", "rewrite"}}};
    EXPECT_EQ(kinds, expected.at(GetParam()));
  }

  std::uint64_t expect_whole_flushes() const {
    const sherd::Array array = open(faults_.folder());
    const std::uint64_t length = array.shape()[0];
    EXPECT_GE(length, kRowsBefore + acknowledged_ * kRowsOfFlush);
    EXPECT_EQ((length - kRowsBefore) % kRowsOfFlush, 0U);
    Values values(length * kColumns);
    array.read(sherd::Box{{0, 0}, array.shape()}, std::span(values)).value();
    for (std::uint64_t i = 0; i < values.size(); ++i) {
      const std::uint64_t row = i / kColumns;
      EXPECT_EQ(values[i], row) << "row " << row;
    }
    return length;
  }

  void expect_to_be_continued() {
    const std::uint64_t length = expect_whole_flushes();
    {
      sherd::Appender next = open(faults_.folder()).appender({.technique = GetParam()}).value();
      operations::append_rows(next, length);
      next.close().value();
    }
    EXPECT_EQ(expect_whole_flushes(), length + kRowsOfFlush);
  }

  void expect_whole_flushes_without_memory(NoMemory kind) {
    const auto prepare = [&] {
      copy_tree(faults_.clean(), faults_.folder());
      return begin(faults_.folder());
    };
    const std::size_t failed = for_each_failing_allocation(
        kind, prepare,
        [&](bool is_done) {
          EXPECT_TRUE(!is_done || acknowledged_ == kFlushes);
          expect_to_be_continued();
        },
        GetParam() == Technique::whole_shards ? 101 : 23);  // some of thousands
    RecordProperty("allocations", static_cast<int>(failed));
    EXPECT_GT(failed, 20U);
  }

  void expect_to_be_continued_after_power_cuts(bool in_order);
  void expect_to_be_continued_after_power_cuts() {
    for (const bool in_order : {true, false}) expect_to_be_continued_after_power_cuts(in_order);
  }

  Faults faults_{[this](const std::string& folder) { return begin(folder); }};
  std::shared_ptr<sherd::Recorder> recorder_;
  std::uint64_t acknowledged_ = 0;
  const Simulation* simulation_ = nullptr;
  std::vector<std::size_t> acknowledged_after_;  // so many effects
  std::vector<Call> calls_;
};

TEST_P(AStream, EndsWithWholeFlushesWhenACallFails) {
  const std::size_t step = GetParam() == Technique::whole_shards ? 5 : 1;  // which makes similar calls for each slice
  for (const auto kind : {Fault::Kind::once, Fault::Kind::onward})
    for_each_failure(calls_, kind, [&](const Fault& fault, const Call& call) {
      if (fault.at % step != 0) return;
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

TEST_P(AStream, IsContinuedAfterAKillAtAnyCall) {
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

TEST_P(AStream, IsContinuedAfterAPowerCut) { expect_to_be_continued_after_power_cuts(); }

TEST_P(AStream, EndsWithWholeFlushesWhenAnAllocationFails) { expect_whole_flushes_without_memory(NoMemory::once); }

TEST_P(AStream, EndsWithWholeFlushesWhenAllocationsFailFromThenOn) {
  expect_whole_flushes_without_memory(NoMemory::from_then_on);
}

INSTANTIATE_TEST_SUITE_P(All, AStream,
                         testing::Values(Technique::automatic, Technique::whole_shards, Technique::append,
                                         Technique::preallocated, Technique::arrival),
                         [](const auto& each) { return "Technique" + std::to_string(static_cast<int>(each.param)); });

}  // namespace stream_test
}  // namespace faults
