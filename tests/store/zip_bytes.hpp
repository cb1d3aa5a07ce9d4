// Zip archives made byte by byte, so that any value in them can be wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/buffer.hpp"
#include "base/checksum.hpp"

namespace sherd {

/// A member; what is not set is right.
struct ZipPiece {
  std::string name;
  std::string data = {};  ///< as stored
  std::uint16_t method = 0;
  std::uint16_t flags = 0;
  std::optional<std::uint64_t> size = {};    ///< decoded
  std::optional<std::uint32_t> crc = {};     ///< of the decoded bytes
  std::optional<std::uint64_t> stored = {};  ///< according to the directory
  std::optional<std::uint64_t> header = {};  ///< its offset according to the directory
  std::uint8_t host = 3;
  std::uint32_t attributes = 0;
  std::uint16_t disk = 0;
  std::string extra = {};        ///< in the directory
  std::string local_extra = {};  ///< in front of the data
  std::optional<std::string> local_name = {};
  std::optional<std::uint16_t> local_method = {};
  std::optional<std::uint32_t> local_crc = {};
  std::string after = {};  ///< bytes after the data
};

/// The end records; what is not set is right.
struct ZipFinish {
  std::string comment = {};
  std::optional<std::uint64_t> count = {};
  std::optional<std::uint64_t> size = {};    ///< of the directory
  std::optional<std::uint64_t> offset = {};  ///< of the directory
  std::uint16_t disk = 0;
  bool zip64 = false;
  std::optional<std::uint64_t> locator = {};
  std::string before_end = {};  ///< bytes between the directory and the end records
};

class ZipBytes {
 public:
  explicit ZipBytes(std::string prefix = {}, bool prefix_counts = true)
      : body_(std::move(prefix)), shift_(prefix_counts ? 0 : body_.size()) {}

  ZipBytes& add(const ZipPiece& piece) {
    const std::uint64_t header = body_.size() - shift_;
    const std::uint64_t size = piece.size.value_or(piece.data.size());
    const std::uint32_t crc = piece.crc.value_or(crc32(as_bytes(piece.data)));
    const bool later = (piece.flags & 8U) != 0;
    body_ += "PK\3\4";
    put<std::uint16_t>(body_, 20);
    put<std::uint16_t>(body_, piece.flags);
    put<std::uint16_t>(body_, piece.local_method.value_or(piece.method));
    put<std::uint32_t>(body_, 0x00210000);
    put<std::uint32_t>(body_, later ? 0 : piece.local_crc.value_or(crc));
    put<std::uint32_t>(body_, later ? 0 : small(piece.data.size()));
    put<std::uint32_t>(body_, later ? 0 : small(size));
    const std::string& local_name = piece.local_name ? *piece.local_name : piece.name;
    put<std::uint16_t>(body_, local_name.size());
    put<std::uint16_t>(body_, piece.local_extra.size());
    body_ += local_name + piece.local_extra + piece.data + piece.after;

    const std::uint64_t stored = piece.stored.value_or(piece.data.size());
    const std::uint64_t offset = piece.header.value_or(header);
    std::string wide;
    for (const std::uint64_t value : {size, stored, offset})
      if (value >= 0xffffffff) put<std::uint64_t>(wide, value);
    std::string extra = piece.extra;
    if (!wide.empty()) extra += field(1, wide);
    directory_ += "PK\1\2";
    put<std::uint16_t>(directory_, piece.host << 8 | 30U);
    put<std::uint16_t>(directory_, 20);
    put<std::uint16_t>(directory_, piece.flags);
    put<std::uint16_t>(directory_, piece.method);
    put<std::uint32_t>(directory_, 0x00210000);
    put<std::uint32_t>(directory_, crc);
    put<std::uint32_t>(directory_, small(stored));
    put<std::uint32_t>(directory_, small(size));
    put<std::uint16_t>(directory_, piece.name.size());
    put<std::uint16_t>(directory_, extra.size());
    put<std::uint16_t>(directory_, 0);
    put<std::uint16_t>(directory_, piece.disk);
    put<std::uint16_t>(directory_, 0);
    put<std::uint32_t>(directory_, piece.attributes);
    put<std::uint32_t>(directory_, small(offset));
    directory_ += piece.name + extra;
    ++count_;
    return *this;
  }

  [[nodiscard]] std::string finish(const ZipFinish& end = {}) const {
    std::string all = body_ + directory_ + end.before_end;
    const std::uint64_t count = end.count.value_or(count_);
    const std::uint64_t size = end.size.value_or(directory_.size());
    const std::uint64_t offset = end.offset.value_or(body_.size() - shift_);
    if (end.zip64) {
      const std::uint64_t at = all.size() - shift_;
      all += "PK\6\6";
      put<std::uint64_t>(all, 44);
      put<std::uint32_t>(all, 45U << 16 | 45U);
      for (int i = 0; i < 2; ++i) put<std::uint32_t>(all, end.disk);
      for (const std::uint64_t value : {count, count, size, offset}) put<std::uint64_t>(all, value);
      all += "PK\6\7";
      put<std::uint32_t>(all, 0);
      put<std::uint64_t>(all, end.locator.value_or(at));
      put<std::uint32_t>(all, 1);
    }
    all += "PK\5\6";
    put<std::uint16_t>(all, end.disk);
    put<std::uint16_t>(all, end.disk);
    for (int i = 0; i < 2; ++i) put<std::uint16_t>(all, end.zip64 ? 0xffff : count);
    put<std::uint32_t>(all, end.zip64 ? 0xffffffff : size);
    put<std::uint32_t>(all, end.zip64 ? 0xffffffff : offset);
    put<std::uint16_t>(all, end.comment.size());
    return all + end.comment;
  }

  /// An extra field.
  static std::string field(std::uint16_t id, const std::string& content) {
    std::string made;
    put<std::uint16_t>(made, id);
    put<std::uint16_t>(made, content.size());
    return made + content;
  }
  /// The little-endian bytes of a value.
  template <class T>
  static void put(std::string& to, std::uint64_t value) {
    for (std::size_t i = 0; i < sizeof(T); ++i) to += static_cast<char>(value >> 8 * i);
  }

 private:
  static std::uint32_t small(std::uint64_t value) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, 0xffffffff));
  }

  std::string body_, directory_;
  std::uint64_t shift_;
  std::uint64_t count_ = 0;
};

}  // namespace sherd
