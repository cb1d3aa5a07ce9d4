// The two reasons why a stored value could not be read: the size limit of reads, and a number of bytes before it that
// differs from the one in the value.
#include "neuroglancer/value_rules.hpp"

#include <string>

#include "base/try.hpp"

namespace sherd::neuroglancer {

Result<void> check_size(const NewValue& value, const Limits& limits) {
  const auto too_large = [&](const std::string& what) {
    return unsupported(what + ", more than the limit chunk_bytes (" + std::to_string(limits.chunk_bytes) + ")");
  };
  if (value.bytes.size() > limits.chunk_bytes) return too_large("has " + std::to_string(value.bytes.size()) + " bytes");
  if (value.preceding.size() > limits.chunk_bytes)
    return too_large("comes with " + std::to_string(value.preceding.size()) + " bytes before it");
  return {};
}

Result<void> check_preceding(const NewValue& value, const PrecedingRule& rule) {
  std::uint64_t expected = 0;
  if (rule) {
    SHERD_TRY(bytes, rule(value.bytes));
    expected = bytes;
  }
  if (value.preceding.size() == expected) return {};
  return invalid_argument("comes with " + std::to_string(value.preceding.size()) + " bytes before it, and " +
                          std::to_string(expected) + " belong to it");
}

}  // namespace sherd::neuroglancer
