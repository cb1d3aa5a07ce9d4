// Any bytes as zarr.json are rejected or make a node. Reads of missing chunks of an array succeed, and its printed
// document makes an equal array.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "fuzz/nodes.hpp"
#include "sherd/sherd.hpp"

namespace {

sherd::Result<sherd::Node> open(std::string_view text) {
  const auto store = sherd::memory_store();
  store->set("zarr.json", text).value();
  return sherd::open(store, {.config = sherd::fuzz::small_config()});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto node = open({reinterpret_cast<const char*>(data), size});
  if (!node) {
    (void)node.error().text();
    return 0;
  }
  if (const auto* group = std::get_if<sherd::Group>(&*node)) {
    if (const auto members = group->members())
      for (const auto& [name, type] : *members) (void)group->open(name);
    return 0;
  }
  const auto& array = std::get<sherd::Array>(*node);
  if (!sherd::fuzz::read_corner(array)) std::abort();
  const auto again = open(array.metadata().dump(2));
  if (!again || !(std::get<sherd::Array>(*again).metadata() == array.metadata())) std::abort();
  return 0;
}
