// Opens stores of ids: finds the directory of the shards and the document with its sharding. Neuroglancer's info
// documents have it in a member `sharding`: at the top level for skeletons and meshes, which are next to the document,
// and inside a member with a `key`, the path of a directory, for scales of a volume and indexes of annotations.
#include "sherd/sharded_store.hpp"

#include <filesystem>

#include "api/location.hpp"
#include "api/registry.hpp"
#include "base/call.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "neuroglancer/codecs.hpp"
#include "neuroglancer/dual_format.hpp"
#include "neuroglancer/names.hpp"
#include "neuroglancer/object_values.hpp"
#include "neuroglancer/sharded_store.hpp"
#include "node/document.hpp"
#include "node/stores_above.hpp"

namespace sherd::neuroglancer {
namespace {

/// A directory of shards described by an info document.
struct ShardedPart {
  std::string key;  // relative to the document; empty: next to it
  Json sharding;
  std::string member;                     // the member that describes it
  bool manifests = false;                 // of multi-resolution meshes
  bool dual_format = false;               // its shards are also those of a Zarr array
  std::string info = std::string(kInfo);  // the document
};

void add_part(const Json& object, const std::string& member, std::vector<ShardedPart>& parts) {
  const Json* key = object.find("key");
  const Json* sharding = object.find("sharding");
  if (key == nullptr || !key->is_string() || sharding == nullptr || !sharding->is_object()) return;
  std::string path = std::filesystem::path(key->text()).lexically_normal().generic_string();
  if (path.ends_with('/')) path.pop_back();
  parts.push_back({path == "." ? "" : std::move(path), *sharding, member + ".sharding"});
}

std::vector<ShardedPart> parts_of(const Json& info) {
  std::vector<ShardedPart> parts;
  if (const Json* sharding = info.find("sharding"); sharding != nullptr && sharding->is_object())
    parts.push_back({"", *sharding, "sharding", has_manifests(info)});
  for (const char* member : {"scales", "relationships", "spatial"}) {
    const Json* list = info.find(member);
    if (list == nullptr || !list->is_array()) continue;
    for (std::size_t i = 0; i < list->elements().size(); ++i)
      add_part(list->elements()[i], std::string(member) + "[" + std::to_string(i) + "]", parts);
  }
  if (const Json* by_id = info.find("by_id")) add_part(*by_id, "by_id", parts);
  for (ShardedPart& part : parts) part.dual_format = info.find(kLayoutMember) != nullptr;
  return parts;
}

/// The sharded parts described by the object `info` in a store; nullopt if there is none.
Result<std::optional<std::vector<ShardedPart>>> read_parts(Store& store, const Limits& limits) {
  SHERD_TRY(text, store.get(std::string(kInfo), limits.metadata_bytes));
  if (!text) return std::optional<std::vector<ShardedPart>>();
  auto info = Json::parse(*text, limits.json_depth, limits.json_values);
  if (!info) return std::move(info).error().in_key(std::string(kInfo));
  return std::optional(parts_of(*info));
}

Error ambiguous(const std::string& url, const std::vector<ShardedPart>& parts) {
  if (parts.empty())
    return invalid_argument(
               "describes objects that are not sharded, each a file of its own ('sherd ls' lists them); for other "
               "shards, specify the sharding")
        .in_key(std::string(kInfo));
  std::string keys;
  for (const ShardedPart& part : parts) keys += (keys.empty() ? "" : ", ") + part.key;
  return invalid_argument("describes several sharded parts (" + keys + "); open the URL of one of them, such as " +
                          url + (url.ends_with('/') ? "" : "/") + parts.front().key)
      .in_key(std::string(kInfo));
}

/// The description of this store's directory by an info document in a parent directory.
Result<std::optional<ShardedPart>> part_from_above(const Store& store, const Config& config) {
  std::optional<ShardedPart> found;
  SHERD_TRY(for_each_above(store, [&](const std::shared_ptr<Store>& above, const std::string& path) -> Result<bool> {
    auto parts = read_parts(*above, config.limits);
    // An unreadable info document in a higher directory does not concern this location.
    if (!parts || !*parts) return false;
    for (const ShardedPart& part : **parts)
      if (part.key == path) found = part;
    if (found) found->info = url_below(above->url(), kInfo);
    return true;
  }));
  return found;
}

/// A value added here would be unknown to the array's own index.
Result<void> refuse_dual_format(const ShardedPart& part) {
  if (!part.dual_format) return {};
  return unsupported("'" + std::string(kLayoutMember) +
                     "' says that these are shards of a dual-format array, whose Zarr index writing values by id would "
                     "not update; "
                     "write through the array or the volume")
      .in_key(std::string(kInfo));
}

/// A reader that uses the document would look for values in wrong places, or decode what is not encoded.
Result<void> refuse_other(const ShardedPart& part, const Uint64Sharding& given) {
  const auto said = Uint64Sharding::parse(part.sharding);
  if (said && *said == given) return {};
  return conflict("describes the shards of this directory as " + part.sharding.dump() + ", but the given sharding is " +
                  given.json().dump() + "; use the document's sharding, or change the document first")
      .in_member(part.member)
      .in_key(part.info);
}

}  // namespace

Result<void> check_given(Store& store, const Uint64Sharding& sharding, const Config& config) {
  const auto described = read_parts(store, config.limits);
  if (!described && !is_stored_fault(described.error())) return described.error();  // a damaged document is ignored
  if (described && *described)
    for (const ShardedPart& part : **described)
      if (part.key.empty()) SHERD_TRY(refuse_other(part, sharding));
  SHERD_TRY(above, part_from_above(store, config));
  if (!above) return {};
  SHERD_TRY(refuse_dual_format(*above));
  return refuse_other(*above, sharding);
}

Result<ShardedStore> ShardedStore::open(std::shared_ptr<Store> store, const Json& sharding,
                                        const ShardedStoreOptions& options) {
  return as_call(options.config, [&]() -> Result<ShardedStore> {
    Json chosen = sharding;
    ShardedStoreOptions completed = options;
    // A writer must not treat the fragments of meshes as dead bytes.
    if (!chosen.is_null() && options.writable && !options.preceding) {
      SHERD_TRY(rule, rule_of_info(*store, options.config.limits));
      completed.preceding = std::move(rule);
    }
    if (chosen.is_null()) {
      SHERD_TRY(parts, read_parts(*store, options.config.limits));
      if (!parts) {
        SHERD_TRY(above, part_from_above(*store, options.config));
        if (!above)
          return not_found("no info document at " + store->url() +
                           " or above describes the shards; specify the sharding");
        if (options.writable) SHERD_TRY(refuse_dual_format(*above));
        chosen = std::move(above->sharding);
      } else if (parts->size() != 1) {
        return ambiguous(store->url(), *parts);
      } else {
        if (options.writable) SHERD_TRY(refuse_dual_format(parts->front()));
        chosen = std::move(parts->front().sharding);
        if (parts->front().manifests && !completed.preceding) completed.preceding = fragments_before;
        const std::string& key = parts->front().key;
        if (key.starts_with("..")) return ambiguous(store->url(), *parts);
        if (!key.empty()) store = prefixed_store(std::move(store), key + "/");
      }
    } else {
      SHERD_TRY(given, Uint64Sharding::parse_given(chosen).in_member("sharding"));
      if (options.writable) SHERD_TRY(check_given(*store, given, options.config));
    }
    SHERD_TRY(state, State::make(std::move(store), chosen, precomputed_codecs(), completed));
    return ShardedStore(std::move(state));
  });
}

Result<ShardedStore> ShardedStore::open(std::string_view url, const Json& sharding,
                                        const ShardedStoreOptions& options) {
  SHERD_TRY(store, open_store(url, options.config));
  return open(std::move(store), sharding, options);
}

}  // namespace sherd::neuroglancer
