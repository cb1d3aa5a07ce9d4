// The geometry of sharding transformers: which chunk a key names, which slots lead to it, and which chunks a prefix of
// keys covers. Coordinates and extents are in chunks throughout.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "array/array_state.hpp"
#include "sherd/draft2022.hpp"

namespace sherd::draft2022 {

/// The shards of one transformer, outermost first.
struct Level {
  const ShardLayout& layout;
  Shape grid;         ///< slots per dimension
  Shape slot_chunks;  ///< chunks of a slot per dimension

  /// The slot that contains a chunk, in any shard.
  [[nodiscard]] std::uint64_t slot_of(const Shape& chunk) const;
};

/// The chunks whose keys begin with a text.
class ChunkPrefix {
 public:
  /// Every chunk.
  ChunkPrefix() = default;
  /// `text` as it follows `c`; nullopt if no chunk's key continues like this.
  static std::optional<ChunkPrefix> parse(std::string_view text, std::size_t rank, char separator);

  enum class Share : std::uint8_t { none, some, all };
  /// Which of these chunks match the prefix.
  [[nodiscard]] Share of(const Box& chunks) const;
  /// Leading coordinates that all of them share.
  [[nodiscard]] const Shape& fixed() const noexcept { return fixed_; }

 private:
  [[nodiscard]] Share of_axis(std::size_t axis, std::uint64_t begin, std::uint64_t end) const;
  Shape fixed_;
  std::string digits_;  ///< with which the next coordinate begins
};

struct ShardingTransformer::State {
  State(Array handle, EraseMode erase_mode);

  const Array owner;
  const Array::State& array;
  const EraseMode erase;
  const Shape chunk_counts;  ///< chunks of the array per dimension
  const KeyEncoding keys;
  const std::vector<Level> levels;  ///< at least one
  const ChunkLayout& chunk_layout;  ///< of the chunks themselves

  [[nodiscard]] Store& store() const noexcept { return *array.location.store; }
  [[nodiscard]] const Limits& limits() const noexcept { return array.config().limits; }
  /// For loops over requests: as many threads as the store can have requests under way.
  [[nodiscard]] Config request_config() const;

  /// The chunk that a key names, or, for a key of the store, the shard; both kinds of key have the same form.
  [[nodiscard]] std::optional<Shape> cell_of(std::string_view key) const;
  [[nodiscard]] Shape shard_of(const Shape& chunk) const;
  /// All chunks of a shard that are inside the array; for a shard outside it, all of its chunks.
  [[nodiscard]] Box chunks_of(const Shape& shard) const;
  /// The chunks of a slot of a shard that begins at `origin`, as far as they are inside the array.
  [[nodiscard]] Box chunks_of(const Level& level, const Shape& origin, std::uint64_t slot) const;
  [[nodiscard]] bool is_inside(const Shape& chunk) const;

  /// The chunks whose keys begin with `prefix`; nullopt if there cannot be any.
  [[nodiscard]] std::optional<ChunkPrefix> chunks_below(std::string_view prefix) const;
  /// The prefix (empty, or ending in `/`) below which everything that begins with `prefix` is stored.
  [[nodiscard]] std::string directory_of(std::string_view prefix, const std::optional<ChunkPrefix>& chunks) const;
};

}  // namespace sherd::draft2022
