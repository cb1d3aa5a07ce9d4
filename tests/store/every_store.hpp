// The harness that runs over every row of the table of stores, over one more row that only the tests have, and over
// stores with other settings or wrapped in others. A new row needs no line here.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/registry.hpp"
#include "base/buffer.hpp"
#include "sherd/store.hpp"
#include "store/zip.hpp"
#include "tests/remote/real_server.hpp"
#include "tests/store/amended.hpp"
#include "tests/store/lockless.hpp"
#include "tests/store/temp_dir.hpp"
#include "tests/store/unlisted.hpp"

namespace sherd {

struct Kind {
  std::string name;
  std::function<std::shared_ptr<Store>(const std::string& directory)> make;
  bool locks = true;
  bool lists = true;
  bool has_any_bytes_in_keys = true;
  /// An object store: names a version by its bytes, keeps no version that was replaced, and does not report whether an
  /// object that it erases existed.
  bool is_server = false;
  /// SeaweedFS, which has directories: it keeps those without objects, and refuses keys with "..\\".
  bool is_filer = false;
  /// Not OpenStack Swift, which has no conditional requests: it stores whole objects, and refuses to change the version
  /// that was read. A thousand objects take it ten seconds.
  bool compares = true;
};

inline std::shared_ptr<Store> files(const std::string& directory, bool follow_symlinks, bool durable) {
  Config config;
  config.follow_symlinks = follow_symlinks;
  config.durable = durable;
  return file_store(directory + "/made/when/written", config).value();
}

/// An archive that does not exist yet.
inline std::shared_ptr<Store> zipped(const std::string& directory) {
  return zip_store(files(directory, true, true), "in/a.zip", {}).value();
}

/// The rows: those of the table, and one of a scheme that only the tests have.
inline std::vector<StoreEntry> store_rows() {
  const auto table = store_table();
  std::vector<StoreEntry> rows(table.begin(), table.end());
  static constexpr std::string_view options[] = {"conditional_erase"};
  rows.push_back(
      {"testing",
       [](const StoreUrl&, std::optional<OuterObject>, const Config& config) -> Result<std::shared_ptr<Store>> {
         return lockless(!config.storage_options.contains("conditional_erase"));
       },
       options});
  return rows;
}

/// A store of any row.
inline Result<std::shared_ptr<Store>> open_of_rows(std::string_view url, const Config& config = {}) {
  const std::vector<StoreEntry> rows = store_rows();
  SHERD_TRY(parsed, parse_url(url, rows));
  return open_store(parsed, config, rows);
}

/// A new path in a bucket of a server of tests/servers; nullptr if the server is not installed.
inline std::shared_ptr<Store> on_server(const std::string& name) {
  static std::map<std::string, Result<remote::RealServer>> servers;
  static std::atomic<int> made = 0;
  const TempDir no_files;  // for a bucket without objects
  if (!servers.contains(name)) servers.emplace(name, remote::real_server(name, no_files.path()));
  const auto& server = servers.at(name);
  if (!server) return nullptr;
  Config config;
  config.storage_options = {
      {"endpoint", server->url}, {"key", server->key}, {"secret", server->secret}, {"region", server->region}};
  return open_of_rows("s3://" + server->bucket + "/in a/" + std::to_string(made++), config).value();
}

/// A new store of a row, opened by its URL. The path in it is one of this directory, unless the store is in memory.
inline std::shared_ptr<Store> open_row(std::string_view scheme, const std::string& directory) {
  const std::string where = scheme == "memory" ? "" : directory + "/made/when/written";
  return open_of_rows(std::string(scheme) + "://" + where).value();
}

/// Each row of the table that can be written, as it is, with latency and a recorder around it. That of S3 is tried out
/// with servers, which start with the first test; its other schemes open the same store.
inline std::vector<Kind> kinds_of_rows() {
  std::vector<Kind> kinds;
  for (const char* server : {"radosgw", "seaweedfs", "swift"})
    kinds.push_back({.name = std::string("S3_") + server,
                     .make = [server](const std::string&) { return on_server(server); },
                     .locks = false,
                     .has_any_bytes_in_keys = false,
                     .is_server = true,
                     .is_filer = std::string_view(server) == "seaweedfs",
                     .compares = std::string_view(server) != "swift"});
  const TempDir directory;
  for (const StoreEntry& row : store_rows()) {
    if (row.is_layer || row.is_read_only || row.scheme.starts_with("s3")) continue;  // kSettings has the layers
    const auto opened = [scheme = row.scheme](const std::string& at) { return open_row(scheme, at); };
    const StoreTraits traits = opened(directory.path())->traits();
    std::string name(row.scheme);
    name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
    kinds.push_back({name, opened, traits.locks, traits.can_list});
    kinds.push_back({"RecordedDelayed" + name,
                     [opened](const std::string& at) {
                       return recorded_store(delayed_store(opened(at), std::chrono::microseconds(10), 3),
                                             std::make_shared<Recorder>());
                     },
                     traits.locks, traits.can_list});
  }
  return kinds;
}

inline const Kind kSettings[] = {
    {"FileNotDurable", [](const std::string& directory) { return files(directory, true, false); }},
    {"FileWithoutSymlinks", [](const std::string& directory) { return files(directory, false, true); }},
    {"RecordedMemory", [](const std::string&) { return recorded_store(memory_store(), std::make_shared<Recorder>()); }},
    {"RecordedFile",
     [](const std::string& directory) {
       return recorded_store(files(directory, true, true), std::make_shared<Recorder>());
     }},
    {"DelayedMemory",
     [](const std::string&) { return delayed_store(memory_store(), std::chrono::microseconds(10), 3); }},
    {"LocklessWithoutConditionalErase", [](const std::string&) { return lockless(false); }, false},
    {"Unlisted", [](const std::string&) { return unlisted(memory_store()); }, true, false},
    {"FileWithoutLocks",
     [](const std::string& directory) {
       return file_store(directory + "/made/when/written", {.durable = false, .lock = Locking::none}).value();
     }},
    {"Zip", [](const std::string& directory) { return zipped(directory); }, true, true, false},
    {"ZipInDelayedFiles",
     [](const std::string& directory) {
       const auto around = delayed_store(files(directory, true, true), std::chrono::microseconds(10), 3);
       return zip_store(recorded_store(around, std::make_shared<Recorder>()), "a.zip", {}).value();
     },
     true, true, false},
};

inline const std::vector<Kind>& all_kinds() {
  static const std::vector<Kind> all = [] {
    std::vector<Kind> kinds = kinds_of_rows();
    kinds.insert(kinds.end(), std::begin(kSettings), std::end(kSettings));
    return kinds;
  }();
  return all;
}

/// Those that can list what they hold.
inline std::vector<Kind> kinds_that_list() {
  std::vector<Kind> kinds = all_kinds();
  std::erase_if(kinds, [](const Kind& kind) { return !kind.lists; });
  return kinds;
}

/// Those in which a thread that holds a key excludes all others.
inline std::vector<Kind> kinds_with_locks() {
  std::vector<Kind> kinds = all_kinds();
  std::erase_if(kinds, [](const Kind& kind) { return !kind.locks || !kind.lists; });
  return kinds;
}

/// Those in which an object can be replaced in the version that was read, and no other; or the rest.
inline std::vector<Kind> kinds_that_compare(bool compare = true) {
  std::vector<Kind> kinds = kinds_that_list();
  std::erase_if(kinds, [&](const Kind& kind) { return kind.compares != compare; });
  return kinds;
}

class EveryStore : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    if (!store_) GTEST_SKIP() << "the server is not installed";
  }
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
  /// Erases an object; whether it existed is reported as expected, or not at all.
  void erase(const std::string& key, Erased expected) {
    const Erased erased = store_->erase(key).value();
    EXPECT_TRUE(erased == expected || (GetParam().is_server && erased == Erased::unknown)) << key;
  }
  /// Whether the store has refused to change the version that was read, and named the option that allows it.
  template <typename T>
  static bool is_refused_by_name(const Result<T>& change) {
    return !change && change.error().code() == ErrorCode::unsupported &&
           change.error().message().find("conditional=no") != std::string::npos;
  }
  Generation generation(const std::string& key) { return store_->open(key).value()->generation().value(); }

  /// Adds bytes to an object, before which another writer may come each time.
  void append(const std::string& key, const std::string& text) {
    for (;;) {
      const auto source = store_->open(key).value();
      if (amend(*store_, key, *source, {{source->size().value(), text}})) return;
    }
  }

  TempDir directory_;
  std::shared_ptr<Store> store_ = GetParam().make(directory_.path());
};

}  // namespace sherd
