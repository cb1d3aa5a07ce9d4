// numcodecs' lz4: the decoded size as four little-endian bytes, then one raw LZ4 block. The block extends to the end of
// the bytes: LZ4_decompress_safe accepts neither fewer nor more.
#include <lz4.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "base/endian.hpp"
#include "base/try.hpp"
#include "codec/configuration.hpp"

namespace sherd {
namespace {

constexpr std::size_t kLz4HeaderBytes = 4;

class Lz4Codec final : public BytesCodec {
 public:
  explicit Lz4Codec(int acceleration) : acceleration_(acceleration) {}

  /// The library's own bound, which would overflow for an input above its maximum.
  std::uint64_t max_encoded_size(std::uint64_t decoded) const override {
    return kLz4HeaderBytes + decoded + decoded / 255 + 16;
  }
  /// An additional byte lengthens a match by at most 255.
  std::uint64_t max_ratio() const noexcept override { return 255; }

  Result<std::size_t> encode(std::span<const std::byte> from, std::span<std::byte> to) const override {
    if (from.size() > LZ4_MAX_INPUT_SIZE)
      return unsupported("lz4: a chunk of " + std::to_string(from.size()) + " bytes is larger than the format's " +
                         std::to_string(LZ4_MAX_INPUT_SIZE) + "; choose smaller chunks");
    store_little(to.data(), static_cast<std::uint32_t>(from.size()));
    const auto block = to.subspan(kLz4HeaderBytes);
    const int capacity = static_cast<int>(std::min<std::size_t>(block.size(), std::numeric_limits<int>::max()));
    const int size =
        LZ4_compress_fast(reinterpret_cast<const char*>(from.data()), reinterpret_cast<char*>(block.data()),
                          static_cast<int>(from.size()), capacity, acceleration_);
    if (size <= 0) return unavailable("lz4: the library could not encode " + std::to_string(from.size()) + " bytes");
    return kLz4HeaderBytes + static_cast<std::size_t>(size);
  }

  Result<std::optional<std::size_t>> decode(std::span<const std::byte> from, std::span<std::byte> to) const override {
    if (from.size() <= kLz4HeaderBytes || from.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
      return corrupt("lz4: " + std::to_string(from.size()) + " bytes are not a size header and a block");
    const std::size_t size = load_little<std::uint32_t>(from.data());
    if (size > LZ4_MAX_INPUT_SIZE)
      return corrupt("lz4: the header states a size of " + std::to_string(size) + " bytes");
    if (size > to.size()) return std::optional<std::size_t>();
    const auto block = from.subspan(kLz4HeaderBytes);
    const int decoded =
        LZ4_decompress_safe(reinterpret_cast<const char*>(block.data()), reinterpret_cast<char*>(to.data()),
                            static_cast<int>(block.size()), static_cast<int>(size));
    if (decoded < 0)
      return corrupt("lz4: malformed block near byte " +
                     std::to_string(kLz4HeaderBytes + static_cast<std::size_t>(-(decoded + 1))));
    if (static_cast<std::size_t>(decoded) != size)
      return corrupt("lz4: the header states " + std::to_string(size) + " bytes, the block holds " +
                     std::to_string(decoded));
    return std::optional(size);
  }

 private:
  int acceleration_;
};

Result<std::unique_ptr<BytesCodec>> make_lz4(const CodecSpec& spec, const CodecContext&) {
  SHERD_TRY(configuration, Configuration::open(spec));
  SHERD_TRY(acceleration, configuration.integer("acceleration", {INT32_MIN, INT32_MAX}, 1));
  SHERD_TRY(configuration.done());
  return std::unique_ptr<BytesCodec>(std::make_unique<Lz4Codec>(static_cast<int>(acceleration)));
}

Result<Json> short_lz4(std::string_view argument, const DType&) {
  SHERD_TRY(acceleration, short_integer(argument, {1, INT32_MAX}, 1));
  return Json(Json::Object{{"acceleration", acceleration}});
}

}  // namespace

extern constinit const CodecEntry lz4_codec{.name = "numcodecs.lz4",
                                            .aliases = {"lz4"},
                                            .bytes_codec = make_lz4,
                                            .short_form = short_lz4,
                                            .is_compressor = true};

}  // namespace sherd
