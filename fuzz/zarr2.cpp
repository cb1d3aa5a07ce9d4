// Any bytes as one of the four documents of Zarr v2 are rejected or make a node. Reads of missing chunks of an array
// succeed, and changing its attributes leaves its `.zarray` unchanged; a group's list of nodes can be rewritten.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "fuzz/nodes.hpp"
#include "sherd/sherd.hpp"

namespace {

constexpr std::string_view kArray = R"({"chunks": [2], "compressor": null, "dtype": "<i4", "fill_value": 0,
  "filters": null, "order": "C", "shape": [4], "zarr_format": 2})";
constexpr std::string_view kGroup = R"({"zarr_format": 2})";

sherd::Result<sherd::Node> open(const std::shared_ptr<sherd::Store>& store, std::string_view path) {
  return sherd::open(store, {.path = std::string(path), .writable = true, .config = sherd::fuzz::small_config()});
}

void check_array(std::string_view document, std::string_view attributes) {
  const auto store = sherd::memory_store();
  store->set("a/.zarray", document).value();
  if (!attributes.empty()) store->set("a/.zattrs", attributes).value();
  auto node = open(store, "a");
  if (!node) {
    (void)node.error().text();
    return;
  }
  auto& array = std::get<sherd::Array>(*node);
  if (!sherd::fuzz::read_corner(array)) std::abort();
  if (!array.update_attributes(sherd::Json(sherd::Json::Object{{"fuzzed", 1}}))) std::abort();
  if (store->get("a/.zarray").value() != document) std::abort();
  const auto again = open(store, "a");
  if (!again || std::get<sherd::Array>(*again).codecs() != array.codecs()) std::abort();
}

void check_group(std::string_view document, std::string_view list) {
  const auto store = sherd::memory_store();
  store->set(".zgroup", document).value();
  store->set("a/.zarray", kArray).value();
  if (!list.empty()) store->set(".zmetadata", list).value();
  auto node = open(store, "");
  if (!node) {
    (void)node.error().text();
    return;
  }
  auto& group = std::get<sherd::Group>(*node);
  if (group.members().value().size() != 1) std::abort();
  if (!group.consolidate() || !open(store, "")) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_array(text, {});
  check_array(kArray, text);
  check_group(text, {});
  check_group(kGroup, text);
  return 0;
}
