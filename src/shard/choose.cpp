// Appending needs an index that can be replaced in parts and a change that is in memory as a whole.
#include "shard/choose.hpp"

#include <string>
#include <string_view>

#include "base/try.hpp"

namespace sherd {
namespace {

Error not_built(std::string_view value, std::string_view where) {
  return unsupported("the setting update = '" + std::string(value) + "' is not supported by this version for " +
                     std::string(where) + "; 'auto' and 'rewrite' are");
}

Result<bool> may_append(const Config& config, const ShardChange& change) {
  switch (config.update) {
    case Update::automatic:
      return change.has_parts && !change.is_most;
    case Update::rewrite:
      return false;
    case Update::append:
      if (!change.has_parts) return not_built("append", "shards with one index");
      return true;
    case Update::in_place:
      return not_built("in_place", "any shard");
  }
  return false;
}

}  // namespace

Result<UpdatePolicy> choose(const Config& config, const ShardChange& change) {
  SHERD_TRY(appends, may_append(config, change));
  if (change.prescribed) return UpdatePolicy{*change.prescribed};
  const UpdatePolicy appended{UpdateKind::amend, config.max_unused};
  if (appends && change.put_bytes <= config.memory_budget / 4 && !appended.is_wasteful(change.dead, change.size))
    return appended;
  return UpdatePolicy{change.rewritten, config.max_unused};
}

}  // namespace sherd
