#include "node/deferred_documents.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/pool.hpp"
#include "base/try.hpp"
#include "node/claim.hpp"
#include "node/document_keys.hpp"
#include "store/forwarding.hpp"

namespace sherd {
namespace {

/// Without the claim of the node, which is for others than its holder, who works here; and without those of groups
/// around it, which did not exist when it was taken.
class DeferringStore final : public ForwardingStore {
 public:
  DeferringStore(const NodeLocation& location, std::shared_ptr<Store> documents)
      : ForwardingStore(location.store),
        documents_(std::move(documents)),
        keys_(location),
        claims_(claim_keys(location)),
        staging_(staging_prefix(location)) {}

  Result<void> read(ReadQueue& queue) override {
    return reply_to_each(queue, [&](const ReadRequest& request) -> Result<ReadReply> {
      if (!request.of && std::ranges::find(claims_, request.key) != claims_.end()) return ReadReply();
      if (request.of || !keys_.has(request.key)) return read_one(*store_, request);
      SHERD_TRY(document, documents_->open(request.key));
      return document != nullptr ? reply_from(std::move(document), request) : read_one(*store_, request);
    });
  }
  Result<std::unique_ptr<ObjectWriter>> write(const std::string& key, const WriteHints& hints) override {
    return store_of(key).write(key, hints);
  }
  Result<std::unique_ptr<StoreLock>> lock(const std::string& key) override { return store_of(key).lock(key); }
  Result<Erased> erase(const std::string& key, const Condition& condition) override {
    return store_of(key).erase(key, condition);
  }
  Result<void> erase_all(std::span<const std::string> keys) override {
    if (std::ranges::any_of(keys, [&](const std::string& key) { return keys_.has(key); }))
      return Store::erase_all(keys);
    return store_->erase_all(keys);
  }
  Result<void> erase_prefix(const std::string& prefix) override {
    SHERD_TRY(documents_->erase_prefix(prefix));
    return store_->erase_prefix(prefix);
  }
  Result<bool> visit(const std::string& prefix, ListDepth depth, const OnEntry& visit) override {
    std::set<std::string, std::less<>> seen;
    SHERD_TRY(all, documents_->visit(prefix, depth, [&](const ListEntry& entry) {
      seen.emplace(entry.name);
      return visit(entry);
    }));
    if (!all) return false;
    return store_->visit(prefix, depth, [&](const ListEntry& entry) -> Result<bool> {
      const bool is_hidden = entry.is_prefix && prefix + std::string(entry.name) + "/" == staging_;
      return is_hidden || seen.contains(entry.name) ? Result<bool>(true) : visit(entry);
    });
  }

 private:
  [[nodiscard]] Store& store_of(const std::string& key) const { return keys_.has(key) ? *documents_ : *store_; }

  const std::shared_ptr<Store> documents_;
  const DocumentKeys keys_;
  const std::vector<std::string> claims_;
  const std::string staging_;
};

}  // namespace

DeferredDocuments::DeferredDocuments(const NodeLocation& location)
    : location_(location), documents_(memory_store()), store_(std::make_shared<DeferringStore>(location, documents_)) {}

Result<void> DeferredDocuments::write(bool resumes) const {
  const DocumentKeys documents(location_);
  std::vector<std::string> keys;
  SHERD_TRY(documents_->visit("", ListDepth::all, [&](const ListEntry& entry) -> Result<bool> {
    keys.emplace_back(entry.name);
    return true;
  }));
  enum : std::uint8_t { below, visible, further };
  const auto order = [&](const std::string& key) {
    return std::pair(documents.is_visible(key) ? visible
                     : documents.is_own(key)   ? further
                                               : below,
                     -std::ranges::count(key, '/'));
  };
  std::ranges::sort(keys, {}, order);
  Store& store = *location_.store;
  const Config config = with_requests(location_.config, store.traits().parallel_requests);
  for (std::size_t begin = 0, end = 0; begin < keys.size(); begin = end) {
    const auto level = order(keys[begin]);
    while (end < keys.size() && order(keys[end]) == level) ++end;
    SHERD_TRY(parallel_for(end - begin, config, [&](std::size_t i) -> Result<void> {
      const std::string& key = keys[begin + i];
      SHERD_TRY(text, documents_->get(key));
      const bool is_first = level.first == visible && begin + i + 1 == end;
      if (is_first && resumes) {
        SHERD_TRY(stored, store.get(key));
        if (stored == text) return {};
      }
      return store.set(key, *text, is_first ? Condition::absent() : Condition{}).in_key(key);
    }));
  }
  return {};
}

}  // namespace sherd
