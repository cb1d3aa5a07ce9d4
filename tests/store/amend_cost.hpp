// A store that says what amending costs, and counts which objects are amended and which are written.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "store/forwarding.hpp"

namespace sherd {

class AmendCostStore final : public ForwardingStore {
 public:
  AmendCostStore(std::shared_ptr<Store> store, AmendCost cost) : ForwardingStore(std::move(store)), cost_(cost) {}

  [[nodiscard]] StoreTraits traits() const noexcept override {
    StoreTraits traits = store_->traits();
    traits.amend = cost_;
    return traits;
  }
  Result<std::unique_ptr<ObjectWriter>> write(const std::string& key, const WriteHints& hints) override {
    if (key.ends_with(".shard")) ++written;
    return store_->write(key, hints);
  }
  Result<Generation> amend(const std::string& key, const Amendment& amendment) override {
    ++amended;
    return store_->amend(key, amendment);
  }

  std::atomic<unsigned> written{0}, amended{0};  ///< shards

 private:
  const AmendCost cost_;
};

}  // namespace sherd
