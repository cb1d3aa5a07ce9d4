// JSON of a test's own text, and which error a call answers.
#pragma once

#include <string_view>

#include "sherd/json.hpp"
#include "sherd/result.hpp"

namespace sherd {

inline Json parsed(std::string_view text) { return Json::parse(text, 4096).value(); }  // deeper than a document may be
inline ErrorCode code_of(const auto& result) { return result.error().code(); }

}  // namespace sherd
