// Reads documents as other writers actually leave them: Python and netcdf-c print numbers that JSON does not have, and
// netcdf-c up to 4.10 overwrites a longer document without truncating it.
#pragma once

#include <string>
#include <string_view>

#include "sherd/json.hpp"
#include "sherd/options.hpp"

namespace sherd {

struct LenientJson {
  Json json;
  bool has_tail = false;     ///< there were bytes after the value, which were ignored
  bool has_numbers = false;  ///< there were numbers that JSON does not have: NaN, Infinity or `0.`
};

/// What is accepted although it is not JSON; NaN and infinities always are.
struct Lenience {
  bool tails = true;      ///< bytes after the value
  bool points = true;     ///< numbers such as `0.`
  bool controls = false;  ///< control characters in strings, which netcdf-c does not escape
};

/// The first JSON value of a text. NaN and infinities become strings that bare_number() distinguishes from quoted ones.
[[nodiscard]] Result<LenientJson> parse_lenient(std::string_view text, const Limits& limits,
                                                const Lenience& lenience = {});

/// `NaN`, `Infinity` or `-Infinity` if the document had the word without quotes; empty for all other JSON.
[[nodiscard]] std::string_view bare_number(const Json& json);
/// JSON for which bare_number() returns NaN or the given infinity; null for a finite number.
[[nodiscard]] Json bare_number_of(double value);
/// Whether there is such a number anywhere except in members called `except`.
[[nodiscard]] bool has_bare_number(const Json& json, std::string_view except = {});
/// `json` with such numbers as ordinary strings.
[[nodiscard]] Json with_quoted_numbers(Json json);
/// Json::dump(), but such numbers are printed without quotes again.
[[nodiscard]] std::string dump_lenient(const Json& json, int indent = 0);

}  // namespace sherd
