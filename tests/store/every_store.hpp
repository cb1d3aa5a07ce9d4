// The harness that runs over every store.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sherd/store.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd {

struct Kind {
  const char* name;
  std::function<std::shared_ptr<Store>(const std::string& directory)> make;
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
};

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

  TempDir directory_;
  std::shared_ptr<Store> store_ = GetParam().make(directory_.path());
};

}  // namespace sherd
