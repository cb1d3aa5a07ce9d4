// zarrs.gdeflate: the size of the decoded bytes, the number of pages and the size of each, 64 bits each, little-endian;
// then the pages (gdeflate.hpp). Chunks are only read (docs/decisions/0034).
#include "codec/gdeflate.hpp"

#include <algorithm>
#include <memory>

#include "base/call.hpp"
#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/try.hpp"
#include "codec/configuration.hpp"

namespace sherd {

extern const CodecEntry gdeflate_codec;

namespace {

constexpr std::size_t kFieldBytes = sizeof(std::uint64_t);
constexpr std::uint64_t kGdeflateHeaderBytes = 2 * kFieldBytes;
/// More than any writer's page has, even with many stored blocks; bounds how often codes can be built.
constexpr std::uint64_t kMaxPageBytes = 2 * gdeflate::kPageBytes;

class GdeflateCodec final : public BytesCodec {
 public:
  [[nodiscard]] std::uint64_t max_encoded_size(std::uint64_t decoded) const override {
    const std::uint64_t pages = ceil_div(decoded, gdeflate::kPageBytes);
    const auto size = checked_mul(pages, kFieldBytes + kMaxPageBytes);
    return size ? checked_add(*size, kGdeflateHeaderBytes).value_or(~std::uint64_t{0}) : ~std::uint64_t{0};
  }

  Result<std::size_t> encode(std::span<const std::byte>, std::span<std::byte>) const override {
    return only_decodes(gdeflate_codec.name);
  }

  Result<std::optional<std::size_t>> decode(std::span<const std::byte> from, std::span<std::byte> to) const override {
    if (from.size() < kGdeflateHeaderBytes) return corrupt("gdeflate: the 16-byte header is truncated");
    const auto size = load_little<std::uint64_t>(from.data());
    const auto pages = load_little<std::uint64_t>(from.data() + kFieldBytes);
    if (pages != size / gdeflate::kPageBytes + (size % gdeflate::kPageBytes != 0 ? 1 : 0))
      return corrupt("gdeflate: " + std::to_string(pages) + " pages for " + std::to_string(size) + " bytes");
    if (pages > (from.size() - kGdeflateHeaderBytes) / kFieldBytes)
      return corrupt("gdeflate: the sizes of " + std::to_string(pages) + " pages are missing");
    if (size > to.size()) return std::optional<std::size_t>();
    std::size_t at = kGdeflateHeaderBytes + pages * kFieldBytes;
    for (std::size_t i = 0; i < pages; ++i) {
      const auto stated = load_little<std::uint64_t>(from.data() + kGdeflateHeaderBytes + i * kFieldBytes);
      if (stated > from.size() - at || stated > kMaxPageBytes)
        return corrupt("gdeflate: page " + std::to_string(i) + " states " + std::to_string(stated) + " bytes, " +
                       std::to_string(from.size() - at) + " are left");
      const std::size_t first = i * gdeflate::kPageBytes;
      const auto page = to.subspan(first, std::min<std::size_t>(gdeflate::kPageBytes, size - first));
      SHERD_TRY(gdeflate::decode_page(from.subspan(at, stated), page).in([&] { return "page " + std::to_string(i); }));
      at += stated;
    }
    if (at != from.size())
      return corrupt("gdeflate: " + std::to_string(from.size() - at) + " bytes follow the last page");
    return std::optional(static_cast<std::size_t>(size));
  }
};

Result<std::unique_ptr<BytesCodec>> make_gdeflate(const CodecSpec& spec, const CodecContext&) {
  SHERD_TRY(configuration, Configuration::open(spec));
  SHERD_TRY(configuration.integer("level", {0, 12}));
  SHERD_TRY(configuration.done());
  return std::make_unique<GdeflateCodec>();
}

}  // namespace

extern constinit const CodecEntry gdeflate_codec{
    .name = "zarrs.gdeflate",
    .aliases = {"https://codec.zarrs.dev/bytes_to_bytes/gdeflate", "gdeflate"},
    .bytes_codec = make_gdeflate,
    .reads_only = true};

}  // namespace sherd
