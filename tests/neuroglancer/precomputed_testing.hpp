// What the tests of precomputed objects share: bytes from words, and what an error says.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "sherd/neuroglancer.hpp"

namespace sherd::neuroglancer {

inline Bytes bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

/// Little-endian words one after the other.
class Packed {
 public:
  template <class T>
  Packed& add(std::initializer_list<T> words) {
    for (const T word : words) {
      char bytes[sizeof word];
      std::memcpy(bytes, &word, sizeof word);
      text_.append(bytes, sizeof word);
    }
    return *this;
  }
  Packed& u8(std::initializer_list<std::uint8_t> words) { return add(words); }
  Packed& u16(std::initializer_list<std::uint16_t> words) { return add(words); }
  Packed& u32(std::initializer_list<std::uint32_t> words) { return add(words); }
  Packed& u64(std::initializer_list<std::uint64_t> words) { return add(words); }
  Packed& f32(std::initializer_list<float> words) { return add(words); }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

template <class T>
Column column(DType dtype, std::initializer_list<T> values, std::uint32_t components = 1) {
  Column made{dtype, components, {}};
  const auto bytes = std::as_bytes(std::span(values.begin(), values.size()));
  made.bytes.assign(bytes.begin(), bytes.end());
  return made;
}

inline Json json(std::string_view text) { return Json::parse(text).value(); }

/// The error's text, or what there is instead of one.
template <class T>
std::string refusal(const Result<T>& result, ErrorCode code) {
  if (result) return "no error";
  return result.error().code() == code ? result.error().text() : "another code: " + result.error().text();
}

/// Every text that is shorter than `whole` must be refused as corrupt, and so must one byte more.
template <class Parse>
void expect_exact_length(const std::string& whole, const Parse& parse) {
  ASSERT_TRUE(parse(bytes_of(whole))) << parse(bytes_of(whole)).error().text();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto cut = parse(bytes_of(whole).first(size));
    ASSERT_FALSE(cut) << size;
    EXPECT_EQ(cut.error().code(), ErrorCode::corrupt) << size << ": " << cut.error().text();
  }
  const std::string longer = whole + '\0';
  ASSERT_FALSE(parse(bytes_of(longer)));
  EXPECT_EQ(parse(bytes_of(longer)).error().code(), ErrorCode::corrupt);
}

}  // namespace sherd::neuroglancer
