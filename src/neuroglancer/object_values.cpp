// Objects of a collection as bytes, in either form: a value in a shard and a separate object hold the same bytes, and
// callers need not distinguish them. cloud-volume compresses separate objects and, in files, names them NAME.gz; such
// files are read but never written.
#include "neuroglancer/object_values.hpp"

#include "base/buffer.hpp"
#include "base/call.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "node/document.hpp"
#include "store/condition.hpp"
#include "store/read_into.hpp"

namespace sherd::neuroglancer {
namespace {

constexpr std::string_view kGzipSuffix = ".gz";

std::string compressed(std::string key) { return key.append(kGzipSuffix); }

}  // namespace

Result<std::uint64_t> fragments_before(std::span<const std::byte> manifest) {
  SHERD_TRY(parsed, MultiscaleMeshManifest::parse(manifest));
  return parsed.fragments_size();
}

bool has_manifests(const Json& info) noexcept {
  const Json* type = info.find("@type");
  return type != nullptr && type->is_string() && type->text() == "neuroglancer_multilod_draco";
}

Result<PrecedingRule> rule_of_info(Store& store, const Limits& limits) {
  const auto text = store.get("info", limits.metadata_bytes);
  if (!text && !is_stored_fault(text.error())) return text.error();
  if (!text || !*text) return PrecedingRule();
  const auto info = Json::parse(**text, limits.json_depth, limits.json_values);
  return info && has_manifests(*info) ? PrecedingRule(fragments_before) : PrecedingRule();
}

std::optional<std::uint64_t> parse_id(std::string_view text) noexcept {
  if (text.size() > 1 && text.front() == '0') return std::nullopt;
  return parse_number<std::uint64_t>(text);
}

std::string_view plain_name(std::string_view object) noexcept {
  if (object.ends_with(kGzipSuffix)) object.remove_suffix(kGzipSuffix.size());
  return object;
}

Result<ObjectValues> ObjectValues::make(Location location) {
  if (location.writable && location.store->read_only())
    return invalid_argument("the store " + location.store->url() + " is read-only");
  ObjectValues values(std::move(location));
  Location& at = values.location_;
  if (at.sharding.is_null()) return values;
  ShardedStoreOptions options{.writable = at.writable, .config = at.config};
  options.config.recorder = nullptr;  // the store below counts
  if (at.manifests) options.preceding = fragments_before;
  auto store = at.directory.empty() ? at.store : prefixed_store(at.store, at.directory + "/");
  SHERD_TRY(state, ShardedStore::State::make(std::move(store), at.sharding, at.codecs, options));
  values.shards_ = std::move(state);
  return values;
}

std::string ObjectValues::key(std::string_view object) const {
  return location_.directory.empty() ? std::string(object) : location_.directory + "/" + std::string(object);
}

std::string ObjectValues::key(const Name& name) const {
  if (!shards_) return key(name.object);
  const Uint64Sharding& sharding = shards_->format.sharding;
  return key(ShardKeys(sharding, sharding.locate(name.id).shard).shard);
}

Result<std::optional<std::string>> ObjectValues::get(const Name& name) const {
  return as_call(location_.config, [&]() -> Result<std::optional<std::string>> {
    if (shards_) return ShardedStore(shards_).get(name.id);
    const std::string object = key(name.object);
    SHERD_TRY(bytes, location_.store->get(object, location_.config.limits.chunk_bytes).in_key(object));
    return bytes ? Result<std::optional<std::string>>(std::move(bytes)) : get_compressed(compressed(object));
  });
}

Result<std::optional<std::string>> ObjectValues::get_compressed(const std::string& key) const {
  const Limits& limits = location_.config.limits;
  SHERD_TRY(bytes, location_.store->get(key, limits.chunk_bytes).in_key(key));
  if (!bytes) return std::optional<std::string>();
  const Uint64Sharding gzip{.gzip_data = true};
  SHERD_TRY(format, Uint64Format::build(gzip, location_.codecs, limits));
  Buffer decoded;
  SHERD_TRY(format.data_codecs.decode_bytes(as_bytes(*bytes), limits.chunk_bytes, decoded).in_key(key));
  return std::optional(std::string(reinterpret_cast<const char*>(decoded.data()), decoded.size()));
}

Result<bool> ObjectValues::has(std::string_view object) const {
  return as_call(location_.config, [&]() -> Result<bool> {
    SHERD_TRY(source, location_.store->open(key(object)));
    if (source != nullptr) return true;
    SHERD_TRY(packed, location_.store->open(compressed(key(object))));
    return packed != nullptr;
  });
}

Result<std::optional<ObjectValues::Pair>> ObjectValues::get_pair(std::uint64_t id) const {
  return as_call(location_.config, [&]() -> Result<std::optional<ObjectValues::Pair>> {
    std::optional<Pair> found;
    Budget budget(shards_->config().memory_budget);
    const auto read = [&](const std::shared_ptr<ByteSource>& source, unsigned) -> Result<void> {
      found.reset();
      if (source == nullptr) return {};
      SHERD_TRY(chunk, find_chunk(*shards_, *source, id));
      if (!chunk) return {};
      Pair pair;
      const auto keep = [&](std::size_t, Bytes value) -> Result<void> {
        pair.value.assign(reinterpret_cast<const char*>(value.data()), value.size());
        return {};
      };
      SHERD_TRY(read_values(*shards_, *source, {{&*chunk, 1}, keep, budget, true}));
      SHERD_TRY(before, preceding_of(*shards_, *chunk, as_bytes(pair.value)));
      const std::uint64_t limit = shards_->config().limits.chunk_bytes;
      if (before > limit)
        return unsupported(std::to_string(before) + " bytes before chunk " + std::to_string(id) +
                           " are more than the limit chunk_bytes (" + std::to_string(limit) + ")");
      pair.preceding.resize(static_cast<std::size_t>(before));
      SHERD_TRY(read_into(*source, chunk->offset - before, std::as_writable_bytes(std::span(pair.preceding))));
      found = std::move(pair);
      return {};
    };
    SHERD_TRY(with_shard(*shards_, shards_->format.sharding.locate(id).shard, read));
    return found;
  });
}

Result<void> ObjectValues::check_writable() const {
  if (location_.writable) return {};
  return invalid_argument(url_below(location_.store->url(), location_.directory) + " was opened for reading only");
}

Result<void> ObjectValues::put(const Name& name, Bytes value, Bytes preceding) const {
  return as_call(location_.config, [&]() -> Result<void> {
    SHERD_TRY(check_writable());
    if (shards_) return ShardedStore(shards_).put({name.id, value, preceding});
    const std::string object = key(name.object);
    SHERD_TRY(location_.store->set(object, value).in_key(object));
    SHERD_TRY(location_.store->erase(compressed(object)));
    return {};
  });
}

Result<bool> ObjectValues::erase(const Name& name) const {
  return as_call(location_.config, [&]() -> Result<bool> {
    SHERD_TRY(check_writable());
    if (shards_) return ShardedStore(shards_).erase(name.id);
    const std::string object = key(name.object);
    SHERD_TRY(plain, location_.store->erase(object).in_key(object));
    SHERD_TRY(packed, location_.store->erase(compressed(object)));
    return either(plain, packed) != Erased::nothing;
  });
}

Result<bool> ObjectValues::list(const Visit& visit) const {
  return as_call(location_.config, [&]() -> Result<bool> {
    if (shards_) {
      Result<bool> more = true;
      SHERD_TRY(ShardedStore(shards_).list([&](std::uint64_t id, std::uint64_t bytes) {
        more = visit({id, {}}, bytes);
        return more.has_value() && *more;
      }));
      return more;
    }
    const std::string prefix = location_.directory.empty() ? "" : location_.directory + "/";
    return location_.store->visit(prefix, ListDepth::children, [&](const ListEntry& entry) -> Result<bool> {
      return entry.is_prefix ? Result<bool>(true) : visit({0, std::string(plain_name(entry.name))}, entry.size);
    });
  });
}

}  // namespace sherd::neuroglancer
