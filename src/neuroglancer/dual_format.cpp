// Finds, checks and creates the counterpart of a dual-format array. Each document only records that there is another.
// Whether the two agree is checked before anything is written, because documents come from a store, and data written
// according to one are read according to the other.
#include "neuroglancer/dual_format.hpp"

#include <algorithm>
#include <mutex>

#include "array/nodes.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "neuroglancer/create.hpp"
#include "node/document.hpp"
#include "node/path.hpp"
#include "node/storage_kind.hpp"

namespace sherd {
namespace {

constexpr std::string_view kArrayFormat = "zarr3";
constexpr std::string_view kVolumeFormat = "precomputed";

bool is_zero(const Scalar& value) {
  return std::ranges::all_of(value.bytes(), [](std::byte byte) { return byte == std::byte{0}; });
}

struct Counterpart {
  NodeLocation location;
  NodeDocument node;
};

Error missing_counterpart(const NodeLocation& other) {
  return corrupt("'" + std::string(kLayoutMember) +
                 "' says that another format's array shares these shards, but it does not exist; remove that "
                 "member to write this one alone")
      .in_key(other.format ? other.format->likeliest_key(other.path) : other.path);
}

// The format with this name as used by the store of `location`; null if the store has no nodes of that format.
Result<std::shared_ptr<const Format>> format_called(const NodeLocation& location, std::string_view name) {
  for (const Format* format : location.tables.formats)
    if (format->name() == name) return format->in(*location.store, location.config.limits);
  return std::shared_ptr<const Format>();
}

Result<bool> is_dual_format(const Json& object) {
  const Json* layout = object.find(kLayoutMember);
  if (layout == nullptr) return false;
  if (layout->is_string() && layout->text() == kDualFormat) return true;
  return unsupported("is an unknown layout; this version supports " + std::string(kDualFormat))
      .in_member(kLayoutMember);
}

// See StorageKind::counterpart(). The Zarr array is in the directory of the volume, and the volume's first scale is the
// same array.
Result<std::optional<NodeLocation>> counterpart_of(const NodeLocation& location, const NodeDocument& node) {
  const auto none = [] { return std::optional<NodeLocation>(); };
  const bool is_volume = location.format->name() == kVolumeFormat;
  if (!is_volume && (location.format->name() != kArrayFormat || node.type != NodeType::array)) return none();
  const Json& marked = is_volume ? *node.document.find("info") : node.attributes;
  SHERD_TRY(is_dual, is_dual_format(marked).in_key(location.format->document_key(location.path, node.type)));
  const Json* scale = is_volume ? node.document.find("scale") : nullptr;
  if (!is_dual || (scale != nullptr && scale->as_uint() != 0)) return none();
  NodeLocation other = at_path(location, scale != nullptr ? std::string(parent_path(location.path)) : location.path);
  SHERD_TRY(format, format_called(location, is_volume ? kArrayFormat : kVolumeFormat));
  other.format = std::move(format);
  return std::optional(std::move(other));
}

// The array there, or the first member of the group; nullopt if there is none, or one that does not name itself the
// counterpart.
Result<std::optional<Counterpart>> find_counterpart_node(const NodeLocation& location,
                                                         const NodeLocation& counterpart) {
  const auto none = [] { return std::optional<Counterpart>(); };
  Counterpart result{counterpart, {}};
  if (!result.location.format) return none();
  const Limits& limits = location.config.limits;
  SHERD_TRY(found, result.location.format->open(*location.store, result.location.path, limits));
  if (found && !found->array) {
    const auto member = resolution_of(*result.location.format, found->document, 0);
    if (!member || member->empty()) return none();
    result.location.path = join_path(result.location.path, *member);
    SHERD_TRY(array, result.location.format->open(*location.store, result.location.path, limits));
    found = std::move(array);
  }
  if (!found || !found->array) return none();
  result.node = *std::move(found);
  SHERD_TRY(back, counterpart_of(result.location, result.node));
  if (!back || back->format == nullptr || back->format->name() != location.format->name()) return none();
  return std::optional(std::move(result));
}

Result<Counterpart> open_counterpart(const NodeLocation& location, const NodeLocation& counterpart) {
  SHERD_TRY(found, find_counterpart_node(location, counterpart));
  if (found) return *std::move(found);
  return missing_counterpart(counterpart);
}

Result<void> check_agreement(VolumeView& view, const ArraySpec& volume) {
  const auto differs = [](std::string_view what) {
    return invalid_argument("its Zarr counterpart has " + std::string(what));
  };
  if (!volume.ids || volume.ids->hashed) return differs("shards that are boxes of chunks");
  if (volume.no_access || volume.codecs.size() < 2 || volume.codecs[1].name != "bytes")
    return differs("chunks that are raw, or gzip of that");
  if (volume.dtype != view.dtype) return differs("the data type " + view.dtype.name());
  if (volume.shape != view.shape) return differs("the size " + to_string(view.shape) + " (x, y, z, channel)");
  if (volume.ids->chunk_shape != view.chunk_shape)
    return differs("chunks of " + to_string(view.chunk_shape) + " (x, y, z, channel)");
  return view.choose_sharding(volume.ids->sharding.json());
}

Result<CounterpartKeys> pair_with(const Counterpart& volume, const NodeLocation& location, const NodeDocument& node,
                                  const ChunkLayout& layout) {
  auto view = VolumeView::of(*node.array, layout);
  if (!view) return stored_error(std::move(view).error()).in_key(location.format->likeliest_key(location.path));
  if (auto agree = check_agreement(*view, *volume.node.array); !agree)
    return stored_error(std::move(agree).error())
        .in_key(volume.location.format->document_key(volume.location.path, NodeType::array));
  return CounterpartKeys{
      *std::move(view),   ChunkGrid(*volume.node.array),   chunk_prefix(volume.location, volume.node), volume.location,
      *volume.node.array, !is_zero(node.array->fill_value)};
}

// The earlier info's sharding if it still matches the shards, otherwise the one that matches them.
Result<void> keep_sharding(VolumeView& view, const Json& info) {
  const Json* scales = info.find("scales");
  const Json* earlier =
      scales != nullptr && !scales->elements().empty() ? scales->elements().front().find("sharding") : nullptr;
  if (earlier != nullptr) {
    Json sharding = *earlier;
    sharding.set("data_encoding", view.gzip ? "gzip" : "raw");
    if (view.choose_sharding(sharding)) return {};
  }
  return view.choose_sharding(Json());
}

/// The storage of the Zarr array.
class DualFormatArray final : public ChunkStorage {
 public:
  DualFormatArray(std::shared_ptr<Store> objects, std::shared_ptr<const CounterpartKeys> keys, Generation seen)
      : ChunkStorage(std::move(objects)), keys_(std::move(keys)), seen_(std::move(seen)) {}

  [[nodiscard]] const CounterpartKeys& keys() const noexcept { return *keys_; }

  [[nodiscard]] Result<void> confirm(const Array::State& array) const override {
    const Format& format = *keys_->location.format;
    const std::string& path = keys_->location.path;
    SHERD_TRY(present, stored_generation(*objects(), format.document_key(path, NodeType::array)));
    if (!present) return array.replaced_error("erased");
    const std::lock_guard hold(mutex_);
    if (!present->token.empty() && *present == seen_) return {};
    SHERD_TRY(node, format.open(*objects(), path, keys_->location.config.limits));
    if (!node || !node->array || !node->array->stores_like(keys_->spec)) return array.replaced_error("replaced");
    seen_ = node->generation();
    return {};
  }
  [[nodiscard]] std::uint64_t first_id(const ChunkGrid&, const Shape& cell) const override {
    return keys_->first_id(cell);
  }
  [[nodiscard]] bool owns(std::string_view key) const override { return keys_->parse(key).has_value(); }
  [[nodiscard]] bool stores_fill_values() const noexcept override { return keys_->stores_all; }

 private:
  const std::shared_ptr<const CounterpartKeys> keys_;
  mutable std::mutex mutex_;  // guards what follows
  mutable Generation seen_;   // of the volume's document
};

/// The storage of the volume.
class DualFormatVolume final : public ChunkStorage {
 public:
  DualFormatVolume(std::shared_ptr<Store> objects, Array array)
      : ChunkStorage(std::move(objects)), array_(std::move(array)) {}

  [[nodiscard]] const Array::State& array() const noexcept { return array_.state(); }

  [[nodiscard]] std::shared_ptr<const ChunkStorage> with_config(const Config& config) const override {
    return std::make_shared<const DualFormatVolume>(objects(), array_.with_config(config));
  }
  // Writes the same elements in the array's dimensions. Those that the array lacks have length 1, so that of several
  // elements there the last one is kept, as elsewhere.
  Result<void> write(const Array::State&, const Region& region, const RegionWrite& call) const override {
    const Array::State& to = array();
    const auto& dimensions = counterpart_keys(to)->view.dimensions;
    if (region.element_count() == 0) return {};
    std::vector<std::size_t> permutation(dimensions.size());
    for (std::size_t d = 0; d < dimensions.size(); ++d) permutation[dimensions[d]] = d;
    WriteSource last = call.from;
    for (std::size_t d = dimensions.size(); d < region.axes.size() && !region.points; ++d)
      last.data += static_cast<std::int64_t>(region.axes[d].position(region.axes[d].count - 1)) * call.from.strides[d];
    const WriteSource permuted = last.permuted(permutation, region.points);
    const Shape shape = to.shape();
    return to.storage->write(to, region.permuted(permutation),
                             {.from = permuted, .budget = call.budget, .shape = shape, .looked = call.looked});
  }

 private:
  const Array array_;
};

class DualFormat final : public StorageKind {
 public:
  [[nodiscard]] Result<std::shared_ptr<const ChunkStorage>> open(const NodeLocation& location, const NodeDocument& node,
                                                                 ChunkLayout& layout) const override {
    std::shared_ptr<const ChunkStorage> storage;
    if (!location.writable) return storage;
    SHERD_TRY(other, counterpart_of(location, node));
    if (!other) return storage;
    SHERD_TRY(counterpart, open_counterpart(location, *other));
    if (node.array->ids) {
      SHERD_TRY(array, make_array(std::move(counterpart.location), std::move(counterpart.node)));
      storage = std::make_shared<const DualFormatVolume>(location.store, std::move(array));
      return storage;
    }
    SHERD_TRY(paired, pair_with(counterpart, location, node, layout));
    SHERD_TRY(index, paired.view.index(location.config.limits));
    layout.shard->second = std::move(index);
    const auto keys = std::make_shared<const CounterpartKeys>(std::move(paired));
    auto objects = dual_format_store(location.store, keys, ChunkGrid(*node.array), chunk_prefix(location, node));
    storage = std::make_shared<const DualFormatArray>(std::move(objects), keys, counterpart.node.generation());
    return storage;
  }

  [[nodiscard]] Layout layout() const noexcept override { return Layout::zarr_neuroglancer; }
  [[nodiscard]] std::string_view layout_name() const noexcept override { return kDualFormat; }
  void set_defaults(const Config& config, DefaultCodecs& codecs) const override {
    const CodecSpec raw{"bytes", {}};
    codecs.chunks = {"gzip:" + std::to_string(gzip_level(config, {&raw, 1}))};
  }
  Result<void> lay_out(const NodeLocation& location, NodeDocument& node, const CreateOptions& options) const override {
    return add_counterpart(location, node, {options.volume.value_or(Json()), options.config.write_empty_chunks});
  }
  [[nodiscard]] Result<std::optional<NodeLocation>> counterpart(const NodeLocation& location,
                                                                const NodeDocument& node) const override {
    return counterpart_of(location, node);
  }
  [[nodiscard]] std::string_view attribute() const noexcept override { return kLayoutMember; }
};

constinit const DualFormat kDualStorage;

}  // namespace

const StorageKind& dual_format_storage() noexcept;
const StorageKind& dual_format_storage() noexcept { return kDualStorage; }

const CounterpartKeys* counterpart_keys(const Array::State& array) noexcept {
  const auto* storage = dynamic_cast<const DualFormatArray*>(array.storage.get());
  return storage != nullptr ? &storage->keys() : nullptr;
}

const Array::State& written_array(const Array::State& array) noexcept {
  const auto* storage = dynamic_cast<const DualFormatVolume*>(array.storage.get());
  return storage != nullptr ? storage->array() : array;
}

Json without_layout(Json document) {
  for (const char* member : {"attributes", "info"})
    if (Json* object = document.find(member)) object->erase(kLayoutMember);
  return document;
}

Shape CounterpartKeys::volume_cell(const Shape& cell) const {
  Shape of_volume(view.shape.size(), 0);
  for (std::size_t d = 0; d < view.dimensions.size(); ++d) of_volume[d] = cell[view.dimensions[d]];
  return of_volume;
}

std::optional<Shape> CounterpartKeys::parse(std::string_view key) const {
  if (!key.starts_with(prefix)) return std::nullopt;
  const auto of_volume = volume.parse_key(key.substr(prefix.size()));
  if (!of_volume) return std::nullopt;
  Shape cell(view.dimensions.size());
  for (std::size_t d = 0; d < cell.size(); ++d) cell[view.dimensions[d]] = (*of_volume)[d];
  return cell;
}

Result<std::optional<VolumeCounterpart>> find_volume_counterpart(const NodeLocation& location,
                                                                 const NodeDocument& node) {
  const auto none = [] { return std::optional<VolumeCounterpart>(); };
  if (!node.array || node.array->ids) return none();
  const auto other = counterpart_of(location, node);
  if (!other || !*other) return none();  // also if it names an unknown layout
  SHERD_TRY(counterpart, find_counterpart_node(location, **other));
  if (!counterpart) return none();
  NodeLocation reading = location;
  reading.writable = false;
  SHERD_TRY(array, make_array(reading, node));
  SHERD_TRY(keys, pair_with(*counterpart, location, node, array.state().layout));
  const Json info = *counterpart->node.document.find("info");
  counterpart->location.path = (*other)->path;
  return std::optional(VolumeCounterpart{std::move(counterpart->location), info, keys.view.dimensions});
}

Result<void> add_counterpart(const NodeLocation& location, NodeDocument& node, const NewCounterpart& wanted) {
  const auto fails = [](const std::string& message) {
    return invalid_argument("layout zarr+neuroglancer: " + message);
  };
  if (!wanted.volume.is_null() && !wanted.volume.is_object()) return fails("must be an object").in_member("volume");
  Json attributes = node.attributes;
  Json volume = wanted.volume;
  for (const char* member : {"type", "resolution", "voxel_offset"})
    if (const Json* known = attributes.find(member); known != nullptr && volume.find(member) == nullptr)
      volume.set(member, *known);
  attributes.set(kLayoutMember, kDualFormat);
  SHERD_TRY(document, location.format->changed(std::move(node.document), {.attributes = attributes}));
  SHERD_TRY(marked, location.format->lower(std::move(document), location.config.limits));
  node = std::move(marked);
  SHERD_TRY(other, counterpart_of(location, node));
  if (!other || other->format == nullptr)
    return fails("needs a Zarr v3 array, and this one is " + std::string(location.format->name()));
  NodeLocation reading = location;
  reading.writable = false;
  SHERD_TRY(array, make_array(std::move(reading), node));
  SHERD_TRY(view, VolumeView::of(*node.array, array.state().layout));
  if (!is_zero(node.array->fill_value) && !wanted.stores_all)
    return fails(
               "a missing chunk is 0 to Neuroglancer, so the fill value must be 0, or every chunk stored "
               "(write_empty_chunks)")
        .in_member("fill_value");
  const Json* sharding = volume.find("sharding");
  SHERD_TRY(sharding != nullptr ? view.choose_sharding(*sharding) : keep_sharding(view, wanted.info));
  volume.erase("sharding");
  SHERD_TRY(info, neuroglancer::volume_of(view, volume, wanted.info, location.format->keys("")).in_member("volume"));
  node.counterpart = CounterpartDocument{std::move(other->format), std::move(info)};
  return {};
}

}  // namespace sherd
