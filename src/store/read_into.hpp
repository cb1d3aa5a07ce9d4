// Reading one range of a source.
#pragma once

#include <cstdint>
#include <span>

#include "base/buffer.hpp"
#include "base/try.hpp"
#include "sherd/store.hpp"
#include "store/extent.hpp"

namespace sherd {

/// Reads the bytes beginning at `offset`, as many as fit into `into`. Makes no request for zero bytes.
inline Result<void> read_into(ByteSource& source, std::uint64_t offset, std::span<std::byte> into) {
  if (into.empty()) return {};
  const RangeRead range{offset, into};
  return source.read({&range, 1});
}

/// Reads an extent into a buffer, which is resized to it. The caller has checked that this size is allowed.
inline Result<void> read_into(ByteSource& source, const Extent& where, Buffer& into) {
  SHERD_TRY(into.resize(where.length));
  return read_into(source, where.offset, into.span());
}

}  // namespace sherd
