// Where the encoded chunks of an array are stored, and how they are read and changed there. Every array has one
// ChunkStorage. The base class stores each chunk or shard as an object of the array's store, under the key given by the
// grid. Formats that store chunks in other ways derive from it; the array does not know which one it has.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "array/array_state.hpp"
#include "array/chunk_writer.hpp"

namespace sherd {

/// An encoded chunk and its key.
struct EncodedChunk {
  const std::string& key;
  std::span<const std::byte> bytes;
};

class ChunkStorage : public std::enable_shared_from_this<ChunkStorage> {
 public:
  explicit ChunkStorage(std::shared_ptr<Store> objects) : objects_(std::move(objects)) {}
  ChunkStorage(const ChunkStorage&) = delete;
  ChunkStorage& operator=(const ChunkStorage&) = delete;
  virtual ~ChunkStorage() = default;

  /// The store that has the array's chunks under the grid's keys.
  [[nodiscard]] const std::shared_ptr<Store>& objects() const noexcept { return objects_; }
  /// This storage for a handle with another configuration.
  [[nodiscard]] virtual std::shared_ptr<const ChunkStorage> with_config(const Config& config) const;

  /// Reads the chunks of a call; missing chunks read as the fill value.
  virtual Result<void> read(const CellsRead& call) const;
  /// Writes a region of the array; see Array::write.
  virtual Result<void> write(const Array::State& array, const Region& region, const RegionWrite& call) const;
  /// Stores encoded chunks, replacing existing ones. Chunks that share an object are stored by one update of
  /// it.
  virtual Result<void> put(std::span<const EncodedChunk> chunks) const;
  /// Calls `visit` for every stored chunk of the array, in any order. Lists the store; a store that cannot list or
  /// does not allow it is asked for each chunk of an array of this shape.
  Result<void> list(const Array::State& array, const Shape& shape, const OnStored& visit) const;
  /// Erases stored chunks, given by their keys, whatever their version.
  Result<void> erase(const Array::State& array, std::span<const std::string> keys) const;
  /// The number and total size of the objects.
  [[nodiscard]] virtual Result<Array::Stored> stored(const Array::State& array) const;

  /// Like State::confirm(), for documents other than the array's on which its objects depend.
  [[nodiscard]] virtual Result<void> confirm(const Array::State& array) const;
  /// The lowest id of a stored chunk, for shards of chunks with ids; otherwise 0.
  [[nodiscard]] virtual std::uint64_t first_id(const ChunkGrid& grid, const Shape& cell) const;
  /// Whether an object with a key that is not a chunk's belongs to the array's chunks anyway.
  [[nodiscard]] virtual bool owns(std::string_view key) const;
  /// Whether a hash chooses the object of a chunk. Then objects have no shape, and put() should get many chunks.
  [[nodiscard]] virtual bool is_hashed() const noexcept { return false; }
  /// Whether chunks that hold only the fill value must be stored, because a reader would read a missing one as another
  /// value.
  [[nodiscard]] virtual bool stores_fill_values() const noexcept { return false; }

 protected:
  /// Reads each chunk on the thread that decodes it.
  Result<void> read_each(const CellsRead& call) const;
  /// In batches of requests, for stores whose requests have latency.
  Result<void> read_together(const CellsRead& call) const;

 private:
  [[nodiscard]] Result<void> check_reachable(const Array::State& array, const std::string& key) const;

  std::shared_ptr<Store> objects_;
};

/// The storage of an array: of the first kind that applies to it, or else objects of its store.
Result<std::shared_ptr<const ChunkStorage>> open_storage(const NodeLocation& location, const NodeDocument& node,
                                                         ChunkLayout& layout);

}  // namespace sherd
