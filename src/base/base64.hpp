// Bytes as text in metadata: base64 with the standard alphabet and padding (RFC 4648, section 4).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sherd {

[[nodiscard]] std::string encode_base64(std::string_view bytes);
/// nullopt if the text is not base64: a foreign character, missing padding, or non-zero unused bits.
[[nodiscard]] std::optional<std::string> decode_base64(std::string_view text);

}  // namespace sherd
