// A part of an array, possibly with its numbers converted to another type, as the source of a copy; and the metadata of
// an image adapted to such a part.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "image/convert.hpp"
#include "image/element_map.hpp"
#include "node/spec.hpp"
#include "sherd/tools.hpp"

namespace sherd {

class Cutout final : public ElementMap {
 public:
  /// The part that options select; nullptr if it is the whole array unchanged. `axes` is the order of dimensions in the
  /// selection, if different from the array's. Errors name the option as their member.
  static Result<std::shared_ptr<const Cutout>> make(const ArraySpec& source, const CopyOptions& options,
                                                    const std::vector<std::size_t>& order = {});

  /// Whether elements change or dimensions are dropped, so that chunks cannot be kept as they are.
  [[nodiscard]] bool changes_chunks() const { return converts() || kept_.size() != box_.shape.size(); }
  [[nodiscard]] bool converts() const { return conversion_.has_value(); }
  [[nodiscard]] const Box& box() const noexcept { return box_; }
  [[nodiscard]] const DType& dtype() const noexcept { return to_; }
  [[nodiscard]] Shape shape() const { return pick(box_.shape); }
  /// Selects the entries of the copy's dimensions from a list with one entry per dimension of the source.
  template <class T>
  [[nodiscard]] std::vector<T> pick(const std::vector<T>& all) const {
    if (all.size() != box_.shape.size()) return all;
    std::vector<T> some;
    some.reserve(kept_.size());
    for (const std::size_t d : kept_) some.push_back(all[d]);
    return some;
  }
  /// The array of this part, with the source's chunks if they have a single shape.
  [[nodiscard]] ArraySpec applied_to(ArraySpec spec) const;
  /// Attributes of the array (docs/files.md) adapted to the part; `names` are those of the source's dimensions.
  [[nodiscard]] Json attributes_of(Json attributes, const std::vector<std::string>& names) const;
  /// Selects the channels of the part from a list; `names` as above.
  [[nodiscard]] Json channels_of(const Json& channels, const std::vector<std::string>& names) const;

  [[nodiscard]] Box made_of(const Box& copy, const Shape& source) const override;
  [[nodiscard]] Box goes_into(const Box& source) const override;
  [[nodiscard]] std::uint64_t most() const noexcept override;
  [[nodiscard]] CopyWay cheapest(const Array::State& source) const override;
  [[nodiscard]] std::span<const std::byte> missing(std::span<const std::byte> fill) const override;
  [[nodiscard]] Result<void> read(const Array& source, const Box& box, const ElementTarget& to) const override;

 private:
  Result<void> select(const Shape& shape, const std::string& text, const std::vector<std::size_t>& order);
  Result<void> convert(const ArraySpec& source, const DType& dtype);
  [[nodiscard]] bool is_aligned(const Shape& lengths, const Shape& source) const;
  [[nodiscard]] Error refusal(const Box& from, std::uint64_t number, std::span<const std::byte> element) const;

  Box box_;                        ///< of the source
  std::vector<std::size_t> kept_;  ///< the dimensions that the copy has; in others the box has length 1
  DType from_, to_;
  std::optional<Conversion> conversion_;
  std::optional<Scalar> fill_;  ///< the converted fill value
};

/// Whether options select a part of an array, or another type.
[[nodiscard]] inline bool asks_for_cutout(const CopyOptions& options) noexcept {
  return options.select.has_value() || options.dtype.has_value();
}

}  // namespace sherd
