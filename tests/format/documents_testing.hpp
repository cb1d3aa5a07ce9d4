// What the tests of array documents share, of any format: documents with members replaced, refusals as tables,
// and small arrays of int32.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "sherd/sherd.hpp"
#include "tests/results.hpp"

namespace sherd {

constexpr auto corrupt_code = ErrorCode::corrupt;
constexpr auto unsupported_code = ErrorCode::unsupported;

/// A document with some members replaced by those of `changes`, or removed where a change is the string "-".
inline std::string changed(std::string_view document, std::string_view changes) {
  Json json = parsed(document);
  const Json overlay = parsed(changes);
  for (const auto& [key, value] : overlay.members()) {
    if (value.is_string() && value.text() == "-")
      json.erase(key);
    else
      json.set(key, value);
  }
  return json.dump();
}

/// A change of a sound document, and the error that it leads to.
struct Refusal {
  std::string changes;
  ErrorCode code;
  std::string member;
};
inline void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.changes.substr(0, 100); }

inline void expect_refused(const auto& node, const Refusal& refusal, std::string_view key) {
  ASSERT_FALSE(node);
  EXPECT_EQ(to_string(code_of(node)), to_string(refusal.code)) << node.error().text();
  EXPECT_EQ(node.error().member(), refusal.member) << node.error().text();
  EXPECT_EQ(node.error().key(), key);
  EXPECT_FALSE(node.error().message().empty());
}

/// 0, 1, 2, …
inline std::vector<std::int32_t> counted(std::size_t count) {
  std::vector<std::int32_t> values(count);
  std::iota(values.begin(), values.end(), 0);
  return values;
}
/// All elements of an array of int32.
inline std::vector<std::int32_t> elements(const Array& array) {
  const Box all{Shape(array.ndim(), 0), array.shape()};
  std::vector<std::int32_t> values(element_count(array.shape()).value());
  array.read(all, std::span(values)).value();
  return values;
}

}  // namespace sherd
