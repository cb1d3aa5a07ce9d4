// Byte orders as the codec `bytes` states them: "little", "big", or, for structs whose fields differ, a list with the
// orders of the fields.
#pragma once

#include "sherd/dtype.hpp"
#include "sherd/json.hpp"
#include "sherd/result.hpp"

namespace sherd {

/// invalid_argument for what does not fit the type. null, which says nothing, does.
Result<void> check_byte_orders(const Json& orders, const DType& dtype);

}  // namespace sherd
