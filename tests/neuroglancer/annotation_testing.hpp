// Annotations and their info, for their tests.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/neuroglancer/precomputed_testing.hpp"

namespace sherd::neuroglancer::annotation_testing {

using Type = AnnotationProperty::Type;

inline AnnotationInfo info_of(AnnotationType type, std::vector<AnnotationProperty> properties = {},
                              std::size_t rank = 2) {
  AnnotationInfo info;
  for (std::size_t d = 0; d < rank; ++d) info.dimensions.push_back({"d" + std::to_string(d), 1, "m"});
  info.lower_bound.assign(rank, 0);
  info.upper_bound.assign(rank, 10);
  info.type = type;
  info.properties = std::move(properties);
  return info;
}

// All types in an order that is not that of their sizes.
inline std::vector<AnnotationProperty> every_property() {
  return {{"a", Type::rgb},   {"b", Type::uint16}, {"c", Type::float32}, {"d", Type::int8},    {"e", Type::int32},
          {"f", Type::int16}, {"g", Type::rgba},   {"h", Type::uint32},  {"i", Type::boolean}, {"j", Type::uint8}};
}

inline std::vector<Column> every_value() {
  return {column<std::uint8_t>(DType::uint8, {1, 2, 3}, 3),
          column<std::uint16_t>(DType::uint16, {0x0405}),
          column<float>(DType::float32, {1.5}),
          column<std::int8_t>(DType::int8, {-6}),
          column<std::int32_t>(DType::int32, {-7}),
          column<std::int16_t>(DType::int16, {-8}),
          column<std::uint8_t>(DType::uint8, {9, 10, 11, 12}, 4),
          column<std::uint32_t>(DType::uint32, {0x0D0E0F10}),
          column<std::uint8_t>(DType::uint8, {1}),
          column<std::uint8_t>(DType::uint8, {17})};
}

// Words of four bytes, of two, then bytes, each in the info's order; 26 bytes and so two of padding.
inline Packed& add_every_value(Packed& packed) {
  return packed.f32({1.5})
      .u32({0xFFFFFFF9, 0x0D0E0F10})
      .u16({0x0405, 0xFFF8})
      .u8({1, 2, 3, 0xFA, 9, 10, 11, 12, 1, 17})
      .u8({0, 0});
}

inline constexpr std::string_view kInfo = R"({"@type": "neuroglancer_annotations_v1",
  "dimensions": {"x": [4e-09, "m"], "y": [4e-09, "m"], "t": [1, ""]},
  "lower_bound": [0, -1.5, 2], "upper_bound": [64, 64, 3], "annotation_type": "ellipsoid",
  "properties": [{"id": "kind", "type": "uint8", "description": "what", "enum_values": [0, 3],
                  "enum_labels": ["axon", "soma"], "default": 3}, {"id": "on_Off1", "type": "bool"}],
  "relationships": [{"id": "cells", "key": "by_cell", "note": 1}],
  "by_id": {"key": "by_id", "sharding": {"@type": "neuroglancer_uint64_sharded_v1"}},
  "spatial": [{"key": "spatial0", "grid_shape": [1, 1, 1], "chunk_size": [64, 65.5, 1], "limit": 1000, "extra": []}],
  "segment_properties": "props", "tool": {"a": 1.50}})";

}  // namespace sherd::neuroglancer::annotation_testing
