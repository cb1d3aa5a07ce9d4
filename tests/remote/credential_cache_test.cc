#include "remote/credential_cache.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "src/base/call.hpp"

namespace sherd::remote {
namespace credential_cache_test {

using std::chrono::minutes;
using std::chrono::seconds;
using Time = std::chrono::system_clock::time_point;

/// Credentials whose key id counts how often they were asked for, on a clock that the test sets.
struct Asked {
  Result<Credentials> operator()() {
    ++count;
    if (is_failing) return io_error("failure " + std::to_string(count));
    Credentials credentials{.key_id = std::to_string(count), .secret_key = "secret"};
    if (lifetime) credentials.expires = now + *lifetime;
    return credentials;
  }
  CredentialCache cache{[this] { return (*this)(); }, [this] { return now; }};
  int count = 0;
  bool is_failing = false;
  std::optional<minutes> lifetime = minutes(60);
  Time now{seconds(1700000000)};
};

TEST(CredentialCache, AsksFiveMinutesBeforeTheExpiry) {
  Asked asked;
  EXPECT_EQ(asked.cache.get()->key_id, "1");
  asked.now += minutes(54);
  EXPECT_EQ(asked.cache.get()->key_id, "1");
  asked.now += minutes(1);
  EXPECT_EQ(asked.cache.get()->key_id, "2");
  EXPECT_EQ(asked.cache.get()->key_id, "2");
}

TEST(CredentialCache, KeepsCredentialsWithoutExpiry) {
  Asked asked;
  asked.lifetime.reset();
  EXPECT_EQ(asked.cache.get()->key_id, "1");
  asked.now += std::chrono::hours(1000000);
  EXPECT_EQ(asked.cache.get()->key_id, "1");
}

TEST(CredentialCache, UsesTheOldOnesUntilTheyExpireIfAskingFails) {
  Asked asked;
  ASSERT_TRUE(asked.cache.get());
  asked.is_failing = true;
  asked.now += minutes(56);
  EXPECT_EQ(asked.cache.get()->key_id, "1");
  EXPECT_EQ(asked.cache.get()->key_id, "1");
  EXPECT_EQ(asked.count, 2) << "tried again before a minute had passed";
  asked.now += minutes(1);
  EXPECT_EQ(asked.cache.get()->key_id, "1");
  EXPECT_EQ(asked.count, 3);
  asked.now += minutes(3);
  EXPECT_EQ(asked.cache.get().error().message(), "failure 4");
  asked.is_failing = false;
  asked.now += seconds(4);
  EXPECT_EQ(asked.cache.get()->key_id, "5");
}

TEST(CredentialCache, ReturnsAFailureForAFewSecondsWithoutAskingAgain) {
  Asked asked;
  asked.is_failing = true;
  EXPECT_EQ(asked.cache.get().error().message(), "failure 1");
  asked.now += seconds(2);
  EXPECT_EQ(asked.cache.get().error().message(), "failure 1");
  asked.now += seconds(2);
  EXPECT_EQ(asked.cache.get().error().message(), "failure 2");
}

TEST(CredentialCache, DoesNotAskAgainAtOnceForCredentialsThatHaveExpired) {
  Asked asked;
  asked.lifetime = minutes(-10);
  EXPECT_EQ(asked.cache.get()->key_id, "1");
  EXPECT_EQ(asked.cache.get()->key_id, "1");
  asked.now += minutes(1);
  EXPECT_EQ(asked.cache.get()->key_id, "2");
}

TEST(CredentialCache, AsksAgainForRefusedCredentialsOnce) {
  Asked asked;
  const Credentials first = asked.cache.get().value();
  EXPECT_TRUE(asked.cache.refused(first));
  EXPECT_EQ(asked.cache.get()->key_id, "2");
  EXPECT_TRUE(asked.cache.refused(first)) << "of a request that was under way";
  EXPECT_EQ(asked.cache.get()->key_id, "2");
}

TEST(CredentialCache, SaysThatRefusedCredentialsWereNotReplaced) {
  Asked asked;
  const Credentials first = asked.cache.get().value();
  EXPECT_TRUE(asked.cache.refused(first));
  asked.count = 0;
  EXPECT_EQ(asked.cache.get()->key_id, first.key_id);
  EXPECT_FALSE(asked.cache.refused(first));
  EXPECT_EQ(asked.cache.get()->key_id, "2") << "a file may have changed since";
}

TEST(CredentialCache, IsAskedByOneThreadForAll) {
  constexpr int kThreads = 16;
  std::latch arrived(kThreads);
  std::atomic<int> asked = 0;
  CredentialCache cache([&]() -> Result<Credentials> {
    arrived.wait();
    ++asked;
    return Credentials{.key_id = "k", .secret_key = "s"};
  });
  std::vector<std::jthread> threads;
  std::atomic<int> right = 0;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      arrived.count_down();
      const auto credentials = cache.get();
      if (credentials && credentials->key_id == "k") ++right;
    });
  }
  threads.clear();
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(right, kThreads);
}

TEST(CredentialCache, LetsOthersUseTheOldOnesWhileOneThreadAsks) {
  Time now{seconds(1700000000)};
  std::latch is_asking(1), may_answer(1);
  int count = 0;
  CredentialCache cache(
      [&]() -> Result<Credentials> {
        if (++count == 2) {
          is_asking.count_down();
          may_answer.wait();
        }
        return Credentials{.key_id = std::to_string(count), .secret_key = "s", .expires = now + minutes(10)};
      },
      [&] { return now; });
  ASSERT_EQ(cache.get()->key_id, "1");
  now += minutes(6);
  std::jthread refreshing([&] { EXPECT_EQ(cache.get()->key_id, "2"); });
  is_asking.wait();
  EXPECT_EQ(cache.get()->key_id, "1");
  may_answer.count_down();
  refreshing.join();
  EXPECT_EQ(cache.get()->key_id, "2");
}

TEST(CredentialCache, CanBeAskedAgainAfterItsSourceThrew) {
  int count = 0;
  CredentialCache cache([&]() -> Result<Credentials> {
    if (++count == 1) throw std::runtime_error("callback");
    return Credentials{.key_id = "k", .secret_key = "s"};
  });
  EXPECT_THROW((void)cache.get(), std::runtime_error);
  EXPECT_EQ(cache.get()->key_id, "k");
}

TEST(CredentialCache, IsAskedByAnotherCallAfterAnInterrupt) {
  std::latch arrived(2);
  std::atomic<int> asked = 0;
  CredentialCache cache([&]() -> Result<Credentials> {
    arrived.wait();
    if (++asked == 1) return unavailable("interrupted");
    return Credentials{.key_id = "k", .secret_key = "s"};
  });
  std::atomic<int> right = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 2; ++i) {
      threads.emplace_back([&] {
        arrived.count_down();
        right += cache.get().has_value();
      });
    }
  }
  EXPECT_EQ(right, 1);
}

TEST(CredentialCache, EndsAWaitForAnotherThreadWhenTheCallIsInterrupted) {
  std::latch is_asking(1), may_answer(1);
  CredentialCache cache([&]() -> Result<Credentials> {
    is_asking.count_down();
    may_answer.wait();
    return Credentials{.key_id = "k", .secret_key = "s"};
  });
  std::jthread asking([&] { EXPECT_EQ(cache.get()->key_id, "k"); });
  is_asking.wait();
  int polls = 0;
  const Config config{.interrupted = [&] { return ++polls > 3; }};
  EXPECT_EQ(as_call(config, [&] { return cache.get(); }).error().code(), ErrorCode::unavailable);
  may_answer.count_down();
}

TEST(SharedCredentials, AreAskedForOnceForAllStoresWithTheSameKey) {
  int asked = 0;
  const auto source = [&]() -> Result<Credentials> { return Credentials{.key_id = std::to_string(++asked)}; };
  EXPECT_EQ(shared_credentials("asked once", source)->get()->key_id, "1");
  EXPECT_EQ(shared_credentials("asked once", source)->get()->key_id, "1");
  EXPECT_EQ(shared_credentials("another", source)->get()->key_id, "2");
  EXPECT_EQ(shared_credentials("", source)->get()->key_id, "3");
  EXPECT_EQ(shared_credentials("", source)->get()->key_id, "4");
}

TEST(SharedCredentials, AreAskedForAgainByTheNextStoreAfterAFailure) {
  EXPECT_FALSE(shared_credentials("fails", [] { return Result<Credentials>(io_error("denied")); })->get());
  EXPECT_EQ(shared_credentials("fails", [] { return Result<Credentials>(Credentials{.key_id = "k"}); })->get()->key_id,
            "k");
}

TEST(SharedCredentials, OfAUserAreSharedIfTheyExpire) {
  int asked = 0;
  const auto ask = [&](const std::string& key, std::optional<Time> expires) {
    const auto source = [&]() -> Result<Credentials> {
      return Credentials{.key_id = std::to_string(++asked), .expires = expires};
    };
    return shared_credentials(key, source, true)->get()->key_id;
  };
  const Time later = std::chrono::system_clock::now() + minutes(60);
  EXPECT_EQ(ask("expires", later), "1");
  EXPECT_EQ(ask("expires", later), "1");
  EXPECT_EQ(ask("lasts", std::nullopt), "2");
  EXPECT_EQ(ask("lasts", std::nullopt), "3") << "they may be those of another identity";
}

TEST(SharedCredentials, OfAForkedChildAreItsOwn) {
  const auto source = [] { return Result<Credentials>(Credentials{.key_id = std::to_string(getpid())}); };
  const auto cache = shared_credentials("forked", source);
  EXPECT_EQ(cache->get()->key_id, std::to_string(getpid()));
  const pid_t child = fork();
  if (child == 0) _exit(shared_credentials("forked", source)->get()->key_id == std::to_string(getpid()) ? 0 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(shared_credentials("forked", source), cache);
}

TEST(SharedCredentials, AreThoseOfOneFunction) {
  const CredentialFunction function{.ask = [] { return Result<Credentials>(Credentials()); }, .identity = &function};
  const CredentialCache::Source copy = function, other = CredentialFunction{.ask = copy, .identity = &copy};
  EXPECT_EQ(key_of(copy), key_of(function));
  EXPECT_NE(key_of(copy), key_of(other));
  EXPECT_EQ(key_of([] { return Result<Credentials>(Credentials()); }), "") << "it cannot be told from others";
}

TEST(CredentialCache, OfAForkedChildDoesNotWaitForItsParent) {
  std::latch is_asking(1), may_answer(1);
  const pid_t parent = getpid();
  CredentialCache cache([&]() -> Result<Credentials> {
    if (getpid() == parent) {
      is_asking.count_down();
      may_answer.wait();
    }
    return Credentials{.key_id = getpid() == parent ? "parent" : "child", .secret_key = "s"};
  });
  std::jthread asking([&] { EXPECT_EQ(cache.get()->key_id, "parent"); });
  is_asking.wait();
  const pid_t child = fork();
  if (child == 0) _exit(cache.get()->key_id == "child" ? 0 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  may_answer.count_down();
}

}  // namespace credential_cache_test
}  // namespace sherd::remote
