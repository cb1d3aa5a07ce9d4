// zfp through libzfp. `zfp` (zarr-extensions) is the bare stream, whose mode is in the configuration; in
// `numcodecs.zfpy` a header contains type, shape and mode of each chunk. libzfp reads bits without checking for the
// end, so streams are decoded from a copy that is as long as the longest stream of their mode.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "base/checked.hpp"
#include "base/try.hpp"
#include "codec/number.hpp"
#include "codec/zfp_mode.hpp"

namespace sherd {
namespace {

#ifdef SHERD_ZFP

static_assert(std::endian::native == std::endian::little, "zfp's words are in the machine's byte order");

struct Close {
  void operator()(zfp_stream* stream) const noexcept { zfp_stream_close(stream); }
  void operator()(bitstream* bits) const noexcept { stream_close(bits); }
  void operator()(zfp_field* field) const noexcept { zfp_field_free(field); }
};
template <class T>
using Owned = std::unique_ptr<T, Close>;

using Parameters = ZfpParameters;
using Mode = ZfpMode;

bool is_floating(zfp_type type) noexcept { return type == zfp_type_float || type == zfp_type_double; }

/// The type of floats' bits after numcodecs' bitround.
zfp_type rounded_type(zfp_type type) noexcept {
  if (type == zfp_type_float) return zfp_type_int32;
  return type == zfp_type_double ? zfp_type_int64 : type;
}

/// The number type in libzfp; zfp_type_none if it has none.
zfp_type native_type(DType::Kind kind) noexcept {
  using Kind = DType::Kind;
  if ((kind >= Kind::int8 && kind <= Kind::int32) || (kind >= Kind::uint8 && kind <= Kind::uint32))
    return zfp_type_int32;
  if (kind == Kind::int64 || kind == Kind::uint64 || kind == Kind::datetime64 || kind == Kind::timedelta64)
    return zfp_type_int64;
  if (kind == Kind::float32) return zfp_type_float;
  return kind == Kind::float64 ? zfp_type_double : zfp_type_none;
}

/// Converts a number of the type `Of` to libzfp's type and back. Small integers fill the upper bits of an int32, except
/// its sign bit; unsigned ones are shifted by half their range. uint32 and uint64 are unchanged: the half that does not
/// fit a signed integer cannot be stored.
template <class Of>
struct Promoted {
  static constexpr int bits = 8 * sizeof(Of);
  static constexpr bool is_small = bits < 32;
  static constexpr std::int32_t offset = std::is_signed_v<Of> || !is_small ? 0 : std::int32_t{1} << (bits - 1);
  using Word = std::conditional_t<bits == 64, std::int64_t, std::int32_t>;

  static bool fits(Of value) noexcept { return is_small || value <= static_cast<Of>(std::numeric_limits<Word>::max()); }
  static Word promote(Of value) noexcept {
    if constexpr (is_small)
      return (static_cast<Word>(value) - offset) * (Word{1} << (31 - bits));
    else
      return static_cast<Word>(value);
  }
  static Of demote(Word word) noexcept {
    if constexpr (is_small)
      return static_cast<Of>(std::clamp<Word>((word >> (31 - bits)) + offset, std::numeric_limits<Of>::min(),
                                              std::numeric_limits<Of>::max()));
    else
      return static_cast<Of>(std::max<Word>(word, 0));
  }
};

/// Calls `use` with an instance of the number type if libzfp needs numbers of another type.
template <class Use>
bool visit_promoted(DType::Kind kind, Use use) {
  using Kind = DType::Kind;
  const auto is = [&](Kind of, auto value) {
    if (kind == of) use(value);
    return kind == of;
  };
  return is(Kind::int8, std::int8_t{}) || is(Kind::uint8, std::uint8_t{}) || is(Kind::int16, std::int16_t{}) ||
         is(Kind::uint16, std::uint16_t{}) || is(Kind::uint32, std::uint32_t{}) || is(Kind::uint64, std::uint64_t{});
}

template <class Of>
Result<void> promote(std::span<const std::byte> from, Buffer& to) {
  using Word = typename Promoted<Of>::Word;
  const std::size_t count = from.size() / sizeof(Of);
  SHERD_TRY(to.resize(count * sizeof(Word)));
  for (std::size_t i = 0; i < count; ++i) {
    const Of value = load_number<Of>(from.data(), i);
    if (!Promoted<Of>::fits(value))
      return invalid_argument("zfp: " + std::to_string(value) + " cannot be stored: the largest integer of " +
                              std::to_string(8 * sizeof(Of)) + " bits that can is " +
                              std::to_string(std::numeric_limits<Word>::max()));
    store_number(to.data(), i, Promoted<Of>::promote(value));
  }
  return {};
}

template <class Of>
void demote(std::span<const std::byte> from, std::byte* to) noexcept {
  using Word = typename Promoted<Of>::Word;
  for (std::size_t i = 0; i < from.size() / sizeof(Word); ++i)
    store_number(to, i, Promoted<Of>::demote(load_number<Word>(from.data(), i)));
}

template <class Float>
bool all_finite(std::span<const std::byte> elements) noexcept {
  for (std::size_t i = 0; i < elements.size() / sizeof(Float); ++i)
    if (!std::isfinite(load_number<Float>(elements.data(), i))) return false;
  return true;
}

/// A chunk in libzfp's form: a field without data, whose first dimension is the last of the shape.
Owned<zfp_field> field_of(zfp_type type, const Shape& shape) {
  Owned<zfp_field> field(zfp_field_alloc());
  field->type = type;
  field->nx = 1;
  std::size_t* const extents[] = {&field->nx, &field->ny, &field->nz, &field->nw};
  for (std::size_t d = 0; d < shape.size(); ++d) *extents[d] = shape[shape.size() - 1 - d];
  return field;
}

Result<void> set_mode(zfp_stream& stream, const Mode& mode, const zfp_field& field) {
  const auto dimensions = zfp_field_dimensionality(&field);
  const Parameters& p = mode.parameters;
  if (mode.kind == Mode::Kind::reversible) {
    zfp_stream_set_reversible(&stream);
  } else if (mode.kind == Mode::Kind::fixed_accuracy) {
    zfp_stream_set_accuracy(&stream, mode.number);
  } else if (mode.kind == Mode::Kind::fixed_precision) {
    zfp_stream_set_precision(&stream, p.maxprec);
  } else if (mode.kind == Mode::Kind::fixed_rate) {
    if (mode.number * (1U << (2 * dimensions)) > ZFP_MAX_BITS)
      return configuration_error("rate", "zfp: 'rate' must not need more than " + std::to_string(ZFP_MAX_BITS) +
                                             " bits for a block of 4^" + std::to_string(dimensions) + " numbers");
    zfp_stream_set_rate(&stream, mode.number, field.type, dimensions, zfp_false);
  } else if (!zfp_stream_set_params(&stream, p.minbits, p.maxbits, p.maxprec, p.minexp)) {
    return configuration_error("minbits", "zfp: 'minbits' must not exceed 'maxbits'");
  }
  return {};
}

Parameters parameters_of(const zfp_stream& stream) noexcept {
  return {stream.minbits, stream.maxbits, stream.maxprec, stream.minexp};
}

/// The bits before the numbers of a block: at most, or in this mode.
unsigned block_head_bits(zfp_type type, bool reversible) noexcept {
  switch (type) {
    case zfp_type_int32:
      return reversible ? 5 : 0;
    case zfp_type_int64:
      return reversible ? 6 : 0;
    case zfp_type_float:
      return reversible ? 1 + 1 + 8 + 5 : 1 + 8;
    default:
      return reversible ? 1 + 1 + 11 + 6 : 1 + 11;
  }
}

/// libzfp subtracts the bits of a block's head from maxbits without checking which is larger.
bool are_sound(const Parameters& parameters, zfp_type type) noexcept {
  return parameters.minbits <= parameters.maxbits && parameters.minbits <= ZFP_MAX_BITS &&
         parameters.maxbits > block_head_bits(type, parameters.reversible());
}

std::optional<std::uint64_t> block_count(const zfp_field& field) noexcept {
  std::uint64_t blocks = 1;
  for (const std::size_t extent : {field.nx, field.ny, field.nz, field.nw}) {
    const auto product = checked_mul(blocks, extent == 0 ? 1 : extent / 4 + (extent % 4 != 0));
    if (!product) return std::nullopt;
    blocks = *product;
  }
  return blocks;
}

/// The maximum size of a stream of such a chunk, with a header; libzfp reads no byte beyond it, whatever the bytes are.
std::optional<std::uint64_t> max_stream_bytes(const Parameters& parameters, const zfp_field& field) {
  const unsigned values = 1U << (2 * zfp_field_dimensionality(&field));
  const unsigned precision = field.type == zfp_type_int32 || field.type == zfp_type_float ? 32 : 64;
  const unsigned most = block_head_bits(field.type, true) + values - 1 + values * precision;
  const auto blocks = block_count(field);
  const auto bits =
      blocks ? checked_mul(*blocks, std::max(std::min(most, parameters.maxbits), parameters.minbits)) : std::nullopt;
  constexpr std::uint64_t around = ZFP_HEADER_MAX_BITS + 2 * 64;
  const auto all = bits ? checked_add(*bits, around) : std::nullopt;
  return all ? std::optional(*all / 64 * 8) : std::nullopt;
}

/// Builds of libzfp differ in whether streams end with whole 64-bit words, as by default, or with whole bytes, as in
/// Debian. Both are read; written streams end with whole words.
std::size_t whole_words(std::size_t bytes) noexcept { return (bytes + 7) / 8 * 8; }

constexpr std::size_t kZfpHeaderBytes = 24;  // of ZFP_HEADER_MAX_BITS, in whole words

class Zfp final : public ArrayBytesCodec {
 public:
  Zfp(std::string_view name, const Mode& mode, bool has_header) noexcept
      : name_(name), mode_(mode), has_header_(has_header) {}

  Result<void> check(const ChunkType& in) const override {
    const zfp_type type = native_type(in.dtype.kind());
    const bool promoted = visit_promoted(in.dtype.kind(), [](auto) {});
    if (type == zfp_type_none || (has_header_ && promoted))
      return unsupported(named("elements are int32, int64, float32, float64 or times") +
                         (has_header_ ? "" : ", or other integers of 8 bits and more") + ", not " + in.dtype.name());
    if (in.shape.size() > 4)
      return unsupported(named("chunks have at most 4 dimensions, not ") + std::to_string(in.shape.size()) +
                         "; put a codec before it that leaves out dimensions of extent 1, such as 'reshape'");
    if (!has_header_ && mode_.kind == Mode::Kind::fixed_accuracy && !is_floating(type))
      return unsupported(named("the mode fixed_accuracy is for floats, not for ") + in.dtype.name() +
                         "; choose reversible");
    SHERD_TRY(parameters, parameters_for(in));
    if (!are_sound(parameters, type))
      return configuration_error("maxbits", named("a block needs more than ") +
                                                std::to_string(block_head_bits(type, parameters.reversible())) +
                                                " bits, and 'minbits' may be at most " + std::to_string(ZFP_MAX_BITS));
    if (has_header_ && zfp_field_metadata(field_of(type, in.shape).get()) == ZFP_META_NULL)
      return unsupported(named("the header of zfp cannot express a chunk of shape ") + to_string(in.shape));
    return {};
  }
  [[nodiscard]] std::optional<std::uint64_t> encoded_size(const ChunkType&) const override { return std::nullopt; }
  [[nodiscard]] std::optional<std::uint64_t> max_encoded_size(const ChunkType& in) const override {
    const auto most = max_bytes(in);
    return most && has_header_ ? std::max(most, max_bytes({in.dtype, {*element_count(in.shape)}})) : most;
  }

  Result<void> encode(const ChunkType& in, std::span<const std::byte> elements, Buffer& to) const override {
    const auto field = field_of(native_type(in.dtype.kind()), in.shape);
    const Owned<zfp_stream> stream(zfp_stream_open(nullptr));
    SHERD_TRY(set_mode(*stream, mode_, *field));
    const Parameters parameters = parameters_of(*stream);
    if (!parameters.reversible()) SHERD_TRY(check_finite(field->type, elements));
    Scratch words;
    SHERD_TRY(numbers, promoted(in.dtype.kind(), elements, *words));
    // libzfp's pointers are not const, but input is only read.
    zfp_field_set_pointer(field.get(), const_cast<std::byte*>(numbers));
    const auto most = max_stream_bytes(parameters, *field);
    if (!most) return unsupported(named("a chunk of shape ") + to_string(in.shape) + " is too large");
    SHERD_TRY(to.resize(*most));
    const Owned<bitstream> bits(stream_open(to.data(), to.size()));
    zfp_stream_set_bit_stream(stream.get(), bits.get());
    zfp_stream_rewind(stream.get());
    const bool headed = !has_header_ || zfp_write_header(stream.get(), field.get(), ZFP_HEADER_FULL) != 0;
    const std::size_t size = headed ? zfp_compress(stream.get(), field.get()) : 0;
    if (size == 0) return unsupported(named("libzfp cannot encode this chunk"));
    const std::size_t words_end = whole_words(size);
    std::fill(to.data() + size, to.data() + words_end, std::byte{0});
    to.truncate(words_end);
    return {};
  }

  Result<void> decode(const ChunkType& in, std::span<const std::byte> encoded, std::span<std::byte> elements,
                      VarBytesArena*) const override {
    auto field = field_of(native_type(in.dtype.kind()), in.shape);
    const Owned<zfp_stream> stream(zfp_stream_open(nullptr));
    if (has_header_) {
      SHERD_TRY(read_header(in, encoded, *stream, *field));
    } else {
      SHERD_TRY(set_mode(*stream, mode_, *field));
    }
    SHERD_TRY(check_size(*stream, *field, encoded.size()));
    Scratch padded, words;
    SHERD_TRY(padded->resize(std::max<std::size_t>(*max_stream_bytes(parameters_of(*stream), *field), encoded.size())));
    std::ranges::fill(std::ranges::copy(encoded, padded->data()).out, padded->data() + padded->size(), std::byte{0});
    const bool is_promoted = visit_promoted(in.dtype.kind(), [](auto) {});
    if (is_promoted) SHERD_TRY(words->resize(*element_count(in.shape) * zfp_type_size(field->type)));
    zfp_field_set_pointer(field.get(), is_promoted ? words->data() : elements.data());
    const Owned<bitstream> bits(stream_open(padded->data(), padded->size()));
    zfp_stream_set_bit_stream(stream.get(), bits.get());
    zfp_stream_rewind(stream.get());
    if (has_header_) {
      const Owned<zfp_field> skipped(zfp_field_alloc());
      zfp_read_header(stream.get(), skipped.get(), ZFP_HEADER_FULL);
    }
    const std::size_t read = zfp_decompress(stream.get(), field.get());
    if (read == 0) return corrupt(named("libzfp cannot decode the stream"));
    if (read >= encoded.size() + stream_word_bits / 8)
      return corrupt(named("the stream ends at byte ") + std::to_string(encoded.size()) + " of " +
                     std::to_string(read));
    if (whole_words(read) < encoded.size())
      return corrupt(named(std::to_string(encoded.size() - read)) + " bytes follow the stream");
    visit_promoted(in.dtype.kind(), [&]<class Of>(Of) { demote<Of>(words->span(), elements.data()); });
    return {};
  }

 private:
  [[nodiscard]] std::string named(std::string_view text) const { return std::string(name_) + ": " + std::string(text); }

  /// With a header, each stream may be flat, or in another mode whose blocks need no more bits than numbers have.
  [[nodiscard]] std::optional<std::uint64_t> max_bytes(const ChunkType& in) const {
    Parameters parameters = parameters_for(in).value();
    if (has_header_) parameters.maxbits = ZFP_MAX_BITS;
    return max_stream_bytes(parameters, *field_of(native_type(in.dtype.kind()), in.shape));
  }

  [[nodiscard]] Result<Parameters> parameters_for(const ChunkType& in) const {
    const Owned<zfp_stream> stream(zfp_stream_open(nullptr));
    SHERD_TRY(set_mode(*stream, mode_, *field_of(native_type(in.dtype.kind()), in.shape)));
    return parameters_of(*stream);
  }

  /// Values that are not finite would spoil the numbers around them, in all modes but the reversible one.
  [[nodiscard]] Result<void> check_finite(zfp_type type, std::span<const std::byte> elements) const {
    if (!is_floating(type) || (type == zfp_type_float ? all_finite<float>(elements) : all_finite<double>(elements)))
      return {};
    return invalid_argument(named("a chunk contains infinity or NaN, which only the mode reversible stores"));
  }

  static Result<const std::byte*> promoted(DType::Kind kind, std::span<const std::byte> elements, Buffer& words) {
    Result<void> done;
    if (!visit_promoted(kind, [&]<class Of>(Of) { done = promote<Of>(elements, words); })) return elements.data();
    SHERD_TRY(done);
    return words.data();
  }

  /// Reads type, shape and mode from the stream. In numcodecs, filters before zfp flatten chunks, so the shape may be
  /// different, with the same number of elements.
  Result<void> read_header(const ChunkType& in, std::span<const std::byte> encoded, zfp_stream& stream,
                           zfp_field& field) const {
    alignas(std::uint64_t) std::byte header[kZfpHeaderBytes] = {};
    std::ranges::copy(encoded.first(std::min(encoded.size(), kZfpHeaderBytes)), header);
    const Owned<bitstream> bits(stream_open(header, kZfpHeaderBytes));
    const Owned<zfp_field> stated(zfp_field_alloc());
    zfp_stream_set_bit_stream(&stream, bits.get());
    zfp_stream_rewind(&stream);
    const std::size_t read = zfp_read_header(&stream, stated.get(), ZFP_HEADER_FULL);
    zfp_stream_set_bit_stream(&stream, nullptr);
    if (read == 0 || read > 8 * encoded.size())
      return corrupt(named("the stream does not begin with a header of zfp 5"));
    if (stated->type != field.type && stated->type != rounded_type(field.type))
      return corrupt(named("the numbers in the stream are of another type than ") + in.dtype.name());
    field.type = stated->type;
    std::uint64_t count = 1;
    for (const std::size_t extent : {stated->nx, stated->ny, stated->nz, stated->nw})
      count *= std::max<std::size_t>(extent, 1);  // 2^48 at most
    if (count != *element_count(in.shape))
      return corrupt(named("the stream has ") + std::to_string(count) + " numbers, the chunk " +
                     std::to_string(*element_count(in.shape)));
    if (!are_sound(parameters_of(stream), field.type)) return corrupt(named("the header states an impossible mode"));
    field.nx = stated->nx, field.ny = stated->ny, field.nz = stated->nz, field.nw = stated->nw;
    return {};
  }

  /// Refuses streams that are too short or too long before memory is allocated for them.
  [[nodiscard]] Result<void> check_size(const zfp_stream& stream, const zfp_field& field, std::size_t size) const {
    const auto most = max_stream_bytes(parameters_of(stream), field);
    const auto least = most ? *block_count(field) * stream.minbits / 8 : 0;  // at most the maximum
    if (most && size >= least && size <= *most) return {};
    return corrupt(named("a stream of this chunk has ") + std::to_string(least) + " to " +
                   std::to_string(most.value_or(0)) + " bytes, not " + std::to_string(size));
  }

  std::string_view name_;
  Mode mode_;
  bool has_header_;
};

Result<std::unique_ptr<ArrayBytesCodec>> make_zfp(const CodecSpec& spec, const CodecContext&) {
  SHERD_TRY(configuration, Configuration::open(spec));
  SHERD_TRY(mode, parse_zfp_mode(configuration));
  SHERD_TRY(configuration.done());
  return std::unique_ptr<ArrayBytesCodec>(std::make_unique<Zfp>("zfp", mode, false));
}

Result<std::unique_ptr<ArrayBytesCodec>> make_zfpy(const CodecSpec& spec, const CodecContext&) {
  SHERD_TRY(configuration, Configuration::open(spec));
  SHERD_TRY(mode, parse_zfpy_mode(configuration));
  SHERD_TRY(configuration.done());
  return std::unique_ptr<ArrayBytesCodec>(std::make_unique<Zfp>("zfpy", mode, true));
}

#else

Result<std::unique_ptr<ArrayBytesCodec>> make_zfp(const CodecSpec& spec, const CodecContext&) {
  return unsupported("the codec '" + spec.name + "': this Sherd was built without libzfp; install libzfp-dev and " +
                     "build again with SHERD_ZFP=ON")
      .in_member("name");
}
constexpr auto make_zfpy = make_zfp;

#endif

Result<Json> short_zfp(std::string_view argument, const DType&) {
  SHERD_TRY(no_argument(argument));
  return Json(Json::Object{{"mode", "reversible"}});
}
/// numcodecs' default: with this tolerance it chooses the reversible mode.
Result<Json> short_zfpy(std::string_view argument, const DType&) {
  SHERD_TRY(no_argument(argument));
  return Json(Json::Object{{"mode", 4}, {"tolerance", -1}});
}

}  // namespace

extern constinit const CodecEntry zfp_codec{.name = "zfp",
                                            .aliases = {"zarrs.zfp", "https://codec.zarrs.dev/array_to_bytes/zfp"},
                                            .array_bytes_codec = make_zfp,
                                            .short_form = short_zfp};
extern constinit const CodecEntry zfpy_codec{.name = "numcodecs.zfpy",
                                             .aliases = {"zfpy"},
                                             .array_bytes_codec = make_zfpy,
                                             .short_form = short_zfpy,
                                             .is_compressor = true};

}  // namespace sherd
