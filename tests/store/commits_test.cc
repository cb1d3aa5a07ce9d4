// Commits on threads of their own: what is stored, in how many threads, and what a failure ends.
#include "store/commits.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <new>
#include <thread>

#include "tests/store/test_store.hpp"

namespace sherd {
namespace commits_test {

constexpr std::size_t kThreads = 4;

class CommitsTest : public testing::Test {
 protected:
  Result<void> add(Commits& commits, const std::string& key) {
    auto object = store_->write(key, {}).value();
    object->write(0, std::as_bytes(std::span(key))).value();
    return commits.add(std::move(object), {}, key);
  }

  std::shared_ptr<TestStore> store_ = std::make_shared<TestStore>(memory_store());
};

TEST_F(CommitsTest, AreAllMadeWhenFinishReturns) {
  for (const std::size_t threads : {std::size_t{0}, kThreads}) {
    Commits commits(threads);
    for (int i = 0; i < 100; ++i) add(commits, "k" + std::to_string(i)).value();
    commits.finish({}).value();
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(store_->get("k" + std::to_string(i)).value()) << i;
    store_->erase_prefix("").value();
  }
}

TEST_F(CommitsTest, WaitForEachOtherNowhere) {
  std::latch all(kThreads);
  std::atomic<int> outside{0};
  store_->before = [&, caller = std::this_thread::get_id()](const Asked& asked) {
    if (asked.op != Op::commit) return;
    if (std::this_thread::get_id() != caller) ++outside;
    all.arrive_and_wait();
  };
  Commits commits(kThreads);
  for (std::size_t i = 0; i < kThreads; ++i) add(commits, "k" + std::to_string(i)).value();
  commits.finish({}).value();
  EXPECT_EQ(outside, kThreads);
}

TEST_F(CommitsTest, OfTheCallerItselfBeginBeforeAddReturns) {
  Commits commits(0);
  add(commits, "k").value();
  EXPECT_TRUE(store_->get("k").value());
}

TEST_F(CommitsTest, EndWithTheFirstFailureAndItsKey) {
  store_->fail_at("k3", Op::commit);
  Commits commits(kThreads);
  for (int i = 0; add(commits, "k" + std::to_string(i)); ++i) std::this_thread::yield();
  const auto done = commits.finish({});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().text(), "'k3': the disk is broken");
  EXPECT_FALSE(store_->get("k3").value());
}

TEST_F(CommitsTest, ReturnAConflictToOthersAsOneThatLasts) {
  store_->refuse = [](const Asked& asked) -> Result<void> {
    return asked.op == Op::commit ? Result<void>(conflict("another process erased it")) : Result<void>();
  };
  Commits commits(kThreads);
  Result<void> added;
  // One that add() commits itself fails with a conflict of its own.
  for (int i = 0; added || !added.error().is_lasting(); ++i) {
    added = add(commits, "k" + std::to_string(i));
    std::this_thread::yield();
  }
  const auto done = commits.finish(std::move(added));
  ASSERT_FALSE(done);
  EXPECT_FALSE(done.error().is_lasting()) << "the whole loop may be repeated";
}

TEST_F(CommitsTest, PassOnAnExceptionOfOneOfThem) {
  store_->before = [](const Asked& asked) {
    if (asked.op == Op::commit && asked.key == "k1") throw std::bad_alloc();
  };
  Commits commits(kThreads);
  EXPECT_THROW(
      {
        for (int i = 0; i < 3; ++i) add(commits, "k" + std::to_string(i)).value();
        (void)commits.finish({});
      },
      std::bad_alloc);
  EXPECT_FALSE(store_->get("k1").value());
}

/// Says when it is destroyed.
class Watched final : public ForwardingWriter {
 public:
  Watched(std::unique_ptr<ObjectWriter> writer, std::latch& gone) : ForwardingWriter(std::move(writer)), gone_(gone) {}
  ~Watched() override { gone_.count_down(); }

 private:
  std::latch& gone_;
};

TEST_F(CommitsTest, AreAbandonedIfTheLoopThatMakesThemFails) {
  std::latch begun(1), abandoned(1);
  store_->before = [&](const Asked& asked) {
    if (asked.op != Op::commit || asked.key != "k0") return;
    begun.count_down();
    abandoned.wait();
  };
  Commits commits(1);
  add(commits, "k0").value();
  begun.wait();
  commits.add(std::make_unique<Watched>(store_->write("k1", {}).value(), abandoned), {}, "k1").value();
  const auto done = commits.finish(io_error("the source is gone"));
  EXPECT_EQ(done.error().text(), "the source is gone");
  EXPECT_TRUE(store_->get("k0").value()) << "its commit had begun";
  EXPECT_FALSE(store_->get("k1").value());
}

}  // namespace commits_test
}  // namespace sherd
