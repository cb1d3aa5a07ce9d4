// Any bytes as a zip archive: its directory is rejected, or its members lie in the archive one after the other and are
// found by their keys.
#include <algorithm>
#include <cstdlib>

#include "store/key.hpp"
#include "store/zip_directory.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sherd;
  const auto archive = std::as_bytes(std::span(data, size));
  const auto end = find_zip_end(archive.last(std::min(size, kZipTailBytes)), size, {});
  if (!end) return 0;
  const auto directory = ZipDirectory::parse(archive.subspan(end->directory.offset, end->directory.length), *end);
  if (!directory) return 0;
  std::uint64_t bytes = 0;
  for (const ZipMember& member : directory->members()) {
    if (member.header > size || member.stored > size - member.header) std::abort();
    if (!check_key(directory->key(member)) || directory->find(directory->key(member)) != &member) std::abort();
    bytes += member.stored;
  }
  if (bytes > size) std::abort();
  return 0;
}
