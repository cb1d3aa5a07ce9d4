// Chunks and shards as objects of the array's store, and the choice among the kinds of storage that formats provide.
#include "array/storage.hpp"

#include "base/call.hpp"
#include "base/try.hpp"
#include "node/storage_kind.hpp"
#include "store/listing.hpp"

namespace sherd {
namespace {

constexpr std::uint64_t kAskedTogether = 1024;

// Asks for each chunk of the grid by its key, many at a time.
Result<void> ask_for_each(Store& store, const Array::State& array, const Shape& shape, const OnStored& visit) {
  const Shape count = array.grid.count(shape);
  const auto all = element_count(count);
  if (!all) return cannot_list(store);
  for (std::uint64_t first = 0; first < *all; first += kAskedTogether) {
    SHERD_TRY(check_interrupted());
    std::vector<ReadRequest> requests;
    for (std::uint64_t number = first; number < std::min(*all, first + kAskedTogether); ++number)
      requests.push_back({.key = array.key(unravel(number, count)), .length = 0});
    SHERD_TRY(store.read_all(requests, [&](std::size_t i, Result<ReadReply> reply) -> Result<void> {
      if (!reply) return std::move(reply).error().in_key(requests[i].key);
      if (reply->source == nullptr) return {};
      SHERD_TRY(size, reply->source->size());
      return visit(unravel(first + i, count), requests[i].key, size).in_key(requests[i].key);
    }));
  }
  return {};
}

}  // namespace

std::shared_ptr<const ChunkStorage> ChunkStorage::with_config(const Config&) const { return shared_from_this(); }

Result<void> ChunkStorage::read(const CellsRead& call) const {
  return objects_->traits().parallel_requests > 1 ? read_together(call) : read_each(call);
}

Result<void> ChunkStorage::read_each(const CellsRead& call) const {
  return parallel_for_files(call.cells.size(), call.config, [&](std::size_t i) -> Result<void> {
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

Result<void> ChunkStorage::list(const Array::State& array, const Shape& shape, const OnStored& visit) const {
  return as_call(array.config(), [&]() -> Result<void> {
    bool has_begun = false;
    auto listed = objects_->visit(array.prefix, ListDepth::all, [&](const ListEntry& entry) -> Result<bool> {
      has_begun = true;
      SHERD_TRY(check_interrupted());
      const auto cell = array.grid.parse_key(entry.name);
      const std::string key = array.prefix + std::string(entry.name);
      SHERD_TRY(cell ? visit(*cell, key, entry.size).in_key(key) : check_reachable(array, key));
      return true;
    });
    if (listed.has_value()) return {};
    if (!has_begun && is_unlisted(listed.error())) return ask_for_each(*objects_, array, shape, visit);
    return std::move(listed).error();
  });
}

// Something other than a chunk may be a link to a directory of chunks on a disk that is not mounted. The chunks of
// arrays without documents of their own share a directory with everything else below it.
Result<void> ChunkStorage::check_reachable(const Array::State& array, const std::string& key) const {
  if (!array.location.format->arrays_have_documents() || owns(key)) return {};
  const auto opened = objects_->open(key);
  if (!opened && opened.error().code() == ErrorCode::io) return Error(opened.error()).in_key(key);
  return {};
}

Result<void> ChunkStorage::put(std::span<const EncodedChunk> chunks) const {
  return parallel_for(chunks.size(), with_requests({}, objects_->traits().parallel_requests),
                      [&](std::size_t i) { return objects_->set(chunks[i].key, chunks[i].bytes); });
}

Result<void> ChunkStorage::erase(const Array::State& array, std::span<const std::string> keys) const {
  if (objects_->traits().parallel_requests > 1)
    return as_call(array.config(), [&] { return objects_->erase_all(keys); });
  return parallel_for(keys.size(), array.config(), [&](std::size_t i) -> Result<void> {
    SHERD_TRY(objects_->erase(keys[i]));
    return {};
  });
}

Result<Array::Stored> ChunkStorage::stored(const Array::State& array) const {
  Array::Stored stored;
  SHERD_TRY(list(array, array.shape(), [&](const Shape&, const std::string&, std::uint64_t size) -> Result<void> {
    ++stored.objects;
    stored.bytes += size;
    return {};
  }));
  return stored;
}

Result<void> ChunkStorage::confirm(const Array::State&) const { return {}; }

std::uint64_t ChunkStorage::first_id(const ChunkGrid& grid, const Shape& cell) const { return grid.first_id(cell); }

bool ChunkStorage::owns(std::string_view) const { return false; }

Result<std::shared_ptr<const ChunkStorage>> open_storage(const NodeLocation& location, const NodeDocument& node,
                                                         ChunkLayout& layout) {
  for (const StorageKind* kind : location.tables.storages) {
    SHERD_TRY(storage, kind->open(location, node, layout));
    if (storage != nullptr) return storage;
  }
  return std::make_shared<const ChunkStorage>(location.store);
}

}  // namespace sherd
