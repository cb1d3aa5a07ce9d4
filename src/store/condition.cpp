#include "store/condition.hpp"

#include "base/try.hpp"

namespace sherd {

Result<Condition> unchanged_since(ByteSource* read) {
  if (read == nullptr) return Condition::absent();
  SHERD_TRY(generation, read->generation());
  if (generation.token.empty())
    return unsupported("this store does not identify versions, so an object can only be replaced as a whole")
        .in_key(read->name());
  return Condition::matches(std::move(generation));
}

}  // namespace sherd
