// numcodecs' lzma, which is Python's lzma module: the containers xz, alone (.lzma) and none (raw), an
// integrity check, and either a preset or a list of filters. With a preset, the dictionary is no larger
// than the chunk: nothing is lost, and both sides need less memory. A container may have several
// consecutive streams; trailing bytes that are not a stream are an error here, although Python ignores
// them.
#include <lzma.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "base/call.hpp"
#include "base/limits.hpp"
#include "base/try.hpp"
#include "codec/configuration.hpp"

namespace sherd {
namespace {

enum class Container : std::uint8_t { automatic = 0, xz = 1, alone = 2, raw = 3 };

/// Above this, a thread's decoder frees its memory after use.
constexpr std::uint64_t kKeptMemory = std::uint64_t{32} << 20;
/// What a decoder needs in addition to its dictionary.
constexpr std::uint64_t kOverhead = std::uint64_t{1} << 20;

/// liblzma's state; reinitialising it reuses its memory.
class LzmaStream {
 public:
  LzmaStream() = default;
  LzmaStream(const LzmaStream&) = delete;
  LzmaStream& operator=(const LzmaStream&) = delete;
  ~LzmaStream() { lzma_end(&stream_); }
  lzma_stream& operator*() noexcept { return stream_; }
  void release() noexcept { lzma_end(&stream_); }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
};

/// How much is encoded between checks for an interrupt: about a tenth of a second.
constexpr std::size_t kLzmaStep = std::size_t{256} << 10;

/// The filters of a configuration. liblzma's list points to the options, so this must not be moved.
class FilterChain {
 public:
  FilterChain() = default;
  FilterChain(const FilterChain&) = delete;
  FilterChain& operator=(const FilterChain&) = delete;

  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  [[nodiscard]] const lzma_filter* list() const noexcept { return list_.data(); }
  Result<void> add(const Json& filter);
  /// LZMA2, or LZMA1 for the container `alone`, with a preset's options.
  Result<void> add_preset(std::uint32_t preset, lzma_vli id, std::uint32_t dictionary);

 private:
  union Options {
    lzma_options_lzma lzma;
    lzma_options_delta delta;
    lzma_options_bcj bcj;
  };
  Result<void> add_lzma(const Json& filter, Options& options);

  std::size_t count_ = 0;
  std::array<Options, LZMA_FILTERS_MAX> options_ = {};
  std::array<lzma_filter, LZMA_FILTERS_MAX + 1> list_ = {{{LZMA_VLI_UNKNOWN, nullptr}}};
};

/// Members of a filter, read like those of a configuration.
template <class T>
Result<void> read_member(Configuration& members, std::string_view key, T& into) {
  const Json* value = members.find(key);
  if (value == nullptr) return {};
  SHERD_TRY(number, members.integer(key, {0, UINT32_MAX}));
  into = static_cast<T>(number);
  return {};
}

Result<void> FilterChain::add_lzma(const Json& filter, Options& options) {
  const CodecSpec spec{"lzma", filter};
  SHERD_TRY(members, Configuration::open(spec));
  (void)members.find("id");
  SHERD_TRY(preset, members.integer("preset", {0, UINT32_MAX}, LZMA_PRESET_DEFAULT));
  lzma_options_lzma& lzma = options.lzma;
  if (lzma_lzma_preset(&lzma, static_cast<std::uint32_t>(preset)))
    return configuration_error("preset", "lzma: unknown preset " + std::to_string(preset));
  SHERD_TRY(read_member(members, "dict_size", lzma.dict_size));
  SHERD_TRY(read_member(members, "lc", lzma.lc));
  SHERD_TRY(read_member(members, "lp", lzma.lp));
  SHERD_TRY(read_member(members, "pb", lzma.pb));
  SHERD_TRY(read_member(members, "mode", lzma.mode));
  SHERD_TRY(read_member(members, "nice_len", lzma.nice_len));
  SHERD_TRY(read_member(members, "mf", lzma.mf));
  SHERD_TRY(read_member(members, "depth", lzma.depth));
  return members.done();
}

Result<void> FilterChain::add(const Json& filter) {
  const Json* id = filter.find("id");
  const auto number = id != nullptr ? id->as_uint() : std::nullopt;
  if (!number) return invalid_argument("lzma: a filter must be an object with an integer 'id'");
  if (count_ == LZMA_FILTERS_MAX)
    return invalid_argument("lzma: at most " + std::to_string(LZMA_FILTERS_MAX) + " filters can follow each other");
  Options& options = options_[count_];
  if (*number == LZMA_FILTER_LZMA1 || *number == LZMA_FILTER_LZMA2) {
    SHERD_TRY(add_lzma(filter, options));
  } else {
    const CodecSpec spec{"lzma", filter};
    SHERD_TRY(members, Configuration::open(spec));
    (void)members.find("id");
    if (*number == LZMA_FILTER_DELTA) {
      SHERD_TRY(distance, members.integer("dist", {LZMA_DELTA_DIST_MIN, LZMA_DELTA_DIST_MAX}, LZMA_DELTA_DIST_MIN));
      options.delta = {};
      options.delta.type = LZMA_DELTA_TYPE_BYTE;
      options.delta.dist = static_cast<std::uint32_t>(distance);
    } else if (*number >= LZMA_FILTER_X86 && *number <= LZMA_FILTER_SPARC) {
      options.bcj = {};
      SHERD_TRY(read_member(members, "start_offset", options.bcj.start_offset));
    } else {
      return unsupported("lzma: unknown filter id " + std::to_string(*number)).in_member("id");
    }
    SHERD_TRY(members.done());
  }
  list_[count_] = {*number, &options};
  list_[++count_] = {LZMA_VLI_UNKNOWN, nullptr};
  return {};
}

Result<void> FilterChain::add_preset(std::uint32_t preset, lzma_vli id, std::uint32_t dictionary) {
  lzma_options_lzma& lzma = options_[count_].lzma;
  if (lzma_lzma_preset(&lzma, preset))
    return configuration_error("preset", "lzma: unknown preset " + std::to_string(preset));
  lzma.dict_size = std::min(lzma.dict_size, dictionary);
  list_[count_] = {id, &options_[count_]};
  list_[++count_] = {LZMA_VLI_UNKNOWN, nullptr};
  return {};
}

/// The smallest power of two that holds a chunk, within the format's bounds.
std::uint32_t dictionary_for(std::size_t size) noexcept {
  constexpr std::size_t most = std::size_t{1} << 30;
  return static_cast<std::uint32_t>(std::bit_ceil(std::clamp<std::size_t>(size, LZMA_DICT_SIZE_MIN, most)));
}

struct LzmaSettings {
  Container container = Container::xz;
  lzma_check check = LZMA_CHECK_NONE;
  std::uint32_t preset = LZMA_PRESET_DEFAULT;
  std::uint64_t memory_limit = 0;
};

class LzmaCodec final : public BytesCodec {
 public:
  LzmaCodec(LzmaSettings settings, std::unique_ptr<FilterChain> filters)
      : settings_(settings), filters_(std::move(filters)) {}

  /// LZMA2 stores what it cannot compress. LZMA1 cannot, but its models adapt by 1/32, so even bits chosen against them
  /// cost little more than one bit each.
  std::uint64_t max_encoded_size(std::uint64_t decoded) const override { return decoded + decoded / 8 + 1024; }

  Result<std::size_t> encode(std::span<const std::byte> from, std::span<std::byte> to) const override;
  Result<std::optional<std::size_t>> decode(std::span<const std::byte> from, std::span<std::byte> to) const override;

 private:
  lzma_ret begin_encoder(lzma_stream& stream, const lzma_filter* filters) const;
  lzma_ret begin_decoder(lzma_stream& stream) const;
  /// Decodes from the position of `stream`; false if its output is full before the end.
  Result<bool> decode_stream(lzma_stream& stream, std::size_t in) const;
  [[nodiscard]] Error failure(lzma_ret status, std::size_t at, const lzma_stream& stream) const;

  LzmaSettings settings_;
  std::unique_ptr<FilterChain> filters_;
};

lzma_ret LzmaCodec::begin_encoder(lzma_stream& stream, const lzma_filter* filters) const {
  switch (settings_.container) {
    case Container::alone:
      return lzma_alone_encoder(&stream, static_cast<const lzma_options_lzma*>(filters->options));
    case Container::raw:
      return lzma_raw_encoder(&stream, filters);
    default:
      return lzma_stream_encoder(&stream, filters, settings_.check);
  }
}

lzma_ret LzmaCodec::begin_decoder(lzma_stream& stream) const {
  switch (settings_.container) {
    case Container::alone:
      return lzma_alone_decoder(&stream, settings_.memory_limit);
    case Container::raw:
      return lzma_raw_decoder(&stream, filters_->list());
    case Container::automatic:
      return lzma_auto_decoder(&stream, settings_.memory_limit, 0);
    default:
      return lzma_stream_decoder(&stream, settings_.memory_limit, 0);
  }
}

Error LzmaCodec::failure(lzma_ret status, std::size_t at, const lzma_stream& stream) const {
  const std::string location = " at byte " + std::to_string(at);
  switch (status) {
    case LZMA_MEM_ERROR:
      return unavailable("lzma: no memory for a decoder");
    case LZMA_MEMLIMIT_ERROR:
      return unsupported("lzma: decoding the stream needs " + std::to_string(lzma_memusage(&stream)) +
                         " bytes of memory, more than the limit chunk_bytes allows");
    case LZMA_OPTIONS_ERROR:
      return unsupported("lzma: a filter or option is unknown to liblzma" + location);
    case LZMA_BUF_ERROR:
      return corrupt("lzma: truncated stream" + location);
    case LZMA_FORMAT_ERROR:
      return corrupt("lzma: no stream of the configured format" + location);
    default:
      return corrupt("lzma: malformed stream" + location);
  }
}

Result<std::size_t> LzmaCodec::encode(std::span<const std::byte> from, std::span<std::byte> to) const {
  FilterChain preset;
  if (filters_->empty()) {
    const auto id = settings_.container == Container::alone ? LZMA_FILTER_LZMA1 : LZMA_FILTER_LZMA2;
    SHERD_TRY(preset.add_preset(settings_.preset, id, dictionary_for(from.size())));
  }
  LzmaStream held;
  lzma_stream& stream = *held;
  const lzma_ret begun = begin_encoder(stream, filters_->empty() ? preset.list() : filters_->list());
  if (begun == LZMA_MEM_ERROR) return unavailable("lzma: no memory for an encoder");
  if (begun != LZMA_OK)
    return unsupported("lzma: liblzma refuses to encode with these filters and check (code " + std::to_string(begun) +
                       ")");
  stream.next_out = reinterpret_cast<std::uint8_t*>(to.data());
  stream.avail_out = to.size();
  lzma_ret status = LZMA_OK;
  auto rest = from;
  do {
    SHERD_TRY(check_interrupted());
    const auto step = rest.first(std::min(rest.size(), kLzmaStep));
    rest = rest.subspan(step.size());
    stream.next_in = reinterpret_cast<const std::uint8_t*>(step.data());
    stream.avail_in = step.size();
    status = lzma_code(&stream, rest.empty() ? LZMA_FINISH : LZMA_RUN);
  } while (status == LZMA_OK && stream.avail_in == 0 && !rest.empty());
  if (status != LZMA_STREAM_END)
    return unavailable("lzma: the library could not encode (code " + std::to_string(status) + ")");
  return static_cast<std::size_t>(stream.total_out);
}

Result<bool> LzmaCodec::decode_stream(lzma_stream& stream, std::size_t in) const {
  lzma_ret status = lzma_code(&stream, LZMA_FINISH);
  if (status == LZMA_STREAM_END) return true;
  if (stream.avail_out == 0 && (status == LZMA_OK || status == LZMA_BUF_ERROR)) {
    // All output may be present before the stream's end is read: the question is whether another byte follows.
    std::uint8_t spare = 0;
    stream.next_out = &spare;
    stream.avail_out = 1;
    status = lzma_code(&stream, LZMA_FINISH);
    if (stream.avail_out == 0) return false;
    stream.avail_out = 0;
    if (status == LZMA_STREAM_END) return true;
  }
  if (status == LZMA_OK) status = LZMA_BUF_ERROR;
  return failure(status, in - stream.avail_in, stream);
}

Result<std::optional<std::size_t>> LzmaCodec::decode(std::span<const std::byte> from, std::span<std::byte> to) const {
  static thread_local LzmaStream held;
  lzma_stream& stream = *held;
  std::size_t in = 0;
  std::size_t out = 0;
  do {
    const lzma_ret begun = begin_decoder(stream);
    if (begun != LZMA_OK) return failure(begun, in, stream);
    stream.next_in = reinterpret_cast<const std::uint8_t*>(from.data() + in);
    stream.avail_in = from.size() - in;
    stream.next_out = reinterpret_cast<std::uint8_t*>(to.data() + out);
    stream.avail_out = to.size() - out;
    auto fits = decode_stream(stream, from.size());
    in = from.size() - stream.avail_in;
    out = to.size() - stream.avail_out;
    const bool raw = settings_.container == Container::raw;
    if ((raw ? lzma_raw_decoder_memusage(filters_->list()) : lzma_memusage(&stream)) > kKeptMemory) held.release();
    if (!fits.has_value()) return std::move(fits).error();
    if (!*fits) return std::optional<std::size_t>();
  } while (in < from.size() && settings_.container != Container::raw);
  if (in < from.size()) return corrupt("lzma: " + std::to_string(from.size() - in) + " bytes follow the raw stream");
  return std::optional(out);
}

Result<std::unique_ptr<FilterChain>> read_filters(Configuration& configuration) {
  auto chain = std::make_unique<FilterChain>();
  const Json* filters = configuration.find("filters");
  if (filters == nullptr || filters->is_null()) return chain;
  if (!filters->is_array()) return configuration_error("filters", "lzma: 'filters' must be a list or null");
  for (std::size_t i = 0; i < filters->elements().size(); ++i) {
    SHERD_TRY(chain->add(filters->elements()[i]).in_member("configuration.filters[" + std::to_string(i) + "]"));
  }
  return chain;
}

/// Integers that may also be null, like Python's None.
Result<std::int64_t> optional_integer(Configuration& configuration, std::string_view key, IntegerBounds bounds,
                                      std::int64_t absent) {
  const Json* value = configuration.find(key);
  if (value == nullptr || value->is_null()) return absent;
  return configuration.integer(key, bounds);
}

Result<void> check_settings(const LzmaSettings& settings, const FilterChain& filters) {
  if (settings.container == Container::raw && filters.empty())
    return configuration_error("filters", "lzma: format 3 (raw) needs 'filters'");
  if (settings.container == Container::alone && !filters.empty() &&
      (filters.list()->id != LZMA_FILTER_LZMA1 || filters.list()[1].id != LZMA_VLI_UNKNOWN))
    return configuration_error("filters", "lzma: format 2 (alone) requires one filter, LZMA1");
  if (filters.empty()) return {};
  const std::uint64_t needed = lzma_raw_decoder_memusage(filters.list());
  constexpr auto impossible = std::numeric_limits<std::uint64_t>::max();
  if (needed == impossible || lzma_raw_encoder_memusage(filters.list()) == impossible)
    return configuration_error("filters", "lzma: these filters cannot be combined, or an option is out of bounds");
  if (needed > settings.memory_limit)
    return unsupported("lzma: the filters need " + std::to_string(needed) +
                       " bytes of memory; raise the limit chunk_bytes")
        .in_member("configuration.filters");
  return {};
}

Result<std::unique_ptr<BytesCodec>> make_lzma(const CodecSpec& spec, const CodecContext& context) {
  SHERD_TRY(configuration, Configuration::open(spec));
  SHERD_TRY(format, configuration.integer("format", {0, 3}, 1));
  SHERD_TRY(check, optional_integer(configuration, "check", {-1, LZMA_CHECK_ID_MAX}, -1));
  SHERD_TRY(preset, optional_integer(configuration, "preset", {0, UINT32_MAX}, LZMA_PRESET_DEFAULT));
  SHERD_TRY(filters, read_filters(configuration));
  SHERD_TRY(configuration.done());
  LzmaSettings settings;
  settings.container = static_cast<Container>(format);
  settings.preset = static_cast<std::uint32_t>(preset);
  settings.check = check < 0 ? LZMA_CHECK_CRC64 : static_cast<lzma_check>(check);
  settings.memory_limit = limit_plus((context.limits != nullptr ? *context.limits : Limits{}).chunk_bytes, kOverhead);
  if (check >= 0 && !lzma_check_is_supported(settings.check))
    return unsupported("lzma: the library has no integrity check " + std::to_string(check))
        .in_member("configuration.check");
  lzma_options_lzma unused;
  if (lzma_lzma_preset(&unused, settings.preset))
    return configuration_error("preset", "lzma: unknown preset " + std::to_string(preset));
  SHERD_TRY(check_settings(settings, *filters));
  return std::unique_ptr<BytesCodec>(std::make_unique<LzmaCodec>(settings, std::move(filters)));
}

Result<Json> short_lzma(std::string_view argument, const DType&) {
  SHERD_TRY(preset, short_integer(argument, {0, 9}, LZMA_PRESET_DEFAULT));
  // Python's lzma refuses a preset together with filters, so the default preset is not named.
  const Json named = argument.empty() ? Json() : Json(preset);
  return Json(Json::Object{{"format", 1}, {"check", -1}, {"preset", named}, {"filters", nullptr}});
}

}  // namespace

extern constinit const CodecEntry lzma_codec{.name = "numcodecs.lzma",
                                             .aliases = {"lzma"},
                                             .bytes_codec = make_lzma,
                                             .short_form = short_lzma,
                                             .is_compressor = true};

}  // namespace sherd
