// A store that cannot list what it holds, as web servers cannot: objects are found by their keys alone.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/try.hpp"
#include "store/forwarding.hpp"
#include "store/listing.hpp"
#include "tests/store/test_store.hpp"

namespace sherd {

class UnlistedStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  [[nodiscard]] StoreTraits traits() const noexcept override {
    StoreTraits traits = store_->traits();
    traits.can_list = false;
    return traits;
  }
  Result<void> read(ReadQueue& queue) override { return store_->read(queue); }
  Result<void> erase_prefix(const std::string&) override { return cannot_list(*this); }
  Result<void> wait_for_writers(const std::string& prefix) override { return Store::wait_for_writers(prefix); }
  [[nodiscard]] Result<std::optional<ParentStore>> parent() const override {
    SHERD_TRY(parent, store_->parent());
    if (parent) parent->store = std::make_shared<UnlistedStore>(std::move(parent->store));
    return parent;
  }
  Result<bool> visit(const std::string&, ListDepth, const OnEntry&) override { return cannot_list(*this); }
};

inline std::shared_ptr<Store> unlisted(std::shared_ptr<Store> store) {
  return std::make_shared<UnlistedStore>(std::move(store));
}

/// A store whose server refuses to list objects below some prefixes.
inline std::shared_ptr<Store> denying_lists(std::shared_ptr<Store> store, std::string below = "") {
  auto denying = std::make_shared<TestStore>(std::move(store));
  denying->of = Op::visit;
  denying->keys = [below = std::move(below)](const std::string& prefix) { return prefix.starts_with(below); };
  denying->refuse = [](const Asked&) { return Result<void>(io_error("the server does not allow this").denied()); };
  return denying;
}

}  // namespace sherd
