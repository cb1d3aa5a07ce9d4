// UTF-8 as Unicode defines it (table 3-7): no overlong forms, no surrogates, nothing beyond U+10FFFF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sherd {

/// The length in bytes of a text's first character; 0 if the text is empty or does not begin with a character.
[[nodiscard]] std::size_t utf8_length(std::string_view text) noexcept;
[[nodiscard]] bool is_utf8(std::string_view text) noexcept;
/// `code` is at most 0x10FFFF.
void append_utf8(std::uint32_t code, std::string& to);

}  // namespace sherd
