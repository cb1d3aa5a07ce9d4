// Chunks and shards as objects of the array's store, and the choice among the kinds of storage that formats bring.
#include "array/storage.hpp"

#include "base/try.hpp"

namespace sherd {

std::shared_ptr<const ChunkStorage> ChunkStorage::with_config(const Config&) const { return shared_from_this(); }

Result<void> ChunkStorage::read(const CellsRead& call) const {
  if (objects_->traits().parallel_requests > 1 && call.reader.reads_together(call.state.layout))
    return read_together(call);
  return read_each(call);
}

Result<void> ChunkStorage::read_each(const CellsRead& call) const {
  const unsigned requests = objects_->traits().parallel_requests;
  return parallel_for(call.cells.size(), with_requests(call.config, requests), [&](std::size_t i) -> Result<void> {
    const CellRead cell = call.cell(i);
    SHERD_TRY(read_cell(call, cell));
    call.count(cell.piece);
    return {};
  });
}

Result<bool> ChunkStorage::change_shard(const ShardChange&) const { return false; }

Result<Array::Stored> ChunkStorage::stored(const Array::State& array) const {
  Array::Stored stored;
  SHERD_TRY(for_each_stored(array, [&](const Shape&, const std::string&, std::uint64_t size) -> Result<void> {
    ++stored.objects;
    stored.bytes += size;
    return {};
  }));
  return stored;
}

Result<void> ChunkStorage::confirm(const Array::State&) const { return {}; }

std::uint64_t ChunkStorage::first_id(const ChunkGrid& grid, const Shape& cell) const { return grid.first_id(cell); }

bool ChunkStorage::owns(std::string_view) const { return false; }

Result<void> StorageKind::lay_out(const NodePlace&, NodeDocument&, const CreateOptions&) const {
  return unsupported("no new array can be stored in this way");
}

Result<std::optional<NodePlace>> StorageKind::counterpart(const NodePlace&, const NodeDocument&) const {
  return std::optional<NodePlace>();
}

const StorageKind* find_storage(const Tables& tables, Layout layout) noexcept {
  if (layout == Layout::plain) return nullptr;
  for (const StorageKind* kind : tables.storages)
    if (kind->layout() == layout) return kind;
  return nullptr;
}

Result<std::shared_ptr<const ChunkStorage>> open_storage(const NodePlace& place, const NodeDocument& node,
                                                         ChunkLayout& layout) {
  for (const StorageKind* kind : place.tables.storages) {
    SHERD_TRY(storage, kind->open(place, node, layout));
    if (storage != nullptr) return storage;
  }
  return std::make_shared<const ChunkStorage>(place.store);
}

Result<std::optional<NodePlace>> find_counterpart(const NodePlace& place, const NodeDocument& node) {
  for (const StorageKind* kind : place.tables.storages) {
    SHERD_TRY(counterpart, kind->counterpart(place, node));
    if (counterpart) return counterpart;
  }
  return std::optional<NodePlace>();
}

Json keep_storage_attributes(const NodePlace& place, const Json& present, Json attributes) {
  for (const StorageKind* kind : place.tables.storages)
    if (const Json* value = kind->attribute().empty() ? nullptr : present.find(kind->attribute()))
      attributes.set(std::string(kind->attribute()), *value);
  return attributes;
}

}  // namespace sherd
