// Any text as the name of a place: it is refused, or what is printed of it has no secrets, and names the same place;
// it is divided at a slash.
#include <cstdlib>

#include "store/store_url.hpp"

namespace {

using namespace sherd;

Result<bool> is_fragment(std::string_view text, bool is_url) {
  if (text.starts_with("mod=")) return invalid_argument("did you mean mode=");
  return is_url || text.starts_with("mode=");
}

constexpr std::string_view kStores[] = {"file", "memory", "https", "s3"}, kLayers[] = {"zip", "tar"};
constexpr UrlWords::FormatWord kFormats[] = {{"zarr3", "zarr3"}, {"zarr2", "zarr2"}, {"zarr", ""}};

Result<StoreUrl> parse(std::string_view text) {
  return parse_store_url(text, {kStores, kLayers, kFormats, is_fragment});
}

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto url = parse({reinterpret_cast<const char*>(data), size});
  if (!url) {
    require(url.error().code() == ErrorCode::invalid_argument || url.error().code() == ErrorCode::unsupported);
    return 0;
  }
  require(!url->scheme.empty() && (!url->is_file() || url->host.empty()));
  for (const StoreUrl::Layer& layer : url->layers) require(!layer.path.starts_with('/') && !layer.path.ends_with('/'));

  if (const auto shown = parse(url->shown)) {
    require(shown->userinfo.empty() || shown->userinfo == "...");
    require(shown->query.empty() || shown->query == "...");
    const bool is_whole =
        url->userinfo.empty() && url->query.empty() && url->shown.find_first_of("#[") == url->shown.npos;
    if (is_whole) require(shown->scheme == url->scheme && shown->host == url->host && shown->path == url->path);
    if (is_whole) require(shown->layers == url->layers && shown->format == url->format);
  }
  const auto parent = parent_of(*url);
  require(!parent || (!parent->key.empty() && parent->key.find('/') == parent->key.npos));
  return 0;
}
