// Any reply of a server as a list of objects and as an error is refused or read: what is read is part of the document,
// and no entity is expanded.
#include <cstdint>
#include <cstdlib>

#include "remote/list_objects.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sherd;
  using namespace sherd::remote;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const S3Error error = parse_s3_error(text);
  if (error.code.size() + error.message.size() + error.region.size() + error.endpoint.size() > size) std::abort();
  const auto page = parse_list_objects(text);
  if (!page) {
    if (page.error().code() != ErrorCode::corrupt) std::abort();
    return 0;
  }
  std::size_t shown = page->next.size();
  for (const ListPage::Object& object : page->objects) {
    if (object.key.empty()) std::abort();
    shown += object.key.size() + object.generation.token.size();
  }
  for (const std::string& prefix : page->prefixes) shown += prefix.size();
  if (shown > size) std::abort();
  return 0;
}
