// Any bytes as an array document of the 2022 draft are rejected or make an array. Reads of missing chunks succeed, and
// changing its attributes leaves its codecs unchanged. As an entry point and as a group document they are rejected or
// accepted.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "fuzz/nodes.hpp"
#include "sherd/sherd.hpp"

namespace {

constexpr std::string_view kEntryPoint = R"({"zarr_format": "https://purl.org/zarr/spec/protocol/core/3.0",
  "metadata_encoding": "https://purl.org/zarr/spec/protocol/core/3.0", "metadata_key_suffix": ".json",
  "extensions": []})";

sherd::Result<sherd::Node> open(const std::shared_ptr<sherd::Store>& store, std::string_view path) {
  return sherd::open(store, {.path = std::string(path), .writable = true, .config = sherd::fuzz::small_config()});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto store = sherd::memory_store();
  store->set("zarr.json", text).value();
  (void)open(store, "a");
  store->set("zarr.json", kEntryPoint).value();
  store->set("meta/root/g.group.json", text).value();
  (void)open(store, "g");
  store->set("meta/root/a.array.json", text).value();
  auto node = open(store, "a");
  if (!node) {
    (void)node.error().text();
    return 0;
  }
  auto& array = std::get<sherd::Array>(*node);
  const auto read = sherd::fuzz::read_corner(array);
  const bool inaccessible = !read && read.error().member().find("storage_transformers") != std::string::npos;
  if (!read && !inaccessible) std::abort();
  if (!array.update_attributes(sherd::Json(sherd::Json::Object{{"fuzzed", 1}}))) std::abort();
  const auto again = open(store, "a");
  if (!again || std::get<sherd::Array>(*again).codecs() != array.codecs()) std::abort();
  return 0;
}
