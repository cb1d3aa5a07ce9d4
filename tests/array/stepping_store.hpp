// A store with an action before each of its requests.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/try.hpp"
#include "store/forwarding.hpp"

namespace sherd {

/// Calls `before` before each request, and fails at a given request that changes something and at all later ones.
class SteppingStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  std::function<void()> before = [] {};
  std::atomic<int> changes_left = 1 << 30;

  Result<std::shared_ptr<ByteSource>> find(const std::string& key) override {
    before();
    return store_->open(key);
  }
  Result<std::unique_ptr<ObjectWriter>> write(const std::string& key, const WriteHints& hints) override {
    SHERD_TRY(change());
    return store_->write(key, hints);
  }
  Result<Erased> erase(const std::string& key, const Condition& condition) override {
    SHERD_TRY(change());
    return store_->erase(key, condition);
  }
  Result<void> erase_prefix(const std::string& prefix) override {
    SHERD_TRY(change());
    return store_->erase_prefix(prefix);
  }
  Result<void> wait_for_writers(const std::string& prefix) override {
    before();
    return store_->wait_for_writers(prefix);
  }
  Result<bool> move_at_once(const std::string& from, const std::string& to) override {
    before();
    return ForwardingStore::move_at_once(from, to);
  }
  Result<void> move_all(const std::string& from, const std::string& to) override {
    SHERD_TRY(change());
    return ForwardingStore::move_all(from, to);
  }
  Result<bool> visit(const std::string& prefix, ListDepth depth, const OnEntry& visit) override {
    before();
    return store_->visit(prefix, depth, visit);
  }

 private:
  Result<void> change() {
    before();
    return changes_left-- > 0 ? Result<void>() : io_error("the disk is gone");
  }
};

}  // namespace sherd
