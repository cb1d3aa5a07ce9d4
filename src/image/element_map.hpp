// How the elements of a copy are derived from its source, if the copy has different elements or only some of them.
#pragma once

#include <cstdint>
#include <span>

#include "node/node_location.hpp"

namespace sherd {

/// How the chunks of an array are copied.
enum class CopyWay : std::uint8_t {
  whole,    ///< every object unchanged
  moved,    ///< encoded chunks from one object to another
  encoded,  ///< decoded and encoded again
};

/// The destination of the elements of a box, dense in C order, and what is needed to read them.
struct ElementTarget {
  std::byte* data;
  VarBytesArena& arena;
  const Config& config;  ///< whose threads may be used
};

class ElementMap {
 public:
  virtual ~ElementMap() = default;
  /// The box of the source from which a box of the copy is made; `source` is the shape of the array.
  [[nodiscard]] virtual Box made_of(const Box& copy, const Shape& source) const = 0;
  /// The box of the copy that a box of the source affects; one length is 0 if there is none.
  [[nodiscard]] virtual Box goes_into(const Box& source) const = 0;
  /// The memory of the source of a part of the copy, as a multiple of the part's size; 0 if no other memory is needed.
  [[nodiscard]] virtual std::uint64_t most() const noexcept = 0;
  /// The cheapest way in which chunks of this source can be copied to the same grid and codecs.
  [[nodiscard]] virtual CopyWay cheapest(const Array::State&) const { return CopyWay::encoded; }
  /// The value in the copy of a missing element of the source. `fill` is the source's fill value.
  [[nodiscard]] virtual std::span<const std::byte> missing(std::span<const std::byte> fill) const { return fill; }
  /// Reads from `source` what a box of the copy needs, and makes the elements of that box.
  [[nodiscard]] virtual Result<void> read(const Array& source, const Box& box, const ElementTarget& to) const = 0;
};

}  // namespace sherd
