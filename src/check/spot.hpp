// What ObjectCheck is inspecting: an object or a part of one, and the chunks found in it.
#pragma once

#include "check/check.hpp"

namespace sherd {

// A chunk, a shard or a shard inside one.
struct ObjectCheck::Spot {
  ByteSource& source;
  Extent where;  // inside the source
  const ChunkLayout& layout;
  Shape shape;  // array order of the layout
  std::optional<std::uint64_t> slot = {};
  std::string within = {};
  bool in_object = true;  // false: the source is decoded bytes, whose offsets mean nothing to users
  std::uint64_t first_id = 0;

  [[nodiscard]] FaultLocation at(std::optional<std::uint64_t> offset = {}) const {
    return {slot, in_object ? offset.value_or(where.offset) : std::optional<std::uint64_t>(), within};
  }
  [[nodiscard]] const ChunkLayout& leaf() const { return layout.shard ? *layout.shard->inner : layout; }
  // Of the chunk in a slot, or of the object itself.
  [[nodiscard]] Shape chunk_shape(std::uint64_t of_slot) const {
    if (!layout.shard) return shape;
    const ShardLayout& shard = *layout.shard;
    if (shard.slots() != nullptr) return shard.inner_shape;
    return shard.inner_shape_at(unravel(of_slot, shard.grid(shape)), shape);
  }
  [[nodiscard]] std::string inside() const { return slot ? within + "slot " + std::to_string(*slot) + ": " : within; }
};

}  // namespace sherd
