// The layout of an annotation in bytes, according to the info document; the types' names in both.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "sherd/neuroglancer.hpp"

namespace sherd::neuroglancer {

/// The name of a property type, how it is stored, and its alignment.
struct PropertyKind {
  AnnotationProperty::Type type;
  std::string_view name;
  const DType* dtype;
  std::uint32_t components;
};
[[nodiscard]] const PropertyKind& property_kind(AnnotationProperty::Type type) noexcept;
/// nullptr if no type has this name.
[[nodiscard]] const PropertyKind* property_kind(std::string_view name) noexcept;

/// With the type and components that hold the property.
[[nodiscard]] Column empty_column(const AnnotationProperty& property);

/// The properties in an order in which as many readers as possible find them: by size, and uint32 where Neuroglancer's
/// Python reader expects it.
[[nodiscard]] std::vector<std::size_t> readable_order(const std::vector<AnnotationProperty>& properties);

/// Geometry vectors of one annotation; 0 for polylines, which store their own number.
[[nodiscard]] std::size_t vector_count(AnnotationType type) noexcept;

/// invalid_argument if a list does not fit the info, or contains a number that is not finite.
Result<void> check_annotations(const Annotations& annotations, const AnnotationInfo& info);

}  // namespace sherd::neuroglancer
