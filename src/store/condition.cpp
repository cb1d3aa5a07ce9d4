#include "store/condition.hpp"

#include "base/try.hpp"

namespace sherd {

Result<Condition> unchanged_since(ByteSource* read) {
  if (read == nullptr) return Condition::absent();
  SHERD_TRY(generation, read->generation());
  return Condition::matches(std::move(generation));
}

}  // namespace sherd
