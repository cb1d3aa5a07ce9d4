// Keeps the replies to requests, and answers reads of their objects.
#include "store/prefetched.hpp"

#include <cstring>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/call.hpp"
#include "base/try.hpp"
#include "store/forwarding.hpp"

namespace sherd {
namespace {

/// More than consolidated metadata of 10,000 nodes have; the rest of longer documents is read when it is used.
constexpr std::uint64_t kFirstBytes = std::uint64_t{16} << 20;

/// An object with some of its bytes in memory. Reading these costs no request.
class PrefetchedSource final : public ForwardingSource {
 public:
  /// `size` is the object's.
  PrefetchedSource(const ReadReply& held, std::uint64_t size)
      : ForwardingSource(held.source), held_(held), size_(size) {}

  [[nodiscard]] std::optional<std::span<const std::byte>> view() const noexcept override {
    return held_.bytes.size() == size_ ? std::optional(held_.bytes) : std::nullopt;
  }
  Result<void> read(std::span<const RangeRead> ranges) override {
    std::vector<RangeRead> missing;
    for (const RangeRead& range : ranges) {
      const std::uint64_t at = range.offset - held_.offset, held = held_.bytes.size();
      if (range.offset < held_.offset || at > held || range.into.size() > held - at)
        missing.push_back(range);
      else if (!range.into.empty())
        std::memcpy(range.into.data(), held_.bytes.data() + at, range.into.size());
    }
    return missing.empty() ? Result<void>{} : source_->read(missing);
  }

 private:
  const ReadReply held_;
  const std::uint64_t size_;
};

Result<std::shared_ptr<ByteSource>> source_of(const ReadReply& reply) {
  if (reply.source == nullptr) return std::shared_ptr<ByteSource>();
  SHERD_TRY(size, reply.source->size());
  return std::make_shared<PrefetchedSource>(reply, size);
}

/// By key.
using Replies = std::map<std::string, Result<ReadReply>>;

Result<std::shared_ptr<Replies>> fetch(Store& store, std::span<const std::string> keys) {
  std::vector<ReadRequest> requests;
  requests.reserve(keys.size());
  for (const std::string& key : keys) requests.push_back({.key = key, .length = kFirstBytes});
  auto replies = std::make_shared<Replies>();
  SHERD_TRY(store.read_all(requests, [&](std::size_t i, Result<ReadReply> reply) -> Result<void> {
    replies->insert_or_assign(keys[i], std::move(reply));
    return {};
  }));
  return replies;
}

class PrefetchedStore final : public ForwardingStore {
 public:
  /// The keys of the replies begin with `prefix`, which those of the store do not have.
  PrefetchedStore(std::shared_ptr<Store> store, std::shared_ptr<const Replies> replies, std::string prefix = {})
      : ForwardingStore(std::move(store)), replies_(std::move(replies)), prefix_(std::move(prefix)) {}

  /// Data in memory has no latency.
  [[nodiscard]] StoreTraits traits() const noexcept override {
    StoreTraits traits = store_->traits();
    traits.parallel_requests = 1;
    return traits;
  }
  [[nodiscard]] Result<std::optional<ParentStore>> parent() const override {
    SHERD_TRY(above, store_->parent());
    if (above && prefix_.ends_with(above->name + "/")) {
      std::string prefix = prefix_.substr(0, prefix_.size() - above->name.size() - 1);
      above->store = std::make_shared<PrefetchedStore>(std::move(above->store), replies_, std::move(prefix));
    }
    return above;
  }
  [[nodiscard]] const std::shared_ptr<Store>& live() const noexcept { return store_; }

 protected:
  Result<std::shared_ptr<ByteSource>> find(const std::string& key) override {
    const auto found = replies_->find(prefix_ + key);
    if (found == replies_->end()) return store_->open(key);
    if (!found->second) return found->second.error();
    return source_of(*found->second);
  }

 private:
  const std::shared_ptr<const Replies> replies_;
  const std::string prefix_;
};

}  // namespace

Result<std::shared_ptr<ByteSource>> open_with(Store& store, ReadRequest request) {
  if (store.traits().parallel_requests <= 1) return store.open(request.key);
  SHERD_TRY(reply, read_one(store, std::move(request)));
  return source_of(reply);
}

Result<std::shared_ptr<Store>> prefetched_store(Store& store, std::span<const std::string> keys) {
  std::shared_ptr<Store> beneath(std::shared_ptr<Store>(), &store);
  if (store.traits().parallel_requests <= 1) return beneath;
  SHERD_TRY(replies, fetch(store, keys));
  return std::make_shared<PrefetchedStore>(std::move(beneath), std::move(replies));
}

Result<std::shared_ptr<Store>> prefetched_stores(const std::shared_ptr<Store>& store, const KeysAbove& keys) {
  if (store->traits().parallel_requests <= 1) return store;
  std::vector<std::string> paths{std::string()};  // to the innermost store from each of the stores
  std::shared_ptr<Store> outermost = store;
  for (;;) {
    SHERD_TRY(above, outermost->parent());
    if (!above) break;
    paths.push_back(above->name + "/" + paths.back());
    outermost = std::move(above->store);
  }
  const std::string& whole = paths.back();
  std::set<std::string> above;
  for (const std::string& path : paths) {
    if (path.empty()) continue;
    const std::string prefix = whole.substr(0, whole.size() - path.size());
    for (const std::string& key : keys(path.substr(0, path.size() - 1))) above.insert(prefix + key);
  }
  const std::vector<std::string> own_keys = keys("");
  const auto read_own = [&] { return fetch(*store, own_keys); };
  auto inside = own_keys.empty() ? std::async(std::launch::deferred, read_own) : begin_beside(read_own);
  SHERD_TRY(replies, fetch(*outermost, std::vector(above.begin(), above.end())));
  SHERD_TRY(own, inside.get());
  for (auto& [key, reply] : *own) replies->insert_or_assign(whole + key, std::move(reply));
  return std::make_shared<PrefetchedStore>(store, std::move(replies), whole);
}

std::shared_ptr<Store> live_store(const std::shared_ptr<Store>& store) {
  const auto* const snapshot = dynamic_cast<const PrefetchedStore*>(store.get());
  return snapshot != nullptr ? snapshot->live() : store;
}

}  // namespace sherd
