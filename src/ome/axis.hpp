// The names of axes, as used by OME-NGFF, microscopy files, and people.
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
/// The short name of an axis in lower case: "Channel" is "c", "time" is "t"; other names are unchanged.
[[nodiscard]] std::string short_axis_name(const std::string& name);
/// "z, y, x", for messages.
[[nodiscard]] std::string listed_names(const std::vector<std::string>& names);
/// "; name them (--axes z,y,x)", with as many names as there are dimensions.
std::string advice_on_axes(std::size_t rank);
/// Distinct short names of axes, in lower case: "Channel" is "c". invalid_argument if one is not an axis.
Result<std::vector<std::string>> axis_names(const std::vector<std::string>& given);
/// The dimension of an axis; the rank if there is none.
[[nodiscard]] std::size_t dimension_of(const std::vector<std::string>& axes, std::string_view name);

/// invalid_argument unless an OME-NGFF image can have these axes: two or three of them spatial.
Result<void> check_ome_axes(const std::vector<std::string>& axes);
/// Whether an OME-NGFF image can have axes in this order: time, channels, space.
[[nodiscard]] bool is_ome_order(const std::vector<std::string>& axes);
/// The dimensions of `axes` in the order that OME-NGFF requires: time, channels, space in its present order.
[[nodiscard]] std::vector<std::size_t> ome_order(const std::vector<std::string>& axes);

/// Removes rounding errors in the last bits, which a product of decimal fractions has.
[[nodiscard]] double tidy(double value);

}  // namespace sherd
