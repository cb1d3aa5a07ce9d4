// The names of axes, as OME-NGFF, files of microscopes, and people use them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sherd/result.hpp"

namespace sherd {

[[nodiscard]] inline bool is_spatial_axis(std::string_view name) noexcept {
  return name == "x" || name == "y" || name == "z";
}
/// The name of an axis in lower case and in short: "Channel" is "c", "time" is "t"; others stay as they are.
[[nodiscard]] std::string short_axis_name(const std::string& name);
/// "z, y, x", for messages.
[[nodiscard]] std::string listed_names(const std::vector<std::string>& names);
/// "; name them (--axes z,y,x)", with as many names as there are dimensions.
std::string advice_on_axes(std::size_t rank);
/// Distinct names of axes, in lower case and in short: "Channel" is "c". invalid_argument if one is not an axis.
Result<std::vector<std::string>> axis_names(const std::vector<std::string>& given);
/// The dimension of an axis; the rank if it does not exist.
[[nodiscard]] std::size_t dimension_of(const std::vector<std::string>& axes, std::string_view name);

/// invalid_argument unless an OME-NGFF image can have these axes: two or three of space.
Result<void> check_ome_axes(const std::vector<std::string>& axes);
/// Whether axes of these names may follow one another in an OME-NGFF image: time, channels, space.
[[nodiscard]] bool is_ome_order(const std::vector<std::string>& axes);
/// The dimensions of `axes` in the order that OME-NGFF requires: time, channels, and space as it is.
[[nodiscard]] std::vector<std::size_t> ome_order(const std::vector<std::string>& axes);

/// Without the last bits, in which a product of decimal fractions differs from what it says.
[[nodiscard]] double tidy(double value);

}  // namespace sherd
