#include "remote/bucket_url.hpp"

#include "base/try.hpp"
#include "base/url.hpp"

namespace sherd::remote {

Result<BucketPlace> bucket_place(const StoreUrl& url) {
  if (url.host.empty())
    return invalid_argument("'" + url.shown + "' names no bucket; write " + url.scheme + "://BUCKET/PATH");
  if (!url.userinfo.empty() || !url.port.empty() || !url.query.empty())
    return invalid_argument("'" + url.shown +
                            "': the URL of a bucket has no user, port or query; the endpoint and the "
                            "credentials are storage options");
  SHERD_TRY(path, percent_decode(url.path));
  while (path.starts_with('/')) path.erase(0, 1);
  while (path.ends_with('/')) path.pop_back();
  BucketPlace place{.bucket = url.host, .shown = url_below(url.scheme + "://" + url.host, path)};
  if (!path.empty()) place.prefix = path + "/";
  return place;
}

}  // namespace sherd::remote
