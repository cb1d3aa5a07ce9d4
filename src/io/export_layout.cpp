// The order of dimensions in file formats: an image file has planes with rows along y and columns along x; NIfTI has x,
// y, z, t and then channels, fastest first, and a single unit for x, y and z.
#include "io/export_layout.hpp"

#include <algorithm>

#include "array/array_state.hpp"
#include "io/image.hpp"
#include "ome/units.hpp"

namespace sherd {
namespace {

using Dimensions = std::vector<std::optional<std::size_t>>;

FileLayout stored_layout(std::size_t rank) {
  FileLayout layout;
  for (std::size_t d = 0; d < rank; ++d) layout.dimensions.emplace_back(d);
  return layout;
}

// All except `taken`, slowest first: if x comes before y, as in volumes, the array's last dimension is the slowest.
std::vector<std::size_t> others(const ImageFacts& facts, const std::vector<std::size_t>& taken) {
  std::vector<std::size_t> left;
  for (std::size_t d = 0; d < facts.axes.size(); ++d)
    if (std::ranges::find(taken, d) == taken.end()) left.push_back(d);
  if (*facts.find("x") < *facts.find("y")) std::ranges::reverse(left);
  return left;
}

// Planes of y and x; the channels of a pixel are adjacent if they are its colours or are stored adjacent.
FileLayout planes_layout(const ImageFacts& facts, const Shape& shape, const DType& dtype) {
  const auto c = facts.find("c");
  std::vector<std::size_t> last{*facts.find("y"), *facts.find("x")};
  const bool samples = c && (facts.is_interleaved() || facts.has_colour_samples(shape, dtype));
  if (c && (samples || shape[*c] == 1)) last.push_back(*c);
  FileLayout layout;
  for (const std::size_t d : others(facts, last)) layout.dimensions.emplace_back(d);
  if (!samples) last.resize(2);
  layout.dimensions.insert(layout.dimensions.end(), last.begin(), last.end());
  return layout;
}

// x, y, z, t, c: missing ones between two others have length 1.
FileLayout space_layout(const ImageFacts& facts, const Shape& shape, const DType& dtype) {
  const auto c = facts.find("c");
  const bool colours = c && facts.is_interleaved() && facts.has_colour_samples(shape, dtype);
  Dimensions slots(7);
  std::vector<std::size_t> placed;
  if (c && (colours || shape[*c] == 1)) placed.push_back(*c);
  constexpr std::pair<std::string_view, std::size_t> kSlots[] = {{"x", 0}, {"y", 1}, {"z", 2}, {"t", 3},
                                                                 {"c", 4}, {"u", 4}, {"v", 5}, {"w", 6}};
  for (const auto& [name, slot] : kSlots) {
    const auto d = facts.find(name);
    if (!d || slots[slot] || std::ranges::find(placed, *d) != placed.end()) continue;
    slots[slot] = d;
    placed.push_back(*d);
  }
  std::vector<std::size_t> unknown = others(facts, placed);
  for (std::size_t slot = 2; !unknown.empty(); ++slot) {  // fastest first
    if (slot == slots.size()) slots.emplace_back();
    if (slots[slot]) continue;
    slots[slot] = unknown.back();
    unknown.pop_back();
  }
  while (!slots.back()) slots.pop_back();
  FileLayout layout{{slots.rbegin(), slots.rend()}};
  if (colours) layout.dimensions.push_back(c);
  return layout;
}

// NIfTI's unit for a length of this many nanometres, and for a time of this many seconds.
const Unit& unit_of_space(double length) { return *find_unit(length == 1e9 ? "m" : length == 1e6 ? "mm" : "um"); }
const Unit& unit_of_time(double length) { return *find_unit(length >= 1 ? "s" : length == 1e-3 ? "ms" : "us"); }

double scaled(double value, double factor) { return factor == 1 ? value : tidy(value * factor); }

// x, y and z all get the unit of the first that has one. Values in other units are converted, including `affine`.
void use_nifti_units(std::vector<ImageAxis>& axes, Json& attributes) {
  const Unit* space = nullptr;
  for (const char* name : {"x", "y", "z"})
    for (const ImageAxis& axis : axes)
      if (const auto length = nanometres(axis.unit); axis.name == name && length && space == nullptr)
        space = &unit_of_space(*length);
  double of_affine = 1;
  for (ImageAxis& axis : axes) {
    const bool spatial = axis.is_spatial();
    const auto length = spatial ? nanometres(axis.unit) : axis.name == "t" ? seconds(axis.unit) : std::nullopt;
    if (!length) continue;
    const Unit& unit = spatial ? *space : unit_of_time(*length);
    const double factor = *length / unit.size;
    if (axis.spacing) axis.spacing = scaled(*axis.spacing, factor);
    axis.origin = scaled(axis.origin, factor);
    axis.unit = unit.sign;
    if (spatial) of_affine = factor;
  }
  const Json* known = attributes.find("affine");
  auto affine = known == nullptr ? std::nullopt : parse_affine(*known);
  if (!affine || of_affine == 1) return;
  for (std::size_t r = 0; r < 3; ++r)
    for (double& value : (*affine)[r]) value = scaled(value, of_affine);
  attributes.set("affine", affine_json(*affine));
}

// An affine along the axes, if only the spacing is known and not the orientation.
std::optional<AffineMatrix> straight_affine(const std::vector<ImageAxis>& axes) {
  AffineMatrix affine{};
  for (std::size_t k = 0; k < 4; ++k) affine[k][k] = 1;
  bool known = false;
  for (std::size_t k = 0; k < 3; ++k)
    for (const ImageAxis& axis : axes) {
      if (axis.name != std::string_view("xyz").substr(k, 1) || !axis.spacing || !(*axis.spacing > 0)) continue;
      known = true;
      affine[k][k] = *axis.spacing;
      affine[k][3] = axis.origin;
    }
  return known ? std::optional(affine) : std::nullopt;
}

}  // namespace

Shape FileLayout::shape(const Shape& of_array) const {
  Shape result;
  for (const auto& d : dimensions) result.push_back(d ? of_array[*d] : 1);
  return result;
}

Box FileLayout::box(const Box& of_file, std::size_t rank) const {
  Box result{Shape(rank, 0), Shape(rank, 1)};
  for (std::size_t f = 0; f < dimensions.size(); ++f) {
    if (!dimensions[f]) continue;
    result.origin[*dimensions[f]] = of_file.origin[f];
    result.shape[*dimensions[f]] = of_file.shape[f];
  }
  return result;
}

AnyView FileLayout::view(std::byte* data, const DType& dtype, const Box& of_file, std::size_t rank) const {
  const auto strides = dense_strides(of_file.shape, static_cast<std::int64_t>(dtype.size()));
  AnyView result{data, dtype, box(of_file, rank).shape, std::vector<std::int64_t>(rank, 0)};
  for (std::size_t f = 0; f < dimensions.size(); ++f)
    if (dimensions[f]) result.strides[*dimensions[f]] = strides[f];
  return result;
}

FileLayout file_layout(FileOrder order, const Array& array, const ImageFacts& facts) {
  if (order == FileOrder::stored || !facts.has_plane()) return stored_layout(array.ndim());
  if (order == FileOrder::planes) return planes_layout(facts, array.shape(), array.dtype());
  return space_layout(facts, array.shape(), array.dtype());
}

FileArray file_array(const Array& array, const FileLayout& layout, FileOrder order, ImageFacts facts) {
  FileArray file{.shape = layout.shape(array.shape()), .dtype = array.dtype(), .attributes = facts.attributes};
  if (order == FileOrder::stored) {
    file.dimension_names = array.dimension_names();
    return file;
  }
  if (order == FileOrder::space) use_nifti_units(facts.axes, file.attributes);
  Json spacing{Json::Array{}}, units{Json::Array{}};
  bool named = false;
  for (const auto& d : layout.dimensions) {
    ImageAxis axis = d ? facts.axes[*d] : ImageAxis{};
    spacing.push_back(axis.spacing ? Json(*axis.spacing) : Json());
    units.push_back(axis.unit.empty() ? Json() : Json(axis.unit));
    named = named || !axis.name.empty();
    file.dimension_names.push_back(axis.name.empty() ? std::nullopt : std::optional(axis.name));
    file.axes.push_back(std::move(axis));
  }
  if (!named) file.dimension_names.clear();
  file.attributes.set("spacing", std::move(spacing));
  file.attributes.set("units", std::move(units));
  if (const auto affine = straight_affine(file.axes);
      order == FileOrder::space && affine && file.attributes.find("affine") == nullptr)
    file.attributes.set("affine", affine_json(*affine));
  file.channels = std::move(facts.channels);
  return file;
}

}  // namespace sherd
