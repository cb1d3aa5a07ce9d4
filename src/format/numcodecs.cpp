// Converts numcodecs' names of codecs and parameters, and determines which of its filters work on arrays: these precede
// the codec that converts elements to bytes, whose byte order is that of the type named by the last of them.
#include "format/numcodecs.hpp"

#include <algorithm>

#include "base/float_format.hpp"
#include "base/try.hpp"
#include "codec/chain.hpp"
#include "codec/number.hpp"
#include "codec/szip.hpp"

namespace sherd {

namespace {

constexpr std::string_view kPrefix = "numcodecs.";
constexpr std::int64_t kSzipLsb = 8, kSzipMsb = 16;  // of its mask: the byte order of words
constexpr std::string_view kShuffles[] = {"noshuffle", "shuffle", "bitshuffle"};
/// The members in which filters name the types of elements before and after encoding.
constexpr std::string_view kBefore[] = {"dtype", "decode_dtype"};
constexpr std::string_view kAfter[] = {"astype", "encode_dtype"};

/// numcodecs' configuration of Blosc in Zarr v3's form: the shuffle by name, and the size of the elements.
Json blosc_configuration(const Json& numcodecs, const DType& dtype) {
  Json json(Json::Object{{"cname", "lz4"}, {"clevel", 5}, {"shuffle", 1}, {"blocksize", 0}});
  for (const auto& [key, value] : numcodecs.members()) json.set(key, value);
  const auto number = json.find("shuffle")->as_int();
  const std::int64_t shuffle = number == -1 ? (dtype.size() == 1 ? 2 : 1) : number.value_or(3);
  if (shuffle >= 0 && shuffle < 3) json.set("shuffle", kShuffles[shuffle]);
  json.set("typesize", static_cast<std::uint64_t>(dtype.size()));
  return json;
}

Json with_default(Json configuration, const char* member, Json value) {
  if (configuration.find(member) == nullptr) configuration.set(member, std::move(value));
  return configuration;
}

/// The id of a codec whose name has the prefix.
std::string_view bare(const CodecSpec& spec) { return std::string_view(spec.name).substr(kPrefix.size()); }

/// The bits of the fraction of a float type that numcodecs rounds; nullopt for other types.
std::optional<int> kept_bits(const DType& dtype) {
  const auto format = is_calculable(dtype) ? float_format(dtype.kind()) : std::nullopt;
  return format ? std::optional(format->fraction) : std::nullopt;
}

/// Whether a filter converts arrays to arrays.
bool is_array_filter(const CodecSpec& spec, CodecTable table) {
  const CodecEntry* entry = find_codec(table, spec.name);
  return entry != nullptr && entry->array_codec != nullptr;
}

/// Whether a filter or a compressor converts elements to bytes instead of the codec `bytes`.
bool is_serializer(const CodecSpec& spec, CodecTable table) {
  const CodecEntry* entry = find_codec(table, spec.name);
  return entry != nullptr && entry->array_bytes_codec != nullptr;
}

/// Whether a serializer stores a list of rows, whatever the memory order of the elements is.
bool stores_rows(const CodecSpec& spec, CodecTable table) {
  const CodecEntry* entry = find_codec(table, spec.name);
  return entry != nullptr && entry->stores_rows;
}

/// Changes the byte order of a filter's types to the native one, which codecs expect, and follows the order from its
/// input to its output.
Result<void> take_order(CodecSpec& filter, bool& big_endian) {
  const auto order_of = [&](std::span<const std::string_view> members) -> std::optional<bool> {
    for (const std::string_view member : members) {
      Json* type = filter.configuration.find(member);
      if (type == nullptr || !type->is_string() || type->text().size() < 2) continue;
      const char order = type->text().front();
      const bool has_order = type->text().back() != '1';  // bytes have none
      if (order == '>') type = &filter.configuration.set(member, type->text().substr(1));
      if (has_order && (order == '<' || order == '>')) return order == '>';
    }
    return std::nullopt;
  };
  const auto before = order_of(kBefore), after = order_of(kAfter);
  if (before && *before != big_endian)
    return unsupported("the filter assumes another byte order than the array's").in_member("dtype");
  if (after) big_endian = *after;
  return {};
}

/// numcodecs' bitround is the registered one, which also rounds other types and does not allow keeping 0 bits.
bool is_registered_bitround(const CodecSpec& spec, const DType& dtype) {
  if (spec.name != "numcodecs.bitround") return false;
  const Json* keep = spec.configuration.find("keepbits");
  return kept_bits(dtype) && keep != nullptr && keep->as_int().value_or(0) >= 1;
}

/// The type of a filter's output for `in`. A filter that cannot be parsed is refused when it is made.
DType filtered_type(const CodecSpec& filter, const DType& in) {
  if (filter.name == "numcodecs.packbits") return DType::uint8;
  auto configuration = Configuration::open(filter);
  if (!configuration) return in;
  for (const std::string_view member : kAfter) {
    if (configuration->find(member) == nullptr) continue;
    const auto type = numeric_member(*configuration, member, in);
    return type ? *type : in;
  }
  return in;
}

/// Adds the byte order to a filter's types if it is not the native one.
void give_order(Json& filter) {
  for (const std::string_view member : {kBefore[0], kBefore[1], kAfter[0], kAfter[1]}) {
    const Json* type = filter.find(member);
    if (type == nullptr || !type->is_string() || type->text().ends_with('1')) continue;
    const std::string name = type->text();
    filter.set(member, ">" + name.substr(name.find_first_not_of("<>=|")));
  }
}

Error no_words_for(const std::string& codec, std::string_view format) {
  return unsupported(std::string(format) + " cannot express '" + codec + "' here; choose other codecs for the array")
      .in_member("codecs");
}

bool is_reversal(const CodecSpec& transpose) {
  const Json* order = transpose.configuration.find("order");
  if (order == nullptr || !order->is_array()) return false;
  for (std::size_t d = 0; d < order->size(); ++d)
    if (order->elements()[d].as_uint() != order->size() - 1 - d) return false;
  return true;
}

/// The id of a codec in numcodecs; empty if it has none. Registered codecs have their numcodecs id.
std::string_view id_of(const CodecSpec& spec, CodecTable table) {
  constexpr std::string_view registered[] = {"blosc",  "gzip",      "zstd",       "bitround",
                                             "crc32c", "vlen-utf8", "vlen-bytes", "vlen-array"};
  const CodecEntry* entry = find_codec(table, spec.name);
  std::string_view name = entry != nullptr ? entry->name : std::string_view(spec.name);
  if (std::ranges::find(registered, name) != std::end(registered)) return name;
  return name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : std::string_view();
}

/// Removes what numcodecs_szip() adds.
Json szip_words(Json json) {
  json.erase("bits-per-pixel");
  json.erase("pixels-per-scanline");
  const Json* mask = json.find("mask");
  const auto number = mask != nullptr ? mask->as_int() : std::nullopt;
  if (number) json.set("mask", *number & ~(kSzipLsb | kSzipMsb));
  return json;
}

/// Checks that numcodecs rounds elements of this type like the registered bitround.
Result<void> check_bitround(const CodecSpec& spec, const DType& dtype, std::string_view format) {
  const auto fraction = kept_bits(dtype);
  const Json* keep = spec.configuration.find("keepbits");
  if (fraction && keep != nullptr && keep->as_int().value_or(65) <= *fraction) return {};
  return unsupported(std::string(format) + " supports 'bitround' with " +
                     (fraction ? "at most " + std::to_string(*fraction) + " bits for " + dtype.name()
                               : "float16, float32 and float64 only, not with " + dtype.name()))
      .in_member("codecs");
}

/// A codec in numcodecs' form, with its name as `id`, for elements of this type.
Result<Json> codec_words(const CodecSpec& spec, const DType& dtype, const NumcodecsFormat& format) {
  Json json;
  const std::string_view id = id_of(spec, format.codecs);
  if (id.empty()) return no_words_for(spec.name, format.name);
  if (spec.name == "bitround") SHERD_TRY(check_bitround(spec, dtype, format.name));
  json.set("id", id);
  for (const auto& [key, value] : spec.configuration.members()) json.set(key, value);
  const std::string name = json.find("id")->text();
  // numcodecs before 0.13 and tensorstore refuse the member, so it is written only to request a checksum.
  if (const Json* checksum = json.find("checksum"); name == "zstd" && checksum != nullptr && *checksum == Json(false))
    json.erase("checksum");
  if (name == "szip") return szip_words(std::move(json));
  // numcodecs requires the type of inner arrays, which are bytes here.
  if (name == "vlen-array" && json.find("dtype") == nullptr) json.set("dtype", "|u1");
  if (name != "blosc") return json;
  json.erase("typesize");
  const Json* shuffle = json.find("shuffle");
  const auto* word = std::ranges::find(kShuffles, shuffle != nullptr ? shuffle->text() : "");
  if (word != std::end(kShuffles)) json.set("shuffle", static_cast<std::int64_t>(word - std::begin(kShuffles)));
  return json;
}

}  // namespace

CodecSpec numcodecs_codec(std::string_view id, const Json& configuration, const DType& dtype) {
  if (id == "gzip") return {"gzip", configuration};
  // By default frames have no checksum.
  if (id == "zstd") return {"zstd", with_default(configuration, "checksum", false)};
  if (id == "blosc") return {"blosc", blosc_configuration(configuration, dtype)};
  // In Zarr v3 the default is the element size.
  if (id == "shuffle") return {"numcodecs.shuffle", with_default(configuration, "elementsize", 4)};
  if (id == "vlen-utf8" || id == "vlen-bytes") return {std::string(id), {}};
  if (id == "vlen-array") return {std::string(id), configuration};
  return {std::string(kPrefix) + std::string(id), configuration};
}

CodecSpec numcodecs_szip(Json configuration, const NumpyType& type, const Shape& shape, const Shape& chunk) {
  const Json* block = configuration.find("pixels-per-block");
  const Json* mask = configuration.find("mask");
  const auto pixels = block != nullptr ? block->as_uint() : std::nullopt;
  const auto options = mask != nullptr ? mask->as_int() : std::nullopt;
  if (pixels && options && !shape.empty()) {  // otherwise the codec refuses it
    configuration.set("mask", (*options & ~(kSzipLsb | kSzipMsb)) | (type.big_endian ? kSzipMsb : kSzipLsb));
    configuration.set("bits-per-pixel", 8 * element_bytes(type.dtype));
    configuration.set("pixels-per-scanline", szip_scanline(*pixels, shape.back(), chunk));
  }
  return {std::string(kPrefix) + "szip", std::move(configuration)};
}

Result<std::vector<CodecSpec>> numcodecs_chain(const NumcodecsChunks& chunks, std::vector<CodecSpec> filters,
                                               std::vector<CodecSpec> compressors, CodecTable table) {
  std::vector<CodecSpec> chain;
  const auto is_rows = [&](const CodecSpec& filter) { return stores_rows(filter, table); };
  if (chunks.fortran && chunks.rank > 1 && std::ranges::none_of(filters, is_rows)) {
    Shape order;
    for (std::size_t d = chunks.rank; d-- > 0;) order.push_back(d);
    chain.push_back({"transpose", Json::Object{{"order", Json::numbers(order)}}});
  }
  NumpyType stored = chunks.type;
  auto next = filters.begin();
  const auto member = [&] { return "filters[" + std::to_string(next - filters.begin()) + "]"; };
  for (; next != filters.end() && is_array_filter(*next, table); ++next) {
    SHERD_TRY(take_order(*next, stored.big_endian).in_member(member()));
    const DType filtered = filtered_type(*next, stored.dtype);
    if (is_registered_bitround(*next, stored.dtype)) next->name = "bitround";
    stored.dtype = filtered;
    chain.push_back(std::move(*next));
  }
  const bool in_filters = next != filters.end();
  const CodecSpec* first = in_filters ? &*next : compressors.empty() ? nullptr : &compressors.front();
  const CodecEntry* entry = first != nullptr ? find_codec(table, first->name) : nullptr;
  const bool compresses_arrays = entry != nullptr && entry->array_bytes_codec != nullptr && entry->is_compressor;
  if (compresses_arrays && stored.big_endian)
    return unsupported("'" + std::string(bare(*first)) +
                       "' has no big-endian numbers; store them in little-endian order")
        .in_member(in_filters ? member() : "compressor");
  // A first filter of objects that does not convert them to bytes is unknown or misplaced, which the chain reports.
  const bool has_serializer =
      compresses_arrays || (in_filters && (is_serializer(*next, table) || stored.dtype.is_variable()));
  if (!has_serializer) chain.push_back(bytes_spec(stored));
  std::move(next, filters.end(), std::back_inserter(chain));
  std::move(compressors.begin(), compressors.end(), std::back_inserter(chain));
  return chain;
}

Result<NumcodecsWords> numcodecs_words(std::span<const CodecSpec> specs, DType dtype, const NumcodecsFormat& format) {
  NumcodecsWords words;
  std::size_t i = 0;
  if (i < specs.size() && specs[i].name == "transpose") {
    if (!is_reversal(specs[i]))
      return unsupported(std::string(format.name) + " has the orders C and F only").in_member("codecs");
    words.fortran = true;
    ++i;
  }
  for (; i < specs.size(); ++i) {
    const CodecSpec& spec = specs[i];
    if (spec.name == "bytes") {
      const Json* endian = spec.configuration.find("endian");
      if (endian != nullptr && endian->is_array())
        words.mixed = *endian;
      else
        words.big_endian = endian != nullptr && endian->text() == "big";
      continue;
    }
    if (words.fortran && stores_rows(spec, format.codecs)) return no_words_for("transpose", format.name);
    SHERD_TRY(codec, codec_words(spec, dtype, format));
    dtype = filtered_type(spec, dtype);
    if (i + 1 == specs.size() && is_compressor(spec.name, format.codecs))
      words.compressor = std::move(codec);
    else
      words.filters.push_back(std::move(codec));
  }
  if (words.big_endian)
    for (Json& filter : words.filters) give_order(filter);
  return words;
}

bool is_compressor(std::string_view name, CodecTable table) {
  const CodecEntry* entry = find_codec(table, name);
  return entry != nullptr && entry->is_compressor;
}

}  // namespace sherd
