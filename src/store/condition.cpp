#include "store/condition.hpp"

#include "base/try.hpp"

namespace sherd {

Result<Condition> unchanged_since(ByteSource* read) {
  if (read == nullptr) return Condition::absent();
  SHERD_TRY(generation, read->generation());
  return Condition::matches(std::move(generation));
}

Result<void> erase_or_empty(Store& store, const std::string& key, const Condition& condition) {
  if (!store.traits().conditional_erase) return store.set(key, "", condition);
  SHERD_TRY(store.erase(key, condition));
  return {};
}

}  // namespace sherd
