// Axes of images: their names, and the order that OME-NGFF requires.
#include "ome/axis.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>

namespace sherd {

std::string short_axis_name(const std::string& name) {
  const std::string lower = lowered(name);
  if (lower == "channel" || lower == "channels") return "c";
  if (lower == "time") return "t";
  return lower == "x" || lower == "y" || lower == "z" || lower == "c" || lower == "t" ? lower : name;
}

double tidy(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.12g", value);
  return std::strtod(text, nullptr);
}

std::size_t dimension_of(const std::vector<std::string>& axes, std::string_view name) {
  return static_cast<std::size_t>(std::ranges::find(axes, name) - axes.begin());
}

std::string listed_names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + (name.empty() ? "(no name)" : name);
  return text;
}

std::string advice_on_axes(std::size_t rank) {
  constexpr std::string_view kAll = "t,c,z,y,x";
  const bool is_image = rank >= 2 && 2 * rank - 1 <= kAll.size();
  return "; name them (--axes" + (is_image ? " " + std::string(kAll.substr(kAll.size() - (2 * rank - 1))) : "") + ")";
}

Result<std::vector<std::string>> axis_names(const std::vector<std::string>& given) {
  std::vector<std::string> names;
  for (const std::string& each : given) {
    std::string name = short_axis_name(each);
    if (name.size() != 1 || std::string_view("xyzct").find(name) == std::string_view::npos)
      return invalid_argument("'" + each + "' is not an axis; x, y, z, c (channel) and t (time) are");
    if (dimension_of(names, name) != names.size()) return invalid_argument("the axis " + name + " is given twice");
    names.push_back(std::move(name));
  }
  return names;
}

Result<void> check_ome_axes(const std::vector<std::string>& axes) {
  if (std::ranges::count_if(axes, [](const std::string& axis) { return is_spatial_axis(axis); }) >= 2) return {};
  return invalid_argument("an image in several resolutions has two or three of the axes x, y and z, but this one has " +
                          listed_names(axes));
}

std::vector<std::size_t> ome_order(const std::vector<std::string>& axes) {
  const auto rank_of = [&](std::size_t d) { return axes[d] == "t" ? 0 : axes[d] == "c" ? 1 : 2; };
  std::vector<std::size_t> order(axes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, rank_of);
  return order;
}

bool is_ome_order(const std::vector<std::string>& axes) { return std::ranges::is_sorted(ome_order(axes)); }

}  // namespace sherd
