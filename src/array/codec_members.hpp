// A capability of formats (array/format.hpp) whose array documents have no single list of codecs.
#pragma once

#include <string>
#include <string_view>

#include "array/format.hpp"

namespace sherd {

/// Capability: documents of arrays name the codecs of a chunk in members of their own. Errors of the chain name those.
class CodecMembers {
 public:
  /// The member of the stored document that `member` of the chain comes from, such as "codecs[1].configuration.level".
  [[nodiscard]] virtual std::string stored_member(const NodeDocument& array, std::string_view member) const = 0;

 protected:
  ~CodecMembers() = default;
};

}  // namespace sherd
