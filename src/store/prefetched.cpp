// Keeps the replies to a batch, and answers reads of their objects.
#include "store/prefetched.hpp"

#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "base/try.hpp"
#include "store/forwarding.hpp"

namespace sherd {
namespace {

/// More than most metadata documents have; the rest of longer ones is read when it is used.
constexpr std::uint64_t kFirstBytes = std::uint64_t{256} << 10;

/// An object whose first bytes are in memory. Reading them costs no request.
class PrefetchedSource final : public ForwardingSource {
 public:
  /// `size` is the object's.
  PrefetchedSource(const ReadReply& first, std::uint64_t size)
      : ForwardingSource(first.source), first_(first), size_(size) {}

  [[nodiscard]] std::optional<std::span<const std::byte>> view() const noexcept override {
    return first_.bytes.size() == size_ ? std::optional(first_.bytes) : std::nullopt;
  }
  Result<void> read(std::span<const RangeRead> ranges) override {
    std::vector<RangeRead> missing;
    for (const RangeRead& range : ranges) {
      const std::size_t held = first_.bytes.size();
      if (range.offset > held || range.into.size() > held - range.offset)
        missing.push_back(range);
      else if (!range.into.empty())
        std::memcpy(range.into.data(), first_.bytes.data() + range.offset, range.into.size());
    }
    return missing.empty() ? Result<void>{} : source_->read(missing);
  }

 private:
  const ReadReply first_;
  const std::uint64_t size_;
};

class PrefetchedStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  Result<void> fetch(std::span<const std::string> keys) {
    std::vector<ReadRequest> requests;
    requests.reserve(keys.size());
    for (const std::string& key : keys) requests.push_back({.key = key, .length = kFirstBytes});
    return store_->read_all(requests, [&](std::size_t i, Result<ReadReply> reply) -> Result<void> {
      replies_.insert_or_assign(keys[i], std::move(reply));
      return {};
    });
  }

  /// Data in memory has no latency.
  [[nodiscard]] StoreTraits traits() const noexcept override {
    StoreTraits traits = store_->traits();
    traits.parallel_requests = 1;
    return traits;
  }

 protected:
  Result<std::shared_ptr<ByteSource>> find(const std::string& key) override {
    const auto found = replies_.find(key);
    if (found == replies_.end()) return store_->open(key);
    if (!found->second) return found->second.error();
    const ReadReply& reply = *found->second;
    if (reply.source == nullptr) return std::shared_ptr<ByteSource>();
    SHERD_TRY(size, reply.source->size());
    return std::make_shared<PrefetchedSource>(reply, size);
  }

 private:
  std::map<std::string, Result<ReadReply>> replies_;
};

}  // namespace

Result<std::shared_ptr<Store>> prefetched_store(Store& store, std::span<const std::string> keys) {
  std::shared_ptr<Store> beneath(std::shared_ptr<Store>(), &store);
  if (store.traits().parallel_requests <= 1) return beneath;
  auto fetched = std::make_shared<PrefetchedStore>(std::move(beneath));
  SHERD_TRY(fetched->fetch(keys));
  return std::shared_ptr<Store>(std::move(fetched));
}

}  // namespace sherd
