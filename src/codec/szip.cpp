// szip as stored by HDF5's filter 4 and netcdf-c: the decoded size as four little-endian bytes, then a stream of CCSDS
// 121.0-B, which libaec reads and writes. A stream does not contain its parameters. HDF5 and netcdf-c store two of
// them, the options mask and the pixels per block; the bits per pixel are those of an element, and the pixels per
// scanline follow from a length (szip_scanline()). Elements of 4 and 8 bytes are stored as byte planes, and every
// scanline is padded to whole blocks, as in the library szlib.
#include "codec/szip.hpp"

#ifdef SHERD_SZIP
#include <libaec.h>
#endif

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>

#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/try.hpp"
#include "codec/configuration.hpp"
#include "codec/planes.hpp"

namespace sherd {
namespace {

constexpr std::int64_t kNearestNeighbor = 32;  // of the mask's options only this one and kMsb change a stream
constexpr std::int64_t kMaxPixelsPerBlock = 32, kMaxBlocksPerScanline = 128;

#ifdef SHERD_SZIP

constexpr std::size_t kSzipHeaderBytes = 4;
constexpr std::int64_t kMsb = 16, kMaxMask = 255;

struct SzipParameters {
  bool predicts = true;
  bool big_endian = false;
  std::size_t element_size = 1;
  std::size_t block = 32;     ///< pixels
  std::size_t scanline = 32;  ///< pixels
};

/// The number of pixels in a chunk, without and with the padding of its scanlines. A pixel is an element of 1 or 2
/// bytes, or a byte of a larger one.
struct Pixels {
  std::size_t size = 1;  ///< of a pixel in bytes
  std::size_t scanline = 0, padded_scanline = 0;
  std::size_t bytes = 0, padded_bytes = 0;

  [[nodiscard]] bool padded() const noexcept { return padded_bytes != bytes; }
};

class Szip final : public BytesCodec {
 public:
  explicit Szip(const SzipParameters& parameters) : parameters_(parameters) {}

  /// In an incompressible block at most five bits precede the pixels, and one pixel may be stored twice.
  std::uint64_t max_encoded_size(std::uint64_t decoded) const override {
    const std::uint64_t padded = pixels_of(decoded).padded_bytes;
    return kSzipHeaderBytes + padded + padded / parameters_.block + 64;
  }
  /// A code of ten bits represents at most 64 blocks of zeros.
  std::uint64_t max_ratio() const noexcept override { return 8192; }

  Result<std::size_t> encode(std::span<const std::byte> from, std::span<std::byte> to) const override {
    if (from.size() % parameters_.element_size != 0) return invalid_argument(uneven(from.size()));
    if (from.size() > std::numeric_limits<std::uint32_t>::max())
      return unsupported("szip: a chunk of " + std::to_string(from.size()) +
                         " bytes is larger than 32 bits can state; choose smaller chunks");
    store_little(to.data(), static_cast<std::uint32_t>(from.size()));
    if (from.empty()) return kSzipHeaderBytes;
    const Pixels pixels = pixels_of(from.size());
    Scratch planes, padded;
    if (has_planes()) {
      SHERD_TRY(planes->resize(from.size()));
      to_planes(from, planes->span(), parameters_.element_size);
      from = planes->span();
    }
    if (pixels.padded()) {
      SHERD_TRY(padded->resize(pixels.padded_bytes));
      pad(from, padded->span(), pixels);
      from = padded->span();
    }
    const auto room = to.subspan(kSzipHeaderBytes);
    aec_stream stream = stream_of(from, room);
    stream.flags |= AEC_NOT_ENFORCE;  // blocks of any even length
    if (const int fault = aec_buffer_encode(&stream); fault != AEC_OK) return failed(fault);
    return kSzipHeaderBytes + stream.total_out;
  }

  Result<std::optional<std::size_t>> decode(std::span<const std::byte> from, std::span<std::byte> to) const override {
    if (from.size() < kSzipHeaderBytes)
      return corrupt("szip: " + std::to_string(from.size()) + " bytes are not a size header and a stream");
    const std::size_t size = load_little<std::uint32_t>(from.data());
    if (size > to.size()) return std::optional<std::size_t>();
    if (size % parameters_.element_size != 0) return corrupt(uneven(size));
    to = to.first(size);
    const Pixels pixels = pixels_of(size);
    Scratch padded, planes;
    std::span<std::byte> decoded = to;
    if (pixels.padded() || has_planes()) {
      SHERD_TRY(padded->resize(pixels.padded_bytes));
      decoded = padded->span();
    }
    SHERD_TRY(decode_pixels(from.subspan(kSzipHeaderBytes), decoded));
    if (pixels.padded() && !has_planes()) {
      unpad(decoded, to, pixels);
    } else if (has_planes()) {
      if (pixels.padded()) {
        SHERD_TRY(planes->resize(size));
        unpad(decoded, planes->span(), pixels);
        decoded = planes->span();
      }
      from_planes(decoded, to, parameters_.element_size);
    }
    return std::optional(size);
  }

 private:
  [[nodiscard]] bool has_planes() const noexcept { return parameters_.element_size > 2; }

  [[nodiscard]] Pixels pixels_of(std::uint64_t bytes) const noexcept {
    Pixels pixels;
    pixels.size = has_planes() ? 1 : parameters_.element_size;
    pixels.scanline = parameters_.scanline * pixels.size;
    pixels.padded_scanline = (parameters_.scanline + parameters_.block - 1) / parameters_.block * parameters_.block;
    pixels.padded_scanline *= pixels.size;
    pixels.bytes = bytes;
    const std::uint64_t lines = bytes / pixels.scanline + (bytes % pixels.scanline != 0 ? 1 : 0);
    pixels.padded_bytes = checked_mul(lines, pixels.padded_scanline).value_or(std::numeric_limits<std::size_t>::max());
    return pixels;
  }

  [[nodiscard]] aec_stream stream_of(std::span<const std::byte> from, std::span<std::byte> to) const noexcept {
    aec_stream stream{};
    stream.next_in = reinterpret_cast<const unsigned char*>(from.data());
    stream.avail_in = from.size();
    stream.next_out = reinterpret_cast<unsigned char*>(to.data());
    stream.avail_out = to.size();
    stream.bits_per_sample = has_planes() ? 8 : static_cast<unsigned>(8 * parameters_.element_size);
    stream.block_size = static_cast<unsigned>(parameters_.block);
    stream.rsi = static_cast<unsigned>((parameters_.scanline + parameters_.block - 1) / parameters_.block);
    stream.flags = (parameters_.predicts ? AEC_DATA_PREPROCESS : 0) | (parameters_.big_endian ? AEC_DATA_MSB : 0);
    return stream;
  }

  Result<void> decode_pixels(std::span<const std::byte> from, std::span<std::byte> to) const {
    if (to.empty() && from.empty()) return {};
    aec_stream stream = stream_of(from, to);
    if (const int fault = aec_decode_init(&stream); fault != AEC_OK) return failed(fault);
    // libaec reads up to eight bytes ahead, so the last ones are passed one by one, to see which one ends the stream.
    std::size_t left = std::min<std::size_t>(from.size(), 8);
    stream.avail_in -= left;
    int fault = aec_decode(&stream, AEC_NO_FLUSH);
    for (; fault == AEC_OK && stream.avail_out != 0 && left > 0; --left) {
      ++stream.avail_in;
      fault = aec_decode(&stream, AEC_NO_FLUSH);
    }
    left += stream.avail_in;
    aec_decode_end(&stream);
    if (fault != AEC_OK) return fault == AEC_MEM_ERROR ? failed(fault) : corrupt("szip: malformed stream");
    if (stream.avail_out != 0)
      return corrupt("szip: the stream ends after " + std::to_string(to.size() - stream.avail_out) +
                     " bytes instead of " + std::to_string(to.size()));
    if (left != 0) return corrupt("szip: " + std::to_string(left) + " trailing bytes after the stream");
    return {};
  }

  /// The padding repeats the last pixel if pixels are predicted from previous ones; otherwise it is 0.
  void pad(std::span<const std::byte> from, std::span<std::byte> to, const Pixels& pixels) const noexcept {
    while (!from.empty()) {
      const auto line = from.first(std::min(from.size(), pixels.scanline));
      std::memcpy(to.data(), line.data(), line.size());
      const auto padding = to.subspan(line.size(), pixels.padded_scanline - line.size());
      const auto last = line.last(pixels.size);
      for (std::size_t at = 0; at < padding.size(); ++at)
        padding[at] = parameters_.predicts ? last[at % pixels.size] : std::byte{0};
      from = from.subspan(line.size());
      to = to.subspan(pixels.padded_scanline);
    }
  }

  static void unpad(std::span<const std::byte> from, std::span<std::byte> to, const Pixels& pixels) noexcept {
    while (!to.empty()) {
      const std::size_t size = std::min(to.size(), pixels.scanline);
      std::memcpy(to.data(), from.data(), size);
      to = to.subspan(size);
      from = from.subspan(std::min(from.size(), pixels.padded_scanline));
    }
  }

  [[nodiscard]] static Error failed(int fault) {
    if (fault == AEC_MEM_ERROR) return unavailable("out of memory for szip");
    return unavailable("szip: libaec failed with its error " + std::to_string(fault));
  }
  [[nodiscard]] std::string uneven(std::size_t size) const {
    return "szip: " + std::to_string(size) + " bytes are not whole numbers of " +
           std::to_string(parameters_.element_size) + " bytes";
  }

  SzipParameters parameters_;
};

Result<std::unique_ptr<BytesCodec>> make_szip(const CodecSpec& spec, const CodecContext& context) {
  SHERD_TRY(configuration, Configuration::open(spec, context));
  SHERD_TRY(mask, configuration.integer("mask", {0, kMaxMask}));
  SHERD_TRY(block, configuration.integer("pixels-per-block", {2, kMaxPixelsPerBlock}));
  if (block % 2 != 0) return configuration_error("pixels-per-block", "szip: 'pixels-per-block' must be even");
  const std::uint64_t element = element_bytes(context.in.dtype);
  SHERD_TRY(bits, configuration.integer("bits-per-pixel", {1, 64}, static_cast<std::int64_t>(8 * element)));
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64)
    return unsupported("szip: elements must have 8, 16, 32 or 64 bits").in_member("configuration.bits-per-pixel");
  const Shape& shape = context.in.shape;
  const auto pixels = static_cast<std::uint64_t>(block);
  const std::uint64_t usual = szip_scanline(pixels, shape.empty() ? 1 : shape.back(), shape);
  SHERD_TRY(scanline, configuration.integer("pixels-per-scanline", {1, block * kMaxBlocksPerScanline},
                                            static_cast<std::int64_t>(usual)));
  SHERD_TRY(configuration.done());
  if (scanline < block)  // as in HDF5 and netcdf-c
    return configuration_error("pixels-per-block", "szip: a chunk of shape " + to_string(shape) +
                                                       " has fewer elements than a block; choose fewer pixels per "
                                                       "block or larger chunks");
  return std::unique_ptr<BytesCodec>(
      std::make_unique<Szip>(SzipParameters{.predicts = (mask & kNearestNeighbor) != 0,
                                            .big_endian = (mask & kMsb) != 0,
                                            .element_size = static_cast<std::size_t>(bits / 8),
                                            .block = pixels,
                                            .scanline = static_cast<std::size_t>(scanline)}));
}

#else

Result<std::unique_ptr<BytesCodec>> make_szip(const CodecSpec& spec, const CodecContext&) {
  return unsupported("the codec '" + spec.name + "': this Sherd was built without libaec; install libaec-dev and " +
                     "build again with SHERD_SZIP=ON")
      .in_member("name");
}

#endif

/// As in netcdf-c's nc_def_var_szip(): nearest neighbor, or "szip:ec" for entropy coding alone.
Result<Json> short_szip(std::string_view argument, const DType&) {
  if (!argument.empty() && argument != "nn" && argument != "ec")
    return invalid_argument("'" + std::string(argument) + "' is not a method of szip: nn or ec");
  return Json(
      Json::Object{{"mask", argument == "ec" ? 4 : kNearestNeighbor}, {"pixels-per-block", kMaxPixelsPerBlock}});
}

}  // namespace

std::uint64_t szip_scanline(std::uint64_t pixels_per_block, std::uint64_t length, const Shape& chunk) noexcept {
  const std::uint64_t most = pixels_per_block * kMaxBlocksPerScanline;
  return std::min(most, length < pixels_per_block ? element_count(chunk).value_or(most) : length);
}

extern constinit const CodecEntry szip_codec{.name = "numcodecs.szip",
                                             .aliases = {"szip"},
                                             .bytes_codec = make_szip,
                                             .short_form = short_szip,
                                             .is_compressor = true};

}  // namespace sherd
