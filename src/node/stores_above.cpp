#include "node/stores_above.hpp"

#include "base/try.hpp"
#include "node/path.hpp"

namespace sherd {

Result<void> for_each_above(const Store& store, const VisitAbove& visit) {
  std::string path;
  SHERD_TRY(above, store.parent());
  while (above) {
    path = join_path(above->name, path);
    SHERD_TRY(done, visit(above->store, path));
    if (done) break;
    SHERD_TRY(next, above->store->parent());
    above = std::move(next);
  }
  return {};
}

}  // namespace sherd
