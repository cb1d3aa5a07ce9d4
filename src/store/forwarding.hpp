// Stores, sources and writers that pass everything on to another one; wrappers override what they change.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/try.hpp"
#include "sherd/store.hpp"
#include "store/capabilities.hpp"
#include "store/reply.hpp"

namespace sherd {

/// There is no view(), because reads through it would bypass the wrapper.
class ForwardingSource : public ByteSource {
 public:
  explicit ForwardingSource(std::shared_ptr<ByteSource> source) : source_(std::move(source)) {}

  [[nodiscard]] const std::string& name() const noexcept override { return source_->name(); }
  Result<std::uint64_t> size() override { return source_->size(); }
  Result<Generation> generation() override { return source_->generation(); }
  Result<void> read(std::span<const RangeRead> ranges) override { return source_->read(ranges); }
  [[nodiscard]] Appending appending() override { return source_->appending(); }
  void outlive_appends(IsIntact is_intact) override { source_->outlive_appends(std::move(is_intact)); }

  [[nodiscard]] const std::shared_ptr<ByteSource>& beneath() const noexcept { return source_; }

 protected:
  const std::shared_ptr<ByteSource> source_;
};

/// The source to which `from` passes on if it is a `Source`; otherwise `from`.
template <class Source>
ByteSource& unwrapped(ByteSource& from) {
  const auto* wrapper = dynamic_cast<const Source*>(&from);
  return wrapper != nullptr ? *wrapper->beneath() : from;
}
/// A request with the version that it names unwrapped.
template <class Source>
ReadRequest unwrapped(ReadRequest request) {
  if (const auto* wrapper = dynamic_cast<const Source*>(request.of.get())) request.of = wrapper->beneath();
  return request;
}
/// Replaces the source in the reply to a request with a `Source` over that of the store below.
template <class Source, class Argument>
void wrap(ReadReply& reply, const ReadRequest& request, const Argument& argument) {
  if (request.of)
    reply.source = request.of;
  else if (reply.source)
    reply.source = std::make_shared<Source>(std::move(reply.source), argument);
}

class ForwardingWriter : public ObjectWriter {
 public:
  explicit ForwardingWriter(std::unique_ptr<ObjectWriter> writer) : writer_(std::move(writer)) {}

  Result<void> write(std::uint64_t offset, std::span<const std::byte> bytes) override {
    return writer_->write(offset, bytes);
  }
  Result<void> copy(ByteSource& from, std::uint64_t from_offset, std::uint64_t length,
                    std::uint64_t to_offset) override {
    return writer_->copy(from, from_offset, length, to_offset);
  }
  Result<void> link(const std::string& key) override { return writer_->link(key); }
  Result<void> commit(const Condition& condition) override { return writer_->commit(condition); }
  [[nodiscard]] Generation committed() const override { return writer_->committed(); }

 protected:
  const std::unique_ptr<ObjectWriter> writer_;
};

/// Reads are answered one after the other through find(), and erase_all() through erase(), so that they see the objects
/// as the wrapper changes them. Wrappers that pass them on override read() and erase_all().
class ForwardingStore : public Store,
                        public RenamingStore,
                        public StandaloneStore,
                        public LinkingStore,
                        public LeftoverStore,
                        public UploadingStore,
                        public CopyingStore {
 public:
  explicit ForwardingStore(std::shared_ptr<Store> store) : store_(std::move(store)) {}

  [[nodiscard]] const std::string& url() const noexcept override { return store_->url(); }
  [[nodiscard]] StoreTraits traits() const noexcept override { return store_->traits(); }
  [[nodiscard]] Result<std::optional<ParentStore>> parent() const override { return store_->parent(); }
  Result<void> read(ReadQueue& queue) override {
    return reply_from_found(queue, [&](const std::string& key) { return find(key); });
  }
  Result<std::unique_ptr<ObjectWriter>> write(const std::string& key, const WriteHints& hints) override {
    return store_->write(key, hints);
  }
  Result<Generation> amend(const std::string& key, const Amendment& amendment) override {
    return store_->amend(key, amendment);
  }
  Result<std::unique_ptr<StoreLock>> lock(const std::string& key) override { return store_->lock(key); }
  Result<Erased> erase(const std::string& key, const Condition& condition) override {
    return store_->erase(key, condition);
  }
  Result<void> erase_prefix(const std::string& prefix) override { return store_->erase_prefix(prefix); }
  Result<void> wait_for_writers(const std::string& prefix) override { return store_->wait_for_writers(prefix); }
  Result<void> finish() override { return store_->finish(); }
  [[nodiscard]] bool can_move_to(const std::string& to) const override { return renaming(*store_, to) != nullptr; }
  Result<bool> move_at_once(const std::string& from, const std::string& to) override {
    auto* const store = renaming(*store_, "");
    return store != nullptr ? store->move_at_once(from, to) : Result<bool>(false);
  }
  Result<void> move_all(const std::string& from, const std::string& to) override {
    auto* const store = renaming(*store_, to);
    return store != nullptr ? store->move_all(from, to) : Result<void>(unsupported("this store cannot rename"));
  }
  Result<bool> exchange(const std::string& from, const std::string& to) override {
    auto* const store = renaming(*store_, to);
    return store != nullptr ? store->exchange(from, to) : Result<bool>(false);
  }
  [[nodiscard]] Result<bool> may_move_at_once(const std::string& from, const std::string& to) const override {
    RenamingStore* const store = renaming(*store_, "");
    return store != nullptr ? store->may_move_at_once(from, to) : Result<bool>(false);
  }
  [[nodiscard]] Result<std::optional<ParentStore>> hidden_parent() const override {
    const auto* const store = dynamic_cast<const StandaloneStore*>(store_.get());
    return store != nullptr ? store->hidden_parent() : std::optional<ParentStore>();
  }
  Result<bool> is_link_pending(const std::string& first, const std::string& second) override {
    auto* const store = dynamic_cast<LinkingStore*>(store_.get());
    return store != nullptr ? store->is_link_pending(first, second) : Result<bool>(false);
  }
  Result<void> add_name(const std::string& existing, const std::string& added) override {
    auto* const store = dynamic_cast<LinkingStore*>(store_.get());
    return store != nullptr ? store->add_name(existing, added) : unsupported("this store has no second names");
  }
  Result<void> remove_leftovers(const std::string& prefix, const OnLeftover& removed) override {
    auto* const store = dynamic_cast<LeftoverStore*>(store_.get());
    return store != nullptr ? store->remove_leftovers(prefix, removed) : Result<void>();
  }
  [[nodiscard]] bool copies_itself(const ByteSource& from) const override {
    const auto* const store = dynamic_cast<const CopyingStore*>(store_.get());
    return store != nullptr && store->copies_itself(from);
  }
  /// Wrappers that show objects as they are override this.
  [[nodiscard]] std::shared_ptr<ByteSource> listed(const std::string& key, std::uint64_t size,
                                                   const Generation& generation) const override {
    static_cast<void>(key), static_cast<void>(size), static_cast<void>(generation);
    return nullptr;
  }
  Result<void> visit_uploads(const std::string& prefix, const OnUpload& visit) override {
    auto* const store = dynamic_cast<UploadingStore*>(store_.get());
    return store != nullptr ? store->visit_uploads(prefix, visit) : Result<void>();
  }
  Result<bool> visit(const std::string& prefix, ListDepth depth, const OnEntry& visit) override {
    return store_->visit(prefix, depth, visit);
  }

  [[nodiscard]] Store& beneath() const noexcept { return *store_; }

 protected:
  /// listed() of the store below.
  [[nodiscard]] std::shared_ptr<ByteSource> listed_beneath(const std::string& key, std::uint64_t size,
                                                           const Generation& generation) const {
    const auto* const store = dynamic_cast<const CopyingStore*>(store_.get());
    return store != nullptr ? store->listed(key, size, generation) : nullptr;
  }

  /// The object's present version as the wrapper shows it, or nullptr.
  virtual Result<std::shared_ptr<ByteSource>> find(const std::string& key) { return store_->open(key); }

  const std::shared_ptr<Store> store_;
};

}  // namespace sherd
