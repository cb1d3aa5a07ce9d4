// The stores inside objects that are open.
#include <algorithm>

#include "base/try.hpp"
#include "base/url.hpp"
#include "sherd/store.hpp"
#include "store/archive_of.hpp"

namespace sherd {

Result<void> OpenStores::finish() {
  std::vector<std::shared_ptr<Store>> changed;
  {
    const std::lock_guard hold(mutex_);
    changed = changed_;
  }
  Result<void> all;
  for (const auto& store : changed) {
    auto finished = in_store(store->finish(), store->url());
    if (!finished && all) all = std::move(finished);
  }
  const std::lock_guard hold(mutex_);
  for (const auto& store : changed) std::erase(changed_, store);
  return all;
}

Result<std::shared_ptr<Store>> OpenStores::share(const std::string& name,
                                                 const std::function<Result<std::shared_ptr<Store>>()>& open) {
  const std::lock_guard hold(mutex_);
  if (const auto found = open_.find(name); found != open_.end()) {
    if (auto shared = found->second.lock()) {
      const auto* const archive = archive_of(*shared);
      if (archive == nullptr || archive->is_current()) return shared;
    }
  }
  auto opened = open();
  if (!opened) return opened;
  std::shared_ptr<Store> store = *std::move(opened);
  open_[name] = store;
  std::erase_if(open_, [](const auto& each) { return each.second.expired(); });
  return store;
}

void OpenStores::keep(std::shared_ptr<Store> store) {
  const std::lock_guard hold(mutex_);
  if (std::ranges::find(changed_, store) == changed_.end()) changed_.push_back(std::move(store));
}

void OpenStores::finished(const Store& store) {
  const std::lock_guard hold(mutex_);
  std::erase_if(changed_, [&](const auto& each) { return each.get() == &store; });
}

}  // namespace sherd
