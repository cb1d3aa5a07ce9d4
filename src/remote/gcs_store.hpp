// Google Cloud Storage through its XML interface, which speaks S3's protocol. Requests have a bearer token, or none.
#pragma once

#include <memory>

#include "remote/connection_options.hpp"
#include "sherd/store.hpp"
#include "store/store_url.hpp"

namespace sherd::remote {

/// `anon`, `endpoint_url` and `token`, as in fsspec, mean the same as `anonymous`, `endpoint` and `bearer_token`.
inline constexpr std::string_view kGcsOptions[] = {SHERD_CONNECTION_OPTIONS, "endpoint", "endpoint_url", "anonymous",
                                                   "anon"};
inline constexpr std::string_view kGcsSecrets[] = {"bearer_token", "token"};

/// The store of a gs URL.
[[nodiscard]] Result<std::shared_ptr<Store>> gcs_store(const StoreUrl& url, const Config& config);

}  // namespace sherd::remote
