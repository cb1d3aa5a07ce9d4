// Any bytes as a zip archive: its directory is rejected, or its members lie in the archive one after the other and are
// found by their keys; each is rejected or read, the same whether the archive is in memory or read in requests.
#include <algorithm>
#include <cstdlib>

#include "sherd/store.hpp"
#include "store/key.hpp"
#include "store/zip.hpp"
#include "store/zip_directory.hpp"

namespace {

using namespace sherd;

/// The object, or the kind of failure.
std::string outcome(Store& store, const std::string& key) {
  const auto got = store.get(key);
  return got ? "read " + got->value() : "failed " + std::string(to_string(got.error().code()));
}

void read_members(std::string_view archive, const ZipDirectory& directory) {
  Config config;
  config.limits.chunk_bytes = std::uint64_t{1} << 20;
  const auto memory = memory_store();
  memory->set("a", archive).value();
  const auto in_memory = zip_store(memory, "a", config).value();
  const auto in_requests = zip_store(delayed_store(memory, std::chrono::microseconds(0), 2), "a", config).value();
  for (const ZipMember& member : directory.members()) {
    const std::string key(directory.key(member));
    if (outcome(*in_memory, key) != outcome(*in_requests, key)) std::abort();
  }
}

/// The error says what is left of the archive.
int expect_refused(std::string_view archive) {
  const auto memory = memory_store();
  memory->set("a", archive).value();
  if (zip_store(memory, "a", {})) std::abort();
  return 0;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto archive = std::as_bytes(std::span(data, size));
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto end = find_zip_end(archive.last(std::min(size, kZipTailBytes)), size, {});
  if (!end) return expect_refused(text);
  const auto directory = ZipDirectory::parse(archive.subspan(end->directory.offset, end->directory.length), *end);
  if (!directory) return expect_refused(text);
  std::uint64_t bytes = 0;
  for (const ZipMember& member : directory->members()) {
    if (member.header > size || member.stored > size - member.header) std::abort();
    if (!check_key(directory->key(member)) || directory->find(directory->key(member)) != &member) std::abort();
    bytes += member.stored;
  }
  if (bytes > size) std::abort();
  read_members(text, *directory);
  return 0;
}
