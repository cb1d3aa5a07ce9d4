// Determines the indexes that an info document describes, and the names of objects in each. The "@type" of the document
// determines the kind; a directory of legacy meshes may lack the document, and is then recognized by its manifests.
#include "neuroglancer/collection.hpp"

#include <algorithm>

#include "base/try.hpp"
#include "base/url.hpp"
#include "format/zarr_common.hpp"
#include "neuroglancer/document.hpp"
#include "node/claim.hpp"
#include "node/document.hpp"
#include "node/erase.hpp"
#include "node/foreign_objects.hpp"
#include "shard/uint64.hpp"
#include "store/listing.hpp"

namespace sherd::neuroglancer {
namespace {

constexpr std::string_view kManifestSuffix = ":0";
constexpr std::string_view kIndexSuffix = ".index";

template <class Info>
Result<std::optional<CollectionInfo>> parsed(const Json& document) {
  SHERD_TRY(info, Info::parse(document));
  return std::optional<CollectionInfo>(std::move(info));
}

/// nullopt if the document is not that of a collection.
Result<std::optional<CollectionInfo>> parse_info(const Json& document) {
  const Json* type = document.find("@type");
  const std::string name = type != nullptr ? type->text() : std::string();
  if (name == "neuroglancer_skeletons") return parsed<SkeletonInfo>(document);
  if (name == "neuroglancer_legacy_mesh") return parsed<LegacyMeshInfo>(document);
  if (name == "neuroglancer_multilod_draco") return parsed<MultiscaleMeshInfo>(document);
  if (name == "neuroglancer_annotations_v1") return parsed<AnnotationInfo>(document);
  if (name == "neuroglancer_segment_properties") return parsed<SegmentProperties>(document);
  return std::optional<CollectionInfo>();
}

Result<bool> holds_manifests(Store& store, const std::string& path) {
  auto none = store.visit(prefix_of(path), ListDepth::children, [](const ListEntry& entry) -> Result<bool> {
    std::string_view name = plain_name(entry.name);
    if (entry.is_prefix || !name.ends_with(kManifestSuffix)) return true;
    name.remove_suffix(kManifestSuffix.size());
    return !parse_id(name).has_value();
  });
  if (none.has_value()) return !*none;
  return is_unlisted(none.error()) ? Result<bool>(false) : std::move(none).error();
}

/// Everything except the info, which is replaced.
Result<void> erase_contents(Store& store, const std::string& path, const std::string& info) {
  SHERD_TRY(below, erase_objects(store, prefix_of(path), [&](const auto& key) { return key == info; }));
  for (const std::string& name : below)
    if (!is_ours(name)) SHERD_TRY(store.erase_prefix(prefix_of(path) + name + "/"));
  return {};
}

}  // namespace

std::string_view kind_name(const CollectionInfo& info) noexcept {
  constexpr std::string_view names[] = {"skeletons", "legacy meshes", "multi-resolution meshes", "annotations",
                                        "segment properties"};
  return names[info.index()];
}

Result<CollectionInfo> parse_collection_info(const Json& document) {
  SHERD_TRY(info, parse_info(document));
  if (info) return *std::move(info);
  return unsupported("is not a type of skeletons, meshes, annotations or segment properties").in_member("@type");
}

Result<std::shared_ptr<Collection::State>> Collection::State::make(Location location, CollectionInfo info) {
  auto state = std::make_shared<State>();
  state->url = url_below(location.store->url(), location.path);
  state->location = std::move(location);
  state->info = std::move(info);
  for (const CollectionPart& part : state->parts()) {
    SHERD_TRY(state->values(part).in_key(state->info_key()));
    if (part.level != nullptr && !part.sharding.is_null())
      SHERD_TRY(CompressedMorton::of(part.level->grid_shape).in_member(part.name).in_key(state->info_key()));
  }
  return state;
}

Result<std::optional<std::shared_ptr<Collection::State>>> Collection::State::find(Location location) {
  using Found = std::optional<std::shared_ptr<State>>;
  const std::string key = prefix_of(location.path) + "info";
  SHERD_TRY(stored, read_json(*location.store, key, location.config.limits));
  std::optional<CollectionInfo> info;
  if (stored) {
    auto read = parse_info(stored->json);
    if (!read) return stored_error(std::move(read).error()).in_key(key);
    info = *std::move(read);
  } else {
    SHERD_TRY(legacy, holds_manifests(*location.store, location.path));
    if (legacy) info = LegacyMeshInfo{};
  }
  if (!info) return Found();
  auto made = make(std::move(location), *std::move(info));
  if (!made) return stored_error(std::move(made).error());
  return Found(*std::move(made));
}

Result<std::shared_ptr<Collection::State>> Collection::State::open(Location location) {
  const std::string key = prefix_of(location.path) + "info";
  const std::string url = url_below(location.store->url(), location.path);
  SHERD_TRY(found, find(std::move(location)));
  if (found) return *std::move(found);
  return not_found("no info document of skeletons, meshes, annotations or segment properties in " + url).in_key(key);
}

Result<std::shared_ptr<Collection::State>> Collection::State::create(Location location, CollectionInfo info,
                                                                     bool overwrite) {
  SHERD_TRY(prepared, prepare(std::move(location), std::move(info), overwrite));
  SHERD_TRY(prepared.publish());
  return std::move(prepared.state);
}

Result<void> Collection::State::Prepared::publish() const {
  return state->location.store->set(state->info_key(), text, condition).in_key(state->info_key());
}

Result<void> Collection::State::Prepared::erase() const {
  return erase_contents(*state->location.store, state->location.path, state->info_key());
}

Result<Collection::State::Prepared> Collection::State::prepare(Location location, CollectionInfo info, bool overwrite,
                                                               bool is_left) {
  SHERD_TRY(document, std::visit([](const auto& each) { return each.print(); }, info));
  SHERD_TRY(state, make(location, std::move(info)));
  for (const CollectionPart& part : state->parts())
    if (!part.sharding.is_null())
      SHERD_TRY(Uint64Sharding::parse_given(part.sharding).in_member("sharding").in_member(part.name));
  const std::string prefix = prefix_of(location.path);
  SHERD_TRY(is_empty, location.store->visit(prefix, ListDepth::all, [&](const ListEntry& entry) {
    return is_claim(prefix + std::string(entry.name));
  }));
  if (!is_empty && !overwrite)
    return conflict("there is already something here; overwrite it or choose another path").in_key(state->info_key());
  if (!is_empty && !is_left) {
    const auto found = find(location);
    if (!found && !is_stored_fault(found.error())) return found.error();  // a damaged one may be erased, too
    if (found && !*found)
      return conflict("what is here is not a collection and is not overwritten; choose another path")
          .in_key(state->info_key());
    SHERD_TRY(foreign, find_foreign_object(location));
    if (foreign) return foreign_object_error(*foreign);
  }
  Prepared prepared{std::move(state), document.dump(2), is_empty ? Condition::absent() : Condition{}};
  SHERD_TRY(check_text(prepared.text, location.config.limits).in_key(prepared.state->info_key()));
  SHERD_TRY(prepared.erase());
  return prepared;
}

std::vector<CollectionPart> Collection::State::parts() const {
  std::vector<CollectionPart> parts;
  const auto add = [&](std::string name, const AnnotationIndex& index, const AnnotationSpatialLevel* level) {
    parts.push_back({std::move(name), index.key, index.sharding, level});
  };
  if (const auto* skeletons = std::get_if<SkeletonInfo>(&info)) parts.push_back({{}, {}, skeletons->sharding});
  if (std::holds_alternative<LegacyMeshInfo>(info)) parts.emplace_back();
  if (const auto* meshes = std::get_if<MultiscaleMeshInfo>(&info)) parts.push_back({{}, {}, meshes->sharding});
  if (const auto* annotations = std::get_if<AnnotationInfo>(&info)) {
    add("by_id", annotations->by_id, nullptr);
    for (std::size_t i = 0; i < annotations->relationships.size(); ++i)
      add("relationships[" + std::to_string(i) + "]", annotations->relationships[i].index, nullptr);
    for (std::size_t i = 0; i < annotations->spatial.size(); ++i)
      add("spatial[" + std::to_string(i) + "]", annotations->spatial[i].index, &annotations->spatial[i]);
  }
  return parts;
}

Result<ObjectValues> Collection::State::values(const CollectionPart& part) const {
  const auto directory = directory_of(location.path, part.key);
  if (!directory) return Error(directory.error()).in_member(part.name);
  auto values = ObjectValues::make({.store = location.store,
                                    .directory = *directory,
                                    .sharding = part.sharding,
                                    .manifests = std::holds_alternative<MultiscaleMeshInfo>(info),
                                    .writable = location.writable,
                                    .codecs = location.codecs,
                                    .config = location.config});
  if (values || part.name.empty()) return values;
  return std::move(values).error().in_member(part.name);
}

Result<std::uint64_t> Collection::State::count(const CollectionPart& part, std::uint64_t most) const {
  SHERD_TRY(values, values(part));
  std::uint64_t count = 0;
  SHERD_TRY(values.list([&](const ObjectValues::Name& name, std::uint64_t) -> Result<bool> {
    const bool counts = values.is_sharded() || (part.level != nullptr ? parse_cell(*part.level, name.object).has_value()
                                                                      : id_of(name.object).has_value());
    count += counts ? 1 : 0;
    return count < most;
  }));
  return count;
}

std::string Collection::State::properties_path() const {
  return std::visit(
      [](const auto& each) -> std::string {
        if constexpr (requires { each.segment_properties; }) return each.segment_properties;
        return {};
      },
      info);
}

ObjectValues::Name Collection::State::name(std::uint64_t id) const {
  if (std::holds_alternative<LegacyMeshInfo>(info)) return {id, LegacyMeshManifest::key(id)};
  if (std::holds_alternative<MultiscaleMeshInfo>(info)) return {id, MultiscaleMeshManifest::key(id)};
  return {id, std::to_string(id)};
}

std::optional<std::uint64_t> Collection::State::id_of(std::string_view object) const {
  const std::string_view suffix = std::holds_alternative<LegacyMeshInfo>(info)       ? kManifestSuffix
                                  : std::holds_alternative<MultiscaleMeshInfo>(info) ? kIndexSuffix
                                                                                     : std::string_view();
  if (!object.ends_with(suffix)) return std::nullopt;
  object.remove_suffix(suffix.size());
  return parse_id(object);
}

Result<ObjectValues::Name> cell_name(const AnnotationSpatialLevel& level, std::span<const std::uint64_t> cell) {
  const Shape at(cell.begin(), cell.end());
  const bool inside = cell.size() == level.grid_shape.size() &&
                      std::equal(cell.begin(), cell.end(), level.grid_shape.begin(), std::less<>());
  if (!inside)
    return invalid_argument("the level has no cell " + to_string(at) + ": its grid is " +
                            to_string(Shape(level.grid_shape)));
  ObjectValues::Name name{0, AnnotationSpatialLevel::cell_key(cell)};
  if (level.index.sharding.is_null()) return name;
  SHERD_TRY(morton, CompressedMorton::of(level.grid_shape));
  name.id = morton.encode(at);
  return name;
}

std::optional<std::vector<std::uint64_t>> parse_cell(const AnnotationSpatialLevel& level, std::string_view object) {
  std::vector<std::uint64_t> cell;
  for (std::string_view rest = object;;) {
    const std::size_t end = rest.find('_');
    const auto number = parse_id(rest.substr(0, end));
    if (!number || cell.size() == level.grid_shape.size() || *number >= level.grid_shape[cell.size()])
      return std::nullopt;
    cell.push_back(*number);
    if (end == rest.npos) break;
    rest.remove_prefix(end + 1);
  }
  return cell.size() == level.grid_shape.size() ? std::optional(std::move(cell)) : std::nullopt;
}

}  // namespace sherd::neuroglancer
