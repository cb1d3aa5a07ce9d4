// Many writers of one object, threads and processes: no update is lost, no reader sees half of one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <functional>
#include <thread>

#include "base/buffer.hpp"
#include "sherd/store.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd {
namespace store_test {

constexpr int kThreads = 16, kProcesses = 4, kRounds = 25;

int number(const std::string& text) {
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// A value whose length is its number, so that a mixture of two versions would show.
std::string value_of(int count) {
  const std::string head = std::to_string(count) + " ";
  return head + std::string(static_cast<std::size_t>(count) * 10, static_cast<char>('a' + count % 26));
}

/// Reads, adds one and replaces under the lock; the condition must therefore always hold.
bool add_under_lock(Store& store, const std::string& key) {
  const auto lock = store.lock(key).value();
  const auto source = store.open(key).value();
  const auto text = store.get(key).value();
  if (!source || value_of(number(*text)) != *text) return false;
  return store.set(key, value_of(number(*text) + 1), Condition::matches(source->generation().value())).has_value();
}

/// Reads before it writes, so that other writers can intervene; tries again if the condition does not hold.
bool add_by_condition(Store& store, const std::string& key) {
  for (;;) {
    const auto source = store.open(key).value();
    if (!source) return false;
    std::string text(source->size().value(), ' ');
    const RangeRead whole{0, std::as_writable_bytes(std::span(text))};
    source->read({&whole, 1}).value();
    const auto generation = source->generation().value();
    if (value_of(number(text)) != text) return false;
    const auto set = store.set(key, value_of(number(text) + 1), Condition::matches(generation));
    if (set) return true;
    if (set.error().code() != ErrorCode::conflict) return false;
  }
}

using Add = bool (*)(Store&, const std::string&);

/// Whether all threads succeeded in all their rounds.
bool add_in_threads(const std::function<std::shared_ptr<Store>()>& open, int count, Add add) {
  std::atomic<bool> good = true;
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t) {
    threads.emplace_back([&, store = open()] {
      for (int i = 0; i < kRounds; ++i) {
        if (!add(*store, "c/0")) good = false;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  return good;
}

/// Calls `add` in processes of their own.
void add_in_processes(const TempDir& directory, const Config& config, Add add) {
  std::vector<pid_t> children;
  for (int p = 0; p < kProcesses; ++p) {
    const pid_t child = ::fork();
    if (child == 0) {
      const auto store = file_store(directory.path(), config).value();
      ::_exit(add_in_threads([&] { return store; }, kThreads / kProcesses, add) ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

class Stores : public testing::TestWithParam<Add> {
 protected:
  Stores() { config_.durable = false; }
  TempDir directory_;
  Config config_;
};
INSTANTIATE_TEST_SUITE_P(Ways, Stores, testing::Values(&add_under_lock, &add_by_condition),
                         [](const auto& way) { return way.param == &add_under_lock ? "UnderTheLock" : "ByCondition"; });

TEST_P(Stores, LoseNoUpdateOfManyThreadsInMemory) {
  const auto store = memory_store();
  store->set("c/0", value_of(0)).value();
  EXPECT_TRUE(add_in_threads([&] { return store; }, kThreads, GetParam()));
  EXPECT_EQ(store->get("c/0").value(), value_of(kThreads * kRounds));
}

TEST_P(Stores, LoseNoUpdateOfManyThreadsInOneFile) {
  const auto store = file_store(directory_.path(), config_).value();
  store->set("c/0", value_of(0)).value();
  EXPECT_TRUE(add_in_threads([&] { return store; }, kThreads, GetParam()));
  EXPECT_EQ(store->get("c/0").value(), value_of(kThreads * kRounds));
  EXPECT_THAT(directory_.contents(), testing::ElementsAre("c", "c/0"));
}

TEST_P(Stores, LoseNoUpdateOfManyStoresOfOneDirectory) {
  const auto store = file_store(directory_.path(), config_).value();
  store->set("c/0", value_of(0)).value();
  EXPECT_TRUE(add_in_threads([&] { return file_store(directory_.path(), config_).value(); }, kThreads, GetParam()));
  EXPECT_EQ(store->get("c/0").value(), value_of(kThreads * kRounds));
}

TEST_P(Stores, LoseNoUpdateOfManyProcesses) {
  const auto store = file_store(directory_.path(), config_).value();
  store->set("c/0", value_of(0)).value();
  add_in_processes(directory_, config_, GetParam());
  EXPECT_EQ(store->get("c/0").value(), value_of(kThreads * kRounds));
  EXPECT_THAT(directory_.contents(), testing::ElementsAre("c", "c/0"));
}

TEST(FileStoreUnderLoad, CreatesAndRemovesTheSameDirectoriesFromManyThreads) {
  const TempDir directory;
  Config config;
  config.durable = false;
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t, store = file_store(directory / "root", config).value()] {
      const std::string key = "a/b/c/" + std::to_string(t);
      for (int i = 0; i < 100; ++i) {
        if (i % 2 == 0) {
          const auto abandoned = store->write(key);
          if (!abandoned) ++failures;
        } else if (!store->set(key, "x") || !store->erase(key).has_value()) {
          ++failures;
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
}

TEST(FileStoreUnderLoad, ErasingAPrefixDuringWritesSucceeds) {
  const TempDir directory;
  Config config;
  config.durable = false;
  const auto store = file_store(directory.path(), config).value();
  std::atomic<bool> done = false;
  std::atomic<int> failures = 0;
  std::thread eraser([&] {
    while (!done) {
      if (!store->erase_prefix("a/")) ++failures;
    }
  });
  std::vector<std::thread> writers;
  for (int t = 0; t < 4; ++t) {
    writers.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const auto set = store->set("a/b/" + std::to_string(t), "x");
        if (!set && set.error().code() != ErrorCode::conflict) ++failures;
      }
    });
  }
  for (auto& writer : writers) writer.join();
  done = true;
  eraser.join();
  EXPECT_EQ(failures, 0);
  store->erase_prefix("a/").value();
  EXPECT_THAT(directory.contents(), testing::IsEmpty());
}

TEST(FileStoreUnderLoad, ErasingADirectoryThatOthersRemoveSucceeds) {
  const TempDir directory;
  const auto store = file_store(directory.path()).value();
  std::atomic<bool> done = false;
  std::thread other([&] {
    while (!done) {
      ::mkdir((directory.path() + "/a").c_str(), 0777);
      ::rmdir((directory.path() + "/a").c_str());
    }
  });
  for (int i = 0; i < 200'000; ++i) {
    const auto erased = store->erase_prefix("a/");
    EXPECT_TRUE(erased) << erased.error().text();
  }
  done = true;
  other.join();
}

TEST(FileStoreUnderLoad, AReaderSeesTheOldOrTheNewObject) {
  const TempDir directory;
  Config config;
  config.durable = false;
  const auto store = file_store(directory.path(), config).value();
  store->set("c", value_of(1)).value();
  std::atomic<bool> done = false;
  std::thread writer([&] {
    for (int i = 0; i < 300; ++i) store->set("c", value_of(1 + i % 50 * 20)).value();
    done = true;
  });
  int seen = 0;
  while (!done || seen == 0) {
    const auto text = store->get("c").value();
    ASSERT_TRUE(text);
    ASSERT_EQ(*text, value_of(number(*text)));
    ++seen;
  }
  writer.join();
}

}  // namespace store_test
}  // namespace sherd
