// The types of netCDF: their NumPy names as in NCZarr's metadata, and their array element types.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sherd/dtype.hpp"
#include "sherd/netcdf.hpp"

namespace sherd::netcdf {

/// The type of an attribute by its name in metadata: "<i4", ">S1" (a character), "|S16" (a string) or, as in the first
/// generation, the number of a type, "4". Otherwise nullopt.
[[nodiscard]] std::optional<Type> attribute_type(std::string_view name) noexcept;
/// The name that is written for the type of these values.
[[nodiscard]] std::string attribute_type_name(const Values& values);

/// The type of a variable's elements; nullopt for a type that netCDF does not have. `characters`: single bytes are
/// text.
[[nodiscard]] std::optional<Type> variable_type(const DType& dtype, bool characters) noexcept;
/// The array type for elements of a type: strings have a fixed size, characters are single bytes.
[[nodiscard]] Result<DType> array_type(Type type, std::uint64_t string_length);

/// The bytes of an element in memory; 0 for strings.
[[nodiscard]] std::size_t element_size(Type type) noexcept;
/// Empty values of a type.
[[nodiscard]] Values no_values(Type type);
/// One number from its bytes in memory; nullopt of text, and if they are not as many as the type has.
[[nodiscard]] std::optional<Values> number_of(Type type, std::span<const std::byte> bytes);

}  // namespace sherd::netcdf
