// Chooses the two dimensions that a picture shows by default: x and y, or the remaining ones of z, y, x; for an array
// without such names the last two that are longer than 1. Channels are colours, never rows or columns.
#include "image/picture_plane.hpp"

#include <algorithm>
#include <charconv>

#include "base/text.hpp"
#include "base/try.hpp"
#include "io/image.hpp"
#include "ome/units.hpp"

namespace sherd {
namespace {

class PlaneChoice {
 public:
  PlaneChoice(const Array& array, const ImageFacts& facts) : shape_(array.shape()), facts_(facts) {
    named_ = facts.has_plane();
    fixed_.resize(shape_.size());
    if (named_ ? facts.has_colour_samples(shape_, array.dtype()) : has_last_samples(array)) samples_ = facts.find("c");
  }

  Result<PicturePlane> run(const PictureOptions& options) {
    if (shape_.size() < 2)
      return invalid_argument("a picture needs two dimensions, the array has shape " + to_string(shape_));
    SHERD_TRY(fix(options));
    SHERD_TRY(choose_sides());
    SHERD_TRY(refuse_line());
    choose_rest();
    if (!cut_ && options.index)
      return invalid_argument("an axis to cut across needs three or more dimensions; the array has shape " +
                              to_string(shape_))
          .in_member("index");
    return plane();
  }

 private:
  // Without the name x, c is a pixel's samples if it is the last dimension, as in image files.
  [[nodiscard]] bool has_last_samples(const Array& array) const {
    return facts_.find("c") == shape_.size() - 1 && facts_.has_colour_samples(shape_, array.dtype());
  }
  [[nodiscard]] std::string name_of(std::size_t d) const {
    return facts_.axes[d].name.empty() ? std::to_string(d) : facts_.axes[d].name;
  }

  Result<std::size_t> find_axis(const AxisId& axis, const char* option) const {
    if (const auto d = facts_.find(short_axis_name(axis.text))) return *d;
    if (const auto number = parse_number<std::size_t>(axis.text); number && *number < shape_.size()) return *number;
    std::string known;
    for (std::size_t d = 0; d < shape_.size(); ++d) known += (d == 0 ? "" : ", ") + name_of(d);
    return invalid_argument("is " + axis.text + ", but the array has " + std::to_string(shape_.size()) +
                            " axes: " + known)
        .in_member(option);
  }

  // A number that fits the axis is an index even if a channel has it as its name.
  Result<std::uint64_t> find_index(std::size_t d, const AxisIndex& index, const char* option) const {
    const auto length = static_cast<std::int64_t>(shape_[d]);
    std::int64_t number = 0;
    const char* const end = index.text.data() + index.text.size();
    const auto parsed = std::from_chars(index.text.data(), end, number);
    const bool is_number = parsed.ptr == end && !index.text.empty();
    if (is_number && parsed.ec == std::errc() && number < length && number >= -length)
      return static_cast<std::uint64_t>(number < 0 ? number + length : number);
    std::vector<std::string_view> names;
    if (d == facts_.find("c"))
      for (const ImageChannel& channel : facts_.channels) names.push_back(channel.name);
    const auto found = std::ranges::find(names, index.text);
    if (found != names.end() && std::find(found + 1, names.end(), index.text) != names.end())
      return invalid_argument("several channels are called '" + index.text + "'; give the number of one")
          .in_member(option);
    if (found != names.end()) return static_cast<std::uint64_t>(found - names.begin());
    if (is_number)
      return invalid_argument("is " + index.text + ", but axis " + name_of(d) + " has length " +
                              std::to_string(shape_[d]))
          .in_member(option);
    std::string known;
    for (const std::string_view name : names)
      if (!name.empty()) known += (known.empty() ? "; the channels are " : ", ") + std::string(name);
    if (known.empty()) known = "; the channels have no names";
    return invalid_argument("'" + index.text + "' is not a whole number" +
                            (d == facts_.find("c") ? " or the name of a channel" + known : std::string()))
        .in_member(option);
  }

  Result<void> fix_at(std::size_t d, const std::optional<AxisIndex>& index, const char* option) {
    if (fixed_[d]) return invalid_argument("axis " + name_of(d) + " is given twice").in_member(option);
    std::uint64_t number = shape_[d] / 2;
    if (index) {
      SHERD_TRY(found, find_index(d, *index, option));
      number = found;
    }
    fixed_[d] = number;
    return {};
  }

  Result<void> fix(const PictureOptions& options) {
    if (!options.axis.text.empty()) {
      SHERD_TRY(d, find_axis(options.axis, "axis"));
      cut_ = d;
    } else if (options.index) {
      cut_ = default_cut();
    }
    if (cut_) SHERD_TRY(fix_at(*cut_, options.index, "index"));
    const bool sides_are_known = named_ && cut_;
    if (sides_are_known) SHERD_TRY(choose_sides());
    for (const auto& [axis, index] : options.at) {
      SHERD_TRY(d, find_axis(axis, "at"));
      if (sides_are_known && (d == row_ || d == column_)) return drawn_error(d);
      SHERD_TRY(fix_at(d, index, "at"));
    }
    return {};
  }

  // The cut determines which axes are drawn. Without one, the axes not in `at` are drawn, such as x and t with indices
  // on y and z.
  [[nodiscard]] Error drawn_error(std::size_t d) const {
    return invalid_argument("is an index on axis " + name_of(d) + ", which is drawn: a picture across " +
                            name_of(*cut_) + " shows " + name_of(column_) + " and " + name_of(row_) +
                            "; leave it out, or cut across axis " + name_of(d) + " instead")
        .in_member("at");
  }

  // The axis across which a picture is cut by default.
  [[nodiscard]] std::optional<std::size_t> default_cut() const {
    if (const auto z = facts_.find("z"); named_ && z) return z;
    const auto c = facts_.find("c");
    const std::size_t sides = named_ ? 0 : 2;
    std::vector<std::size_t> left;
    for (std::size_t d = 0; d < shape_.size(); ++d)
      if (d != samples_ && !(named_ && (d == facts_.find("x") || d == facts_.find("y") || d == c))) left.push_back(d);
    return left.size() > sides ? std::optional(left.front()) : std::nullopt;
  }

  // The dimensions that may be rows and columns, the best ones last.
  [[nodiscard]] std::vector<std::size_t> candidates() const {
    std::vector<std::size_t> found;
    const auto add = [&](std::optional<std::size_t> d) {
      if (d && !fixed_[*d] && d != samples_ && std::ranges::find(found, *d) == found.end()) found.push_back(*d);
    };
    if (named_) {
      for (const char* name : {"x", "y", "z", "t"}) add(facts_.find(name));
      for (std::size_t d = shape_.size(); d > 0; --d)
        if (facts_.axes[d - 1].name != "c") add(d - 1);
    } else {
      for (std::size_t d = shape_.size(); d > 0; --d)
        if (shape_[d - 1] > 1) add(d - 1);
      for (std::size_t d = shape_.size(); d > 0; --d) add(d - 1);
    }
    return found;
  }

  Result<void> choose_sides() {
    std::vector<std::size_t> found = candidates();
    if (found.size() < 2)
      return invalid_argument("a picture needs two dimensions, and " + std::to_string(found.size()) +
                              " of the array's shape " + to_string(shape_) + " is left");
    column_ = found[0];
    row_ = found[1];
    if (!named_ && row_ > column_) std::swap(row_, column_);  // one of length 1 was skipped
    return {};
  }

  // An axis of length 1 is not drawn, because the picture would be a line.
  [[nodiscard]] Result<void> refuse_line() const {
    for (const std::size_t d : {row_, column_}) {
      if (shape_[d] != 1) continue;
      std::size_t left = 0;  // axes that could be drawn instead
      for (std::size_t e = 0; e < shape_.size(); ++e) left += shape_[e] > 1 && facts_.axes[e].name != "c" ? 1 : 0;
      return invalid_argument(
          "axis " + name_of(d) + " has length 1, so the picture would be one pixel " + (d == row_ ? "high" : "wide") +
          (left < 2 ? "; no two axes of shape " + to_string(shape_) + " are longer; export it instead"
                    : "; cut across it (--axis " + name_of(d) + ") or fix it (--at " + name_of(d) +
                          "=0) to draw another axis"));
    }
    return {};
  }

  // Sets the position on axes that are neither shown nor given: the middle of z, all channels as colours, otherwise 0.
  void choose_rest() {
    const auto c = facts_.find("c");
    const bool as_colours = named_ && c && !fixed_[*c] && !facts_.labels && *c != row_ && *c != column_;
    if (!samples_ && as_colours) channel_ = c;
    if (samples_ && fixed_[*samples_]) samples_.reset();
    if (samples_) channel_ = samples_;
    std::optional<std::size_t> middle = named_ ? facts_.find("z") : std::nullopt;
    for (std::size_t d = 0; d < shape_.size(); ++d) {
      if (d == row_ || d == column_ || d == channel_ || fixed_[d]) continue;
      if (!named_ && !middle && !cut_) middle = d;
      fixed_[d] = d == middle ? shape_[d] / 2 : 0;
      if (!cut_ && d == middle) cut_ = d;
    }
    for (std::size_t d = 0; d < shape_.size() && !cut_; ++d)
      if (d != row_ && d != column_ && d != channel_) cut_ = d;
  }

  Result<PicturePlane> plane() const {
    PicturePlane plane{{Shape(shape_.size(), 0), Shape(shape_.size(), 1)}, row_, column_, channel_};
    plane.are_samples = samples_.has_value();
    plane.axis = cut_;
    for (std::size_t d = 0; d < shape_.size(); ++d) {
      const bool shown = d == row_ || d == column_ || d == channel_;
      (shown ? plane.box.shape : plane.box.origin)[d] = shown ? shape_[d] : fixed_[d].value_or(0);
    }
    if (std::ranges::find(shape_, 0) != shape_.end())
      return invalid_argument("the plane has no elements, the array has shape " + to_string(shape_));
    const ImageAxis &row = facts_.axes[row_], &column = facts_.axes[column_];
    if (!row.is_spatial() || !column.is_spatial() || !row.spacing || !column.spacing) return plane;
    const auto row_unit = nanometres(row.unit), column_unit = nanometres(column.unit);
    if (row.unit != column.unit && !(row_unit && column_unit)) return plane;
    const double row_step = *row.spacing * row_unit.value_or(1),
                 column_step = *column.spacing * column_unit.value_or(1);
    if (!(row_step > 0) || !(column_step > 0)) return plane;
    plane.row_step = row_step;
    plane.column_step = column_step;
    return plane;
  }

  Shape shape_;
  const ImageFacts& facts_;
  bool named_ = false;
  std::vector<std::optional<std::uint64_t>> fixed_;
  std::optional<std::size_t> samples_, channel_, cut_;
  std::size_t row_ = 0, column_ = 0;
};

}  // namespace

Result<PicturePlane> find_picture_plane(const Array& array, const ImageFacts& facts, const PictureOptions& options) {
  return PlaneChoice(array, facts).run(options);
}

}  // namespace sherd
