// What may be stored under an id. A value that no later call could return is refused when it is stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "sherd/options.hpp"
#include "sherd/result.hpp"

namespace sherd::neuroglancer {

/// A value and the bytes before it, neither of them encoded.
struct NewValue {
  std::span<const std::byte> bytes, preceding;
};
/// `unsupported` if either is larger than limits.chunk_bytes, because reads would refuse it.
Result<void> check_size(const NewValue& value, const Limits& limits);

/// ShardedStoreOptions::preceding.
using PrecedingRule = std::function<Result<std::uint64_t>(std::span<const std::byte> value)>;
/// invalid_argument if the preceding bytes do not match the rule. Without a rule there must be none.
Result<void> check_preceding(const NewValue& value, const PrecedingRule& rule);

}  // namespace sherd::neuroglancer
