// Converts attributes between JSON and typed values (appendix G of NCZarr's documentation, with the deviations in
// docs/format/nczarr.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sherd/json.hpp"
#include "sherd/netcdf.hpp"

namespace sherd::netcdf {

/// Converts JSON to values of a type: one value or a list. invalid_argument if the type cannot hold the values.
[[nodiscard]] Result<Values> values_of_type(const Json& json, Type type);
/// The values and their type, inferred from the JSON alone.
[[nodiscard]] Values inferred_values(const Json& json);

/// How text that is JSON is stored.
enum class TextForm : std::uint8_t {
  plain,    ///< as a string: without a stored note of its type it would be read as that JSON
  same,     ///< as that JSON if it is an object or a list that prints as exactly this text
  literal,  ///< as that JSON in any case
};
/// The JSON that is stored for values. Text that is not UTF-8 is invalid_argument.
[[nodiscard]] Result<Json> attribute_json(const Values& values, TextForm form);

/// Removes the NULs at the end of a text, which programs in C store and netcdf-c drops. `_FillValue` is one character,
/// which may be a NUL.
void cut_final_nuls(Attribute& attribute);

/// A decimal number, NaN or an infinity, rounded once; nullopt for other text. For float and double.
template <class T>
[[nodiscard]] std::optional<T> parse_float(std::string_view text);

/// The values of an attribute; nullptr if there is none of this name.
[[nodiscard]] const Values* find_values(const std::vector<Attribute>& attributes, std::string_view name) noexcept;

/// Whether an attribute describes the storage rather than the data.
[[nodiscard]] bool is_hidden_attribute(std::string_view name) noexcept;

inline constexpr std::string_view kFillValue = "_FillValue";
/// `_FillValue` in the form that xarray stores and requires in Zarr v3: a float is the base64 of a double. Characters,
/// which are arrays of uint8 there, are numbers. nullopt for values that need no other form.
[[nodiscard]] std::optional<Json> fill_for_xarray(const Values& fill);
/// The float in such a text; nullopt for anything else.
[[nodiscard]] std::optional<double> float_of_xarray(const Json& fill);

/// Attributes with the bytes of a string in Zarr v2: that of the variable or, without it, that of the root group.
inline constexpr std::string_view kMaxLength = "_nczarr_maxstrlen", kDefaultMaxLength = "_nczarr_default_maxstrlen";
inline constexpr std::uint64_t kDefaultStringLength = 128;
/// The value of such an attribute; nullopt if it is missing or is not one positive int.
[[nodiscard]] std::optional<std::uint64_t> string_length_in(const std::vector<Attribute>& attributes,
                                                            std::string_view name = kMaxLength);

}  // namespace sherd::netcdf
