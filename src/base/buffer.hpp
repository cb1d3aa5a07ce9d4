// Uninitialised memory: allocated without zeroing, aligned, on huge pages when large.
// A Buffer keeps its capacity, so that per-thread scratch is allocated once and stays warm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "sherd/result.hpp"

namespace sherd {

/// Memory of at least this size is aligned to 2 MiB and uses huge pages (madvise).
inline constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

/// Uninitialised memory aligned to at least 64 bytes; nullptr if out of memory. A size of 0 returns a valid pointer.
[[nodiscard]] std::byte* allocate_bytes(std::size_t size) noexcept;
/// allocate_bytes() for results, which callers free one after the other: the four most recently freed blocks of up to
/// 8 MiB are kept and reused, still warm.
[[nodiscard]] std::byte* allocate_result(std::size_t size) noexcept;
void free_bytes(std::byte* data) noexcept;

/// A growable block of uninitialised bytes. Movable.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer() { free_bytes(data_); }

  /// Changes the size; contents are undefined after growth. `unavailable` if out of memory.
  Result<void> resize(std::size_t size);
  /// Changes the size, keeping the contents.
  Result<void> grow(std::size_t size);
  /// Appends bytes of another buffer.
  Result<void> append(std::span<const std::byte> bytes);
  /// Shrinks only.
  void truncate(std::size_t size) noexcept { size_ = size; }
  /// Frees the memory.
  void reset() noexcept;

  [[nodiscard]] std::byte* data() noexcept { return data_; }
  [[nodiscard]] const std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] std::span<std::byte> span() noexcept { return {data_, size_}; }
  [[nodiscard]] std::span<const std::byte> span() const noexcept { return {data_, size_}; }

 private:
  friend class Scratch;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  bool pooled_ = false;  ///< grows into blocks of the thread's stock that are large enough; moves leave it unchanged
};

/// A Buffer that borrows memory from this thread's stock when it is first resized, and returns it at the end of its
/// scope to the stock of the thread that it is on then: warm memory, without an allocation per chunk.
class Scratch {
 public:
  Scratch() noexcept { buffer_.pooled_ = true; }
  ~Scratch() { give_back(buffer_); }
  Scratch(Scratch&& other) noexcept : Scratch() { buffer_ = std::move(other.buffer_); }
  Scratch& operator=(Scratch&&) noexcept = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  Buffer& operator*() noexcept { return buffer_; }
  Buffer* operator->() noexcept { return &buffer_; }
  const Buffer* operator->() const noexcept { return &buffer_; }

 private:
  friend class Buffer;
  struct Stock;
  static Stock& stock() noexcept;
  static void give_back(Buffer& buffer) noexcept;
  /// Exchanges the memory of `buffer` for the smallest sufficient block in stock, or for none.
  static void exchange(Buffer& buffer, std::size_t size) noexcept;
  /// A capacity that is also sufficient for slightly larger sizes.
  static std::size_t rounded(std::size_t size) noexcept;
  Buffer buffer_;
};

/// Bytes as text and back, for documents and messages.
inline std::span<const std::byte> as_bytes(std::string_view text) noexcept {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

}  // namespace sherd
