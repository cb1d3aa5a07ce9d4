// The store in memory: a sorted map from keys to immutable objects. Replacing an object replaces a pointer, so a source
// keeps the version that it opened. A writer fills its own block and hands it over at commit; blocks are not zeroed in
// advance, only the gaps between writes.
#include <algorithm>
#include <cstring>
#include <map>
#include <shared_mutex>

#include "base/buffer.hpp"
#include "base/try.hpp"
#include "sherd/store.hpp"
#include "store/capabilities.hpp"
#include "store/condition.hpp"
#include "store/key.hpp"
#include "store/key_locks.hpp"
#include "store/listing.hpp"
#include "store/reply.hpp"

namespace sherd {
namespace {

struct Object {
  Buffer bytes;
  std::uint64_t version = 0;
};
using Version = std::shared_ptr<const Object>;

Generation generation_of(const Object& object) { return {std::to_string(object.version)}; }

/// The state that a store shares with its writers, which may outlive it.
struct Objects {
  std::shared_mutex mutex;
  std::map<std::string, Version, std::less<>> by_key;
  std::uint64_t last_version = 0;

  /// `conflict` if the condition does not hold; requires the mutex.
  [[nodiscard]] Result<void> check(const std::string& key, const Condition& condition) const {
    const auto found = by_key.find(key);
    const auto generation = [&] { return generation_of(*found->second); };
    return check_condition(condition, found != by_key.end(), generation).in_key(key);
  }
};

class MemorySource final : public ByteSource {
 public:
  MemorySource(std::string key, Version object) : key_(std::move(key)), object_(std::move(object)) {}

  [[nodiscard]] const std::string& name() const noexcept override { return key_; }
  Result<std::uint64_t> size() override { return object_->bytes.size(); }
  Result<Generation> generation() override { return generation_of(*object_); }
  [[nodiscard]] std::optional<std::span<const std::byte>> view() const noexcept override {
    return object_->bytes.span();
  }

  Result<void> read(std::span<const RangeRead> ranges) override {
    const auto bytes = object_->bytes.span();
    for (const auto& [offset, into] : ranges) {
      SHERD_TRY(check_range(offset, into.size(), bytes.size()).in_key(key_));
      if (!into.empty()) std::memcpy(into.data(), bytes.data() + offset, into.size());
    }
    return {};
  }

 private:
  std::string key_;
  Version object_;
};

class MemoryWriter final : public ObjectWriter {
 public:
  MemoryWriter(std::shared_ptr<Objects> objects, std::string key, std::shared_ptr<KeyHold> hold)
      : objects_(std::move(objects)), key_(std::move(key)), hold_(std::move(hold), key_) {}

  Result<void> reserve(std::uint64_t size) {
    SHERD_TRY(bytes_.resize(static_cast<std::size_t>(size)));
    bytes_.truncate(0);
    return {};
  }

  Result<void> write(std::uint64_t offset, std::span<const std::byte> bytes) override {
    SHERD_TRY(end, hold_.check_write(offset, bytes.size()));
    SHERD_TRY(extend(offset, end).in_key(key_));
    const std::shared_lock guard(mutex_);
    if (!bytes.empty()) std::memcpy(bytes_.data() + offset, bytes.data(), bytes.size());
    return {};
  }

  Result<void> commit(const Condition& condition) override {
    SHERD_TRY(hold_.check_usable());
    auto replaced = replace(condition);
    hold_.end();
    return replaced;
  }

  [[nodiscard]] Generation committed() const override { return committed_; }

 private:
  Result<void> replace(const Condition& condition) {
    auto object = std::make_shared<Object>();
    SHERD_TRY(fit(object->bytes));
    const std::unique_lock guard(objects_->mutex);
    SHERD_TRY(objects_->check(key_, condition));
    object->version = ++objects_->last_version;
    committed_ = generation_of(*object);
    objects_->by_key.insert_or_assign(key_, std::move(object));
    return {};
  }

  Result<void> extend(std::uint64_t offset, std::uint64_t end) {
    const std::unique_lock guard(mutex_);
    const std::size_t before = bytes_.size();
    if (end <= before) return {};
    SHERD_TRY(bytes_.grow(static_cast<std::size_t>(end)));
    if (offset > before) std::memset(bytes_.data() + before, 0, static_cast<std::size_t>(offset) - before);
    return {};
  }

  /// Stores the bytes without much spare memory, because objects are long-lived.
  Result<void> fit(Buffer& exact) {
    const std::size_t size = bytes_.size();
    if (bytes_.capacity() - size <= size / 8) {
      exact = std::move(bytes_);
      return {};
    }
    SHERD_TRY(exact.resize(size).in_key(key_));
    if (size > 0) std::memcpy(exact.data(), bytes_.data(), size);
    return {};
  }

  std::shared_ptr<Objects> objects_;
  std::string key_;
  WriterHold hold_;
  std::shared_mutex mutex_;  ///< exclusive while the block may move
  Buffer bytes_;
  Generation committed_;
};

class MemoryStore final : public Store, public RenamingStore {
 public:
  explicit MemoryStore(const Config& config) : patience_(config) {}

  [[nodiscard]] const std::string& url() const noexcept override { return url_; }
  [[nodiscard]] StoreTraits traits() const noexcept override {
    // The file store's gap, so that plans for memory and for files make the same requests.
    return {.coalesce_gap = std::uint64_t{32} << 10,
            .locks = true,
            .conditional_write = true,
            .conditional_erase = true,
            .amend = AmendCost::on_server};
  }

  Result<void> read(ReadQueue& queue) override {
    return reply_from_found(queue, [&](const std::string& key) { return find(key); });
  }

  Result<std::unique_ptr<ObjectWriter>> write(const std::string& key, const WriteHints& hints) override {
    SHERD_TRY(hold, hold_key(*locks_, patience_, key));
    SHERD_TRY(hold->begin_writer());
    auto writer = std::make_unique<MemoryWriter>(objects_, key, std::move(hold));
    SHERD_TRY(writer->reserve(hints.size));
    return std::unique_ptr<ObjectWriter>(std::move(writer));
  }

  Result<std::unique_ptr<StoreLock>> lock(const std::string& key) override {
    SHERD_TRY(hold, hold_key(*locks_, patience_, key));
    return lock_of(std::move(hold));
  }

  Result<Erased> erase(const std::string& key, const Condition& condition) override {
    SHERD_TRY(hold, hold_key(*locks_, patience_, key));
    const std::unique_lock guard(objects_->mutex);
    SHERD_TRY(objects_->check(key, condition));
    return objects_->by_key.erase(key) > 0 ? Erased::object : Erased::nothing;
  }

  Result<void> erase_prefix(const std::string& prefix) override {
    SHERD_TRY(check_prefix(prefix));
    const std::unique_lock guard(objects_->mutex);
    auto& objects = objects_->by_key;
    auto at = objects.lower_bound(prefix);
    while (at != objects.end() && at->first.starts_with(prefix)) at = objects.erase(at);
    return {};
  }

  Result<void> wait_for_writers(const std::string& prefix) override {
    return wait_for_holders(*locks_, patience_, prefix);
  }

  [[nodiscard]] bool can_move_to(const std::string&) const override { return true; }
  [[nodiscard]] Result<bool> may_move_at_once(const std::string&, const std::string&) const override { return true; }
  Result<void> move_all(const std::string& from, const std::string& to) override {
    SHERD_TRY(check_prefix(from));
    SHERD_TRY(check_prefix(to));
    const std::unique_lock guard(objects_->mutex);
    move_objects(from, to);
    return {};
  }

  /// Locks do not move along, so this is a conflict while there is a writer. A later writer checks its array's document
  /// after this.
  Result<bool> move_at_once(const std::string& from, const std::string& to) override {
    SHERD_TRY(check_prefix(from));
    SHERD_TRY(check_prefix(to));
    const std::unique_lock guard(objects_->mutex);
    const auto has_objects = [&](const std::string& prefix) {
      const auto at = objects_->by_key.lower_bound(prefix);
      return at != objects_->by_key.end() && at->first.starts_with(prefix);
    };
    if (!has_objects(from)) return not_found("there is nothing to move here").in_key(from);
    if (has_objects(to)) return false;
    if (!locks_->held_below(from).empty()) return conflict("objects are being written here").in_key(from);
    move_objects(from, to);
    return true;
  }

  Result<bool> exchange(const std::string&, const std::string&) override { return false; }

  Result<bool> visit(const std::string& prefix, ListDepth depth, const OnEntry& visit) override {
    SHERD_TRY(check_prefix(prefix));
    std::string from = prefix;
    for (bool ended = false; !ended;) {
      for (const Listed& each : next_page(prefix, depth, from, ended)) {
        SHERD_TRY(more, visit({.name = each.name,
                               .size = each.size,
                               .is_prefix = each.is_prefix,
                               .generation = each.generation.token}));
        if (!more) return false;
      }
    }
    return true;
  }

 private:
  struct Listed {
    std::string name;
    std::uint64_t size = 0;
    bool is_prefix = false;
    Generation generation = {};
  };

  /// Requires the mutex.
  void move_objects(const std::string& from, const std::string& to) {
    auto& objects = objects_->by_key;
    std::vector<decltype(objects.extract(objects.begin()))> moved;
    for (auto at = objects.lower_bound(from); at != objects.end() && at->first.starts_with(from);)
      moved.push_back(objects.extract(at++));
    for (auto& node : moved) objects.insert_or_assign(to + node.key().substr(from.size()), std::move(node.mapped()));
  }

  /// The entries beginning at the key `from`, which is set to the beginning of the next page; if this is the last page,
  /// `ended` is set. Visitors use the store, so its mutex is released before they see the entries.
  std::vector<Listed> next_page(const std::string& prefix, ListDepth depth, std::string& from, bool& ended) {
    std::vector<Listed> page;
    const std::shared_lock guard(objects_->mutex);
    const auto& objects = objects_->by_key;
    auto at = objects.lower_bound(from);
    while (at != objects.end() && at->first.starts_with(prefix) && page.size() < kListPage) {
      const std::string& key = at->first;
      const std::size_t slash = depth == ListDepth::all ? key.npos : key.find('/', prefix.size());
      if (slash == key.npos) {
        page.push_back({.name = key.substr(prefix.size()),
                        .size = at->second->bytes.size(),
                        .generation = generation_of(*at->second)});
        ++at;
      } else {
        page.push_back({.name = key.substr(prefix.size(), slash - prefix.size()), .is_prefix = true});
        // '0' follows '/', so this is the first key after all keys with this prefix.
        at = objects.lower_bound(key.substr(0, slash) + "0");
      }
    }
    ended = at == objects.end() || !at->first.starts_with(prefix);
    if (!ended) from = at->first;
    return page;
  }

  Result<std::shared_ptr<ByteSource>> find(const std::string& key) {
    SHERD_TRY(check_key(key));
    const std::shared_lock guard(objects_->mutex);
    const auto at = objects_->by_key.find(key);
    if (at == objects_->by_key.end()) return std::shared_ptr<ByteSource>();
    return std::make_shared<MemorySource>(key, at->second);
  }

  std::string url_ = "memory:";
  const LockPatience patience_;
  std::shared_ptr<Objects> objects_ = std::make_shared<Objects>();
  std::shared_ptr<KeyLocks> locks_ = std::make_shared<KeyLocks>();
};

}  // namespace

std::shared_ptr<Store> memory_store(const Config& config) { return std::make_shared<MemoryStore>(config); }

}  // namespace sherd
