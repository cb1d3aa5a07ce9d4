// How one annotation lies in bytes, from what the info document says; the types' names, for both.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "sherd/neuroglancer.hpp"

namespace sherd::neuroglancer {

/// What a property is called, how it is stored, and what it is aligned to.
struct PropertyKind {
  AnnotationProperty::Type type;
  std::string_view name;
  const DType* dtype;
  std::uint32_t components;
};
[[nodiscard]] const PropertyKind& property_kind(AnnotationProperty::Type type) noexcept;
/// nullptr where nothing is called so.
[[nodiscard]] const PropertyKind* property_kind(std::string_view name) noexcept;

/// Of the type and components that hold the property.
[[nodiscard]] Column empty_column(const AnnotationProperty& property);

/// Geometry vectors of one annotation; 0 for polylines, which say it themselves.
[[nodiscard]] std::size_t vector_count(AnnotationType type) noexcept;

/// invalid_argument if a list does not fit the info, or has a number that is not finite.
Result<void> check_annotations(const Annotations& annotations, const AnnotationInfo& info);

}  // namespace sherd::neuroglancer
