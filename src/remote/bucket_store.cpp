#include "remote/bucket_store.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/buffer.hpp"
#include "base/try.hpp"
#include "remote/bucket_writer.hpp"
#include "remote/multipart_upload.hpp"
#include "remote/prepared_uploads.hpp"
#include "remote/remote_store.hpp"
#include "store/amendment.hpp"
#include "store/capabilities.hpp"
#include "store/key.hpp"
#include "store/key_locks.hpp"
#include "store/prefetched.hpp"
#include "store/read_into.hpp"

namespace sherd::remote {
namespace {

/// Of an amended object, as much is sent again if bytes before its end change.
constexpr std::uint64_t kMaxHead = 4 * kMinPart;
/// The server copies pieces of this size at the same time.
constexpr std::uint64_t kCopyPiece = std::uint64_t{256} << 20;

class BucketLock final : public AmendingLock {
 public:
  BucketLock(std::shared_ptr<KeyHold> hold, std::string key, std::shared_ptr<PreparedUploads> prepared)
      : hold_(std::move(hold)), key_(std::move(key)), prepared_(std::move(prepared)) {}
  BucketLock(const BucketLock&) = delete;
  BucketLock& operator=(const BucketLock&) = delete;
  ~BucketLock() override { prepared_->drop(key_); }

  void expect_amend() override { prepared_->prepare(key_); }

 private:
  const std::shared_ptr<KeyHold> hold_;
  const std::string key_;
  const std::shared_ptr<PreparedUploads> prepared_;
};

class BucketStore final : public RemoteStore, public UploadingStore, public CopyingStore {
 public:
  BucketStore(const BucketServer& server, const LockPatience& patience)
      : RemoteStore(std::make_shared<const Server>(Server{server.service, server.connection})),
        bucket_(std::make_shared<const BucketServer>(server)),
        patience_(patience) {}

  [[nodiscard]] StoreTraits traits() const noexcept override {
    StoreTraits traits = RemoteStore::traits();
    const auto conditions = known_conditions(*bucket_);
    traits.read_only = false;
    traits.conditional_write = true;
    traits.amend = conditions && conditions->on_complete ? AmendCost::on_server : AmendCost::copy;
    traits.amend_from_bytes = kMinPart;
    traits.writer_bytes = (kPartsTogether + 1) * bucket_->part_bytes;
    return traits;
  }
  [[nodiscard]] Result<std::optional<ParentStore>> parent() const override {
    auto above = bucket_->service->parent();
    if (!above) return std::optional<ParentStore>();
    BucketServer server = *bucket_;
    server.service = std::static_pointer_cast<BucketService>(std::move(above->service));
    return std::optional(ParentStore{std::make_shared<BucketStore>(server, patience_), std::move(above->name)});
  }

  Result<std::unique_ptr<ObjectWriter>> write(const std::string& key, const WriteHints& hints) override {
    SHERD_TRY(hold, hold_key(*locks_, patience_, key));
    SHERD_TRY(hold->begin_writer());
    bool is_single = false;
    if (hints.is_conditional && bucket_->conditional != Conditional::no) {
      SHERD_TRY(conditions, conditions_of(*bucket_).in_key(key));
      is_single = conditions.on_put && !conditions.on_complete;
    }
    return std::make_unique<BucketWriter>(bucket_, key, is_single, hints.size, std::move(hold));
  }
  Result<Generation> amend(const std::string& key, const Amendment& amendment) override;
  Result<std::unique_ptr<StoreLock>> lock(const std::string& key) override {
    SHERD_TRY(check_key(key));
    // That of a node is for creating and erasing it, which changes whole objects by one process at a time.
    if (!key.starts_with(kScratchPrefix)) {
      SHERD_TRY(conditions, conditions_of(*bucket_).in_key(key));
      if (!conditions.on_put && bucket_->conditional != Conditional::no) return no_conditions(*bucket_).in_key(key);
    }
    SHERD_TRY(hold, hold_key(*locks_, patience_, key));
    return std::make_unique<BucketLock>(std::move(hold), key, prepared_);
  }
  Result<Erased> erase(const std::string& key, const Condition& condition) override {
    if (condition.kind != Condition::Kind::always)
      return unsupported("object stores erase without conditions only").in_key(key);
    SHERD_TRY(hold, hold_key(*locks_, patience_, key));
    return erase_object(*bucket_, key).in_key(key);
  }
  Result<void> erase_all(std::span<const std::string> keys) override {
    for (const std::string& key : keys) SHERD_TRY(check_key(key));
    return erase_objects(*bucket_, keys);
  }
  Result<void> erase_prefix(const std::string& prefix) override {
    SHERD_TRY(Store::erase_prefix(prefix));
    auto aborted = abort_uploads(*bucket_, prefix, [](const UploadPage::Upload&) { return true; });
    if (!aborted && aborted.error().is_denied()) return {};  // who may not list uploads may erase objects
    return aborted;
  }
  Result<void> visit_uploads(const std::string& prefix, const OnUpload& visit) override {
    SHERD_TRY(check_prefix(prefix));
    return abort_uploads(*bucket_, prefix,
                         [&](const UploadPage::Upload& each) { return visit(each.key, each.initiated); });
  }
  [[nodiscard]] bool copies_itself(const ByteSource& from) const override {
    return copy_source(from, *bucket_).has_value();
  }
  [[nodiscard]] std::shared_ptr<ByteSource> listed(const std::string& key, std::uint64_t size,
                                                   const Generation& generation) const override {
    if (!generation.token.starts_with('"')) return nullptr;
    return std::make_shared<RemoteSource>(
        server_, key, Version{.etag = generation.token, .modified = {}, .size = size, .is_listed = true}, nullptr);
  }
  Result<void> wait_for_writers(const std::string& prefix) override {
    return wait_for_holders(*locks_, patience_, prefix);
  }

 private:
  Result<Buffer> changed_head(const std::string& key, const Amendment& amendment, std::uint64_t length);

  const std::shared_ptr<const BucketServer> bucket_;
  const LockPatience patience_;
  const std::shared_ptr<KeyLocks> locks_ = std::make_shared<KeyLocks>();
  const std::shared_ptr<PreparedUploads> prepared_ = std::make_shared<PreparedUploads>(bucket_);
};

/// The first bytes of the version, with the overwrites.
Result<Buffer> BucketStore::changed_head(const std::string& key, const Amendment& amendment, std::uint64_t length) {
  Buffer head;
  if (length == 0) return head;
  SHERD_TRY(source, open_with(*this, {.key = key, .length = length}));
  if (!source) return conflict("another writer has erased the object");
  SHERD_TRY(generation, source->generation());
  if (generation != amendment.of) return conflict("another writer has changed the object");
  SHERD_TRY(read_into(*source, {0, length}, head));
  for (const auto& [offset, bytes] : amendment.overwrites)
    std::memcpy(head.data() + offset, bytes.data(), bytes.size());
  return head;
}

/// The old version is copied by the server, except for its beginning if bytes change there.
Result<Generation> BucketStore::amend(const std::string& key, const Amendment& amendment) {
  SHERD_TRY(check_amendment(amendment).in_key(key));
  SHERD_TRY(hold, hold_key(*locks_, patience_, key));
  SHERD_TRY(conditions, conditions_of(*bucket_).in_key(key));
  std::uint64_t head_bytes = 0;
  if (!amendment.overwrites.empty())
    head_bytes = std::max(kMinPart, amendment.overwrites.back().offset + amendment.overwrites.back().bytes.size());
  const bool is_long = amendment.size >= head_bytes + kMinPart && head_bytes <= kMaxHead;
  if (!conditions.on_complete || !is_long) return Store::amend(key, amendment);
  SHERD_TRY(head, changed_head(key, amendment, head_bytes).in_key(key));
  Buffer tail;
  for (const auto& bytes : amendment.appended) SHERD_TRY(tail.append(bytes).in_key(key));
  const CopySource old = source_of(*bucket_, key, amendment.of.token);
  std::vector<MultipartUpload::Part> parts;
  const auto add = [&](MultipartUpload::Part part) {
    part.number = static_cast<unsigned>(parts.size() + 1);
    parts.push_back(part);
  };
  if (head_bytes > 0) add({.bytes = head.span()});
  const std::uint64_t piece = std::max(kCopyPiece, amendment.size / (kMaxParts - 10));
  for (std::uint64_t at = head_bytes; at < amendment.size;) {
    std::uint64_t length = std::min(piece, amendment.size - at);
    if (amendment.size - at - length < kMinPart) length = amendment.size - at;
    add({.from = &old, .range = {at, length}});
    at += length;
  }
  if (tail.size() > 0) add({.bytes = tail.span()});
  SHERD_TRY(upload, prepared_->take(key).in_key(key));
  SHERD_TRY(upload->send(parts).in_key(key));
  return upload->end(Condition::matches(amendment.of)).in_key(key);
}

}  // namespace

std::shared_ptr<Store> bucket_store(const BucketServer& server, const Config& config) {
  return std::make_shared<BucketStore>(server, LockPatience(config));
}

}  // namespace sherd::remote
