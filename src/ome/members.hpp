// Members of OME-NGFF's metadata: their names in messages, and their values.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "sherd/json.hpp"

namespace sherd {

inline constexpr std::string_view kVersion = "version";

/// The name of an element of a list: "datasets[0]".
[[nodiscard]] inline std::string indexed(const std::string& member, std::size_t index) {
  return member + "[" + std::to_string(index) + "]";
}
/// The value of a member that is text; nullptr for others.
[[nodiscard]] inline const std::string* text_of(const Json& object, std::string_view name) {
  const Json* value = object.find(name);
  return value != nullptr && value->is_string() ? &value->text() : nullptr;
}
/// Whether the member does not exist or is null.
[[nodiscard]] inline bool is_absent(const Json& object, std::string_view name) {
  const Json* value = object.find(name);
  return value == nullptr || value->is_null();
}

}  // namespace sherd
