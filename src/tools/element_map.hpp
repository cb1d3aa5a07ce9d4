// How the elements of a copy come from those of its source, where a copy has other elements or only some of them.
#pragma once

#include <cstdint>
#include <span>

#include "array/state.hpp"

namespace sherd {

/// How the chunks of an array get to the copy.
enum class CopyWay : std::uint8_t {
  whole,    ///< every object as it is
  moved,    ///< encoded chunks from one object to another
  encoded,  ///< through their elements
};

/// Where the elements of a box go, dense in C order, and what is needed to read them.
struct ElementTarget {
  std::byte* data;
  VarBytesArena& arena;
  const Config& config;  ///< whose threads may be used
};

class ElementMap {
 public:
  virtual ~ElementMap() = default;
  /// What a box of the copy is made of; `source` is the shape of the array.
  [[nodiscard]] virtual Box made_of(const Box& copy, const Shape& source) const = 0;
  /// The box of the copy into which a box of the source goes; one length is 0 if none of it does.
  [[nodiscard]] virtual Box goes_into(const Box& source) const = 0;
  /// The memory of what a part of the copy is made of, in the copy's own size; 0 if nothing else is in memory.
  [[nodiscard]] virtual std::uint64_t most() const noexcept = 0;
  /// The cheapest way in which chunks of this source can get to a copy of the same grid and codecs.
  [[nodiscard]] virtual CopyWay cheapest(const Array::State&) const { return CopyWay::encoded; }
  /// What a missing element of the source is in the copy. `fill` is the source's fill value.
  [[nodiscard]] virtual std::span<const std::byte> missing(std::span<const std::byte> fill) const { return fill; }
  /// Reads from `source` what a box of the copy is made of, and makes the elements of that box.
  [[nodiscard]] virtual Result<void> read(const Array& source, const Box& box, const ElementTarget& to) const = 0;
};

}  // namespace sherd
