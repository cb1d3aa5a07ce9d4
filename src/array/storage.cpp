// Chunks and shards as objects of the array's store, and the choice among the kinds of storage that formats bring.
#include "array/storage.hpp"

#include "base/try.hpp"

namespace sherd {

std::shared_ptr<const ChunkStorage> ChunkStorage::with_config(const Config&) const { return shared_from_this(); }

Result<void> ChunkStorage::read(const CellsRead& call) const {
  return objects_->traits().parallel_requests > 1 ? read_together(call) : read_each(call);
}

Result<void> ChunkStorage::read_each(const CellsRead& call) const {
  return parallel_for(call.cells.size(), call.config, [&](std::size_t i) -> Result<void> {
    const CellRead cell = call.cell(i);
    SHERD_TRY(read_cell(call, cell));
    call.count(cell.piece);
    return {};
  });
}

Result<void> ChunkStorage::read_together(const CellsRead& call) const {
  const auto make = [&](std::uint64_t i) {
    auto cell = std::make_shared<const CellRead>(call.cell(i));
    return call.reader.object_read(cell->at.key, cell->piece, cell->at.valid,
                                   {.finished = [&call, cell] { call.count(cell->piece); },
                                    .again = [&call, cell]() -> Result<void> {
                                      SHERD_TRY(read_cell(call, *cell));
                                      call.count(cell->piece);
                                      return {};
                                    }});
  };
  const StoreTraits traits = objects_->traits();
  return read_objects(
      {*objects_, call.config, call.state.cache, call.config.coalesce_gap.value_or(traits.coalesce_gap)},
      call.cells.size(), make);
}

Result<bool> ChunkStorage::change_shard(const ShardChange&) const { return false; }

Result<Array::Stored> ChunkStorage::stored(const Array::State& array) const {
  Array::Stored stored;
  SHERD_TRY(
      for_each_stored(array, array.shape(), [&](const Shape&, const std::string&, std::uint64_t size) -> Result<void> {
        ++stored.objects;
        stored.bytes += size;
        return {};
      }));
  return stored;
}

Result<void> ChunkStorage::confirm(const Array::State&) const { return {}; }

std::uint64_t ChunkStorage::first_id(const ChunkGrid& grid, const Shape& cell) const { return grid.first_id(cell); }

bool ChunkStorage::owns(std::string_view) const { return false; }

Result<void> StorageKind::lay_out(const NodeLocation&, NodeDocument&, const CreateOptions&) const {
  return unsupported("no new array can be stored in this way");
}

Result<std::optional<NodeLocation>> StorageKind::counterpart(const NodeLocation&, const NodeDocument&) const {
  return std::optional<NodeLocation>();
}

const StorageKind* find_storage(const Tables& tables, Layout layout) noexcept {
  if (layout == Layout::plain) return nullptr;
  for (const StorageKind* kind : tables.storages)
    if (kind->layout() == layout) return kind;
  return nullptr;
}

Result<std::shared_ptr<const ChunkStorage>> open_storage(const NodeLocation& location, const NodeDocument& node,
                                                         ChunkLayout& layout) {
  for (const StorageKind* kind : location.tables.storages) {
    SHERD_TRY(storage, kind->open(location, node, layout));
    if (storage != nullptr) return storage;
  }
  return std::make_shared<const ChunkStorage>(location.store);
}

Result<std::optional<NodeLocation>> find_counterpart(const NodeLocation& location, const NodeDocument& node) {
  for (const StorageKind* kind : location.tables.storages) {
    SHERD_TRY(counterpart, kind->counterpart(location, node));
    if (counterpart) return counterpart;
  }
  return std::optional<NodeLocation>();
}

Json keep_storage_attributes(const NodeLocation& location, const Json& present, Json attributes) {
  for (const StorageKind* kind : location.tables.storages)
    if (const Json* value = kind->attribute().empty() ? nullptr : present.find(kind->attribute()))
      attributes.set(std::string(kind->attribute()), *value);
  return attributes;
}

}  // namespace sherd
