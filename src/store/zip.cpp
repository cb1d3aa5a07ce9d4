// A zip archive, which may be an object of a remote store. A stored member is a window of the archive: reading it is
// reading the archive. A compressed member is decoded whole. The directory is in memory, so opening and listing members
// costs nothing. What changes an archive is in zip_contents.hpp.
#include "store/zip.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/try.hpp"
#include "base/url.hpp"
#include "store/capabilities.hpp"
#include "store/key.hpp"
#include "store/key_locks.hpp"
#include "store/reply.hpp"
#include "store/zip_contents.hpp"
#include "store/zip_encode.hpp"
#include "store/zip_first.hpp"
#include "store/zip_member_writer.hpp"
#include "store/zip_queue.hpp"

namespace sherd {
namespace {

class ZipStore final : public Store, public ArchiveStore, public std::enable_shared_from_this<ZipStore> {
 public:
  ZipStore(std::string url, std::shared_ptr<Store> outer, std::shared_ptr<ZipContents> contents, const Config& config)
      : url_(std::move(url)),
        outer_(std::move(outer)),
        contents_(std::move(contents)),
        patience_(config),
        open_stores_(config.open_stores) {}

  [[nodiscard]] const std::string& url() const noexcept override { return url_; }
  [[nodiscard]] StoreTraits traits() const noexcept override {
    const StoreTraits outer = outer_->traits();
    const bool can_change = contents_->can_change();
    return {.coalesce_gap = outer.coalesce_gap,
            .tail_read_bytes = outer.tail_read_bytes,
            .max_run_bytes = outer.max_run_bytes,
            .parallel_requests = outer.parallel_requests,
            .read_only = !can_change,
            .locks = can_change,
            .conditional_write = can_change,
            .conditional_erase = can_change};
  }

  Result<void> read(ReadQueue& queue) override {
    const auto find = [this](const std::string& key) { return contents_->find(key); };
    const StoreTraits outer = outer_->traits();
    if (outer.parallel_requests <= 1) return reply_from_found(queue, find);
    ZipQueue translated(queue, find, outer.coalesce_gap);
    SHERD_TRY(outer_->read(translated));
    return translated.outcome();
  }
  Result<bool> visit(const std::string& prefix, ListDepth depth, const OnEntry& visit) override {
    SHERD_TRY(check_prefix(prefix));
    std::string from = prefix;
    for (bool ended = false; !ended;) {
      for (const auto& each : contents_->next_page(prefix, depth, from, ended)) {
        SHERD_TRY(more, visit({.name = each.name,
                               .size = each.size,
                               .is_prefix = each.is_prefix,
                               .generation = each.generation.token}));
        if (!more) return false;
      }
    }
    return true;
  }

  /// Begins the archive's next version, so that another writer is noticed before anything is written.
  Result<std::unique_ptr<ObjectWriter>> write(const std::string& key, const WriteHints& hints) override {
    if (!contents_->can_change()) return Store::write(key, hints);
    SHERD_TRY(hold, take(key));
    SHERD_TRY(hold->begin_writer());
    return std::make_unique<ZipMemberWriter>(contents_, key, std::move(hold));
  }
  Result<std::unique_ptr<StoreLock>> lock(const std::string& key) override {
    if (!contents_->can_change()) return Store::lock(key);
    SHERD_TRY(hold, take(key));
    return lock_of(std::move(hold));
  }
  Result<Erased> erase(const std::string& key, const Condition& condition) override {
    if (!contents_->can_change()) return Store::erase(key, condition);
    SHERD_TRY(hold, hold_key(*locks_, patience_, key));
    keep_open();
    return contents_->erase(key, condition);
  }
  Result<void> erase_prefix(const std::string& prefix) override {
    if (!contents_->can_change()) return Store::erase_prefix(prefix);
    SHERD_TRY(check_prefix(prefix));
    keep_open();
    return contents_->erase_prefix(prefix);
  }
  Result<void> wait_for_writers(const std::string& prefix) override {
    return wait_for_holders(*locks_, patience_, prefix);
  }
  [[nodiscard]] const Store& outer() const noexcept override { return *outer_; }
  [[nodiscard]] const std::string& name() const noexcept override { return contents_->key(); }
  [[nodiscard]] std::string comment() const override { return contents_->comment(); }
  Result<void> set_comment(std::string comment) override {
    if (!contents_->can_change()) return Store::write("", {}).error();
    keep_open();
    return contents_->set_comment(std::move(comment));
  }
  void set_first(KeyTest is_first) override { contents_->set_first(std::move(is_first)); }
  void expect_first(std::uint64_t bytes, std::uint64_t count) override { contents_->expect_first(bytes, count); }
  [[nodiscard]] Result<Order> has_first(const KeyTest& is_first) const override {
    const auto archive = contents_->archive();
    return archive != nullptr ? has_zip_first(*archive, is_first) : Result<Order>(Order{});
  }
  [[nodiscard]] bool is_current() const override { return contents_->is_current(); }
  [[nodiscard]] bool exists() const override { return contents_->archive() != nullptr; }
  [[nodiscard]] SomeMembers duplicates() const override {
    const auto archive = contents_->archive();
    if (archive == nullptr) return {};
    return {archive->directory().duplicates(), archive->directory().duplicate()};
  }
  [[nodiscard]] SomeMembers too_long() const override {
    const auto archive = contents_->archive();
    if (archive == nullptr) return {};
    return {archive->directory().too_long(), archive->directory().long_name()};
  }
  [[nodiscard]] SomeMembers compressed() const override {
    SomeMembers found;
    const auto archive = contents_->archive();
    if (archive == nullptr) return found;
    for (const ZipMember& member : archive->directory().members())
      if (member.method != kZipStored && found.count++ == 0) found.example = archive->directory().key(member);
    return found;
  }
  Result<void> finish() override {
    auto finished = contents_->finish();
    if (const auto open = open_stores_.lock()) open->finished(*this);
    return finished;
  }

 private:
  /// Holds a member that is to be written, in an archive that no other process can change.
  Result<std::shared_ptr<KeyHold>> take(const std::string& key) {
    SHERD_TRY(hold, hold_key(*locks_, patience_, key));
    SHERD_TRY(check_zip_key(key));
    SHERD_TRY(contents_->begin());
    keep_open();
    return hold;
  }
  /// What is changed stays open, also without a handle, until it is finished.
  void keep_open() {
    if (const auto open = open_stores_.lock()) open->keep(shared_from_this());
  }

  const std::string url_;
  const std::shared_ptr<Store> outer_;
  const std::shared_ptr<ZipContents> contents_;
  const LockPatience patience_;
  const std::weak_ptr<OpenStores> open_stores_;
  const std::shared_ptr<KeyLocks> locks_ = std::make_shared<KeyLocks>();
};

/// Where a changed archive can be written: in the local file system. If it has several names by symbolic links, its
/// writers must lock and replace the same file.
std::optional<ZipContents::Place> place_of(const Store& outer, std::string key, const Config& config) {
  auto path = path_of_store(outer.url());
  if (!path || outer.read_only()) return std::nullopt;
  std::error_code failed;
  const std::filesystem::path file = std::filesystem::canonical(std::filesystem::path(*path) / key, failed);
  if (!failed && config.follow_symlinks) {
    path = file.parent_path().string();
    key = file.filename().string();
  }
  while (path->ends_with('/')) path->pop_back();
  return ZipContents::Place{FileTree(*std::move(path), {.follow_symlinks = config.follow_symlinks,
                                                        .durable = config.durable,
                                                        .lock = config.lock,
                                                        .patience = std::make_shared<LockPatience>(config)}),
                            std::move(key)};
}

}  // namespace

Result<std::shared_ptr<Store>> zip_store(std::shared_ptr<Store> outer, std::string key, const Config& config) {
  SHERD_TRY(check_key(key));
  SHERD_TRY(archive, ZipArchive::open(*outer, key, config.limits));
  auto place = place_of(*outer, key, config);
  if (archive == nullptr && !place)
    return not_found("zip archive does not exist; one can be made only in the local file system").in_key(key);
  std::string url = url_below(outer->url(), key) + "|zip:";
  auto contents =
      std::make_shared<ZipContents>(outer, std::move(key), config.limits, std::move(archive), std::move(place));
  return std::make_shared<ZipStore>(std::move(url), std::move(outer), std::move(contents), config);
}

}  // namespace sherd
