// What the caller of an import says of its dimensions: axes, spacing, units, resolution.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "sherd/box.hpp"
#include "sherd/json.hpp"
#include "sherd/tools.hpp"

namespace sherd {

/// The array that an import makes, in the order of its dimensions.
struct ImportedSpace {
  const Shape& shape;
  std::vector<std::optional<std::string>> names;  ///< empty: none
  Json attributes;                                ///< of the file; null: none
};
/// Sets names, `spacing` and `units` as the options say. invalid_argument names the option.
Result<void> apply_space_options(ImportedSpace& space, const ImportOptions& options);

/// Nanometres per element along x, y and z; nullopt if one of them has no spacing or no unit of length.
[[nodiscard]] std::optional<std::array<double, 3>> nanometres_of(const ImportedSpace& space);

}  // namespace sherd
