// Walks down the levels of a store, and erases the objects of a list a page at a time.
#include "store/listing.hpp"

#include <algorithm>
#include <utility>

#include "base/try.hpp"

namespace sherd {

namespace {

/// A directory on the path of a list, and how far it has been visited. Names of prefixes end in `/` here, so that
/// sorting the names sorts the keys.
struct Level {
  struct Child {
    std::string name;
    std::uint64_t size = 0;
    std::string generation;
    std::optional<std::chrono::system_clock::time_point> modified;
  };
  std::string below;  ///< the listed prefix
  std::vector<Child> children = {};
  std::size_t next = 0;
};

Result<Level> read_level(Store& store, const std::string& prefix, std::string below) {
  Level level{.below = std::move(below)};
  SHERD_TRY(store.visit(prefix + level.below, ListDepth::children, [&](const ListEntry& entry) -> Result<bool> {
    std::string name(entry.name);
    if (entry.is_prefix) name += '/';
    level.children.push_back({std::move(name), entry.size, std::string(entry.generation), entry.modified});
    return true;
  }));
  std::ranges::sort(level.children, {}, &Level::Child::name);
  return level;
}

}  // namespace

Result<bool> visit_levels(Store& store, const std::string& prefix, const OnEntry& visit) {
  std::vector<Level> levels;
  SHERD_TRY(first, read_level(store, prefix, {}));
  levels.push_back(std::move(first));
  while (!levels.empty()) {
    Level& level = levels.back();
    if (level.next == level.children.size()) {
      levels.pop_back();
      continue;
    }
    const Level::Child& child = level.children[level.next++];
    std::string name = level.below + child.name;
    if (name.ends_with('/')) {
      SHERD_TRY(below, read_level(store, prefix, std::move(name)));
      levels.push_back(std::move(below));
      continue;
    }
    SHERD_TRY(more,
              visit({.name = name, .size = child.size, .generation = child.generation, .modified = child.modified}));
    if (!more) return false;
  }
  return true;
}

Result<bool> lists_nothing(Store& store, const std::string& prefix, ListDepth depth) {
  return store.visit(prefix, depth, [](const ListEntry&) { return false; });
}

Error cannot_list(const Store& store) { return unsupported("the store " + store.url() + " cannot list its objects"); }

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
