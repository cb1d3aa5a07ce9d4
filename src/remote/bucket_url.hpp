// The bucket and the prefix of keys that a URL such as s3://bucket/path names.
#pragma once

#include <string>

#include "sherd/result.hpp"
#include "store/store_url.hpp"

namespace sherd::remote {

struct BucketPlace {
  std::string bucket;
  std::string prefix = {};  ///< decoded; empty, or with a `/` at the end
  std::string shown = {};   ///< the URL, without `/` at the end
};
/// invalid_argument for a URL without bucket, or with what such a URL does not have.
[[nodiscard]] Result<BucketPlace> bucket_place(const StoreUrl& url);

}  // namespace sherd::remote
