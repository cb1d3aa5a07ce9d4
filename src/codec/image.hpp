// A chunk as one image, for codecs that use an image format. (z, y, x, channel), or (z, y, x) with one channel, becomes
// rows of x pixels, each z below the previous one. Readers accept any width and height with the same number of pixels,
// since the order of the pixels is the same.
#pragma once

#include <cstdint>
#include <string>

#include "codec/codec.hpp"

namespace sherd {

struct ChunkImage {
  std::uint64_t width = 0;
  std::uint64_t height = 0;
  std::uint64_t channels = 0;

  explicit ChunkImage(const ChunkType& in) noexcept
      : width(in.shape[2]), height(in.shape[0] * in.shape[1]), channels(in.shape.size() == 4 ? in.shape[3] : 1) {}
  [[nodiscard]] std::uint64_t pixels() const noexcept { return width * height; }

  /// invalid_argument if a chunk has other dimensions.
  static Result<void> check(const ChunkType& in, const std::string& codec) {
    if (in.shape.size() == 3 || in.shape.size() == 4) return {};
    return invalid_argument(codec + ": a chunk has dimensions (z, y, x, channel), not shape " + to_string(in.shape));
  }
  /// `corrupt` if an image of this size with this many channels does not match the chunk.
  [[nodiscard]] Result<void> expect(std::uint64_t its_width, std::uint64_t its_height, std::uint64_t its_channels,
                                    const std::string& codec) const {
    if (its_width * its_height == pixels() && its_channels == channels) return {};
    return corrupt(codec + ": an image of " + std::to_string(its_width) + " x " + std::to_string(its_height) +
                   " pixels with " + std::to_string(its_channels) + " channels; the chunk has " +
                   std::to_string(pixels()) + " pixels with " + std::to_string(channels));
  }
};

}  // namespace sherd
