// Array handles: their properties, and reading. Writing is in write.cpp, resizing in resize.cpp, changes of the
// document in array_document.cpp.
#include "sherd/array.hpp"

#include <algorithm>
#include <atomic>

#include "array/array_state.hpp"
#include "array/nodes.hpp"
#include "array/storage.hpp"
#include "base/call.hpp"
#include "base/lenient.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "node/codec_members.hpp"
#include "node/storage_kind.hpp"
#include "store/retry.hpp"

namespace sherd {
namespace {

Shape first_cell_shape(const ChunkGrid& grid) {
  Shape shape;
  for (const auto& axis : grid.axes()) shape.push_back(axis.first_length());
  return shape;
}

bool all_regular(const ChunkGrid& grid) { return std::ranges::all_of(grid.axes(), &AxisGrid::regular); }

// Edges that differ from the first cell's must be compatible with the shard's inner chunks too.
Result<void> check_edges(const ArraySpec& spec, const ChunkLayout& layout, const Limits& limits) {
  const auto* grid = std::get_if<RectilinearGrid>(&spec.grid);
  if (grid == nullptr) return {};
  const Shape first = first_cell_shape(ChunkGrid(spec));
  Shape largest = first;
  for (std::size_t d = 0; d < grid->axes.size(); ++d)
    for (const auto& run : grid->axes[d].runs) {
      Shape shape = first;
      shape[d] = run.first;
      SHERD_TRY(layout.check_shape(shape, limits));
      largest[d] = std::max(largest[d], run.first);
    }
  return layout.check_shape(largest, limits);
}

// Metadata of chunks with ids do not contain the gzip level.
void set_gzip_level(std::vector<CodecSpec>& codecs, int level) {
  for (CodecSpec& codec : codecs)
    if (codec.name == "gzip") codec = gzip_spec(level);
}

}  // namespace

Array::State::State(NodeLocation where, NodeDocument node, NodeKeys keys,
                    std::shared_ptr<const ChunkLayout> chunk_layout, std::shared_ptr<const ChunkStorage> chunk_storage)
    : storage(std::move(chunk_storage)),
      location(std::move(where)),
      document_key(std::move(keys.array)),
      dtype(node.array->dtype),
      grid(*node.array),
      shared_layout(std::move(chunk_layout)),
      layout(*shared_layout),
      prefix(node.array->chunk_prefix.value_or(std::move(keys.chunks))),
      cache(location.config.cache_bytes),
      document_(std::move(node)) {
  const Shape stored = first_cell_shape(grid);
  const bool regular = all_regular(grid);
  if (layout.shard)
    chunks = layout.leaf_shape(stored);
  else if (regular)
    chunks = stored;
  if (layout.shard) shards = regular ? stored : Shape();
}

std::uint64_t Array::State::first_id(const Shape& cell) const { return storage->first_id(grid, cell); }

Result<void> Array::State::check_elements(const DType& of_view) const {
  if (of_view == dtype || (dtype.is_variable() && of_view.is_variable())) return {};
  return invalid_argument("the array holds " + dtype.name() + ", the view " + of_view.name());
}

Shape Array::State::valid_shape(const Shape& cell, const Shape& array_shape) const {
  Shape valid(cell.size());
  for (std::size_t d = 0; d < cell.size(); ++d) {
    const std::uint64_t begin = grid.axes()[d].begin(cell[d]);
    valid[d] = begin >= array_shape[d] ? 0 : std::min(grid.axes()[d].length(cell[d]), array_shape[d] - begin);
  }
  return valid;
}

CellAccess access(const Array::State& state, const Shape& cell, const Shape& array_shape) {
  return {cell, state.grid.cell_shape(cell), state.valid_shape(cell, array_shape), state.key(cell),
          state.first_id(cell)};
}

std::string chunk_prefix(const NodeLocation& location, const NodeDocument& node) {
  return node.array->chunk_prefix.value_or(location.format->chunk_prefix(location.path));
}

ChunkType chunk_type(const ArraySpec& spec) {
  const auto* regular = std::get_if<RegularGrid>(&spec.grid);
  if (regular != nullptr && !regular->clipped && !spec.ids) return {spec.dtype, regular->chunk_shape};
  return {spec.dtype, first_cell_shape(ChunkGrid(spec))};
}

Result<Array> make_array(NodeLocation location, NodeDocument document) {
  ArraySpec& spec = *document.array;
  NodeKeys keys = location.format->keys(location.path);
  if (spec.ids) set_gzip_level(spec.codecs, gzip_level(location.config, spec.codecs));
  const ChunkType type = chunk_type(spec);
  const CodecTable table = location.codecs();
  const Limits& limits = location.config.limits;
  auto built = spec.ids && !spec.ids->hashed
                   ? ChunkLayout::build(*spec.ids, spec.codecs, table, type, spec.fill_value, limits)
                   : ChunkLayout::build(spec.codecs, table, type, spec.fill_value, limits);
  if (!built)
    return chain_error(*location.format, document, std::move(built).in_member("codecs").error()).in_key(keys.array);
  ChunkLayout layout = *std::move(built);
  if (auto fits = check_edges(spec, layout, limits); !fits)
    return std::move(fits).error().in_member("chunk_grid").in_key(keys.array);
  SHERD_TRY(storage, open_storage(location, document, layout));
  location.store = storage->objects();
  auto shared = std::make_shared<const ChunkLayout>(std::move(layout));
  return Array(std::make_shared<Array::State>(std::move(location), std::move(document), std::move(keys),
                                              std::move(shared), std::move(storage)));
}

CellRead CellsRead::cell(std::uint64_t i) const {
  Shape cell;
  std::vector<ReadPart> parts;
  cells.get(i, cell, parts);
  CellAccess at = access(state, cell, shape);
  Piece piece{state.layout, at.shape, std::move(parts), at.first_id};
  return {std::move(at), std::move(piece)};
}

void CellsRead::count(const Piece& piece) const noexcept {
  done.fetch_add(element_count(piece.parts) * state.dtype.size(), std::memory_order_relaxed);
}

Result<void> read_cell(const CellsRead& call, const CellRead& cell) {
  const Config& config = call.state.config();
  const std::string& key = cell.at.key;
  Store& store = *call.state.location.store;
  return retry_limited(config, [&]() -> Result<void> {
    SHERD_TRY(source, store.open(key).in_key(key));
    if (source == nullptr) {
      if (config.missing_is_error) return std::move(not_found("the chunk is missing")).in_key(key);
      call.missing = true;
      return call.reader.fill(cell.piece);
    }
    auto done = call.reader.from_object(*source, cell.piece, cell.at.valid).in_key(key);
    if (done || done.error().code() != ErrorCode::corrupt) return done;
    SHERD_TRY(now, store.open(key).in_key(key));
    SHERD_TRY(before, source->generation());
    if (now != nullptr) {
      SHERD_TRY(after, now->generation());
      if (after == before || before.token.empty()) return done;
    }
    return conflict("was replaced while it was read").in_key(key);
  });
}

Array::Array(std::shared_ptr<State> state) : state_(std::move(state)) {}
Shape Array::shape() const { return state_->shape(); }
const DType& Array::dtype() const noexcept { return state_->dtype; }
std::size_t Array::ndim() const noexcept { return state_->grid.axes().size(); }
const Shape& Array::chunks() const noexcept { return state_->chunks; }
std::optional<Shape> Array::shards() const { return state_->shards; }
std::vector<std::pair<std::uint64_t, std::uint64_t>> Array::edges(std::size_t axis) const {
  return state_->grid.axes()[axis].runs(shape()[axis]);
}
std::span<const std::byte> Array::fill_value() const noexcept { return state_->layout.fill.bytes(); }
std::vector<std::optional<std::string>> Array::dimension_names() const {
  return state_->of_document([](const NodeDocument& node) { return node.array->dimension_names; });
}
Json stored_attributes(const Array& array) {
  return array.state().of_document([](const NodeDocument& node) { return node.attributes; });
}
Json Array::attributes() const { return with_quoted_numbers(stored_attributes(*this)); }
Json Array::metadata() const {
  return state_->of_document([](const NodeDocument& node) { return node.document; });
}
Json Array::codecs() const {
  return state_->of_document([](const NodeDocument& node) { return codec_list_json(node.array->codecs); });
}
const std::string& Array::path() const noexcept { return state_->location.path; }
const std::shared_ptr<Store>& Array::store() const noexcept { return state_->location.store; }
std::string_view Array::format() const noexcept { return state_->location.format->name(); }
bool Array::read_only() const noexcept { return !state_->location.writable; }
const Config& Array::config() const noexcept { return state_->config(); }

Result<void> Array::finish() {
  Store& store = *state_->location.store;
  return in_store(store.finish(), store.url());
}

Result<void> Array::refresh() const {
  return as_call(config(), [&]() -> Result<void> {
    SHERD_TRY(shape, state_->confirm(State::Confirmed::attributes));
    return {};
  });
}

std::string Array::url() const { return url_below(state_->location.store->url(), path()); }

Array Array::with_config(Config config) const {
  NodeLocation location = state_->location;
  location.config = std::move(config);
  auto storage = state_->storage->with_config(location.config);
  location.store = storage->objects();
  NodeKeys keys = location.format->keys(location.path);
  return Array(std::make_shared<State>(std::move(location), state_->document(), std::move(keys), state_->shared_layout,
                                       std::move(storage)));
}

namespace {

/// What one call reads.
class RegionsRead {
 public:
  /// For up to `count` regions. Reads the shape against which all of them are checked.
  RegionsRead(const Array::State& state, std::size_t count) : state_(state), shape_(state.shape()) {
    selected_.reserve(count);
    parts_.reserve(count);
  }

  Result<void> add(const Selection& selection, const AnyView& into) {
    SHERD_TRY(selection.check(shape_));
    SHERD_TRY(strides, fitting_strides(selection, into.shape, into.strides));
    SHERD_TRY(state_.check_elements(into.dtype));
    selected_.emplace_back(selection);
    parts_.push_back({selected_.back().region(), {into.data, std::move(strides)}});
    return {};
  }

  Result<void> run(VarBytesArena* arena) const {
    if (state_.dtype.is_variable() && arena == nullptr)
      return invalid_argument("variable-length elements need a VarBytesArena");
    const ReadCells cells(parts_, state_.grid.axes());
    const std::uint64_t elements = element_count(parts_);
    std::atomic<std::uint64_t> done{0};
    const Config config = with_progress(state_.config(), done, elements * state_.dtype.size());
    ReadBudget budget(config.memory_budget);
    const ChunkReader reader(config, state_.location.store->traits(), state_.cache, budget, arena);
    const bool looks = state_.location.store->traits().parallel_requests < 2;  // a look has no latency
    constexpr int kMost = 64;
    for (int attempts = 1;; ++attempts) {
      std::atomic<bool> missing{false};
      done = 0;
      auto read = state_.storage->read({state_, shape_, config, cells, reader, done, elements, missing});
      const bool is_odd = read ? missing.load() : read.error().code() == ErrorCode::corrupt;
      if (!is_odd || !looks) return read;
      auto confirmed = state_.confirm_missing();
      if (confirmed) return read;
      if (!is_lost_race(confirmed.error()) || attempts == kMost) return confirmed;
    }
  }

 private:
  const Array::State& state_;
  const Shape shape_;
  std::vector<SelectedRegion> selected_;  // own the lists that the parts point to
  std::vector<ReadPart> parts_;
};

}  // namespace

Result<void> Array::read(const Selection& selection, const AnyView& into, VarBytesArena* arena) const {
  SHERD_TRY(state_->check_access());
  RegionsRead call(*state_, 1);
  SHERD_TRY(call.add(selection, into));
  return call.run(arena);
}

Result<void> Array::read(std::span<const Region> regions, VarBytesArena* arena) const {
  SHERD_TRY(state_->check_access());
  RegionsRead call(*state_, regions.size());
  for (std::size_t i = 0; i < regions.size(); ++i)
    SHERD_TRY(call.add(regions[i].selection, regions[i].into).in([&] { return "region " + std::to_string(i); }));
  return call.run(arena);
}

Result<void> Array::fill(const Selection& selection, std::span<const std::byte> value) const {
  if (value.size() != dtype().size())
    return invalid_argument("the value has " + std::to_string(value.size()) + " bytes, an element " +
                            std::to_string(dtype().size()));
  Shape shape = selection.shape();
  std::vector<std::int64_t> still(shape.size(), 0);
  return write(selection, ConstAnyView{value.data(), dtype(), std::move(shape), std::move(still)});
}

Result<void> Array::set_attributes(const Json& attributes) {
  const auto change = [&](const NodeDocument& present) {
    Json kept = keep_storage_attributes(state_->location, present.attributes, attributes);
    return state_->location.format->changed(present.document, {.attributes = kept});
  };
  return state_->edit(change, State::Renewal::now, State::Before::seen);
}

Result<std::uint64_t> Array::update_attributes(const Json& set, std::span<const std::string> remove) {
  std::uint64_t removed = 0;
  const auto change = [&](const NodeDocument& present) -> Result<Json> {
    SHERD_TRY(updated, updated_attributes(present.attributes, set, remove));
    removed = updated.removed;
    Json kept = keep_storage_attributes(state_->location, present.attributes, std::move(updated.attributes));
    return state_->location.format->changed(present.document, {.attributes = kept});
  };
  SHERD_TRY(state_->edit(change, State::Renewal::now, State::Before::seen));
  return removed;
}

}  // namespace sherd
