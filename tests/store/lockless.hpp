// A store like remote ones: writers are not locked out, but changes are conditional on the object still being what was
// read. Writes are kept in memory until the commit, which may then be refused.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/checked.hpp"
#include "base/try.hpp"
#include "store/forwarding.hpp"
#include "store/key.hpp"

namespace sherd {

class LocklessStore final : public ForwardingStore {
 public:
  /// `conditional_erase`: whether erase() accepts conditions, which few remote stores support.
  LocklessStore(std::shared_ptr<Store> store, bool conditional_erase)
      : ForwardingStore(std::move(store)), conditional_erase_(conditional_erase) {}

  [[nodiscard]] StoreTraits traits() const noexcept override {
    StoreTraits traits = store_->traits();
    traits.locks = traits.links = false;
    traits.conditional_write = true;
    traits.conditional_erase = conditional_erase_;
    traits.amend = AmendCost::copy;
    return traits;
  }
  Result<std::unique_ptr<ObjectWriter>> write(const std::string& key, const WriteHints&) override {
    SHERD_TRY(check_key(key));
    return std::make_unique<Writer>(store_, key, conflicts_);
  }
  Result<Generation> amend(const std::string& key, const Amendment& amendment) override {
    return Store::amend(key, amendment);
  }
  Result<std::unique_ptr<StoreLock>> lock(const std::string& key) override {
    SHERD_TRY(check_key(key));
    return std::make_unique<StoreLock>();
  }
  Result<Erased> erase(const std::string& key, const Condition& condition) override {
    if (condition.kind != Condition::Kind::always && !conditional_erase_)
      return unsupported("this store erases without conditions only").in_key(key);
    return counted(store_->erase(key, condition), *conflicts_);
  }
  Result<void> wait_for_writers(const std::string& prefix) override { return Store::wait_for_writers(prefix); }
  [[nodiscard]] bool can_move_to(const std::string&) const override { return false; }

  /// How often a condition did not hold.
  [[nodiscard]] std::uint64_t conflicts() const { return *conflicts_; }

 private:
  using Count = std::atomic<std::uint64_t>;

  template <class T>
  static Result<T> counted(Result<T> outcome, Count& conflicts) {
    if (!outcome.has_value() && outcome.error().code() == ErrorCode::conflict) ++conflicts;
    return outcome;
  }

  class Writer final : public ObjectWriter {
   public:
    Writer(std::shared_ptr<Store> store, std::string key, std::shared_ptr<Count> conflicts)
        : store_(std::move(store)), key_(std::move(key)), conflicts_(std::move(conflicts)) {}
    Result<void> write(std::uint64_t offset, std::span<const std::byte> bytes) override {
      if (ended_) return invalid_argument("a writer ends with its commit").in_key(key_);
      const auto end = checked_add(offset, bytes.size());
      if (!end) return invalid_argument("a write ends beyond 2^64 bytes").in_key(key_);
      const std::lock_guard hold(mutex_);
      bytes_.resize(std::max<std::size_t>(bytes_.size(), *end));
      std::ranges::copy(bytes, bytes_.begin() + static_cast<std::ptrdiff_t>(offset));
      return {};
    }
    Result<void> commit(const Condition& condition) override {
      if (std::exchange(ended_, true)) return invalid_argument("a writer ends with its commit").in_key(key_);
      std::this_thread::sleep_for(std::chrono::microseconds(20));  // since it was read; others are faster
      SHERD_TRY(writer, store_->write(key_, {.size = bytes_.size()}));
      SHERD_TRY(writer->write(0, bytes_));
      SHERD_TRY(counted(writer->commit(condition), *conflicts_));
      committed_ = writer->committed();
      return {};
    }
    [[nodiscard]] Generation committed() const override { return committed_; }

   private:
    std::shared_ptr<Store> store_;
    std::string key_;
    std::shared_ptr<Count> conflicts_;
    std::mutex mutex_;
    std::vector<std::byte> bytes_;
    bool ended_ = false;
    Generation committed_;
  };

  const bool conditional_erase_;
  const std::shared_ptr<Count> conflicts_ = std::make_shared<Count>();  ///< shared with writers
};

inline std::shared_ptr<LocklessStore> lockless(bool conditional_erase = true) {
  return std::make_shared<LocklessStore>(memory_store(), conditional_erase);
}

}  // namespace sherd
