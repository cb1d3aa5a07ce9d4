// Determines which members of a specification affect where chunks are stored and what their bytes mean.
#include "node/spec.hpp"

#include <algorithm>

namespace sherd {
namespace {

/// A volume's info does not record the gzip level, so each handle has its own.
bool encode_alike(const ArraySpec& a, const ArraySpec& b) {
  return std::ranges::equal(a.codecs, b.codecs, [&](const CodecSpec& one, const CodecSpec& other) {
    return one == other || (a.ids && one.name == "gzip" && other.name == "gzip");
  });
}

/// The shape determines the length of the last chunks of a clipped grid, and their keys.
bool ends_alike(const ArraySpec& a, const ArraySpec& b) {
  const auto* grid = std::get_if<RegularGrid>(&a.grid);
  return grid == nullptr || !grid->clipped || a.shape == b.shape;
}

}  // namespace

bool ArraySpec::stores_like(const ArraySpec& other) const {
  return ends_alike(*this, other) && dtype == other.dtype && grid == other.grid && keys == other.keys &&
         ids == other.ids && chunk_prefix == other.chunk_prefix && encode_alike(*this, other) &&
         equal_elements(dtype, fill_value.bytes().data(), other.fill_value.bytes().data());
}

}  // namespace sherd
