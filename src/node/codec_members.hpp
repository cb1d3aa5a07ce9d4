// A capability of formats (node/format.hpp) whose array documents do not have a single list of codecs.
#pragma once

#include <string>
#include <string_view>

#include "node/format.hpp"

namespace sherd {

/// Capability: array documents have separate members for the codecs of a chunk. Errors of the chain name these members.
class CodecMembers {
 public:
  /// The member of the stored document for `member` of the chain, such as "codecs[1].configuration.level".
  [[nodiscard]] virtual std::string stored_member(const NodeDocument& array, std::string_view member) const = 0;

 protected:
  ~CodecMembers() = default;
};

/// An error of the codec chain, naming the member of the array's document.
[[nodiscard]] inline Error chain_error(const Format& format, const NodeDocument& array, Error error) {
  const auto* own = capability<CodecMembers>(format);
  if (own == nullptr) return error;
  return Error(error.code(), error.message()).in_member(own->stored_member(array, error.member()));
}

}  // namespace sherd
