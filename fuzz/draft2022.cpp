// Any bytes as an array's document of the 2022 draft are refused or make an array. It answers reads of chunks that are
// not there, and an edit of its attributes leaves its codecs as they are. As an entry point and as a group's document
// they are refused or taken.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "sherd/sherd.hpp"

namespace {

constexpr std::string_view kEntryPoint = R"({"zarr_format": "https://purl.org/zarr/spec/protocol/core/3.0",
  "metadata_encoding": "https://purl.org/zarr/spec/protocol/core/3.0", "metadata_key_suffix": ".json",
  "extensions": []})";

sherd::Config small_config() {
  sherd::Config config;
  config.threads = 1;
  config.limits.chunk_bytes = config.limits.index_bytes = std::uint64_t{1} << 20;
  return config;
}

sherd::Result<sherd::Node> open(const std::shared_ptr<sherd::Store>& store, std::string_view path) {
  return sherd::open(store, {.path = std::string(path), .writable = true, .config = small_config()});
}

/// Whether the last element could be read, which it is where the array is accessible and has any.
void read_corner(const sherd::Array& array) {
  sherd::Box corner{array.shape(), sherd::Shape(array.ndim(), 1)};
  for (auto& at : corner.origin) {
    if (at == 0) return;
    --at;
  }
  std::vector<std::byte> element(array.dtype().size());
  sherd::VarBytesArena arena;
  const auto read = array.read(corner, sherd::AnyView::dense(element.data(), array.dtype(), corner.shape), &arena);
  if (!read && read.error().member().find("storage_transformers") == std::string::npos) std::abort();
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
  read_corner(array);
  if (!array.update_attributes(sherd::Json(sherd::Json::Object{{"fuzzed", 1}}))) std::abort();
  const auto again = open(store, "a");
  if (!again || std::get<sherd::Array>(*again).codecs() != array.codecs()) std::abort();
  return 0;
}
