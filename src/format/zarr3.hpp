// Shared by the two files of the Zarr v3 format and other users of its documents: the members of array documents, and
// the refusal of unknown ones.
#pragma once

#include <initializer_list>
#include <string_view>

#include "node/spec.hpp"
#include "sherd/options.hpp"
#include "sherd/result.hpp"

namespace sherd::zarr3 {

inline constexpr const char* kDocument = "zarr.json";

/// Lowers an array document whose zarr_format and node_type have been checked. Wrong values are invalid_argument,
/// unknown names and exceeded limits `unsupported`; every error names its member.
Result<ArraySpec> parse_array(const Json& document, const Limits& limits);
/// The canonical document, with members in zarr-python's order.
Json print_array(const ArraySpec& spec);

/// Refuses members that are not `known`, except objects with "must_understand": false.
Result<void> refuse_unknown(const Json& document, std::initializer_list<std::string_view> known);

}  // namespace sherd::zarr3
