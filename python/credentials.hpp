// A Python function that returns credentials, as Config::credentials.
#pragma once

#include <functional>

#include "python/bindings.hpp"
#include "sherd/options.hpp"

namespace sherd::python {

/// The function may return a dict of "key", "secret" and "token" (of S3), or "bearer_token", and "expires" (a
/// datetime with a time zone, or seconds since 1970); or a tuple of key, secret and perhaps token. invalid_argument if
/// `value` cannot be called.
[[nodiscard]] std::function<Result<Credentials>()> credentials_from(nanobind::handle value);

}  // namespace sherd::python
