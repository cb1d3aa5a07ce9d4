// numcodecs.pcodec: one file of pcodec (pcodec.hpp) per chunk, of integers and floats. Dates and durations are stored
// as their integer counts, and a complex number as two floats, as in zarrs.
#include "codec/pcodec.hpp"

#include <limits>
#include <memory>
#include <optional>

#include "base/checked.hpp"
#include "base/try.hpp"
#include "codec/configuration.hpp"

namespace sherd {
namespace {

constexpr IntegerBounds kPcodecLevels{0, 12};
constexpr std::int64_t kPcodecDefaultLevel = 8;
constexpr IntegerBounds kPageNumbers{1, std::numeric_limits<std::int64_t>::max()};

std::optional<pcodec::NumberType> number_type(const DType& dtype) noexcept {
  using enum pcodec::Kind;
  switch (dtype.kind()) {
    case DType::Kind::uint8:
      return {{10, 1, unsigned_integer}};
    case DType::Kind::uint16:
      return {{7, 2, unsigned_integer}};
    case DType::Kind::uint32:
      return {{1, 4, unsigned_integer}};
    case DType::Kind::uint64:
      return {{2, 8, unsigned_integer}};
    case DType::Kind::int8:
      return {{11, 1, signed_integer}};
    case DType::Kind::int16:
      return {{8, 2, signed_integer}};
    case DType::Kind::int32:
      return {{3, 4, signed_integer}};
    case DType::Kind::int64:
    case DType::Kind::datetime64:
    case DType::Kind::timedelta64:
      return {{4, 8, signed_integer}};
    case DType::Kind::float16:
    case DType::Kind::complex_float16:
      return {{9, 2, floating}};
    case DType::Kind::float32:
    case DType::Kind::complex64:
      return {{5, 4, floating}};
    case DType::Kind::float64:
    case DType::Kind::complex128:
      return {{6, 8, floating}};
    default:
      return std::nullopt;
  }
}

class PcodecCodec final : public ArrayBytesCodec {
 public:
  explicit PcodecCodec(const pcodec::Settings& settings) noexcept : settings_(settings) {}

  Result<void> check(const ChunkType& in) const override {
    if (number_type(in.dtype)) return {};
    return unsupported("pcodec encodes integers and floats of 8 to 64 bits, not " + in.dtype.name());
  }
  [[nodiscard]] std::optional<std::uint64_t> encoded_size(const ChunkType&) const override { return std::nullopt; }
  /// pcodec itself stores numbers raw in each page if they do not compress; this has room for twice as much.
  [[nodiscard]] std::optional<std::uint64_t> max_encoded_size(const ChunkType& in) const override {
    constexpr std::uint64_t page_bytes = 64;  // the description of a page, and data around the numbers
    const auto count = element_count(in.shape);
    const auto bytes = count ? checked_mul(*count, 2 * in.dtype.size()) : std::nullopt;
    const auto pages = bytes ? checked_mul(ceil_div(*bytes, settings_.page_numbers) + 2, page_bytes) : std::nullopt;
    return pages ? checked_add(*bytes, *pages) : std::nullopt;
  }

  Result<void> encode(const ChunkType& in, std::span<const std::byte> elements, Buffer& to) const override {
    return pcodec::encode(*number_type(in.dtype), settings_, elements, to);
  }
  Result<void> decode(const ChunkType& in, std::span<const std::byte> encoded, std::span<std::byte> elements,
                      VarBytesArena*) const override {
    return pcodec::decode(*number_type(in.dtype), encoded, elements);
  }

 private:
  pcodec::Settings settings_;
};

Error unknown_word(std::string_view key, const std::string& word, std::string_view known) {
  const std::string name(key);
  return unsupported("pcodec: '" + name + "' must be " + std::string(known) + ", not '" + word + "'")
      .in_member("configuration." + name);
}

/// As in numcodecs: an order alone requests consecutive differences; with another choice it is an error.
Result<void> parse_delta(Configuration& configuration, pcodec::Settings& settings) {
  using Delta = pcodec::Settings::Delta;
  SHERD_TRY(delta, configuration.text("delta_spec", "auto"));
  std::optional<std::int64_t> order;
  if (const Json* value = configuration.find("delta_encoding_order"); value != nullptr && !value->is_null()) {
    SHERD_TRY(stated, configuration.integer("delta_encoding_order", {0, pcodec::kMaxOrder}));
    order = stated;
  }
  if (delta == "none")
    settings.delta = Delta::none;
  else if (delta == "try_lookback")
    settings.delta = Delta::lookback;
  else if (delta == "try_consecutive" || (delta == "auto" && order))
    settings.delta = Delta::consecutive;
  else if (delta != "auto")
    return unknown_word("delta_spec", delta, "auto, none, try_consecutive or try_lookback");
  if (!order) return {};
  if (settings.delta != Delta::consecutive)
    return configuration_error("delta_encoding_order",
                               "pcodec: 'delta_encoding_order' can only be used with the 'delta_spec' try_consecutive");
  settings.order = static_cast<unsigned>(*order);
  return {};
}

Result<std::unique_ptr<ArrayBytesCodec>> make_pcodec(const CodecSpec& spec, const CodecContext&) {
  SHERD_TRY(configuration, Configuration::open(spec));
  pcodec::Settings settings;
  SHERD_TRY(level, configuration.integer("level", kPcodecLevels, kPcodecDefaultLevel));
  settings.level = static_cast<unsigned>(level);
  SHERD_TRY(mode, configuration.text("mode_spec", "auto"));
  if (mode != "auto" && mode != "classic") return unknown_word("mode_spec", mode, "auto or classic");
  settings.classic = mode == "classic";
  SHERD_TRY(parse_delta(configuration, settings));
  SHERD_TRY(paging, configuration.text("paging_spec", "equal_pages_up_to"));
  if (paging != "equal_pages_up_to") return unknown_word("paging_spec", paging, "equal_pages_up_to");
  SHERD_TRY(numbers, configuration.integer("equal_pages_up_to", kPageNumbers, std::int64_t{1} << 18));
  settings.page_numbers = static_cast<std::size_t>(numbers);
  SHERD_TRY(configuration.done());
  return std::unique_ptr<ArrayBytesCodec>(std::make_unique<PcodecCodec>(settings));
}

Result<Json> short_pcodec(std::string_view argument, const DType&) {
  SHERD_TRY(level, short_integer(argument, kPcodecLevels, kPcodecDefaultLevel));
  return Json(Json::Object{{"level", level}});
}

}  // namespace

extern constinit const CodecEntry pcodec_codec{.name = "numcodecs.pcodec",
                                               .aliases = {"pcodec", "https://codec.zarrs.dev/array_to_bytes/pcodec"},
                                               .array_bytes_codec = make_pcodec,
                                               .short_form = short_pcodec,
                                               .is_compressor = true};

}  // namespace sherd
