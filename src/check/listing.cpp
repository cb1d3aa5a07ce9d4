#include "check/listing.hpp"

#include <algorithm>
#include <vector>

#include "base/try.hpp"

namespace sherd {

Result<void> for_all_stored(Store& store, const std::string& prefix, const StoredVisit& visit) {
  std::vector<std::string> prefixes{prefix};
  while (!prefixes.empty()) {
    const std::string below = std::move(prefixes.back());
    prefixes.pop_back();
    SHERD_TRY(listing, store.list_dir(below));
    for (const Listing::Object& object : listing.objects)
      if (!visit.object(below + object.name, object.size)) return {};
    for (auto name = listing.prefixes.rbegin(); name != listing.prefixes.rend(); ++name) {
      const std::string path = below + *name;
      const bool beside_object = std::ranges::binary_search(listing.objects, *name, {}, &Listing::Object::name);
      if (visit.directory(path, beside_object)) prefixes.push_back(path + "/");
    }
  }
  return {};
}

}  // namespace sherd
