// The legacy keys of a volume's chunks: a shard as the older pair of objects, and an unsharded chunk as
// NAME.gz, which is how cloud-volume compresses in a directory of files. They are read if nothing exists
// under the present key; writes go to the present key. NAME.br and the like are chunks, too, and
// refused. A replaced pair only wastes space, but a remaining NAME.gz would still be read by
// cloud-volume.
#include "neuroglancer/legacy_names.hpp"

#include <array>
#include <deque>
#include <map>
#include <set>
#include <unordered_map>

#include "base/try.hpp"
#include "neuroglancer/decoded_source.hpp"
#include "neuroglancer/sharded_store.hpp"
#include "store/condition.hpp"
#include "store/forwarding.hpp"
#include "store/listing.hpp"
#include "store/reply.hpp"

namespace sherd::neuroglancer {
namespace {

constexpr std::string_view kGzip = ".gz";
/// The suffixes with which cloud-volume compresses files; Sherd supports the first.
constexpr std::array<std::string_view, 5> kSuffixes = {kGzip, ".br", ".zstd", ".xz", ".bz2"};

class NamesStore final : public ForwardingStore {
 public:
  NamesStore(std::shared_ptr<Store> store, LegacyNames names)
      : ForwardingStore(std::move(store)), names_(std::move(names)) {}

  Result<void> read(ReadQueue& queue) override;
  Result<std::unique_ptr<ObjectWriter>> write(const std::string& key, const WriteHints& hints) override;
  Result<Generation> amend(const std::string& key, const Amendment& amendment) override {
    SHERD_TRY(exists, has(key));
    return exists ? store_->amend(key, amendment) : Store::amend(key, amendment);
  }
  Result<Erased> erase(const std::string& key, const Condition& condition) override;
  Result<bool> visit(const std::string& prefix, ListDepth depth, const OnEntry& visit) override;

  Result<bool> has(const std::string& key) const {
    SHERD_TRY(object, store_->open(key));
    return object != nullptr;
  }
  Result<std::shared_ptr<ByteSource>> open_other(const std::string& key) const;
  Result<Erased> erase_other(const std::string& key) const;
  // A pair is ignored when a whole shard is written, because it is no longer read.
  Result<Erased> erase_compressed(const std::string& key) const;
  /// The legacy keys that an object may have if it is absent under `key`.
  [[nodiscard]] std::vector<std::string> other_names(const std::string& key) const;

 private:
  [[nodiscard]] bool is_sharded() const noexcept { return names_.sharding.has_value(); }
  // The number of the shard that an object is, or is a part of.
  [[nodiscard]] std::optional<std::uint64_t> shard_of(std::string_view key) const {
    return is_sharded() && key.starts_with(names_.prefix)
               ? shard_number(*names_.sharding, key.substr(names_.prefix.size()))
               : std::nullopt;
  }
  [[nodiscard]] bool may_be_compressed(std::string_view key) const {
    return !is_sharded() && key.starts_with(names_.prefix) && !key.ends_with(kGzip);
  }
  [[nodiscard]] Result<std::shared_ptr<ByteSource>> open_compressed(const std::string& key) const;
  /// A chunk that exists under another key is not missing.
  [[nodiscard]] Result<std::shared_ptr<ByteSource>> refuse_unknown(const std::string& key) const;
  [[nodiscard]] std::string present_name(const Listing::Object& object, const std::set<std::string>& names) const;

  LegacyNames names_;
};

Result<void> check(ByteSource* present, const Condition& condition) {
  return check_condition(condition, present != nullptr, [&] { return present->generation(); });
}

// Replaces an object under its present key.
class NamesWriter final : public ForwardingWriter {
 public:
  NamesWriter(const NamesStore& store, std::string key, std::unique_ptr<ObjectWriter> writer)
      : ForwardingWriter(std::move(writer)), store_(store), key_(std::move(key)) {}

  Result<void> commit(const Condition& condition) override;

 private:
  const NamesStore& store_;
  std::string key_;
};

Result<void> NamesWriter::commit(const Condition& condition) {
  if (condition.kind == Condition::Kind::always) {
    SHERD_TRY(writer_->commit(condition));
    SHERD_TRY(store_.erase_compressed(key_));
    return {};
  }
  SHERD_TRY(other, store_.open_other(key_));
  if (other == nullptr) return writer_->commit(condition);
  Condition below = condition;
  SHERD_TRY(exists, store_.has(key_));
  if (!exists) {
    SHERD_TRY(check(other.get(), condition).in_key(key_));
    below = Condition::absent();
  }
  SHERD_TRY(writer_->commit(below));
  SHERD_TRY(store_.erase_other(key_));
  return {};
}

// Conditions refer to what read() shows. Legacy keys do not count if the object exists under its present key, so they
// are erased first.
Result<Erased> NamesStore::erase(const std::string& key, const Condition& condition) {
  if (condition.kind == Condition::Kind::always) {
    SHERD_TRY(plain, store_->erase(key));
    SHERD_TRY(other, erase_other(key));
    return either(plain, other);
  }
  SHERD_TRY(exists, has(key));
  if (!exists) {
    SHERD_TRY(other, open_other(key));
    SHERD_TRY(check(other.get(), condition).in_key(key));
    return erase_other(key);
  }
  SHERD_TRY(erase_other(key));
  return store_->erase(key, condition);
}

// An object that is absent under its present key is looked for under its legacy keys: whether these exist is asked for
// all of them together.
class NamesQueue final : public ReadQueue {
 public:
  NamesQueue(const NamesStore& store, ReadQueue& queue) : store_(store), queue_(queue) {}

  std::optional<ReadRequest> next(bool is_last) override {
    if (!others_.empty()) {
      auto [name, absent] = std::move(others_.front());
      others_.pop_front();
      under_way_.emplace(asked_++, UnderWay{.absent = std::move(absent)});
      return ReadRequest{.key = std::move(name), .length = 0};
    }
    auto request = queue_.next(is_last);
    if (request) under_way_.emplace(asked_++, UnderWay{.number = given_++, .request = *request});
    return request;
  }

  Result<void> reply(std::size_t number, Result<ReadReply> reply) override {
    UnderWay each = std::move(under_way_.extract(number).mapped());
    if (each.absent) return other_replied(*each.absent, !reply || reply->source);
    if (!reply || reply->source || each.request.of) return queue_.reply(each.number, std::move(reply));
    auto names = store_.other_names(each.request.key);
    if (names.empty()) return queue_.reply(each.number, ReadReply{});
    const auto absent = std::make_shared<Absent>(Absent{each.number, std::move(each.request), names.size()});
    for (std::string& name : names) others_.emplace_back(std::move(name), absent);
    return {};
  }

 private:
  struct Absent {
    std::size_t number = 0;
    ReadRequest request;
    std::size_t awaited = 0;  // replies for its legacy keys
    bool exists = false;
  };
  struct UnderWay {
    std::size_t number = 0;
    ReadRequest request = {};
    std::shared_ptr<Absent> absent = nullptr;  // set for a legacy key
  };

  Result<void> other_replied(Absent& absent, bool exists) {
    absent.exists = absent.exists || exists;
    if (--absent.awaited > 0) return {};
    const auto read_other = [&]() -> Result<ReadReply> {
      SHERD_TRY(source, store_.open_other(absent.request.key));
      return reply_from(std::move(source), absent.request);
    };
    return queue_.reply(absent.number, absent.exists ? read_other() : ReadReply{});
  }

  const NamesStore& store_;
  ReadQueue& queue_;
  std::size_t asked_ = 0, given_ = 0;
  std::unordered_map<std::size_t, UnderWay> under_way_;
  std::deque<std::pair<std::string, std::shared_ptr<Absent>>> others_;
};

Result<void> NamesStore::read(ReadQueue& queue) {
  NamesQueue names(*this, queue);
  return store_->read(names);
}

std::vector<std::string> NamesStore::other_names(const std::string& key) const {
  std::vector<std::string> names;
  if (may_be_compressed(key))
    for (const std::string_view suffix : kSuffixes) names.push_back(key + std::string(suffix));
  else if (const auto number = shard_of(key))
    names.push_back(names_.prefix + ShardKeys(*names_.sharding, *number).index);
  return names;
}

Result<std::unique_ptr<ObjectWriter>> NamesStore::write(const std::string& key, const WriteHints& hints) {
  SHERD_TRY(writer, store_->write(key, hints));
  return std::unique_ptr<ObjectWriter>(std::make_unique<NamesWriter>(*this, key, std::move(writer)));
}

Result<std::shared_ptr<ByteSource>> NamesStore::open_other(const std::string& key) const {
  if (may_be_compressed(key)) return open_compressed(key);
  const auto number = shard_of(key);
  if (!number) return std::shared_ptr<ByteSource>();
  return open_pair(*store_, *names_.sharding, {names_.prefix, *number});
}

Result<std::shared_ptr<ByteSource>> NamesStore::open_compressed(const std::string& key) const {
  const std::string other = key + std::string(kGzip);
  SHERD_TRY(object, store_->open(other));
  if (object == nullptr) return refuse_unknown(key);
  const auto decoded = [&]() -> Result<std::shared_ptr<ByteSource>> {
    SHERD_TRY(format, Uint64Format::build({.gzip_data = true}, names_.codecs, names_.limits));
    SHERD_TRY(size, object->size());
    SHERD_TRY(generation, object->generation());
    return open_decoded(key, {*object, {0, size}, std::move(generation)}, format.data_codecs, names_.max_bytes);
  };
  return decoded().in_key(other);
}

Result<std::shared_ptr<ByteSource>> NamesStore::refuse_unknown(const std::string& key) const {
  for (const std::string_view suffix : std::span(kSuffixes).subspan(1)) {
    const std::string other = key + std::string(suffix);
    SHERD_TRY(object, store_->open(other));
    if (object != nullptr)
      return std::move(unsupported("is a chunk with a compression that this version does not support; "
                                   "gzip is supported"))
          .in_key(other);
  }
  return std::shared_ptr<ByteSource>();
}

Result<Erased> NamesStore::erase_other(const std::string& key) const {
  if (may_be_compressed(key)) return erase_compressed(key);
  const auto number = shard_of(key);
  if (!number) return Erased::nothing;
  const ShardKeys keys(*names_.sharding, *number);
  SHERD_TRY(index, store_->erase(names_.prefix + keys.index));  // first, because the data alone are not a shard
  SHERD_TRY(data, store_->erase(names_.prefix + keys.data));
  return either(index, data);
}

Result<Erased> NamesStore::erase_compressed(const std::string& key) const {
  if (!may_be_compressed(key)) return Erased::nothing;
  Erased erased = Erased::nothing;
  for (const std::string_view suffix : kSuffixes) {
    const std::string other = key + std::string(suffix);
    SHERD_TRY(object, store_->open(other));
    if (object == nullptr) continue;
    SHERD_TRY(store_->erase(other));
    erased = Erased::object;
  }
  return erased;
}

// The key under which an object is shown; its own if it has no legacy key.
std::string NamesStore::present_name(const Listing::Object& object, const std::set<std::string>& names) const {
  std::string name = object.name;
  if (const auto number = shard_of(names_.prefix + name)) {
    const ShardKeys keys(*names_.sharding, *number);
    if (name == keys.index || names.contains(keys.index)) name = keys.shard;  // the data alone are nothing
  } else if (!is_sharded() && name.ends_with(kGzip)) {
    name.resize(name.size() - kGzip.size());
  }
  return names.contains(name) ? object.name : name;
}

// The key of an object depends on its neighbours, so these are all listed first.
Result<bool> NamesStore::visit(const std::string& prefix, ListDepth depth, const OnEntry& visit) {
  if (depth == ListDepth::all) return visit_levels(*this, prefix, visit);
  if (prefix != names_.prefix) return store_->visit(prefix, depth, visit);
  SHERD_TRY(listing, store_->list_dir(prefix));
  std::set<std::string> names;
  for (const Listing::Object& object : listing.objects) names.insert(object.name);
  std::map<std::string, std::uint64_t> sizes;
  for (const Listing::Object& object : listing.objects) sizes[present_name(object, names)] += object.size;
  for (const auto& [name, size] : sizes) {
    SHERD_TRY(more, visit({.name = name, .size = size}));
    if (!more) return false;
  }
  for (const std::string& name : listing.prefixes) {
    SHERD_TRY(more, visit({.name = name, .is_prefix = true}));
    if (!more) return false;
  }
  return true;
}

}  // namespace

std::shared_ptr<Store> with_legacy_names(std::shared_ptr<Store> store, LegacyNames names) {
  return std::make_shared<NamesStore>(std::move(store), std::move(names));
}

}  // namespace sherd::neuroglancer
