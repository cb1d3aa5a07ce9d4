// Each system call and each allocation of an update fails in turn, or the call is the last one before the process is
// killed: what is there is what docs/writing.md promises, and the next update succeeds. array_test.cc, ids_test.cc and
// repair_test.cc have other updates; these are the ones that change a shard where it is.
#include "tests/faults/golden.hpp"

#include <gtest/gtest.h>

#include "tests/faults/allocations.hpp"
#include "tests/faults/faults.hpp"
#include "tests/faults/judge.hpp"

namespace faults {
namespace {

/// A case, and the change that is made after those before it.
struct One {
  std::string name;
  std::string change;
  friend void PrintTo(const One& one, std::ostream* to) { *to << one.name << ", " << one.change; }
};

class Update : public testing::TestWithParam<One> {
 protected:
  void SetUp() override {
    golden::create(of(), faults_.clean());
    for (const golden::Change& each : of().changes) {
      if (each.name == GetParam().change) change_ = &each;
      if (change_ != nullptr) break;
      golden::begin(of(), each, faults_.clean())();
      old_ = golden::after(each, old_);
    }
    ASSERT_NE(change_, nullptr);
    ASSERT_EQ(faults_.run(), std::nullopt);
    calls_ = faults_.calls();
    ASSERT_EQ(golden::see(of(), faults_.folder()), golden::after(*change_, old_));
  }

  [[nodiscard]] static const golden::Case& of() { return golden::find(GetParam().name); }

  void expect_promises(bool is_acknowledged) {
    EXPECT_EQ(Judge(of(), *change_, old_, faults_.folder()).fault_of_folder(is_acknowledged), "");
  }

  void expect_promises_after_failures(Fault::Kind kind) {
    for_each_failure(calls_, kind, [&](const Fault& fault, const Call& call) {
      const auto error = faults_.run(fault);
      expect_bytes_are_not_lost_silently(call, error.has_value());
      if (error) {
        EXPECT_TRUE(error->code() == sherd::ErrorCode::io) << error->text();
      }
      expect_promises(!error);
    });
  }

  void expect_promises_without_memory(NoMemory kind) {
    // Without a Simulation, which would allocate memory itself.
    const auto begin = [&] {
      copy_tree(faults_.clean(), faults_.folder());
      return golden::begin(of(), *change_, faults_.folder());
    };
    const std::size_t step = change_->length < golden::kChunks ? 7 : 1;  // a change of length makes thousands
    const auto expect = [&](bool is_acknowledged) { expect_promises(is_acknowledged); };
    const std::size_t failed = for_each_failing_allocation(kind, begin, expect, step);
    RecordProperty("allocations", static_cast<int>(failed));
    EXPECT_GT(failed * step, 100U);
  }

  Faults faults_{[this](const std::string& folder) { return golden::begin(of(), *change_, folder); }};
  const golden::Change* change_ = nullptr;
  golden::Seen old_{};
  std::vector<Call> calls_;
};

TEST_P(Update, KeepsItsPromisesWhenACallFails) { expect_promises_after_failures(Fault::Kind::once); }

TEST_P(Update, KeepsItsPromisesWhenACallFailsFromThenOn) { expect_promises_after_failures(Fault::Kind::onward); }

TEST_P(Update, KeepsItsPromisesWhenKilledAtAnyCall) {
  for_each_kill(calls_, [&](const Fault& fault, const Call& /*call*/) {
    (void)faults_.run(fault);
    expect_promises(false);
  });
}

TEST_P(Update, KeepsItsPromisesWhenAnAllocationFails) { expect_promises_without_memory(NoMemory::once); }

TEST_P(Update, KeepsItsPromisesWhenAllocationsFailFromThenOn) {
  expect_promises_without_memory(NoMemory::from_then_on);
}

TEST(OutOfMemory, IsAnErrorThatNeedsNoMemory) {
  std::string text;
  const auto act = [&]() -> std::function<void()> {
    return [&] {
      const sherd::Error error = sherd::unavailable("no memory");
      const sherd::Error copy = std::move(sherd::Error(error).in_key("key").in_slot(1).lasting());
      text = copy.code() == sherd::ErrorCode::unavailable ? copy.message() : "another error";
    };
  };
  for_each_failing_allocation(NoMemory::from_then_on, act, [&](bool is_done) {
    EXPECT_TRUE(is_done);
    EXPECT_TRUE(text == "out of memory" || text == "no memory") << text;
  });
}

INSTANTIATE_TEST_SUITE_P(All, Update,
                         testing::Values(One{"IndexAtEndAppended", "Several"}, One{"IndexAtStartAppended", "Several"},
                                         One{"IndexAtEndInPlaceOrAppended", "Larger"},
                                         One{"IndexAtStartInPlaceWithSlack", "Larger"},
                                         One{"Draft2022Appended", "Erased"}, One{"IdsAppended", "Several"},
                                         One{"IndexAtEndAppended", "Shrunk"},
                                         One{"IndexAtEndAppended", "AppendedAfterShrunk"},
                                         One{"IndexAtEndCompacted", "Compacted"}, One{"IdsCompacted", "Compacted"}),
                         [](const auto& each) { return each.param.name + each.param.change; });

}  // namespace
}  // namespace faults
