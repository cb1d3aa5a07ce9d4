// S3, and servers that speak its protocol. Names: s3://BUCKET/PATH, and s3+https://HOST/BUCKET/PATH or
// s3+http://HOST/BUCKET/PATH for other endpoints.
#pragma once

#include <memory>

#include "remote/connection_options.hpp"
#include "sherd/store.hpp"
#include "store/store_url.hpp"

namespace sherd::remote {

/// Those of aws_settings.hpp, too.
inline constexpr std::string_view kS3Options[] = {
    SHERD_CONNECTION_OPTIONS, "anonymous",        "anon",           "profile",    "region",     "endpoint",
    "endpoint_url",           "addressing_style", "requester_pays", "part_bytes", "conditional"};
inline constexpr std::string_view kS3Secrets[] = {"key", "secret", "token"};

/// The store of such a URL.
[[nodiscard]] Result<std::shared_ptr<Store>> s3_store(const StoreUrl& url, const Config& config);

}  // namespace sherd::remote
