// Any text is rejected or parsed; a parsed value printed in either form parses to an equal value.
#include <cstdint>
#include <cstdlib>

#include "sherd/json.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto json = sherd::Json::parse({reinterpret_cast<const char*>(data), size});
  if (!json) return 0;
  for (const int indent : {0, 2}) {
    const auto again = sherd::Json::parse(json->dump(indent));
    if (!again || !(*again == *json)) std::abort();
  }
  return 0;
}
