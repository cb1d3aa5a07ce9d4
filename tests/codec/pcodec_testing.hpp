// Files of pcodec as chunks, for its tests.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "api/registry.hpp"
#include "codec/chain.hpp"
#include "tests/codec/codec_fixture.hpp"
#include "tests/test_data.hpp"

namespace sherd::test::pcodec_testing {
struct File {
  std::string version, name;
  DType dtype;
  Bytes elements, bytes;
};

inline std::vector<File> files() {
  std::ifstream file(test_data("codec/pcodec_files.json"));
  std::stringstream text;
  text << file.rdbuf();
  const Json document = Json::parse(text.str()).value();
  std::map<std::string, Bytes> elements;
  for (const auto& [dtype, hex] : document.find("elements")->members()) elements[dtype] = from_hex(hex.text());
  std::vector<File> all;
  for (const Json& row : document.find("files")->elements()) {
    const std::string dtype = row.find("dtype")->text();
    all.push_back({row.find("version")->text(), row.find("name")->text(), DType::parse(dtype).value(), elements[dtype],
                   from_hex(row.find("file")->text())});
  }
  return all;
}

inline Result<CodecChain> chain_of(const DType& dtype, std::uint64_t count, std::string_view configuration = "{}") {
  const auto codecs = R"([{"name": "numcodecs.pcodec", "configuration": )" + std::string(configuration) + "}]";
  return CodecChain::build(parse_codec_list(json(codecs)).value(), tables().codecs, {dtype, {count}}, {});
}
inline Result<Bytes> decoded(const DType& dtype, std::size_t size, std::span<const std::byte> file) {
  Bytes elements(size);
  const std::uint64_t count = size / dtype.size();
  if (auto done = chain_of(dtype, count).value().decode({count}, file, elements, nullptr); !done)
    return std::move(done).error();
  return elements;
}
inline Bytes encoded(const DType& dtype, const Bytes& elements, std::string_view configuration = "{}") {
  const std::uint64_t count = elements.size() / dtype.size();
  Buffer to;
  chain_of(dtype, count, configuration).value().encode({count}, elements, to).value();
  return {to.span().begin(), to.span().end()};
}

template <class T>
Bytes bytes_of(std::size_t count, T (*number)(std::size_t)) {
  Bytes bytes(count * sizeof(T));
  for (std::size_t i = 0; i < count; ++i) {
    const T value = number(i);
    std::memcpy(&bytes[i * sizeof value], &value, sizeof value);
  }
  return bytes;
}

}  // namespace sherd::test::pcodec_testing
