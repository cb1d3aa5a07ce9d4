// Walks down the levels of a store, and erases the objects of a list a page at a time.
#include "store/listing.hpp"

#include <utility>

#include "base/try.hpp"
#include "store/capabilities.hpp"

namespace sherd {

Result<bool> visit_levels(Store& store, const std::string& prefix, const OnEntry& visit) {
  std::vector<std::string> pending{std::string()};
  while (!pending.empty()) {
    const std::string below = std::move(pending.back());
    pending.pop_back();
    std::string name;
    SHERD_TRY(more, store.visit(prefix + below, ListDepth::children, [&](const ListEntry& entry) -> Result<bool> {
      name.assign(below).append(entry.name);
      if (entry.is_prefix) {
        pending.push_back(name + "/");
        return true;
      }
      ListEntry deeper = entry;
      deeper.name = name;
      return visit(deeper);
    }));
    if (!more) return false;
  }
  return true;
}

Result<bool> lists_nothing(Store& store, const std::string& prefix, ListDepth depth) {
  return store.visit(prefix, depth, [](const ListEntry&) { return false; });
}

Error cannot_list(const Store& store) { return unsupported("the store " + store.url() + " cannot list its objects"); }

std::shared_ptr<ByteSource> listed_source(const Store& store, const std::string& key, std::uint64_t size,
                                          const Generation& generation) {
  const auto* const versioned = dynamic_cast<const CopyingStore*>(&store);
  return versioned != nullptr ? versioned->listed(key, size, generation) : nullptr;
}

bool is_unlisted(const Error& error) { return error.code() == ErrorCode::unsupported || error.is_denied(); }

Result<std::vector<std::string>> erase_objects(Store& store, const std::string& prefix,
                                               const std::function<bool(const std::string& key)>& is_kept) {
  std::vector<std::string> objects, prefixes;
  const auto erase_page = [&]() -> Result<void> {
    SHERD_TRY(store.erase_all(objects));
    objects.clear();
    return {};
  };
  bool erased_meanwhile = true;
  while (std::exchange(erased_meanwhile, false)) {
    prefixes.clear();
    SHERD_TRY(store.visit(prefix, ListDepth::children, [&](const ListEntry& entry) -> Result<bool> {
      std::string key = prefix + std::string(entry.name);
      if (entry.is_prefix)
        prefixes.emplace_back(entry.name);
      else if (!is_kept(key))
        objects.push_back(std::move(key));
      if (objects.size() < kListPage) return true;
      // Some file systems omit entries from a list while others are erased, so another pass is needed.
      erased_meanwhile = true;
      SHERD_TRY(erase_page());
      return true;
    }));
    SHERD_TRY(erase_page());
  }
  return prefixes;
}

}  // namespace sherd
