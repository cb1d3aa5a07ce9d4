// Reads a zip archive, which may be an object of a remote store. A stored member is a window of the archive: reading it
// is reading the archive. A compressed member is decoded whole. The directory is in memory, so opening and listing
// members costs nothing.
#include "store/zip.hpp"

#include <utility>

#include "base/try.hpp"
#include "base/url.hpp"
#include "store/reply.hpp"
#include "store/key.hpp"
#include "store/zip_queue.hpp"

namespace sherd {
namespace {

class ZipStore final : public Store {
 public:
  ZipStore(std::string url, std::shared_ptr<Store> outer, std::shared_ptr<ZipArchive> archive)
      : url_(std::move(url)), outer_(std::move(outer)), archive_(std::move(archive)) {}

  [[nodiscard]] const std::string& url() const noexcept override { return url_; }
  [[nodiscard]] StoreTraits traits() const noexcept override {
    const StoreTraits outer = outer_->traits();
    return {.coalesce_gap = outer.coalesce_gap,
            .tail_read_bytes = outer.tail_read_bytes,
            .max_run_bytes = outer.max_run_bytes,
            .parallel_requests = outer.parallel_requests,
            .read_only = true};
  }

  Result<void> read(ReadQueue& queue) override {
    const StoreTraits outer = outer_->traits();
    if (outer.parallel_requests <= 1) return reply_from_found(queue, [&](const std::string& key) { return find(key); });
    ZipQueue translated(queue, archive_, outer.coalesce_gap);
    SHERD_TRY(outer_->read(translated));
    return translated.outcome();
  }
  Result<bool> visit(const std::string& prefix, ListDepth depth, const OnEntry& visit) override;

 private:
  Result<std::shared_ptr<ByteSource>> find(const std::string& key) const { return open_zip_member(archive_, key); }

  const std::string url_;
  const std::shared_ptr<Store> outer_;
  const std::shared_ptr<ZipArchive> archive_;
};

Result<bool> ZipStore::visit(const std::string& prefix, ListDepth depth, const OnEntry& visit) {
  SHERD_TRY(check_prefix(prefix));
  const ZipDirectory& directory = archive_->directory();
  const auto members = directory.members();
  for (std::size_t at = directory.lower_bound(prefix); at < members.size();) {
    const std::string_view key = directory.key(members[at]);
    if (!key.starts_with(prefix)) break;
    ListEntry entry{.name = key.substr(prefix.size()), .size = members[at].size};
    const std::size_t slash = depth == ListDepth::all ? key.npos : entry.name.find('/');
    if (slash == key.npos) {
      ++at;
    } else {
      entry = {.name = entry.name.substr(0, slash), .is_prefix = true};
      // '0' follows '/', so this is the first key after all keys with this prefix.
      at = directory.lower_bound(std::string(key.substr(0, prefix.size() + slash)) + "0");
    }
    SHERD_TRY(more, visit(entry));
    if (!more) return false;
  }
  return true;
}

}  // namespace

Result<std::shared_ptr<Store>> zip_store(std::shared_ptr<Store> outer, std::string key, const Config& config) {
  SHERD_TRY(archive, ZipArchive::open(*outer, key, config.limits));
  const std::string url = url_below(outer->url(), key);
  if (archive == nullptr) return not_found("there is no zip archive here").in_key(key);
  return std::make_shared<ZipStore>(url + "|zip:", std::move(outer), std::move(archive));
}

}  // namespace sherd
