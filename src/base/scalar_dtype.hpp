// Element types as JSON: how metadata of Zarr v3 name them.
#pragma once

#include <string>
#include <string_view>

#include "sherd/dtype.hpp"
#include "sherd/json.hpp"
#include "sherd/result.hpp"

namespace sherd {

/// Converts a type from metadata, a name or an object {name, configuration}, and back, in the canonical form. `unknown`
/// is the error code for an unknown name: stored documents may have names that this version does not know.
[[nodiscard]] Result<DType> parse_dtype(const Json& json, ErrorCode unknown = ErrorCode::unsupported);
/// Converts the name of a type, as parse_dtype() does.
[[nodiscard]] Result<DType> parse_dtype_name(std::string_view name, ErrorCode unknown);
[[nodiscard]] Json print_dtype(const DType& dtype);
/// The common name of all types of a kind: "uint16", "struct"; "r" for raw types.
[[nodiscard]] std::string kind_name(DType::Kind kind);

}  // namespace sherd
