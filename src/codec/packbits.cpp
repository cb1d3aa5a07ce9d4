// packbits (zarr-extensions): the bits first_bit … last_bit of every number, packed from the lowest bit of the first
// byte and padded with zeros to whole bytes; and optionally a byte with the number of padding bits.
#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>

#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/float_format.hpp"
#include "base/try.hpp"
#include "codec/number.hpp"

namespace sherd {
namespace {

enum class PaddingByte : std::uint8_t { none, first, last };

/// The numbers in an element, and the bits kept of each number. A complex element is two numbers.
struct Layout {
  std::size_t word_size = 1;  ///< bytes of a number in memory
  unsigned first_bit = 0;
  unsigned bits = 1;
  bool extends_sign = false;
};

/// The low `bits` bits (1 … 64).
constexpr std::uint64_t mask(unsigned bits) noexcept { return ~std::uint64_t{0} >> (64 - bits); }

/// Packs whole numbers at a time, writing 64 bits when they are full.
template <class Word>
void pack(const Layout& layout, std::span<const std::byte> words, std::byte* to) noexcept {
  unsigned __int128 pending = 0;
  unsigned held = 0;
  for (std::size_t i = 0; i < words.size() / sizeof(Word); ++i) {
    Word word;
    std::memcpy(&word, words.data() + i * sizeof word, sizeof word);
    const std::uint64_t bits = (std::uint64_t{word} >> layout.first_bit) & mask(layout.bits);
    pending |= static_cast<unsigned __int128>(bits) << held;
    held += layout.bits;
    if (held < 64) continue;
    store_little(to, static_cast<std::uint64_t>(pending));
    to += 8;
    pending >>= 64;
    held -= 64;
  }
  for (; held > 0; held -= std::min(held, 8u), pending >>= 8) *to++ = static_cast<std::byte>(pending);
}

template <class Word>
void unpack(const Layout& layout, std::span<const std::byte> from, std::span<std::byte> words) noexcept {
  unsigned __int128 pending = 0;
  unsigned held = 0;
  std::size_t at = 0;
  const std::uint64_t kept = mask(layout.bits);
  const std::uint64_t sign = layout.extends_sign ? kept ^ (kept >> 1) : 0;
  for (std::size_t i = 0; i < words.size() / sizeof(Word); ++i) {
    if (held < layout.bits && from.size() - at >= 8) {
      pending |= static_cast<unsigned __int128>(load_little<std::uint64_t>(from.data() + at)) << held;
      held += 64;
      at += 8;
    }
    for (; held < layout.bits; held += 8) pending |= static_cast<unsigned __int128>(from[at++]) << held;
    const std::uint64_t bits = static_cast<std::uint64_t>(pending) & kept;
    pending >>= layout.bits;
    held -= layout.bits;
    // Flipping the sign bit and subtracting it extends it through all higher bits.
    const auto word = static_cast<Word>(((bits ^ sign) - sign) << layout.first_bit);
    std::memcpy(words.data() + i * sizeof word, &word, sizeof word);
  }
}

constexpr std::uint64_t kEveryByte = 0x0101010101010101;

/// Eight booleans at a time: the product gathers the lowest bits of eight bytes in the highest byte.
void pack_booleans(const Layout& layout, std::span<const std::byte> from, std::byte* to) noexcept {
  const std::size_t whole = from.size() / 8;
  for (std::size_t i = 0; i < whole; ++i) {
    to[i] = static_cast<std::byte>((load_little<std::uint64_t>(from.data() + 8 * i) * 0x0102040810204080) >> 56);
  }
  pack<std::uint8_t>(layout, from.subspan(8 * whole), to + whole);
}

void unpack_booleans(const Layout& layout, std::span<const std::byte> from, std::span<std::byte> to) noexcept {
  const std::size_t whole = to.size() / 8;
  for (std::size_t i = 0; i < whole; ++i) {
    const std::uint64_t spread = (std::to_integer<std::uint64_t>(from[i]) * kEveryByte) & 0x8040201008040201;
    store_little(to.data() + 8 * i, ((spread + 0x7f * kEveryByte) >> 7) & kEveryByte);
  }
  unpack<std::uint8_t>(layout, from.subspan(whole), to.subspan(8 * whole));
}

bool is_packable(const DType& dtype) noexcept {
  using Kind = DType::Kind;
  switch (dtype.kind()) {
    case Kind::raw:
    case Kind::string:
    case Kind::bytes:
    case Kind::utf32:
    case Kind::null_terminated_bytes:
    case Kind::structure:
    case Kind::optional:
      return false;
    default:
      return true;
  }
}

bool is_signed(const DType& dtype) noexcept {
  using Kind = DType::Kind;
  switch (dtype.kind()) {
    case Kind::int2:
    case Kind::int4:
    case Kind::int8:
    case Kind::int16:
    case Kind::int32:
    case Kind::int64:
    case Kind::datetime64:
    case Kind::timedelta64:
      return true;
    default:
      return false;
  }
}

unsigned number_bits(const DType& dtype) noexcept {
  if (dtype.kind() == DType::Kind::boolean) return 1;
  const auto narrow = narrow_numbers(dtype.kind());
  return narrow ? narrow->bits : static_cast<unsigned>(8 * dtype.word_size());
}

class PackbitsCodec final : public ArrayBytesCodec {
 public:
  PackbitsCodec(PaddingByte padding, std::optional<unsigned> first_bit, std::optional<unsigned> last_bit)
      : padding_(padding), first_bit_(first_bit.value_or(0)), last_bit_(last_bit) {}

  Result<void> check(const ChunkType& in) const override {
    if (!is_packable(in.dtype))
      return unsupported("packbits: elements of type " + in.dtype.name() + " cannot be packed");
    const unsigned bits = number_bits(in.dtype);
    const unsigned last = last_bit_.value_or(bits - 1);
    if (last >= bits)
      return configuration_error(
          "last_bit", "packbits: 'last_bit' must be below the " + std::to_string(bits) + " bits of " + in.dtype.name());
    if (last < first_bit_)
      return configuration_error("first_bit",
                                 "packbits: 'first_bit' must not be above 'last_bit', " + std::to_string(last));
    return {};
  }

  std::optional<std::uint64_t> encoded_size(const ChunkType& in) const override {
    std::uint64_t count = 1;
    for (const std::uint64_t extent : in.shape) {
      const auto product = checked_mul(count, extent);
      if (!product) return std::nullopt;
      count = *product;
    }
    const auto bytes = checked_mul(count, in.dtype.size());
    if (!bytes) return std::nullopt;
    return packed_size(layout_of(in.dtype), *bytes) + (padding_ == PaddingByte::none ? 0 : 1);
  }

  Result<void> encode(const ChunkType& in, std::span<const std::byte> elements, Buffer& to) const override {
    const Layout layout = layout_of(in.dtype);
    const std::size_t size = packed_size(layout, elements.size());
    const std::size_t extra = padding_ == PaddingByte::none ? 0 : 1;
    SHERD_TRY(to.resize(size + extra));
    std::byte* packed = to.data() + (padding_ == PaddingByte::first ? 1 : 0);
    if (extra > 0)
      to.data()[padding_ == PaddingByte::first ? 0 : size] = std::byte{padding_bits(layout, elements.size())};
    if (is_plain(layout)) {
      if (size > 0) std::memcpy(packed, elements.data(), size);
    } else if (in.dtype.kind() == DType::Kind::boolean) {
      pack_booleans(layout, elements, packed);
    } else {
      visit_word(layout.word_size, [&]<class Word>(Word) { pack<Word>(layout, elements, packed); });
    }
    return {};
  }

  Result<void> decode(const ChunkType& in, std::span<const std::byte> encoded, std::span<std::byte> elements,
                      VarBytesArena*) const override {
    const Layout layout = layout_of(in.dtype);
    SHERD_TRY(packed, packed_part(layout, encoded, elements.size()));
    if (is_plain(layout)) {
      if (!packed.empty()) std::memcpy(elements.data(), packed.data(), packed.size());
    } else if (in.dtype.kind() == DType::Kind::boolean) {
      unpack_booleans(layout, packed, elements);
    } else {
      visit_word(layout.word_size, [&]<class Word>(Word) { unpack<Word>(layout, packed, elements); });
    }
    return {};
  }

 private:
  [[nodiscard]] Layout layout_of(const DType& dtype) const noexcept {
    const unsigned last = last_bit_.value_or(number_bits(dtype) - 1);
    return {dtype.word_size(), first_bit_, last - first_bit_ + 1, is_signed(dtype)};
  }
  /// Whether the packed bits are the numbers' little-endian bytes.
  [[nodiscard]] static bool is_plain(const Layout& layout) noexcept {
    return std::endian::native == std::endian::little && layout.bits == 8 * layout.word_size;
  }
  /// The size of the packed bits of `size` bytes of numbers, at most `size`.
  [[nodiscard]] static std::uint64_t packed_size(const Layout& layout, std::uint64_t size) noexcept {
    const std::uint64_t words = size / layout.word_size;
    return words / 8 * layout.bits + ceil_div(words % 8 * layout.bits, 8);
  }
  [[nodiscard]] static std::uint8_t padding_bits(const Layout& layout, std::uint64_t size) noexcept {
    return static_cast<std::uint8_t>((8 - size / layout.word_size % 8 * layout.bits % 8) % 8);
  }

  /// The encoded bytes without the padding count.
  [[nodiscard]] Result<std::span<const std::byte>> packed_part(const Layout& layout, std::span<const std::byte> encoded,
                                                               std::size_t decoded) const {
    const std::uint64_t size = packed_size(layout, decoded);
    const std::uint64_t extra = padding_ == PaddingByte::none ? 0 : 1;
    // zarrs omits the byte if all bits are kept: tests/codec/packbits_test.cc.
    if (encoded.size() == size && layout.bits == 8 * layout.word_size) return encoded;
    if (encoded.size() != size + extra)
      return corrupt("packbits: " + std::to_string(encoded.size()) + " bytes, but the packed chunk has " +
                     std::to_string(size + extra));
    if (extra == 0) return encoded;
    const std::byte stated = padding_ == PaddingByte::first ? encoded.front() : encoded.back();
    if (stated != std::byte{padding_bits(layout, decoded)})
      return corrupt("packbits: the padding byte states " + std::to_string(std::to_integer<int>(stated)) +
                     " bits, the chunk's numbers leave " + std::to_string(padding_bits(layout, decoded)));
    return encoded.subspan(padding_ == PaddingByte::first ? 1 : 0, size);
  }

  PaddingByte padding_;
  unsigned first_bit_;
  std::optional<unsigned> last_bit_;
};

Result<std::optional<unsigned>> bit_member(Configuration& configuration, std::string_view key) {
  const Json* value = configuration.find(key);
  if (value == nullptr || value->is_null()) return std::optional<unsigned>();
  SHERD_TRY(bit, configuration.integer(key, {0, 63}));
  return std::optional(static_cast<unsigned>(bit));
}

Result<std::unique_ptr<ArrayBytesCodec>> make_packbits(const CodecSpec& spec, const CodecContext&) {
  SHERD_TRY(configuration, Configuration::open(spec));
  SHERD_TRY(padding, configuration.text("padding_encoding", "none"));
  SHERD_TRY(first_bit, bit_member(configuration, "first_bit"));
  SHERD_TRY(last_bit, bit_member(configuration, "last_bit"));
  SHERD_TRY(configuration.done());
  PaddingByte where = PaddingByte::none;
  if (padding == "first_byte")
    where = PaddingByte::first;
  else if (padding == "last_byte")
    where = PaddingByte::last;
  else if (padding != "none")
    return configuration_error(
        "padding_encoding",
        "packbits: 'padding_encoding' must be none, first_byte or last_byte, not '" + padding + "'");
  return std::unique_ptr<ArrayBytesCodec>(std::make_unique<PackbitsCodec>(where, first_bit, last_bit));
}

Result<Json> short_packbits(std::string_view argument, const DType&) {
  SHERD_TRY(no_argument(argument));
  return Json();
}

}  // namespace

extern constinit const CodecEntry packbits_codec{
    .name = "packbits", .aliases = {}, .array_bytes_codec = make_packbits, .short_form = short_packbits};

}  // namespace sherd
