// The legacy keys of a volume's chunks: a shard as the older pair of objects, and an unsharded chunk as
// NAME.gz, which is how cloud-volume compresses in a directory of files. They are read if nothing exists
// under the present key; writes go to the present key. NAME.br and the like are chunks, too, and
// refused. A replaced pair only wastes space, but a remaining NAME.gz would still be read by
// cloud-volume.
#include "neuroglancer/legacy_names.hpp"

#include <array>
#include <map>
#include <set>

#include "base/try.hpp"
#include "neuroglancer/decoded_source.hpp"
#include "neuroglancer/sharded_store.hpp"
#include "store/answer.hpp"
#include "store/condition.hpp"
#include "store/forwarding.hpp"
#include "store/listing.hpp"

namespace sherd::neuroglancer {
namespace {

constexpr std::string_view kGzip = ".gz";
/// The suffixes with which cloud-volume compresses files; Sherd supports the first.
constexpr std::array<std::string_view, 5> kCompressed = {kGzip, ".br", ".zstd", ".xz", ".bz2"};

class NamesStore final : public ForwardingStore {
 public:
  NamesStore(std::shared_ptr<Store> store, LegacyNames names)
      : ForwardingStore(std::move(store)), names_(std::move(names)) {}

  Result<std::shared_ptr<ByteSource>> open(const std::string& key) override {
    SHERD_TRY(object, store_->open(key));
    return object != nullptr ? Result<std::shared_ptr<ByteSource>>(std::move(object)) : open_other(key);
  }
  Result<void> read(std::span<const ReadRequest> requests, const OnReply& reply) override;
  Result<std::unique_ptr<ObjectWriter>> write(const std::string& key, std::uint64_t size_hint) override;
  Result<std::unique_ptr<ObjectWriter>> amend(const std::string& key, const Generation& of) override {
    SHERD_TRY(exists, has(key));
    return exists ? store_->amend(key, of) : Store::amend(key, of);
  }
  Result<bool> erase(const std::string& key, const Condition& condition) override;
  Result<bool> visit(const std::string& prefix, ListDepth depth, const OnEntry& visit) override;

  Result<bool> has(const std::string& key) const {
    SHERD_TRY(object, store_->open(key));
    return object != nullptr;
  }
  Result<std::shared_ptr<ByteSource>> open_other(const std::string& key) const;
  Result<bool> erase_other(const std::string& key) const;
  // A pair is ignored when a whole shard is written, because it is no longer read.
  Result<bool> erase_compressed(const std::string& key) const;

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
  /// The legacy keys that an object may have if it is absent under `key`.
  [[nodiscard]] std::vector<std::string> other_names(const std::string& key) const;
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

// Conditions refer to what open() shows. Legacy keys do not count if the object exists under its present key, so they
// are erased first.
Result<bool> NamesStore::erase(const std::string& key, const Condition& condition) {
  if (condition.kind == Condition::Kind::always) {
    SHERD_TRY(plain, store_->erase(key));
    SHERD_TRY(other, erase_other(key));
    return plain || other;
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

// Objects that are absent under their present keys are looked for under legacy keys, after all others have been
// answered: whether these exist is asked for all objects together.
Result<void> NamesStore::read(std::span<const ReadRequest> requests, const OnReply& reply) {
  std::vector<std::size_t> absent;
  SHERD_TRY(store_->read(requests, [&](std::size_t i, Result<ReadReply> answered) -> Result<void> {
    if (!answered || answered->source) return reply(i, std::move(answered));
    absent.push_back(i);
    return {};
  }));
  std::vector<ReadRequest> others;
  std::vector<std::size_t> of;  // the absent object of each
  for (std::size_t k = 0; k < absent.size(); ++k)
    for (std::string& name : other_names(requests[absent[k]].key)) {
      others.push_back({.key = std::move(name), .length = 0});
      of.push_back(k);
    }
  std::vector<bool> exists(absent.size(), false);
  SHERD_TRY(store_->read(others, [&](std::size_t i, Result<ReadReply> answered) -> Result<void> {
    if (!answered || answered->source) exists[of[i]] = true;
    return {};
  }));
  for (std::size_t k = 0; k < absent.size(); ++k) {
    const ReadRequest& request = requests[absent[k]];
    const auto read_other = [&]() -> Result<ReadReply> {
      SHERD_TRY(source, open_other(request.key));
      return source ? answer(std::move(source), request) : ReadReply{};
    };
    SHERD_TRY(reply(absent[k], exists[k] ? read_other() : ReadReply{}));
  }
  return {};
}

std::vector<std::string> NamesStore::other_names(const std::string& key) const {
  std::vector<std::string> names;
  if (may_be_compressed(key))
    for (const std::string_view suffix : kCompressed) names.push_back(key + std::string(suffix));
  else if (const auto number = shard_of(key))
    names.push_back(names_.prefix + ShardKeys(*names_.sharding, *number).index);
  return names;
}

Result<std::unique_ptr<ObjectWriter>> NamesStore::write(const std::string& key, std::uint64_t size_hint) {
  SHERD_TRY(writer, store_->write(key, size_hint));
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
  for (const std::string_view suffix : std::span(kCompressed).subspan(1)) {
    const std::string other = key + std::string(suffix);
    SHERD_TRY(object, store_->open(other));
    if (object != nullptr)
      return std::move(unsupported("is a chunk with a compression that this version does not support; "
                                   "gzip is supported"))
          .in_key(other);
  }
  return std::shared_ptr<ByteSource>();
}

Result<bool> NamesStore::erase_other(const std::string& key) const {
  if (may_be_compressed(key)) return erase_compressed(key);
  const auto number = shard_of(key);
  if (!number) return false;
  const ShardKeys keys(*names_.sharding, *number);
  SHERD_TRY(index, store_->erase(names_.prefix + keys.index));  // first, because the data alone are not a shard
  SHERD_TRY(data, store_->erase(names_.prefix + keys.data));
  return index || data;
}

Result<bool> NamesStore::erase_compressed(const std::string& key) const {
  if (!may_be_compressed(key)) return false;
  bool erased = false;
  for (const std::string_view suffix : kCompressed) {
    const std::string other = key + std::string(suffix);
    SHERD_TRY(object, store_->open(other));
    if (object == nullptr) continue;
    SHERD_TRY(store_->erase(other));
    erased = true;
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
