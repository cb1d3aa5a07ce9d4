// png of Neuroglancer's precomputed format: uint8 and uint16 with 1 to 4 channels, as gray, gray with alpha, RGB and
// RGBA. An image that is read needs the same number of pixels, with the same channels and bits; it ends with the bytes.
#include <algorithm>
#include <cstring>
#include <memory>

#include "base/checked.hpp"
#include "base/try.hpp"
#include "codec/configuration.hpp"
#include "codec/image.hpp"
#include "codec/png_rows.hpp"

namespace sherd {
namespace {

class Png final : public ArrayBytesCodec {
 public:
  explicit Png(std::optional<int> level) noexcept : level_(level) {}

  Result<void> check(const ChunkType& in) const override {
    if (in.dtype != DType::uint8 && in.dtype != DType::uint16)
      return unsupported("png: elements are uint8 or uint16, not " + in.dtype.name());
    SHERD_TRY(ChunkImage::check(in, "png"));
    const std::uint64_t channels = ChunkImage(in).channels;
    if (channels >= 1 && channels <= 4) return {};
    return unsupported("png: an image has 1 to 4 channels, not " + std::to_string(channels));
  }
  [[nodiscard]] std::optional<std::uint64_t> encoded_size(const ChunkType&) const override { return std::nullopt; }
  /// Even for rows of one pixel: a filter byte each, stored without compression, and the data around the pixels.
  [[nodiscard]] std::optional<std::uint64_t> max_encoded_size(const ChunkType& in) const override {
    constexpr std::uint64_t around = std::uint64_t{64} << 10;
    const ChunkImage chunk(in);
    const auto bytes = checked_mul(chunk.pixels(), 2 + 2 * chunk.channels * in.dtype.size());
    return bytes ? checked_add(*bytes, around) : std::nullopt;
  }

  Result<void> encode(const ChunkType& in, std::span<const std::byte> elements, Buffer& to) const override {
    const ChunkImage chunk(in);
    if (chunk.width > kMaxPngSide || chunk.height > kMaxPngSide)
      return unsupported("png: an image has at most 2^31-1 pixels per side; choose smaller chunks");
    std::size_t used = 0;
    SHERD_TRY(to.resize(elements.size() / 4 + kFirstBytes));
    PngWriter writer([&](std::span<const std::byte> bytes) -> Result<void> {
      if (to.size() - used < bytes.size()) SHERD_TRY(to.grow(std::max(2 * to.size(), used + bytes.size())));
      std::memcpy(to.data() + used, bytes.data(), bytes.size());
      used += bytes.size();
      return {};
    });
    const PngHeader header{chunk.width, chunk.height, static_cast<unsigned>(chunk.channels),
                           static_cast<unsigned>(in.dtype.size())};
    SHERD_TRY(writer.open(header, level_));
    for (std::uint64_t row = 0; row < chunk.height; ++row)
      SHERD_TRY(writer.write_row(elements.data() + row * header.row_bytes()));
    SHERD_TRY(writer.finish());
    to.truncate(used);
    return {};
  }

  Result<void> decode(const ChunkType& in, std::span<const std::byte> encoded, std::span<std::byte> elements,
                      VarBytesArena*) const override {
    const ChunkImage chunk(in);
    std::span<const std::byte> left = encoded;
    PngRows image([&](std::span<std::byte> into) -> Result<void> {
      if (left.size() < into.size()) return corrupt("truncated at byte " + std::to_string(encoded.size()));
      std::memcpy(into.data(), left.data(), into.size());
      left = left.subspan(into.size());
      return {};
    });
    SHERD_TRY(image.open(chunk.pixels()));
    const PngHeader& header = image.header();
    SHERD_TRY(chunk.expect(header.width, header.height, header.channels, "png"));
    if (header.sample_bytes != in.dtype.size())
      return corrupt("png: an image of " + std::to_string(8 * header.sample_bytes) + " bits; the chunk has " +
                     in.dtype.name());
    SHERD_TRY(image.read_image(elements));
    if (!left.empty()) return corrupt("png: " + std::to_string(left.size()) + " bytes follow the image");
    return {};
  }

 private:
  static constexpr std::size_t kFirstBytes = std::size_t{4} << 10;
  std::optional<int> level_;
};

Result<std::unique_ptr<ArrayBytesCodec>> make_png(const CodecSpec& spec, const CodecContext&) {
  SHERD_TRY(configuration, Configuration::open(spec));
  std::optional<int> level;
  if (configuration.find("level") != nullptr) {
    SHERD_TRY(given, configuration.integer("level", {0, 9}));
    level = static_cast<int>(given);
  }
  SHERD_TRY(configuration.done());
  return std::unique_ptr<ArrayBytesCodec>(std::make_unique<Png>(level));
}

}  // namespace

extern constinit const CodecEntry png_codec{.name = "png", .aliases = {}, .array_bytes_codec = make_png};

}  // namespace sherd
