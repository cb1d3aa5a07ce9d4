// A cache of immutable values by name and generation, within a budget of bytes; evicts the least recently used.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "sherd/store.hpp"

namespace sherd {

class Cache {
 public:
  explicit Cache(std::uint64_t bytes) noexcept : limit_(bytes) {}

  /// The cached value with this name, if it belongs to this generation of the object.
  template <class T>
  [[nodiscard]] std::shared_ptr<const T> get(const std::string& name, const Generation& generation) {
    const std::lock_guard hold(mutex_);
    const auto found = by_name_.find(name);
    if (found == by_name_.end() || found->second->generation != generation) return nullptr;
    entries_.splice(entries_.begin(), entries_, found->second);
    return std::static_pointer_cast<const T>(found->second->value);
  }

  /// Caches a value of this many bytes; one larger than the whole budget is not cached.
  void put(const std::string& name, const Generation& generation, std::shared_ptr<const void> value,
           std::uint64_t bytes) {
    const std::lock_guard hold(mutex_);
    if (const auto found = by_name_.find(name); found != by_name_.end()) drop(found->second);
    if (bytes > limit_) return;
    entries_.push_front({name, generation, std::move(value), bytes});
    by_name_.emplace(name, entries_.begin());
    used_ += bytes;
    while (used_ > limit_) drop(std::prev(entries_.end()));
  }

  void clear() {
    const std::lock_guard hold(mutex_);
    while (!entries_.empty()) drop(entries_.begin());
  }

 private:
  struct Entry {
    std::string name;
    Generation generation;
    std::shared_ptr<const void> value;
    std::uint64_t bytes;
  };
  void drop(std::list<Entry>::iterator entry) {
    used_ -= entry->bytes;
    by_name_.erase(entry->name);
    entries_.erase(entry);
  }

  std::uint64_t limit_;
  std::uint64_t used_ = 0;
  std::mutex mutex_;
  std::list<Entry> entries_;
  std::unordered_map<std::string, std::list<Entry>::iterator> by_name_;
};

}  // namespace sherd
