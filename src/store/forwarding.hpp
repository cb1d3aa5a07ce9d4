// A store that passes everything on to another: wrappers override what they change.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "sherd/store.hpp"

namespace sherd {

class ForwardingStore : public Store {
 public:
  explicit ForwardingStore(std::shared_ptr<Store> store) : store_(std::move(store)) {}

  [[nodiscard]] const std::string& url() const noexcept override { return store_->url(); }
  [[nodiscard]] StoreTraits traits() const noexcept override { return store_->traits(); }
  [[nodiscard]] bool read_only() const noexcept override { return store_->read_only(); }
  Result<std::shared_ptr<ByteSource>> open(const std::string& key) override { return store_->open(key); }
  Result<void> read(std::span<const ReadRequest> requests, const OnReply& reply) override {
    return store_->read(requests, reply);
  }
  Result<std::unique_ptr<ObjectWriter>> write(const std::string& key, std::uint64_t size_hint) override {
    return store_->write(key, size_hint);
  }
  Result<std::unique_ptr<ObjectWriter>> amend(const std::string& key) override { return store_->amend(key); }
  Result<std::unique_ptr<StoreLock>> lock(const std::string& key) override { return store_->lock(key); }
  Result<bool> erase(const std::string& key) override { return store_->erase(key); }
  Result<void> erase_prefix(const std::string& prefix) override { return store_->erase_prefix(prefix); }
  Result<void> wait_for_writers(const std::string& prefix) override { return store_->wait_for_writers(prefix); }
  Result<void> move_prefix(const std::string& from, const std::string& to) override {
    return store_->move_prefix(from, to);
  }
  Result<Listing> list_dir(const std::string& prefix) override { return store_->list_dir(prefix); }

 protected:
  const std::shared_ptr<Store> store_;
};

}  // namespace sherd
