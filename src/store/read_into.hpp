// Reading one range of a source.
#pragma once

#include <cstdint>
#include <span>

#include "base/buffer.hpp"
#include "base/try.hpp"
#include "sherd/store.hpp"
#include "store/extent.hpp"

namespace sherd {

/// Reads the bytes from `offset` on, as many as fit `into`. For no bytes no request is made.
inline Result<void> read_into(ByteSource& source, std::uint64_t offset, std::span<std::byte> into) {
  if (into.empty()) return {};
  const RangeRead range{offset, into};
  return source.read({&range, 1});
}

/// The same into a buffer, which gets the size of the extent. The caller has checked that it may be so large.
inline Result<void> read_into(ByteSource& source, const Extent& where, Buffer& into) {
  SHERD_TRY(into.resize(where.length));
  return read_into(source, where.offset, into.span());
}

}  // namespace sherd
