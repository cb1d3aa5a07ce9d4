// The caller's description of an import's dimensions: axes, spacing, units, resolution.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "sherd/box.hpp"
#include "sherd/json.hpp"
#include "sherd/tools.hpp"

namespace sherd {

/// The array that an import creates, in the order of its dimensions.
struct ImportedSpace {
  const Shape& shape;
  std::vector<std::optional<std::string>> names;  ///< empty: none
  Json attributes;                                ///< of the file; null: none
};
/// Sets names, `spacing` and `units` according to the options. invalid_argument names the option.
Result<void> apply_space_options(ImportedSpace& space, const ImportOptions& options);

/// Nanometres per element along x, y and z; nullopt if one of them lacks a spacing or a unit of length.
[[nodiscard]] std::optional<std::array<double, 3>> nanometres_of(const ImportedSpace& space);

}  // namespace sherd
