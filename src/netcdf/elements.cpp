#include "netcdf/elements.hpp"

#include <algorithm>

#include "base/try.hpp"
#include "netcdf/type.hpp"

namespace sherd::netcdf {

namespace {

/// A block has this many elements, or one row of chunks if that is not much more, but at most this many
/// bytes.
constexpr std::uint64_t kBlock = std::uint64_t{1} << 20U, kLargestBlock = std::uint64_t{1} << 24U;
constexpr std::uint64_t kLargestBytes = std::uint64_t{64} << 20U;

/// The number of elements in the largest block, limited both as stored and as values.
std::uint64_t largest_block(const Variable& variable) {
  const std::uint64_t value = variable.type() == Type::string ? sizeof(std::string) : 1;
  const std::uint64_t size = std::max<std::uint64_t>(
      value, variable.has_array() ? variable.array().dtype().size() : element_size(variable.type()));
  return std::clamp<std::uint64_t>(kLargestBytes / size, 1, kLargestBlock);
}

/// The number of elements along the axes after `axis`, or more than `most`.
std::uint64_t elements_behind(const Shape& shape, std::size_t axis, std::uint64_t most) {
  std::uint64_t count = 1;
  for (std::size_t d = axis + 1; d < shape.size(); ++d) {
    if (shape[d] > most || count > most) return most + 1;
    count *= shape[d];
  }
  return count;
}

}  // namespace

ElementStream::ElementStream(Variable variable) : variable_(std::move(variable)), shape_(variable_.shape()) {
  const Shape& chunks = variable_.storage().chunks;
  const std::uint64_t largest = largest_block(variable_), block = std::min(kBlock, largest);
  for (axis_ = 0; axis_ < shape_.size(); ++axis_) {
    const std::uint64_t behind = std::max<std::uint64_t>(1, elements_behind(shape_, axis_, largest));
    const std::uint64_t chunk = axis_ < chunks.size() ? std::min(chunks[axis_], shape_[axis_]) : 1;
    const bool last = axis_ + 1 == shape_.size();
    if (behind > largest && !last) continue;
    const std::uint64_t limit = chunk <= largest / behind ? std::max(block, chunk * behind) : block;
    if (behind > limit && !last) continue;
    length_ = std::max<std::uint64_t>(1, limit / behind);
    if (chunk > 0 && length_ > chunk) length_ -= length_ % chunk;
    break;
  }
}

Result<void> ElementStream::seek(std::uint64_t element) {
  if (count_ > 0 && element < begin_ + count_) {
    offset_ = static_cast<std::size_t>(element - begin_);
    return {};
  }
  Box box{Shape(shape_.size(), 0), shape_};
  if (!shape_.empty()) {
    std::uint64_t rest = element;
    for (std::size_t d = shape_.size(); d-- > 0;) {
      box.origin[d] = d > axis_ ? 0 : rest % shape_[d];
      if (d < axis_) box.shape[d] = 1;
      rest /= shape_[d];
    }
    box.origin[axis_] -= box.origin[axis_] % length_;
    box.shape[axis_] = std::min(length_, shape_[axis_] - box.origin[axis_]);
    begin_ = 0;
    for (std::size_t d = 0; d < shape_.size(); ++d) begin_ = begin_ * shape_[d] + box.origin[d];
  }
  SHERD_TRY(values, variable_.read(box, nulls_));
  values_ = std::move(values);
  count_ = size_of(values_);
  offset_ = static_cast<std::size_t>(element - begin_);
  return {};
}

}  // namespace sherd::netcdf
