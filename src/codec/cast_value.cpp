// cast_value (zarr-extensions): numbers stored as the nearest number of another type, with the rounding and the
// treatment of out-of-range numbers given by the configuration, in both directions. Every number passes through an
// exact form, sign · significand · 2^exponent, so that each pair of types is rounded only once. Values without a
// counterpart in the other type (NaN and infinities in integers, out-of-range numbers by default) are errors, unless
// `scalar_map` maps them.
#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "base/real.hpp"
#include "base/scalar.hpp"
#include "base/scalar_dtype.hpp"
#include "base/try.hpp"
#include "codec/configuration.hpp"

namespace sherd {
namespace {

using Load = Real (*)(const std::byte*, std::size_t);
using Store = bool (*)(const Real&, RoundingRules, std::byte*, std::size_t);

/// nullptr for types that are not real numbers.
Load loader(const DType& dtype) {
  return visit_real_number(
      dtype.kind(), []<class Number>(Number) -> Load { return load_real<Number>; }, []() -> Load { return nullptr; });
}
Store storer(const DType& dtype) {
  return visit_real_number(
      dtype.kind(), []<class Number>(Number) -> Store { return store_real<Number>; },
      []() -> Store { return nullptr; });
}
bool is_wrapping(const DType& dtype) {
  return visit_real_number(dtype.kind(), []<class Number>(Number) { return Number::is_integer; }, [] { return false; });
}

/// One direction: from elements of one type to the other.
class Cast {
 public:
  using Map = std::vector<std::pair<Real, Real>>;  ///< sorted by key

  Cast(DType source, DType target, RoundingRules rules, Map map)
      : source_(std::move(source)),
        target_(std::move(target)),
        rules_(rules),
        map_(std::move(map)),
        load_(loader(source_)),
        store_(storer(target_)) {}

  [[nodiscard]] Result<void> run(std::span<const std::byte> from, std::span<std::byte> to, ErrorCode code) const {
    const std::size_t count = from.size() / source_.size();
    for (std::size_t i = 0; i < count; ++i) {
      if (!store_(mapped(load_(from.data(), i)), rules_, to.data(), i))
        return refusal(i, from.subspan(i * source_.size(), source_.size()), code);
    }
    return {};
  }

 private:
  [[nodiscard]] Real mapped(const Real& real) const noexcept {
    if (map_.empty()) return real;
    const auto found = std::lower_bound(map_.begin(), map_.end(), real,
                                        [](const auto& row, const Real& key) { return row.first.key() < key.key(); });
    return found != map_.end() && found->first.key() == real.key() ? found->second : real;
  }

  [[nodiscard]] Error refusal(std::size_t index, std::span<const std::byte> element, ErrorCode code) const {
    const Real real = mapped(load_(element.data(), 0));
    const std::string value = print_scalar(element, source_).dump();
    return {code, "cast_value: element " + std::to_string(index) + ", " + value + ", has no value in " +
                      target_.name() +
                      (real.kind == Real::Kind::finite ? "; its range is exceeded" : "; 'scalar_map' can name one")};
  }

  DType source_;
  DType target_;
  RoundingRules rules_;
  Map map_;
  Load load_;
  Store store_;
};

class CastValueCodec final : public ArrayCodec {
 public:
  CastValueCodec(DType encoded, Cast encode, Cast decode)
      : encoded_(std::move(encoded)), encode_(std::move(encode)), decode_(std::move(decode)) {}

  Result<ChunkType> encoded_type(const ChunkType& in) const override { return ChunkType{encoded_, in.shape}; }
  Result<void> encode(const ChunkType&, std::span<const std::byte> from, std::span<std::byte> to) const override {
    return encode_.run(from, to, ErrorCode::invalid_argument);
  }
  Result<void> decode(const ChunkType&, std::span<const std::byte> from, std::span<std::byte> to) const override {
    return decode_.run(from, to, ErrorCode::corrupt);
  }
  /// "If the fill value cannot survive a round-trip cast, implementations MUST treat this as an error."
  Result<void> encode_fill(const ChunkType& in, std::span<const std::byte> from,
                           std::span<std::byte> to) const override {
    SHERD_TRY(encode_.run(from, to, ErrorCode::invalid_argument));
    std::vector<std::byte> back(in.dtype.size());
    SHERD_TRY(decode_.run(to, back, ErrorCode::invalid_argument));
    const Load load = loader(in.dtype);
    if (load(from.data(), 0).key() == load(back.data(), 0).key()) return {};
    return invalid_argument("cast_value: the fill value would be decoded from " + encoded_.name() + " as " +
                            print_scalar(back, in.dtype).dump() + "; choose one that does not change");
  }

 private:
  DType encoded_;
  Cast encode_;
  Cast decode_;
};

/// The specification's own example has "+Infinity" in a scalar_map, which is not valid as a fill value.
Result<Real> map_scalar(const Json& json, const DType& dtype) {
  const bool plus = json.is_string() && json.text() == "+Infinity";
  SHERD_TRY(scalar, parse_scalar(plus ? Json("Infinity") : json, dtype));
  return loader(dtype)(scalar.bytes().data(), 0);
}

Result<Cast::Map> parse_map(const Json* list, const DType& source, const DType& target) {
  Cast::Map map;
  if (list == nullptr) return map;
  if (!list->is_array()) return invalid_argument("cast_value: must be a list of pairs");
  for (std::size_t i = 0; i < list->size(); ++i) {
    const Json& row = list->elements()[i];
    const std::string path = "[" + std::to_string(i) + "]";
    if (!row.is_array() || row.size() != 2) return invalid_argument("cast_value: must be a pair").in_member(path);
    SHERD_TRY(key, map_scalar(row.elements()[0], source).in_member("[0]").in_member(path));
    SHERD_TRY(value, map_scalar(row.elements()[1], target).in_member("[1]").in_member(path));
    map.emplace_back(key, value);
  }
  // The first of equal keys is used.
  const auto before = [](const auto& a, const auto& b) { return a.first.key() < b.first.key(); };
  std::stable_sort(map.begin(), map.end(), before);
  const auto same = [](const auto& a, const auto& b) { return a.first.key() == b.first.key(); };
  map.erase(std::unique(map.begin(), map.end(), same), map.end());
  return map;
}

struct Maps {
  Cast::Map encode, decode;
};

Result<Maps> parse_maps(const Json* json, const DType& decoded, const DType& encoded) {
  Maps maps;
  if (json == nullptr) return maps;
  const auto path = [](std::string_view key) { return "configuration.scalar_map." + std::string(key); };
  if (!json->is_object()) return configuration_error("scalar_map", "cast_value: 'scalar_map' must be an object");
  for (const auto& [key, value] : json->members()) {
    if (key != "encode" && key != "decode")
      return unsupported("cast_value: unknown member '" + key + "'").in_member(path(key));
  }
  SHERD_TRY(encode, parse_map(json->find("encode"), decoded, encoded).in_member(path("encode")));
  SHERD_TRY(decode, parse_map(json->find("decode"), encoded, decoded).in_member(path("decode")));
  return Maps{std::move(encode), std::move(decode)};
}

template <class Value, std::size_t Count>
Result<Value> word_member(Configuration& configuration, std::string_view key, Value absent,
                          const std::array<std::pair<std::string_view, Value>, Count>& words) {
  if (configuration.find(key) == nullptr) return absent;
  SHERD_TRY(text, configuration.text(key));
  std::string all;
  for (const auto& [word, value] : words) {
    if (text == word) return value;
    all += (all.empty() ? "\"" : ", \"") + std::string(word) + "\"";
  }
  return configuration_error(key, "cast_value: '" + std::string(key) + "' must be one of " + all);
}

constexpr std::array<std::pair<std::string_view, Rounding>, 5> kRoundings{
    {{"nearest-even", Rounding::nearest_even},
     {"towards-zero", Rounding::towards_zero},
     {"towards-positive", Rounding::towards_positive},
     {"towards-negative", Rounding::towards_negative},
     {"nearest-away", Rounding::nearest_away}}};
constexpr std::array<std::pair<std::string_view, OutOfRange>, 2> kOutOfRange{
    {{"clamp", OutOfRange::clamp}, {"wrap", OutOfRange::wrap}}};

Result<std::unique_ptr<ArrayCodec>> make_cast_value(const CodecSpec& spec, const CodecContext& context) {
  SHERD_TRY(configuration, Configuration::open(spec));
  const DType& decoded = context.in.dtype;
  const Json* named = configuration.find("data_type");
  if (named == nullptr) return configuration_error("data_type", "cast_value: 'data_type' is missing");
  SHERD_TRY(encoded, parse_dtype(*named).in_member("configuration.data_type"));
  for (const DType* dtype : {&decoded, &std::as_const(encoded)}) {
    if (loader(*dtype) == nullptr)
      return configuration_error("data_type", "cast_value: only integers and floats are cast, not " + dtype->name());
  }
  SHERD_TRY(rounding, word_member(configuration, "rounding", Rounding::nearest_even, kRoundings));
  SHERD_TRY(out_of_range, word_member(configuration, "out_of_range", OutOfRange::error, kOutOfRange));
  if (out_of_range == OutOfRange::wrap && !is_wrapping(encoded))
    return configuration_error("out_of_range", "cast_value: only integers wrap, not " + encoded.name());
  SHERD_TRY(maps, parse_maps(configuration.find("scalar_map"), decoded, encoded));
  SHERD_TRY(configuration.done());
  const RoundingRules rules{rounding, out_of_range};
  return std::unique_ptr<ArrayCodec>(
      std::make_unique<CastValueCodec>(encoded, Cast(decoded, encoded, rules, std::move(maps.encode)),
                                       Cast(encoded, decoded, rules, std::move(maps.decode))));
}

Result<Json> short_cast_value(std::string_view argument, const DType&) {
  if (argument.empty()) return invalid_argument("the type to be stored is missing, such as cast_value:uint8");
  return Json(Json::Object{{"data_type", argument}});
}

}  // namespace

extern constinit const CodecEntry cast_value_codec{
    .name = "cast_value", .aliases = {}, .array_codec = make_cast_value, .short_form = short_cast_value};

}  // namespace sherd
