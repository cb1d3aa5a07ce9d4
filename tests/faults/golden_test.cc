// Each system call and each allocation of an update fails in turn, or the call is the last one before the process is
// killed: what is there is what docs/writing.md promises, and the next update succeeds. array_test.cc, ids_test.cc and
// repair_test.cc have other updates; these are the ones that change a shard where it is.
#include "tests/faults/golden.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

#include "tests/faults/faults.hpp"
#include "tests/faults/judge.hpp"

namespace {

/// How many allocations by `new` succeed before one fails; negative: all.
std::atomic<long> allocations_left{-1};

void* allocate(std::size_t size, std::size_t alignment) {
  if (allocations_left.load(std::memory_order_relaxed) >= 0 && allocations_left.fetch_sub(1) == 0) return nullptr;
  return std::aligned_alloc(alignment, (std::max<std::size_t>(size, 1) + alignment - 1) / alignment * alignment);
}

}  // namespace

void* operator new(std::size_t size) {
  void* memory = allocate(size, alignof(std::max_align_t));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  void* memory = allocate(size, static_cast<std::size_t>(alignment));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return allocate(size, alignof(std::max_align_t));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/, std::align_val_t /*alignment*/) noexcept { std::free(memory); }

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

TEST_P(Update, KeepsItsPromisesWhenAnAllocationFails) {
  long failed = 0;
  for (bool is_done = false; !is_done && !HasFailure(); ++failed) {
    SCOPED_TRACE("allocation " + std::to_string(failed));
    copy_tree(faults_.clean(), faults_.folder());
    bool is_acknowledged = false;
    {
      // Without a Simulation, which would allocate memory itself.
      const auto act = golden::begin(of(), *change_, faults_.folder());
      allocations_left = failed;
      try {
        act();
        is_acknowledged = true;
      } catch (const std::bad_alloc&) {
      } catch (const sherd::Exception& failure) {
        allocations_left = -1;
        EXPECT_EQ(failure.error().code(), sherd::ErrorCode::unavailable) << failure.error().text();
      }
      is_done = allocations_left.exchange(-1) > 0;
    }
    expect_promises(is_acknowledged);
  }
  RecordProperty("allocations", static_cast<int>(failed - 1));
  EXPECT_GT(failed, 100);
}

INSTANTIATE_TEST_SUITE_P(All, Update,
                         testing::Values(One{"IndexAtEndAppended", "Several"}, One{"IndexAtStartAppended", "Several"},
                                         One{"IndexAtEndInPlaceOrAppended", "Larger"},
                                         One{"IndexAtStartInPlaceWithSlack", "Larger"},
                                         One{"Draft2022Appended", "Erased"}, One{"IdsAppended", "Several"},
                                         One{"IndexAtEndCompacted", "Compacted"}, One{"IdsCompacted", "Compacted"}),
                         [](const auto& each) { return each.param.name + each.param.change; });

}  // namespace
}  // namespace faults
