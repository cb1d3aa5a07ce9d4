#include "store/zip_first.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "base/try.hpp"
#include "store/read_into.hpp"
#include "store/zip_record.hpp"

namespace sherd {

ZipOrder zip_order(std::string_view key) noexcept { return {std::ranges::count(key, '/'), key}; }

Result<std::string> with_zip_first(const std::string& directory, std::uint64_t count, const KeyTest& is_first) {
  struct Placed {
    std::string key;
    std::span<const std::byte> bytes;
  };
  std::vector<Placed> first;
  std::string others;
  SHERD_TRY(for_each_zip_record(as_bytes(directory), count, [&](const ZipRecord& record) -> Result<void> {
    SHERD_TRY(name, zip_key(record));
    if (name.key && is_first(*name.key))
      first.push_back({*name.key, record.bytes});
    else
      others.append(reinterpret_cast<const char*>(record.bytes.data()), record.bytes.size());
    return {};
  }));
  std::ranges::sort(first, {}, [](const Placed& each) { return zip_order(each.key); });
  std::string ordered;
  ordered.reserve(directory.size());
  for (const Placed& each : first) ordered.append(reinterpret_cast<const char*>(each.bytes.data()), each.bytes.size());
  return ordered + others;
}

Result<ArchiveStore::Order> has_zip_first(const ZipArchive& archive, const KeyTest& is_first) {
  Buffer directory;
  SHERD_TRY(read_into(*archive.source(), archive.directory_extent(), directory));
  ArchiveStore::Order order;
  bool has_others = false;
  std::ptrdiff_t depth = 0;
  std::uint64_t end = 0, others = archive.directory_extent().offset;  // of the first members, and where others begin
  SHERD_TRY(for_each_zip_record(directory.span(), archive.end().count, [&](const ZipRecord& record) -> Result<void> {
    SHERD_TRY(name, zip_key(record));
    const std::uint64_t at = record.sizes.header;
    if (!name.key || !is_first(*name.key)) {
      has_others = true;
      others = std::min(others, at);
      return {};
    }
    const std::ptrdiff_t here = zip_order(*name.key).first;
    order.in_directory = order.in_directory && !has_others && here >= depth;
    order.in_file = order.in_file && at >= end;
    depth = here;
    end = at;
    return {};
  }));
  order.in_file = order.in_file && order.in_directory && end <= others;
  return order;
}

}  // namespace sherd
