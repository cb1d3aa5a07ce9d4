// Chains of codecs that change values, types and shapes, for their tests.
#pragma once

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "codec/chain.hpp"
#include "tests/codec/codec_fixture.hpp"
#include "tests/test_data.hpp"

namespace sherd {
extern const CodecEntry bytes_codec, cast_value_codec, reshape_codec, scale_offset_codec, squeeze_codec;
}

namespace sherd::test::value_codecs_testing {
inline constexpr const CodecEntry* kTable[] = {&sherd::bytes_codec, &cast_value_codec, &reshape_codec,
                                               &scale_offset_codec, &squeeze_codec};

inline Result<CodecChain> chain_of(const Json& codecs, const ChunkType& type) {
  static const Limits limits;
  auto specs = parse_codec_list(codecs).value();
  specs.push_back({"bytes", json(R"({"endian": "little"})")});
  return CodecChain::build(specs, kTable, type, limits);
}

inline Result<CodecChain> chain_of(std::string_view codec, const DType& dtype, Shape shape = {4}) {
  return chain_of(json("[" + std::string(codec) + "]"), {dtype, std::move(shape)});
}
/// The member that a configuration is rejected for; empty if it is accepted.
inline std::string wrong_member(std::string_view codec, std::string_view configuration, const DType& dtype) {
  const auto chain = chain_of(
      R"({"name": ")" + std::string(codec) + R"(", "configuration": )" + std::string(configuration) + "}", dtype);
  return chain.has_value() ? "" : chain.error().member();
}

/// The bytes, or nullopt if the chain rejects them.
inline std::optional<Bytes> encoded_by(const CodecChain& chain, const Shape& shape,
                                       std::span<const std::byte> elements) {
  Buffer to;
  if (!chain.encode(chain.stored_shape(shape), elements, to)) return std::nullopt;
  return Bytes(to.span().begin(), to.span().end());
}
inline std::optional<Bytes> decoded_by(const CodecChain& chain, const Shape& shape, std::span<const std::byte> stored,
                                       std::size_t size) {
  Bytes elements(size);
  if (!chain.decode(chain.stored_shape(shape), stored, elements, nullptr)) return std::nullopt;
  return elements;
}

template <class From, class To>
inline std::optional<std::vector<To>> stored_as(std::string_view codec, const std::vector<From>& values) {
  const auto chain = chain_of(codec, DType::of<From>(), {values.size()}).value();
  const auto stored = encoded_by(chain, {values.size()}, std::as_bytes(std::span(values)));
  if (!stored) return std::nullopt;
  std::vector<To> result(stored->size() / sizeof(To));
  std::memcpy(result.data(), stored->data(), stored->size());
  return result;
}

}  // namespace sherd::test::value_codecs_testing
