// Byte orders as given by the codec `bytes`: "little", "big" or, for structs with different fields, a list with the
// order of each field.
#pragma once

#include "sherd/dtype.hpp"
#include "sherd/json.hpp"
#include "sherd/result.hpp"

namespace sherd {

/// invalid_argument if the orders do not fit the type. null (not given) always fits.
Result<void> check_byte_orders(const Json& orders, const DType& dtype);

}  // namespace sherd
