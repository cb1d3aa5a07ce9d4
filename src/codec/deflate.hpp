// Deflate in the wrappers that codecs use: gzip (RFC 1952), with any number of members or exactly one, and zlib (RFC
// 1950); and without one.
#pragma once

#include <cstdint>

#include "codec/codec.hpp"

namespace sherd {

class DeflateCodec final : public BytesCodec {
 public:
  enum class Wrapper : std::uint8_t { gzip, gzip_member, zlib };

  /// level 0 … 9.
  DeflateCodec(Wrapper wrapper, int level) noexcept : wrapper_(wrapper), level_(level) {}

  [[nodiscard]] std::uint64_t max_encoded_size(std::uint64_t decoded) const override;
  /// A match of 258 bytes takes two bits at least.
  [[nodiscard]] std::uint64_t max_ratio() const noexcept override { return 1032; }
  Result<std::size_t> encode(std::span<const std::byte> from, std::span<std::byte> to) const override;
  Result<std::optional<std::size_t>> decode(std::span<const std::byte> from, std::span<std::byte> to) const override;
  Result<bool> decode_blocks(std::span<const std::byte> from, std::span<std::byte> block, std::uint64_t limit,
                             const Sink& sink) const override;

 private:
  Wrapper wrapper_;
  int level_;
};

/// Decodes deflate without a wrapper (RFC 1951), as BytesCodec::decode(); without a checksum.
Result<std::optional<std::size_t>> decode_raw_deflate(std::span<const std::byte> from, std::span<std::byte> to);

}  // namespace sherd
