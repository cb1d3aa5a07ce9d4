// The harness that runs over every store.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/buffer.hpp"
#include "sherd/store.hpp"
#include "tests/store/lockless.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd {

struct Kind {
  const char* name;
  std::function<std::shared_ptr<Store>(const std::string& directory)> make;
  bool locks = true;
};

inline std::shared_ptr<Store> files(const std::string& directory, bool follow_symlinks, bool durable) {
  Config config;
  config.follow_symlinks = follow_symlinks;
  config.durable = durable;
  return file_store(directory + "/made/when/written", config).value();
}

inline const Kind kKinds[] = {
    {"Memory", [](const std::string&) { return memory_store(); }},
    {"File", [](const std::string& directory) { return files(directory, true, true); }},
    {"FileNotDurable", [](const std::string& directory) { return files(directory, true, false); }},
    {"FileWithoutSymlinks", [](const std::string& directory) { return files(directory, false, true); }},
    {"RecordedMemory", [](const std::string&) { return recorded_store(memory_store(), std::make_shared<Recorder>()); }},
    {"RecordedFile",
     [](const std::string& directory) {
       return recorded_store(files(directory, true, true), std::make_shared<Recorder>());
     }},
    {"DelayedMemory",
     [](const std::string&) { return delayed_store(memory_store(), std::chrono::microseconds(10), 3); }},
    {"RecordedDelayedFile",
     [](const std::string& directory) {
       return recorded_store(delayed_store(files(directory, true, true), std::chrono::microseconds(10), 3),
                             std::make_shared<Recorder>());
     }},
    {"Lockless", [](const std::string&) { return lockless(); }, false},
    {"LocklessWithoutConditionalErase", [](const std::string&) { return lockless(false); }, false},
    {"FileWithoutLocks",
     [](const std::string& directory) {
       return file_store(directory + "/made/when/written", {.durable = false, .lock = Locking::none}).value();
     }},
};

/// Those in which a thread that holds a key excludes all others.
inline std::vector<Kind> kinds_with_locks() {
  std::vector<Kind> kinds(std::begin(kKinds), std::end(kKinds));
  std::erase_if(kinds, [](const Kind& kind) { return !kind.locks; });
  return kinds;
}

class EveryStore : public testing::TestWithParam<Kind> {
 protected:
  std::optional<std::string> get(const std::string& key) { return store_->get(key).value(); }
  void set(const std::string& key, std::string_view text) { store_->set(key, text).value(); }
  std::vector<std::string> keys(const std::string& prefix = "") {
    std::vector<std::string> keys;
    store_
        ->list(prefix,
               [&](const std::string& key, std::uint64_t) {
                 keys.push_back(key);
                 return true;
               })
        .value();
    return keys;
  }
  Generation generation(const std::string& key) { return store_->open(key).value()->generation().value(); }

  /// Adds bytes to an object, before which another writer may come each time.
  void append(const std::string& key, const std::string& text) {
    for (;;) {
      const auto source = store_->open(key).value();
      const auto writer = store_->amend(key, source->generation().value());
      if (writer && writer.value()->write(source->size().value(), as_bytes(text)) && writer.value()->commit()) return;
    }
  }

  TempDir directory_;
  std::shared_ptr<Store> store_ = GetParam().make(directory_.path());
};

}  // namespace sherd
