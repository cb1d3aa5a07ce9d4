// Documents as writers of netCDF really leave them: netcdf-c prints numbers that JSON does not have, and releases up to
// 4.10 overwrite a longer document without truncating it.
#pragma once

#include <string>
#include <string_view>

#include "sherd/json.hpp"
#include "sherd/options.hpp"

namespace sherd::netcdf {

struct LenientJson {
  Json json;
  bool has_tail = false;     ///< bytes after the value, which were ignored
  bool has_numbers = false;  ///< NaN, Infinity or `0.`, which JSON does not have
};

/// The first JSON value of a text; NaN and infinities become strings, which bare_number() tells from those in quotes.
[[nodiscard]] Result<LenientJson> parse_lenient(std::string_view text, const Limits& limits);

/// `NaN`, `Infinity` or `-Infinity` where a document had the word without quotes; empty for all other JSON.
[[nodiscard]] std::string_view bare_number(const Json& json);

}  // namespace sherd::netcdf
