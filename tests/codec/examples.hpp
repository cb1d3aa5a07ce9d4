// A configuration for each codec that needs one, and elements for every codec: the suites over the codec table, and the
// fuzz target of each codec, make chunks from them.
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "codec/codec.hpp"

namespace sherd::test {

struct Example {
  std::string_view codec, configuration;
};
inline constexpr Example kExamples[] = {
    {"numcodecs.astype", R"({"encode_dtype": "<f8"})"},
    {"bitround", R"({"keepbits": 5})"},
    {"numcodecs.bitround", R"({"keepbits": 5})"},
    {"cast_value", R"({"data_type": "float32", "out_of_range": "clamp"})"},
    {"numcodecs.categorize", R"({"labels": ["", "shard", "a longer text"], "dtype": "|O", "astype": "|u1"})"},
    {"conditional", R"({"codecs": [{"name": "numcodecs.zlib", "configuration": {"level": 1}}, {"name": "crc32c"}]})"},
    {"numcodecs.delta", R"({"dtype": "<u4"})"},
    {"numcodecs.fixedscaleoffset", R"({"offset": 10, "scale": 4, "dtype": "<f4", "astype": "|u1"})"},
    {"n5_default", R"({"codecs": [{"name": "transpose", "configuration": {"order": [1, 0]}},
                                  {"name": "bytes", "configuration": {"endian": "big"}},
                                  {"name": "numcodecs.lz4", "configuration": {"acceleration": 1}}]})"},
    {"numcodecs.quantize", R"({"digits": 2, "dtype": "<f4"})"},
    {"reshape", R"({"shape": [8, -1]})"},
    {"scale_offset", R"({"offset": 0, "scale": 3})"},
    {"transpose", R"({"order": [1, 0]})"},
    {"zarrs.gdeflate", R"({"level": 1})"},
};

/// Null if the codec needs no configuration.
inline Json example_configuration(const CodecEntry& entry) {
  for (const Example& example : kExamples)
    if (example.codec == entry.name) return Json::parse(example.configuration).value();
  return Json();
}

/// The codec in the form of a list of codecs.
inline Json example_codec(const CodecEntry& entry) {
  Json codec(Json::Object{{"name", std::string(entry.name)}});
  if (Json configuration = example_configuration(entry); !configuration.is_null())
    codec.set("configuration", std::move(configuration));
  return codec;
}

/// Each codec encodes at least one of them.
inline std::vector<DType> example_types() {
  return {DType::uint32,
          DType::float32,
          DType::uint8,
          DType::bool_,
          DType::string,
          DType::bytes,
          *DType::optional(DType::uint16)};
}

/// A chunk of small numbers, or of three texts.
inline std::vector<std::byte> example_elements(const DType& dtype, std::size_t count) {
  static constexpr std::array<std::string_view, 3> kTexts{"", "shard", "a longer text"};
  if (dtype.is_variable()) {
    std::vector<VarBytes> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back({kTexts[i % 3].data(), kTexts[i % 3].size()});
    const auto bytes = std::as_bytes(std::span(all));
    return {bytes.begin(), bytes.end()};
  }
  std::vector<std::byte> bytes(count * dtype.size());
  for (std::size_t i = 0; i < count; ++i) {
    const auto number = static_cast<std::uint32_t>(i * i % (dtype == DType::bool_ ? 2 : 61));
    const auto real = static_cast<float>(number);
    std::memcpy(&bytes[i * dtype.size()],
                dtype == DType::float32 ? static_cast<const void*>(&real) : static_cast<const void*>(&number),
                dtype.size());
    // A number may be missing; all of its bytes are then 0.
    if (dtype.kind() == DType::Kind::optional && number % 3 != 0) bytes[(i + 1) * dtype.size() - 1] = std::byte{1};
    if (dtype.kind() == DType::Kind::optional && number % 3 == 0) bytes[i * dtype.size()] = std::byte{0};
  }
  return bytes;
}

/// The name of a row, as used in names of tests.
inline std::string test_name_of(const CodecEntry& entry) {
  std::string name(entry.name);
  std::ranges::replace_if(name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

}  // namespace sherd::test
