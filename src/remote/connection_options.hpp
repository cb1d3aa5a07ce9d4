// The storage options of every remote store.
#pragma once

#include <string>
#include <string_view>

#include "remote/connection.hpp"
#include "sherd/options.hpp"

namespace sherd::remote {

#define SHERD_CONNECTION_OPTIONS \
  "parallel_requests", "attempts", "connect_timeout", "timeout", "proxy", "ca_bundle", "missing_status"

/// The settings that config.storage_options says; invalid_argument that names the option for a wrong value.
[[nodiscard]] Result<Connection> connection_of(const Config& config);

/// The value of an option; empty if it is not given.
[[nodiscard]] std::string option(const Config& config, std::string_view name);
/// One that is sent in a header.
[[nodiscard]] Result<std::string> header_option(const Config& config, std::string_view name);
/// `true` or `false`.
[[nodiscard]] Result<bool> switch_option(const Config& config, std::string_view name, bool otherwise);
/// Of a wrong value, which is not repeated because it may be a secret.
[[nodiscard]] Error wrong_option(std::string_view name, std::string_view expected);

}  // namespace sherd::remote
