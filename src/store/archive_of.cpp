#include "store/archive_of.hpp"

#include "store/forwarding.hpp"

namespace sherd {

ArchiveStore* archive_of(Store& store) {
  if (auto* const archive = dynamic_cast<ArchiveStore*>(&store)) return archive;
  const auto* const wrapper = dynamic_cast<const ForwardingStore*>(&store);
  const bool shows_all = wrapper != nullptr && wrapper->url() == wrapper->beneath().url();
  return shows_all ? archive_of(wrapper->beneath()) : nullptr;
}

ArchiveStore* archive_around(Store& store) {
  const auto* const wrapper = dynamic_cast<const ForwardingStore*>(&store);
  return wrapper != nullptr ? archive_around(wrapper->beneath()) : dynamic_cast<ArchiveStore*>(&store);
}

std::shared_ptr<Store> whole_archive(std::shared_ptr<Store> store) {
  while (archive_of(*store) == nullptr) {
    auto above = store->parent();
    if (!above || !*above) return nullptr;
    store = std::move((*above)->store);
  }
  return store;
}

bool has_hidden_query(const Store& store) {
  if (const auto* const queried = dynamic_cast<const QueriedStore*>(&store)) return queried->has_query();
  if (const auto* const archive = dynamic_cast<const ArchiveStore*>(&store)) return has_hidden_query(archive->outer());
  const auto* const wrapper = dynamic_cast<const ForwardingStore*>(&store);
  return wrapper != nullptr && has_hidden_query(wrapper->beneath());
}

}  // namespace sherd
