// A web server: objects below a URL. It cannot list them. A query is sent with every key, so a presigned URL names one
// object. The query is that of the URL or, if the URL has none or does not show it, the option `query`. Headers and
// credentials go to the server that the user named only: not to others, to which it redirects.
#pragma once

#include <memory>

#include "remote/connection_options.hpp"
#include "sherd/options.hpp"
#include "sherd/store.hpp"
#include "store/store_url.hpp"

namespace sherd::remote {

inline constexpr std::string_view kHttpOptions[] = {SHERD_CONNECTION_OPTIONS, "netrc"};
inline constexpr std::string_view kHttpSecrets[] = {"headers", "bearer_token", "username", "password", "query"};

/// The store of an http or https URL.
[[nodiscard]] Result<std::shared_ptr<Store>> http_store(const StoreUrl& url, const Config& config);

}  // namespace sherd::remote
