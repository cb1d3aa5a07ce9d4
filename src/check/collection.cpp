// Checks a collection of Neuroglancer's objects: its info, the lists of its shards, the names of its objects, and the
// references in manifests: fragments of multi-resolution meshes immediately before them, parts of legacy ones next to
// them. Manifests are always read, because they describe other objects; everything else is decoded only with `data`.
// Faults identify an object in a shard by its id, as the slot.
#include <algorithm>
#include <atomic>

#include "base/buffer.hpp"
#include "base/call.hpp"
#include "base/try.hpp"
#include "check/check.hpp"
#include "check/lists.hpp"
#include "neuroglancer/collection.hpp"
#include "neuroglancer/document.hpp"
#include "neuroglancer/names.hpp"
#include "node/document.hpp"
#include "store/key.hpp"
#include "store/read_into.hpp"

namespace sherd {
namespace {

using namespace neuroglancer;
using Name = ObjectValues::Name;
using State = Collection::State;

constexpr std::size_t kValuesAtOnce = 256;
constexpr std::uint64_t kBytesAtOnce = std::uint64_t{16} << 20;

/// What objects are.
enum class Objects : std::uint8_t { as_info_says, any_bytes };

class CollectionCheck {
 public:
  CollectionCheck(const State& state, bool data, CheckReport& report, Objects objects = Objects::as_info_says)
      : state_(state),
        data_(data),
        objects_(objects),
        report_(report),
        config_(state.location.config),
        budget_(config_.memory_budget / 2) {}

  Result<void> run() {
    if (objects_ == Objects::as_info_says) ++report_.documents;
    for (const CollectionPart& part : state_.parts()) {
      SHERD_TRY(values, state_.values(part));
      part_ = &part;
      values_ = &values;
      SHERD_TRY(contents());
    }
    if (config_.progress) config_.progress({checked_bytes_, listed_bytes_});
    if (!draco_skipped_) return {};
    Findings findings(state_.info_key());
    findings.warning("draco_missing", {}, "fragments are not decoded: this Sherd was built without libdraco");
    add_findings(report_, findings);
    return {};
  }

 private:
  [[nodiscard]] bool is_multiscale() const { return std::holds_alternative<MultiscaleMeshInfo>(state_.info); }
  [[nodiscard]] bool is_legacy() const { return std::holds_alternative<LegacyMeshInfo>(state_.info); }

  // Lists the objects, and passes on some at a time.
  Result<void> contents() {
    const std::string& directory = values_->location().directory;
    auto listing = values_->location().store->list_dir(directory.empty() ? directory : directory + "/");
    if (!listing) {
      Findings findings(directory);
      SHERD_TRY(findings.failed(std::move(listing).error(), "unreadable", {}));
      add_findings(report_, findings);
      return {};
    }
    if (values_->is_sharded()) add_directories(*listing);
    const std::span<const Listing::Object> all(listing->objects);
    for (const Listing::Object& object : all) listed_bytes_ += object.size;
    for (std::size_t first = 0; first < all.size(); first += kValuesAtOnce) {
      SHERD_TRY(check_interrupted(config_.interrupted));
      SHERD_TRY(objects(all.subspan(first, std::min(kValuesAtOnce, all.size() - first))));
    }
    return {};
  }

  // Those at the keys of shards are not shards, which shows when they are opened.
  void add_directories(Listing& listing) const {
    const std::size_t objects = listing.objects.size();
    for (const std::string& name : listing.prefixes) {
      const auto known = std::span(listing.objects).first(objects);
      if (shard_number(values_->shards().format.sharding, name) &&
          !std::ranges::binary_search(known, name, {}, &Listing::Object::name))
        listing.objects.push_back({name, 0});
    }
  }

  Result<void> objects(std::span<const Listing::Object> some) {
    std::vector<std::unique_ptr<Findings>> findings(some.size());
    Store& store = *values_->location().store;
    const Config config =
        with_requests(with_progress(config_, checked_bytes_, listed_bytes_), store.traits().parallel_requests);
    SHERD_TRY(parallel_for(some.size(), config, [&](std::size_t i) -> Result<void> {
      SHERD_TRY(found,
                look_at(store, values_->key(some[i].name), [&](Findings& to) { return any_object(some[i], to); }));
      findings[i] = std::move(found);
      checked_bytes_.fetch_add(some[i].size, std::memory_order_relaxed);
      return {};
    }));
    for (const auto& each : findings) add_findings(report_, *each);
    return {};
  }

  Result<void> any_object(const Listing::Object& object, Findings& to) {
    if (object.name == kInfo || is_ours(object.name)) return {};
    const bool of_segments = part_->name.empty();  // skeletons or meshes; a legacy mesh consists of such objects
    if (of_segments && !is_legacy() && is_beside_objects(object.name)) return {};
    return values_->is_sharded() ? shard(object, to) : this->object(object, to);
  }

  // ---- objects of their own ----

  Result<void> object(const Listing::Object& object, Findings& to) {
    const auto foreign = [&](const char* message) -> Result<void> {
      to.warning("foreign_object", {}, message);
      return {};
    };
    const std::string name(plain_name(object.name));
    const auto count = [&] {
      ++to.counts.chunks;
      to.counts.live_bytes += object.size;
    };
    if (part_->level != nullptr) {
      if (!parse_cell(*part_->level, name)) return foreign("is not a cell of this level");
      count();
      return data_ ? decode_object(object, {0, name}, to) : Result<void>();
    }
    const auto id = state_.id_of(name);
    if (is_multiscale() && !id) {
      const auto of = parse_id(name);
      if (!of) return foreign("is neither a manifest nor the fragments of one");
      SHERD_TRY(manifest, values_->location().store->open(values_->key(MultiscaleMeshManifest::key(*of))));
      if (manifest == nullptr) return foreign("are the fragments of a mesh that has no manifest");
      to.counts.live_bytes += object.size;
      return {};
    }
    if (is_legacy() && !id) {
      to.counts.live_bytes += object.size;
      return {};
    }
    if (!id) return foreign("is not named after an id, as objects of this collection are");
    count();
    if (is_multiscale()) return manifest_object({*id, name}, to);
    if (is_legacy()) return legacy_mesh({*id, name}, to);
    return data_ ? decode_object(object, {*id, name}, to) : Result<void>();
  }

  Result<void> decode_object(const Listing::Object& object, const Name& name, Findings& to) {
    const auto share = budget_.take(object.size);
    auto bytes = values_->get(name);
    if (!bytes) return to.failed(std::move(bytes).error(), "unreadable", {});
    if (!*bytes) return {};  // erased since it was listed
    auto decoded = decode(as_bytes(**bytes));
    return decoded ? decoded : to.failed(std::move(decoded).error(), "object_decode", {});
  }

  Result<void> manifest_object(const Name& name, Findings& to) {
    auto bytes = values_->get(name);
    if (!bytes) return to.failed(std::move(bytes).error(), "unreadable", {});
    if (!*bytes) return {};
    auto manifest = MultiscaleMeshManifest::parse(as_bytes(**bytes));
    if (!manifest) return to.failed(std::move(manifest).error(), "object_decode", {});
    const std::string fragments = values_->key(MultiscaleMeshManifest::fragments_key(name.id));
    auto size = size_of(fragments);
    if (!size) return to.failed(std::move(size).error(), "unreadable", {});
    const std::uint64_t expected = manifest->fragments_size();
    const std::string told = "'" + fragments + "' has " + std::to_string(*size) +
                             " bytes, but the fragments of this manifest need " + std::to_string(expected);
    if (*size < expected) {
      to.error("fragments_size", {}, told);
      return {};
    }
    if (*size > expected) to.warning("fragments_size", {}, told);
    check_order(*manifest, {}, to);
    if (!data_) return {};
    auto mesh = read_multiscale_mesh(*values_, name.id);
    if (!mesh) return to.failed(std::move(mesh).error(), "unreadable", {});
    return *mesh ? fragments_of((*mesh)->manifest, as_bytes((*mesh)->fragments), {}, to) : Result<void>();
  }

  Result<std::uint64_t> size_of(const std::string& key) const {
    SHERD_TRY(source, values_->location().store->open(key));
    return source == nullptr ? Result<std::uint64_t>(std::uint64_t{0}) : source->size();
  }

  Result<void> legacy_mesh(const Name& name, Findings& to) {
    auto bytes = values_->get(name);
    if (!bytes) return to.failed(std::move(bytes).error(), "unreadable", {});
    if (!*bytes) return {};
    auto manifest = parse_legacy_manifest(as_bytes(**bytes), config_.limits);
    if (!manifest) return to.failed(std::move(manifest).error(), "object_decode", {});
    for (const std::string& part : manifest->fragments) {
      SHERD_TRY(legacy_part(part, to));
    }
    return {};
  }

  Result<void> legacy_part(const std::string& part, Findings& to) {
    auto exists = values_->has(part);
    if (!exists.has_value()) return to.failed(std::move(exists).error(), "unreadable", {});
    if (!*exists) to.error("fragment_missing", {}, "names the fragment '" + part + "', which does not exist");
    if (!*exists || !data_) return {};
    auto mesh = read_mesh_parts(*values_, {{part}, {}});
    if (mesh) return {};
    const Error error = std::move(mesh).error();
    return to.failed(Error(error.code(), "'" + part + "': " + error.message()), "object_decode", {});
  }

  // ---- values of shards ----

  Result<void> shard(const Listing::Object& object, Findings& to) {
    const auto number = shard_number(values_->shards().format.sharding, object.name);
    if (!number) {
      to.warning("foreign_object", {}, "is not a shard of this collection");
      return {};
    }
    SHERD_TRY(outside, outside_grid());
    const auto slot = [&](std::uint64_t id) { return outside(id) ? std::nullopt : std::optional(id); };
    const IdShard shard{values_->shards(), *number, to.key(), slot, "is the number of no cell of this level"};
    SHERD_TRY(lists, check_lists(shard, config_.limits, to));
    if (!lists) return {};
    SHERD_TRY(values_of(*lists, to));
    count_space(*lists, to);
    return {};
  }

  // If ids are cell numbers: whether an id is outside the grid.
  Result<std::function<bool(std::uint64_t)>> outside_grid() const {
    if (part_->level == nullptr) return std::function<bool(std::uint64_t)>([](std::uint64_t) { return false; });
    const Shape grid = part_->level->grid_shape;
    SHERD_TRY(morton, CompressedMorton::of(grid));
    return std::function<bool(std::uint64_t)>([grid, morton](std::uint64_t id) {
      const Shape cell = morton.decode(id);
      return morton.encode(cell) != id || !std::ranges::equal(cell, grid, std::ranges::less());
    });
  }

  // The extents of manifests are extended by the fragments before them.
  Result<void> values_of(ShardLists& lists, Findings& to) {
    if (!data_ && !is_multiscale()) return {};
    std::ranges::sort(lists.found, {}, [](const FoundChunk& each) { return each.extent.offset; });
    for (std::size_t first = 0, last = 0; first < lists.found.size(); first = last) {
      for (std::uint64_t bytes = 0; last < lists.found.size() && last - first < kValuesAtOnce && bytes < kBytesAtOnce;
           ++last)
        bytes += lists.found[last].extent.length;
      SHERD_TRY(some_values(*lists.source, std::span(lists.found).subspan(first, last - first), to));
    }
    return {};
  }

  // Reads them together if none is faulty; otherwise one by one, to identify the faulty ones.
  Result<void> some_values(ByteSource& source, std::span<FoundChunk> some, Findings& to) {
    std::vector<MinishardIndex::Chunk> chunks;
    for (const FoundChunk& each : some) chunks.push_back({each.slot, each.extent.offset, each.extent.length});
    std::vector<char> seen(some.size(), 0);
    const auto visit = [&](std::size_t i, Bytes value) -> Result<void> {
      seen[i] = 1;
      return value_of(source, some[i], value, to);
    };
    auto read = read_values(values_->shards(), source, {chunks, visit, budget_});
    if (read) return {};
    if (!is_stored_fault(read.error()) && read.error().code() != ErrorCode::io) return read;
    for (std::size_t i = 0; i < some.size(); ++i) {
      if (seen[i] != 0) continue;
      const auto visit_one = [&](std::size_t, Bytes value) { return value_of(source, some[i], value, to); };
      auto alone = read_values(values_->shards(), source, {std::span(chunks).subspan(i, 1), visit_one, budget_, true});
      if (!alone)
        SHERD_TRY(to.failed(std::move(alone).error(), "object_decode", {some[i].slot, some[i].extent.offset}));
    }
    return {};
  }

  Result<void> value_of(ByteSource& source, FoundChunk& found, Bytes value, Findings& to) {
    const FaultLocation at{found.slot, found.extent.offset};
    if (is_multiscale()) return sharded_manifest(source, found, value, to);
    auto decoded = decode(value);
    return decoded ? decoded : to.failed(std::move(decoded).error(), "object_decode", at);
  }

  Result<void> sharded_manifest(ByteSource& source, FoundChunk& found, Bytes value, Findings& to) {
    const FaultLocation at{found.slot, found.extent.offset};
    auto manifest = MultiscaleMeshManifest::parse(value);
    if (!manifest) return to.failed(std::move(manifest).error(), "object_decode", at);
    const MinishardIndex::Chunk chunk{found.slot, found.extent.offset, found.extent.length};
    auto before = preceding_of(values_->shards(), chunk, value);
    if (!before) return to.failed(std::move(before).error(), "fragments_size", at);
    found.extent = {found.extent.offset - *before, found.extent.length + *before};
    check_order(*manifest, at, to);
    if (!data_ || *before == 0) return {};
    if (*before > config_.limits.chunk_bytes)
      return to.failed(unsupported("its fragments have " + std::to_string(*before) +
                                   " bytes, more than the limit chunk_bytes, and are not decoded"),
                       "object_decode", at);
    Scratch fragments;
    SHERD_TRY(fragments->resize(*before));
    if (auto read = read_into(source, found.extent.offset, fragments->span()); !read)
      return to.failed(std::move(read).error(), "unreadable", at);
    return fragments_of(*manifest, fragments->span(), at, to);
  }

  static void count_space(ShardLists& lists, Findings& to) {
    std::ranges::sort(lists.found, {},
                      [](const FoundChunk& each) { return std::pair(each.extent.offset, each.extent.length); });
    std::uint64_t used = 0, end = 0;
    const FoundChunk* reaching = nullptr;
    for (const FoundChunk& each : lists.found) {
      if (reaching != nullptr && each.extent.length > 0 && each.extent.offset < end && reaching->extent != each.extent)
        to.warning("extent_overlap", {each.slot, each.extent.offset},
                   range_text(each.extent) + " overlap those of " + std::to_string(reaching->slot));
      if (each.extent.end() <= end) continue;
      used += each.extent.end() - std::max(end, each.extent.offset);
      end = each.extent.end();
      reaching = &each;
    }
    const std::uint64_t live = std::min(lists.size, lists.index_bytes + used);
    to.counts.live_bytes += live;
    to.counts.dead_bytes += lists.size - live;
  }

  // ---- what objects hold ----

  [[nodiscard]] Result<void> decode(Bytes bytes) const {
    if (config_.recorder) ++config_.recorder->chunks_decoded;
    if (objects_ == Objects::any_bytes) return {};
    if (const auto* skeletons = std::get_if<SkeletonInfo>(&state_.info)) {
      SHERD_TRY(Skeleton::parse(bytes, skeletons->vertex_attributes));
      return {};
    }
    const AnnotationInfo& info = std::get<AnnotationInfo>(state_.info);
    if (part_->name != "by_id") {
      SHERD_TRY(Annotations::parse(bytes, info));
      return {};
    }
    SHERD_TRY(Annotation::parse(bytes, info));
    return {};
  }

  static void check_order(const MultiscaleMeshManifest& manifest, const FaultLocation& at, Findings& to) {
    if (auto order = manifest.check_order(); !order) to.warning("fragment_order", at, order.error().message());
  }

  Result<void> fragments_of(const MultiscaleMeshManifest& manifest, Bytes fragments, const FaultLocation& at,
                            Findings& to) {
    if (!QuantizedMesh::can_decode_draco()) {
      draco_skipped_ = true;
      return {};
    }
    const std::uint32_t bits = std::get<MultiscaleMeshInfo>(state_.info).vertex_quantization_bits;
    for (std::size_t level = 0; level < manifest.levels.size(); ++level)
      for (std::size_t i = 0; i < manifest.levels[level].fragments.size(); ++i) {
        const std::uint32_t size = manifest.levels[level].fragments[i].size;
        const Bytes bytes = fragments.first(size);
        fragments = fragments.subspan(size);
        if (size == 0) continue;
        auto decoded = decode_fragment(manifest, bytes, {level, i, bits});
        if (decoded) continue;
        const Error error = std::move(decoded).error();
        const std::string location = "level " + std::to_string(level) + ": fragment " + std::to_string(i) + ": ";
        SHERD_TRY(to.failed(Error(error.code(), location + error.message()), "object_decode", at));
      }
    return {};
  }

  struct FragmentAt {
    std::size_t level, fragment;
    std::uint32_t bits;
  };
  [[nodiscard]] Result<void> decode_fragment(const MultiscaleMeshManifest& manifest, Bytes bytes,
                                             const FragmentAt& at) const {
    if (config_.recorder) ++config_.recorder->chunks_decoded;
    SHERD_TRY(mesh, QuantizedMesh::decode_draco(bytes, config_.limits));
    SHERD_TRY(manifest.place(mesh, at.level, at.fragment, at.bits));
    return {};
  }

  const State& state_;
  const bool data_;
  const Objects objects_;
  CheckReport& report_;
  const Config& config_;
  Budget budget_;
  const CollectionPart* part_ = nullptr;  // under way
  const ObjectValues* values_ = nullptr;  // its values
  std::atomic<bool> draco_skipped_{false};
  std::atomic<std::uint64_t> checked_bytes_{0};
  std::uint64_t listed_bytes_ = 0;
};

/// Whether anything is at a location, and its kind if its info is sound.
struct FoundCollection {
  std::shared_ptr<State> state;
  bool exists = false;
};
Result<FoundCollection> find_collection(const State::Location& location, CheckReport& report) {
  auto found = State::find(location);
  if (found) return FoundCollection{found->value_or(nullptr), found->has_value()};
  const Error error = std::move(found).error();
  SHERD_TRY(
      add_unreadable(error, error.key().empty() ? prefix_of(location.path) + std::string(kInfo) : error.key(), report));
  return FoundCollection{nullptr, true};
}

/// The kinds of collections to which a member of an info document may refer.
bool may_lead_to(std::string_view member, const CollectionInfo& info) {
  if (member == "mesh")
    return std::holds_alternative<LegacyMeshInfo>(info) || std::holds_alternative<MultiscaleMeshInfo>(info);
  if (member == "skeletons") return std::holds_alternative<SkeletonInfo>(info);
  return std::holds_alternative<SegmentProperties>(info);
}

/// Including the segment properties to which it refers.
Result<void> check_state(const State& state, bool data, CheckReport& report) {
  SHERD_TRY(CollectionCheck(state, data, report).run());
  const std::string properties = state.properties_path();
  if (properties.empty()) return {};
  return check_reference(state.location, {"segment_properties", properties}, data, report);
}

}  // namespace

Result<bool> check_collection(const State::Location& location, bool data, CheckReport& report) {
  SHERD_TRY(found, find_collection(location, report));
  if (found.state) SHERD_TRY(check_state(*found.state, data, report));
  return found.exists;
}

Result<void> check_values(const State::Location& location, const Json& sharding, bool data, CheckReport& report) {
  SkeletonInfo info;  // the kind that requires nothing of the shards
  info.sharding = sharding;
  SHERD_TRY(state, State::make(location, std::move(info)));
  return CollectionCheck(*state, data, report, Objects::any_bytes).run();
}

Result<void> check_reference(const State::Location& from, const Reference& reference, bool data, CheckReport& report) {
  Findings findings(prefix_of(from.path) + std::string(kInfo));
  const std::string link = "'" + reference.member + "': '" + reference.path + "' ";
  State::Location location = from;
  FoundCollection found;
  if (auto path = path_below(from.path, reference.path)) {
    location.path = *std::move(path);
    SHERD_TRY(collection, find_collection(location, report));
    found = std::move(collection);
    if (!found.exists) findings.warning("reference_missing", {}, link + "does not lead to a collection");
  } else {
    findings.warning("reference_outside", {}, link + "leads outside the store, which was not checked");
  }
  const bool fits = found.state && may_lead_to(reference.member, found.state->info);
  if (found.state && !fits)
    findings.error("reference_kind", {}, link + "leads to " + std::string(kind_name(found.state->info)));
  add_findings(report, findings);
  return fits ? check_state(*found.state, data, report) : Result<void>();
}

}  // namespace sherd
