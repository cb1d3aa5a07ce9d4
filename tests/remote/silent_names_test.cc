// Names of hosts that no server answers about. libcurl resolves names on a thread of its own, which nothing ends.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <netdb.h>

#include <condition_variable>
#include <mutex>

#include "src/base/call.hpp"
#include "src/remote/http_service.hpp"

namespace {

constexpr std::chrono::seconds kLongest{20};

struct Silence {
  std::mutex mutex;
  std::condition_variable ended;
  bool has_ended = false;

  static Silence& get() {
    static Silence silence;
    return silence;
  }
  void wait() {
    std::unique_lock lock(mutex);
    ended.wait_for(lock, kLongest, [&] { return has_ended; });
  }
  void end() {
    const std::lock_guard lock(mutex);
    has_ended = true;
    ended.notify_all();
  }
};

}  // namespace

/// Replaces that of the system in this program, for libcurl too.
extern "C" __attribute__((visibility("default"))) int getaddrinfo(const char* name, const char* service,
                                                                  const addrinfo* hints, addrinfo** result) {
  static const auto found = reinterpret_cast<decltype(&getaddrinfo)>(dlsym(RTLD_NEXT, "getaddrinfo"));
  if (name == nullptr || std::string_view(name) != "silent.example") return found(name, service, hints, result);
  Silence::get().wait();
  return EAI_AGAIN;
}

namespace sherd::remote {
namespace {

TEST(SilentNames, KeepNoCallWaiting) {
  const auto begin = std::chrono::steady_clock::now();
  const std::map<std::string, std::string> options = {
      {"connect_timeout", "0.1"}, {"attempts", "1"}, {"netrc", "false"}};
  const StoreUrl url{.scheme = "http", .host = "silent.example"};
  EXPECT_EQ(http_store(url, {.storage_options = options}).value()->get("k").error().code(), ErrorCode::io);
  int polls = 0;
  const Config config{.interrupted = [&] { return ++polls > 3; }};
  const auto store = http_store(url, {}).value();
  EXPECT_EQ(as_call(config, [&] { return store->get("k"); }).error().code(), ErrorCode::unavailable);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, kLongest / 2);
  Silence::get().end();
}

}  // namespace
}  // namespace sherd::remote
