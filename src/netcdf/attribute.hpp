// Attributes as JSON and as typed values (appendix G of NCZarr's documentation, with the deviations of
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

/// Converts JSON to values of a type: one value or a list. invalid_argument if it has values that the type cannot hold.
[[nodiscard]] Result<Values> values_of_type(const Json& json, Type type);
/// The values and their type, as the JSON alone shows them.
[[nodiscard]] Values inferred_values(const Json& json);

/// How text that is JSON is stored.
enum class TextForm : std::uint8_t {
  plain,    ///< as a string: where no note of its type is stored it would be read as what the JSON is
  same,     ///< as that JSON if it is an object or a list that is printed as this text
  literal,  ///< as that JSON, whatever it is
};
/// The JSON that is stored for values. Text that is no UTF-8 is invalid_argument.
[[nodiscard]] Result<Json> attribute_json(const Values& values, TextForm form);

/// A decimal number, NaN or an infinity, rounded once; nullopt for other text. Of float and double.
template <class T>
[[nodiscard]] std::optional<T> parse_float(std::string_view text);

/// Whether an attribute is one of those that describe the storage, and not the data.
[[nodiscard]] bool is_hidden_attribute(std::string_view name) noexcept;

inline constexpr std::string_view kFillValue = "_FillValue";
/// Of a group while one of its dimensions is being renamed. xarray does not show attributes that begin like this.
inline constexpr std::string_view kRenamingAttribute = "_nczarr_renaming";
/// `_FillValue` as xarray stores it in Zarr v3, and requires it: a float is the base64 of a double. Characters, which
/// are arrays of uint8 there, are numbers. nullopt for values that need no other form.
[[nodiscard]] std::optional<Json> fill_for_xarray(const Values& fill);
/// The float that such text is; nullopt for anything else.
[[nodiscard]] std::optional<double> float_of_xarray(const Json& fill);

/// The bytes of a string in Zarr v2 are in an attribute of its variable, or else in the other one of the root group.
inline constexpr std::string_view kMaxLength = "_nczarr_maxstrlen", kDefaultMaxLength = "_nczarr_default_maxstrlen";
inline constexpr std::uint64_t kDefaultStringLength = 128;
/// What such an attribute says; nullopt if it is missing or is not one positive int.
[[nodiscard]] std::optional<std::uint64_t> string_length_in(const std::vector<Attribute>& attributes,
                                                            std::string_view name = kMaxLength);

}  // namespace sherd::netcdf
