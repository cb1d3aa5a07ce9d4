// Another holder of an object's lock.
#pragma once

#include <future>
#include <memory>
#include <string>
#include <thread>

#include "sherd/store.hpp"

namespace sherd {

/// Holds the lock of an object on a thread of its own, so that a write of it waits.
class LockHolder {
 public:
  LockHolder(const std::shared_ptr<Store>& store, const std::string& key) {
    std::promise<void> begun;
    thread_ = std::thread([&begun, store, key, end = end_.get_future()] {
      const auto lock = store->lock(key).value();
      begun.set_value();
      end.wait();
    });
    begun.get_future().wait();
  }
  LockHolder(const LockHolder&) = delete;
  LockHolder& operator=(const LockHolder&) = delete;
  ~LockHolder() {
    end_.set_value();
    thread_.join();
  }

 private:
  std::promise<void> end_;
  std::thread thread_;
};

}  // namespace sherd
