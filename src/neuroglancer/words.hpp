// Reads little-endian words from untrusted bytes, and writes them: counts are compared with the remaining bytes before
// memory is allocated, and bytes after the last word are an error.
#pragma once

#include <bit>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/try.hpp"
#include "sherd/neuroglancer.hpp"

namespace sherd::neuroglancer {

/// Copies words of `word_size` bytes between native and little-endian order, in either direction.
inline void copy_words(std::span<const std::byte> from, std::span<std::byte> to, std::size_t word_size) noexcept {
  if (from.empty()) return;
  if constexpr (std::endian::native == std::endian::little)
    std::memcpy(to.data(), from.data(), from.size());
  else
    swap_words(from, to, word_size);
}

class WordReader {
 public:
  explicit WordReader(Bytes bytes) : left_(bytes) {}

  [[nodiscard]] std::size_t left() const noexcept { return left_.size(); }

  /// The next count * size bytes; `things` names them in the error.
  Result<Bytes> take(std::uint64_t count, std::uint64_t size, std::string_view things) {
    const auto bytes = checked_mul(count, size);
    if (!bytes || *bytes > left_.size())
      return corrupt(std::to_string(count) + " " + std::string(things) + " need " +
                     (bytes ? std::to_string(*bytes) : "more than 2^64") + " bytes, " + std::to_string(left_.size()) +
                     " are left");
    const Bytes taken = left_.first(*bytes);
    left_ = left_.subspan(*bytes);
    return taken;
  }

  /// One word.
  template <class T>
  Result<T> word(std::string_view what) {
    if (left_.size() < sizeof(T))
      return corrupt(std::string(what) + " needs " + std::to_string(sizeof(T)) + " bytes, " +
                     std::to_string(left_.size()) + " are left");
    const T value = load_little<T>(left_.data());
    left_ = left_.subspan(sizeof(T));
    return value;
  }

  /// Words, or arrays of words if T is not Word.
  template <class Word, class T = Word>
  Result<std::vector<T>> words(std::uint64_t count, std::string_view things) {
    SHERD_TRY(bytes, take(count, sizeof(T), things));
    std::vector<T> values(count);
    copy_words(bytes, std::as_writable_bytes(std::span(values)), sizeof(Word));
    return values;
  }

  [[nodiscard]] Result<void> done() const {
    if (left_.empty()) return {};
    return corrupt(std::to_string(left_.size()) + " bytes follow the end");
  }

 private:
  Bytes left_;
};

class WordWriter {
 public:
  template <class T>
  void word(T value) {
    words<T>(std::span<const T>(&value, 1));
  }
  template <class Word, class T>
  void words(std::span<const T> values) {
    bytes(std::as_bytes(values), sizeof(Word));
  }
  void bytes(std::span<const std::byte> words, std::size_t word_size) {
    const std::size_t at = text_.size();
    text_.resize(at + words.size());
    copy_words(words, std::as_writable_bytes(std::span(text_)).subspan(at), word_size);
  }
  void zeros(std::size_t count) { text_.append(count, '\0'); }
  [[nodiscard]] std::string finish() && { return std::move(text_); }

 private:
  std::string text_;
};

/// The error for the first row with a vertex number that is not below `vertices`, if any.
template <std::size_t N>
Result<void> check_indices(std::span<const std::array<std::uint32_t, N>> rows, std::size_t vertices,
                           std::string_view row_name, ErrorCode code) {
  for (std::size_t row = 0; row < rows.size(); ++row)
    for (const std::uint32_t vertex : rows[row])
      if (vertex >= vertices)
        return Error(code, std::string(row_name) + " " + std::to_string(row) + " names vertex " +
                               std::to_string(vertex) + ", but there are " + std::to_string(vertices));
  return {};
}

/// A number of things that is stored in 32 bits.
inline Result<std::uint32_t> count32(std::size_t count, std::string_view things) {
  if (count > 0xFFFFFFFFU)
    return invalid_argument(std::to_string(count) + " " + std::string(things) + " are more than 2^32-1");
  return static_cast<std::uint32_t>(count);
}

}  // namespace sherd::neuroglancer
