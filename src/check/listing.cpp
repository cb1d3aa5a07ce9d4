#include "check/listing.hpp"

#include <algorithm>
#include <vector>

#include "base/try.hpp"

namespace sherd {
namespace {

Result<void> for_all_listed(Store& store, const std::string& prefix, const StoredVisit& visit) {
  std::string last, skipped = "/";  // no key begins with a slash
  SHERD_TRY(store.visit(prefix, ListDepth::all, [&](const ListEntry& entry) -> Result<bool> {
    const std::string key = prefix + std::string(entry.name);
    if (key.starts_with(skipped)) return true;
    for (std::size_t end = key.find('/', prefix.size()); end != key.npos; end = key.find('/', end + 1)) {
      if (last.starts_with(key.substr(0, end + 1)) || visit.directory(key.substr(0, end), true)) continue;
      skipped = key.substr(0, end + 1);
      return true;
    }
    last = key;
    return visit.object(key, entry.size, {std::string(entry.generation)});
  }));
  return {};
}

}  // namespace

Result<void> for_all_stored(Store& store, const std::string& prefix, const StoredVisit& visit) {
  if (store.traits().parallel_requests > 1) return for_all_listed(store, prefix, visit);
  std::vector<std::string> prefixes{prefix};
  while (!prefixes.empty()) {
    const std::string below = std::move(prefixes.back());
    prefixes.pop_back();
    SHERD_TRY(listing, store.list_dir(below));
    for (const Listing::Object& object : listing.objects)
      if (!visit.object(below + object.name, object.size, {})) return {};
    for (auto name = listing.prefixes.rbegin(); name != listing.prefixes.rend(); ++name) {
      const std::string path = below + *name;
      const bool beside_object = std::ranges::binary_search(listing.objects, *name, {}, &Listing::Object::name);
      if (visit.directory(path, beside_object)) prefixes.push_back(path + "/");
    }
  }
  return {};
}

}  // namespace sherd
