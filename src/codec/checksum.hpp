// A codec that leaves the bytes unchanged and adds a four-byte checksum, little-endian, at one end.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "codec/codec.hpp"

namespace sherd {

class ChecksumCodec final : public BytesCodec {
 public:
  using Sum = std::function<std::uint32_t(std::span<const std::byte>)>;  // must not throw
  enum class Location : std::uint8_t { before, after };

  ChecksumCodec(Sum sum, Location location) noexcept : sum_(std::move(sum)), location_(location) {}

  [[nodiscard]] std::optional<std::uint64_t> encoded_size(std::uint64_t decoded) const override;
  [[nodiscard]] std::uint64_t max_encoded_size(std::uint64_t decoded) const override;
  [[nodiscard]] std::uint64_t max_ratio() const noexcept override { return 1; }
  Result<std::size_t> encode(std::span<const std::byte> from, std::span<std::byte> to) const override;
  Result<std::optional<std::size_t>> decode(std::span<const std::byte> from, std::span<std::byte> to) const override;
  [[nodiscard]] std::optional<Frame> frame() const noexcept override;
  Result<void> check_frame(std::span<const std::byte> framed) const override;
  void fill_frame(std::span<std::byte> framed) const noexcept override;

 private:
  Sum sum_;
  Location location_;
};

/// Makes the checksums of numcodecs, which have one optional member: `location`, "start" or "end".
Result<std::unique_ptr<BytesCodec>> make_located_checksum(const CodecSpec& spec, ChecksumCodec::Sum sum,
                                                          ChecksumCodec::Location absent);

}  // namespace sherd
