// Memory for the bytes of a reply.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/buffer.hpp"
#include "sherd/result.hpp"

namespace sherd::remote {

/// Uninitialised. The thread that decodes a reply frees it, and a later reply reuses it, if it is large: the kernel
/// would clear the pages of a new one.
inline Result<std::shared_ptr<std::byte>> reply_block(std::size_t size) {
  constexpr std::size_t kReused = std::size_t{512} << 10;  // the C library reuses smaller ones
  std::byte* const data = size < kReused ? allocate_bytes(size) : allocate_result(size);
  if (data == nullptr) return unavailable("out of memory: " + std::to_string(size) + " bytes");
  return std::shared_ptr<std::byte>(data, free_bytes);
}

}  // namespace sherd::remote
