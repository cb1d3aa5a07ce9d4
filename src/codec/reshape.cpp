// reshape (zarr-extensions) and zarrs.squeeze, which drops dimensions of length 1: the elements in the same C order,
// with another shape. A dimension of the result is a number, the product of some neighbouring dimensions of the array,
// or, once, -1: the rest.
#include <cstring>
#include <memory>
#include <numeric>

#include "base/checked.hpp"
#include "base/try.hpp"
#include "codec/configuration.hpp"

namespace sherd {
namespace {

/// One dimension of the result.
struct Dimension {
  std::optional<std::uint64_t> size = {};  ///< unless it is made from inputs or is the rest
  std::vector<std::size_t> inputs = {};
  bool rest = false;
};

/// nullopt if it does not fit in 64 bits.
std::optional<std::uint64_t> product(std::span<const std::uint64_t> sizes) noexcept {
  std::optional<std::uint64_t> all = 1;
  for (const std::uint64_t size : sizes) all = all ? checked_mul(*all, size) : all;
  return all;
}

/// Codecs that keep the elements in the same order.
class SameElements : public ArrayCodec {
 public:
  Result<void> encode(const ChunkType&, std::span<const std::byte> from, std::span<std::byte> to) const override {
    if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
    return {};
  }
  Result<void> decode(const ChunkType& in, std::span<const std::byte> from, std::span<std::byte> to) const override {
    return encode(in, from, to);
  }
  Result<void> encode_fill(const ChunkType& in, std::span<const std::byte> from,
                           std::span<std::byte> to) const override {
    return encode(in, from, to);
  }
};

/// A chunk of one element keeps one dimension.
class SqueezeCodec final : public SameElements {
 public:
  Result<ChunkType> encoded_type(const ChunkType& in) const override {
    Shape shape;
    for (const std::uint64_t extent : in.shape)
      if (extent != 1) shape.push_back(extent);
    if (shape.empty()) shape.push_back(1);
    return ChunkType{in.dtype, std::move(shape)};
  }
};

class ReshapeCodec final : public SameElements {
 public:
  explicit ReshapeCodec(std::vector<Dimension> dimensions) : dimensions_(std::move(dimensions)) {}

  Result<ChunkType> encoded_type(const ChunkType& in) const override {
    const auto total = product(in.shape);
    Shape shape;
    for (const Dimension& dimension : dimensions_) {
      Shape inputs;
      for (const std::size_t input : dimension.inputs) inputs.push_back(in.shape[input]);
      shape.push_back(dimension.size ? *dimension.size : product(inputs).value_or(0));
      if (dimension.rest) shape.back() = 1;
    }
    const auto known = product(shape);
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (dimensions_[i].rest && total && known && *known != 0) shape[i] = *total / *known;
    }
    if (!total || product(shape) != total)
      return mismatch("cannot hold the elements of a chunk of shape " + to_string(in.shape));
    for (std::size_t i = 0; i < shape.size(); ++i) SHERD_TRY(check_inputs(in.shape, shape, i));
    return ChunkType{in.dtype, std::move(shape)};
  }

 private:
  static Error mismatch(std::string what) {
    return configuration_error("shape", "reshape: 'shape' " + std::move(what));
  }

  /// Coordinates along the inputs must be the unraveled coordinate along dimension i.
  [[nodiscard]] Result<void> check_inputs(const Shape& in, const Shape& out, std::size_t i) const {
    const auto& inputs = dimensions_[i].inputs;
    if (inputs.empty()) return {};
    const std::span from(in);
    const std::span to(out);
    if (product(to.first(i)) == product(from.first(inputs.front())) &&
        product(to.subspan(i + 1)) == product(from.subspan(inputs.back() + 1)))
      return {};
    return mismatch("names dimensions of a chunk of shape " + to_string(in) + " that dimension " + std::to_string(i) +
                    " of " + to_string(out) + " does not consist of");
  }

  std::vector<Dimension> dimensions_;
};

Error wrong_entry(std::size_t index, const std::string& what) {
  return configuration_error("shape[" + std::to_string(index) + "]", "reshape: " + what);
}

Result<Dimension> parse_inputs(const Json& list, std::size_t index, std::size_t rank, std::size_t& next) {
  Dimension dimension;
  for (const Json& entry : list.elements()) {
    const auto input = entry.as_uint();
    if (!input || *input >= rank || *input < next)
      return wrong_entry(index, "lists of dimensions must name some of the " + std::to_string(rank) +
                                    " dimensions, counted from 0, in increasing order");
    dimension.inputs.push_back(*input);
    next = *input + 1;
  }
  if (dimension.inputs.empty()) dimension.size = 1;
  return dimension;
}

Result<std::unique_ptr<ArrayCodec>> make_reshape(const CodecSpec& spec, const CodecContext& context) {
  SHERD_TRY(configuration, Configuration::open(spec));
  const Json* shape = configuration.find("shape");
  SHERD_TRY(configuration.done());
  if (shape == nullptr || !shape->is_array())
    return configuration_error("shape", "reshape: 'shape' must be a list with an entry for each dimension");
  if (context.limits != nullptr && shape->size() > context.limits->dimensions)
    return unsupported("reshape: 'shape' has more than the limit dimensions (" +
                       std::to_string(context.limits->dimensions) + ")")
        .in_member("configuration.shape");
  std::vector<Dimension> dimensions;
  std::size_t next = 0;
  bool rest = false;
  for (std::size_t i = 0; i < shape->size(); ++i) {
    const Json& entry = shape->elements()[i];
    const auto size = entry.as_int();
    if (entry.is_array()) {
      SHERD_TRY(dimension, parse_inputs(entry, i, context.in.shape.size(), next));
      dimensions.push_back(std::move(dimension));
    } else if (size && *size > 0) {
      dimensions.push_back({.size = static_cast<std::uint64_t>(*size)});
    } else if (size == -1 && !rest) {
      dimensions.push_back({.rest = true});
      rest = true;
    } else {
      return wrong_entry(i, "must be a positive integer, a list of dimensions or, once, -1");
    }
  }
  return std::unique_ptr<ArrayCodec>(std::make_unique<ReshapeCodec>(std::move(dimensions)));
}

Result<std::unique_ptr<ArrayCodec>> make_squeeze(const CodecSpec& spec, const CodecContext&) {
  SHERD_TRY(configuration, Configuration::open(spec));
  SHERD_TRY(configuration.done());
  return std::unique_ptr<ArrayCodec>(std::make_unique<SqueezeCodec>());
}

}  // namespace

extern constinit const CodecEntry reshape_codec{.name = "reshape", .aliases = {}, .array_codec = make_reshape};
extern constinit const CodecEntry squeeze_codec{.name = "zarrs.squeeze", .aliases = {}, .array_codec = make_squeeze};

}  // namespace sherd
