// Reading the XML documents of object stores.
#pragma once

#include <pugixml.hpp>
#include <string_view>

namespace sherd::remote {

/// A text of spaces only, such as a delimiter, is kept.
inline constexpr unsigned kParseXml = pugi::parse_default | pugi::parse_ws_pcdata_single;

/// The text of a child; empty if there is none.
[[nodiscard]] inline std::string_view text_of(const pugi::xml_node& node, const char* child) {
  return node.child(child).text().get();
}

}  // namespace sherd::remote
