// The objects below a prefix of another store, as a separate store: the prefix is prepended to every key. Sources keep
// their names in the other store.
#include <algorithm>
#include <utility>

#include "base/try.hpp"
#include "base/url.hpp"
#include "store/forwarding.hpp"
#include "store/key.hpp"

namespace sherd {
namespace {

// A second name is also below the prefix.
class PrefixedWriter final : public ForwardingWriter {
 public:
  PrefixedWriter(std::unique_ptr<ObjectWriter> writer, std::string prefix)
      : ForwardingWriter(std::move(writer)), prefix_(std::move(prefix)) {}

  Result<void> link(const std::string& key) override {
    SHERD_TRY(check_key(key));
    return writer_->link(prefix_ + key);
  }

 private:
  std::string prefix_;
};

/// The store below checks the keys: a prefix does not make a key valid.
class PrefixedQueue final : public ReadQueue {
 public:
  PrefixedQueue(ReadQueue& queue, const std::string& prefix) : queue_(queue), prefix_(prefix) {}

  std::optional<ReadRequest> next(bool is_last) override {
    auto request = queue_.next(is_last);
    if (request && !request->of) request->key.insert(0, prefix_);
    return request;
  }
  Result<void> reply(std::size_t number, Result<ReadReply> reply) override {
    return queue_.reply(number, std::move(reply));
  }

 private:
  ReadQueue& queue_;
  const std::string& prefix_;
};

class PrefixedStore final : public ForwardingStore {
 public:
  PrefixedStore(std::shared_ptr<Store> store, std::string prefix)
      : ForwardingStore(std::move(store)),
        prefix_(std::move(prefix)),
        url_(url_below(store_->url(),
                       std::string_view(prefix_).substr(0, prefix_.size() - (prefix_.empty() ? 0 : 1)))) {}

  [[nodiscard]] const std::string& url() const noexcept override { return url_; }
  [[nodiscard]] StoreTraits traits() const noexcept override {
    StoreTraits traits = store_->traits();
    traits.max_key_bytes -= static_cast<std::uint32_t>(std::min<std::uint64_t>(traits.max_key_bytes, prefix_.size()));
    return traits;
  }
  Result<void> read(ReadQueue& queue) override {
    PrefixedQueue below(queue, prefix_);
    return store_->read(below);
  }
  Result<std::unique_ptr<ObjectWriter>> write(const std::string& key, const WriteHints& hints) override {
    SHERD_TRY(check_key(key));
    SHERD_TRY(writer, store_->write(prefix_ + key, hints));
    return std::make_unique<PrefixedWriter>(std::move(writer), prefix_);
  }
  Result<Generation> amend(const std::string& key, const Amendment& amendment) override {
    SHERD_TRY(check_key(key));
    return store_->amend(prefix_ + key, amendment);
  }
  Result<std::unique_ptr<StoreLock>> lock(const std::string& key) override {
    SHERD_TRY(check_key(key));
    return store_->lock(prefix_ + key);
  }
  Result<Erased> erase(const std::string& key, const Condition& condition) override {
    SHERD_TRY(check_key(key));
    return store_->erase(prefix_ + key, condition);
  }
  Result<void> erase_prefix(const std::string& prefix) override {
    SHERD_TRY(check_prefix(prefix));
    return store_->erase_prefix(prefix_ + prefix);
  }
  Result<void> wait_for_writers(const std::string& prefix) override {
    SHERD_TRY(check_prefix(prefix));
    return store_->wait_for_writers(prefix_ + prefix);
  }
  [[nodiscard]] bool can_move_to(const std::string& to) const override {
    return ForwardingStore::can_move_to(prefix_ + to);
  }
  Result<bool> move_at_once(const std::string& from, const std::string& to) override {
    SHERD_TRY(check_prefix(from));
    SHERD_TRY(check_prefix(to));
    return ForwardingStore::move_at_once(prefix_ + from, prefix_ + to);
  }
  Result<void> move_all(const std::string& from, const std::string& to) override {
    SHERD_TRY(check_prefix(from));
    SHERD_TRY(check_prefix(to));
    return ForwardingStore::move_all(prefix_ + from, prefix_ + to);
  }
  Result<bool> exchange(const std::string& from, const std::string& to) override {
    SHERD_TRY(check_prefix(from));
    SHERD_TRY(check_prefix(to));
    return to.empty() ? false : ForwardingStore::exchange(prefix_ + from, prefix_ + to);
  }
  [[nodiscard]] Result<bool> may_move_at_once(const std::string& from, const std::string& to) const override {
    SHERD_TRY(check_prefix(from));
    SHERD_TRY(check_prefix(to));
    return ForwardingStore::may_move_at_once(prefix_ + from, prefix_ + to);
  }
  [[nodiscard]] Result<std::optional<ParentStore>> hidden_parent() const override {
    return prefix_.empty() ? ForwardingStore::hidden_parent() : std::optional<ParentStore>();
  }
  Result<bool> is_link_pending(const std::string& first, const std::string& second) override {
    SHERD_TRY(check_key(first));
    SHERD_TRY(check_key(second));
    return ForwardingStore::is_link_pending(prefix_ + first, prefix_ + second);
  }
  Result<void> add_name(const std::string& existing, const std::string& added) override {
    SHERD_TRY(check_key(existing));
    SHERD_TRY(check_key(added));
    return ForwardingStore::add_name(prefix_ + existing, prefix_ + added);
  }
  Result<void> remove_leftovers(const std::string& prefix, const OnLeftover& removed) override {
    SHERD_TRY(check_prefix(prefix));
    return ForwardingStore::remove_leftovers(
        prefix_ + prefix, [&](const std::string& key) { return removed(key.substr(prefix_.size())); });
  }
  Result<void> visit_uploads(const std::string& prefix, const OnUpload& visit) override {
    SHERD_TRY(check_prefix(prefix));
    return ForwardingStore::visit_uploads(prefix_ + prefix, [&](const std::string& key, const std::string& since) {
      return visit(key.substr(prefix_.size()), since);
    });
  }
  [[nodiscard]] std::shared_ptr<ByteSource> listed(const std::string& key, std::uint64_t size,
                                                   const Generation& generation) const override {
    return check_key(key) ? listed_beneath(prefix_ + key, size, generation) : nullptr;
  }
  Result<void> erase_all(std::span<const std::string> keys) override {
    std::vector<std::string> beneath;
    beneath.reserve(keys.size());
    for (const std::string& key : keys) {
      SHERD_TRY(check_key(key));
      beneath.push_back(prefix_ + key);
    }
    return store_->erase_all(beneath);
  }
  Result<bool> visit(const std::string& prefix, ListDepth depth, const OnEntry& visit) override {
    SHERD_TRY(check_prefix(prefix));
    return store_->visit(prefix_ + prefix, depth, visit);
  }
  [[nodiscard]] Result<std::optional<ParentStore>> parent() const override {
    if (prefix_.empty()) return store_->parent();
    const auto [above, name] = split_key(std::string_view(prefix_).substr(0, prefix_.size() - 1));
    std::shared_ptr<Store> store = above.empty() ? store_ : prefixed_store(store_, std::string(above));
    return std::optional(ParentStore{std::move(store), std::string(name)});
  }

 private:
  std::string prefix_;
  std::string url_;
};

}  // namespace

std::shared_ptr<Store> prefixed_store(std::shared_ptr<Store> store, std::string prefix) {
  return std::make_shared<PrefixedStore>(std::move(store), std::move(prefix));
}

}  // namespace sherd
