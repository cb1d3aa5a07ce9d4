// Parses chains of codecs: how they are written in metadata, in which order their kinds may occur, and what must be
// refused. Leading transposes are folded into one permutation here; `sharding_indexed` is recognised by name and left
// to the shard layer. chain_run.cpp runs a chain.
#include "codec/chain.hpp"

#include <algorithm>
#include <numeric>

#include "base/checked.hpp"
#include "base/nearest.hpp"
#include "base/try.hpp"

namespace sherd {
namespace {

constexpr std::string_view kSharding = "sharding_indexed";

/// A codec that exists but is not supported by this version: who supports it, or why it never will be.
struct NotSupported {
  std::string_view name, more;
};
constexpr NotSupported kNotSupported[] = {
    {"pickle", " nor by a later one: reading a pickle would execute code from the stored data"},
    {"json", ": numcodecs 0.6 replaced it by json2, because it does not store the shape"},
    {"hdf5raw", ": netcdf-c calls filters of HDF5 so for which it has no codec of numcodecs"},
    {"n5_wrapper", ": in stores of N5, zarr-python 2 calls their chunks so"},
    {"msgpack", ": numcodecs 0.6 replaced it by msgpack2, because it does not store the shape"},
};
/// Packages that add codecs to numcodecs, by the prefixes of their ids.
constexpr std::pair<std::string_view, std::string_view> kPackages[] = {
    {"imagecodecs_", "imagecodecs"}, {"flac", "flac-numcodecs"}, {"wavpack", "wavpack-numcodecs"},
    {"gribscan", "gribscan"},        {"grib", "kerchunk"},       {"fill_hdf_strings", "kerchunk"}};

Result<CodecSpec> parse_codec(const Json& entry) {
  if (entry.is_string()) return CodecSpec{entry.text(), {}};
  if (!entry.is_object()) return invalid_argument("a codec must be an object or a string");
  const Json* name = entry.find("name");
  if (name == nullptr || !name->is_string()) return invalid_argument("a codec needs a 'name', a string");
  CodecSpec spec{name->text(), {}};
  for (const auto& [key, value] : entry.members()) {
    if (key == "name") continue;
    // Whether a codec may be skipped does not matter: without it the bytes would be misread.
    if (key == "must_understand") {
      if (!value.is_bool()) return invalid_argument("'must_understand' must be true or false").in_member(key);
    } else if (key == "configuration") {
      if (!value.is_object() && !value.is_null())
        return invalid_argument("a configuration must be an object").in_member(key);
      spec.configuration = value;
    } else {
      return unsupported("unknown member '" + key + "' of the codec '" + spec.name + "'").in_member(key);
    }
  }
  return spec;
}

/// Below the list, whose own name (`codecs`, `index_codecs`) the caller knows.
std::string path(std::size_t index) { return "[" + std::to_string(index) + "]"; }

/// A codec's name without the prefix of its library.
std::string_view bare_name(std::string_view name) {
  for (const std::string_view prefix : {"numcodecs.", "zarrs."})
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  return name;
}

}  // namespace

Error no_such_codec(std::string_view name, CodecTable table, ErrorCode unknown) {
  const std::string_view bare = bare_name(name);
  const std::string quoted = "'" + std::string(name) + "'";
  for (const auto& [known, more] : kNotSupported)
    if (bare == known)
      return unsupported("the codec " + quoted + " is not supported by this version" + std::string(more));
  for (const auto& [prefix, package] : kPackages)
    if (bare.starts_with(prefix))
      return unsupported("the codec " + quoted + " is not supported by this version; its id in numcodecs is '" +
                         std::string(bare) + "', of the Python package " + std::string(package));
  if (!bare.empty() && bare.find_first_not_of("0123456789") == bare.npos)
    return unsupported("the codec '" + std::string(bare) +
                       "' is not supported by this version: it is a filter of HDF5 " +
                       "by its number, as netcdf-c names those for which it has no codec of numcodecs");
  if (name == kSharding) return {unknown, quoted + " is not chosen by its name; ask for shards (--shards, shards=)"};
  std::vector<std::string_view> names{kSharding};
  for (const CodecEntry* entry : table) names.push_back(bare_name(entry->name));
  std::string near = did_you_mean(bare, names);
  for (const CodecEntry* entry : table)
    if (bare_name(entry->name) == bare) near = "; did you mean '" + std::string(entry->name) + "'?";
  const bool is_numcodecs = name.starts_with("numcodecs.");
  const std::string id = is_numcodecs ? " (id '" + std::string(bare) + "' in numcodecs, of an unknown package)" : "";
  return {unknown, "unknown codec " + quoted + id + near};
}

Result<std::vector<CodecSpec>> parse_codec_list(const Json& list) {
  if (!list.is_array()) return invalid_argument("a list of codecs must be an array");
  std::vector<CodecSpec> specs;
  for (std::size_t i = 0; i < list.size(); ++i) {
    SHERD_TRY(spec, parse_codec(list.elements()[i]).in_member(path(i)));
    specs.push_back(std::move(spec));
  }
  return specs;
}

Json codec_list_json(std::span<const CodecSpec> specs) {
  Json list{Json::Array{}};
  for (const CodecSpec& spec : specs) {
    Json entry(Json::Object{{"name", spec.name}});
    if (!spec.configuration.is_null()) entry.set("configuration", spec.configuration);
    list.push_back(std::move(entry));
  }
  return list;
}

Result<void> check_encoders(std::span<const CodecSpec> specs, CodecTable table) {
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const CodecEntry* entry = find_codec(table, specs[i].name);
    if (entry != nullptr && entry->reads_only) return only_decodes(entry->name).in_member("name").in_member(path(i));
    for (const auto& [key, value] : specs[i].configuration.members()) {
      if (!key.ends_with("codecs")) continue;  // codecs, index_codecs, mask_codecs, data_codecs
      SHERD_TRY(inner, parse_codec_list(value));
      SHERD_TRY(check_encoders(inner, table).in_member(key).in_member("configuration").in_member(path(i)));
    }
  }
  return {};
}

Result<CodecChain> CodecChain::build(std::span<const CodecSpec> specs, CodecTable table, const ChunkType& in,
                                     const Limits& limits) {
  CodecChain chain;
  chain.table_ = table;
  chain.dtype_ = in.dtype;
  chain.limits_ = limits;
  chain.permutation_.resize(in.shape.size());
  std::iota(chain.permutation_.begin(), chain.permutation_.end(), std::size_t{0});
  ChunkType type = in;
  for (std::size_t i = 0; i < specs.size(); ++i) SHERD_TRY(chain.add(specs[i], type).in_member(path(i)));
  if (!chain.has_array_bytes_codec())
    return invalid_argument("one codec must turn the array into bytes, such as 'bytes'; none of the " +
                            std::to_string(specs.size()) + " listed does");
  if (chain.array_codecs_.empty() && chain.array_bytes_codec_)
    chain.word_size_ = chain.array_bytes_codec_->raw_word_size(in.dtype);
  if (chain.word_size_ == 1) chain.narrow_ = narrow_numbers(in.dtype.kind());
  return chain;
}

Result<void> CodecChain::add(const CodecSpec& spec, ChunkType& type) {
  const CodecEntry* entry = find_codec(table_, spec.name);
  if (spec.name == kSharding) return add_array_bytes_codec(spec, nullptr, type);
  if (entry == nullptr) return no_such_codec(spec.name, table_, ErrorCode::unsupported).in_member("name");
  if (spec.name != entry->name)
    remarks_.push_back("the codec '" + spec.name + "' is read as '" + std::string(entry->name) +
                       "', its name in new arrays");
  if (entry->array_codec != nullptr) return add_array_codec(spec, *entry, type);
  if (entry->array_bytes_codec != nullptr) return add_array_bytes_codec(spec, entry, type);
  return add_bytes_codec(spec, *entry, type);
}

Result<void> CodecChain::add_array_codec(const CodecSpec& spec, const CodecEntry& entry, ChunkType& type) {
  if (has_array_bytes_codec())
    return invalid_argument("'" + spec.name + "' works on arrays and must come before the codec that makes bytes");
  SHERD_TRY(codec, entry.array_codec(spec, {.in = type, .limits = &limits_, .remarks = &remarks_, .table = table_}));
  SHERD_TRY(encoded, codec->encoded_type(type));
  type = std::move(encoded);
  const auto order = codec->permutation();
  if (order.empty() || !array_codecs_.empty()) {
    array_codecs_.push_back(std::move(codec));
    return {};
  }
  std::vector<std::size_t> folded;
  for (const std::size_t dimension : order) folded.push_back(permutation_[dimension]);
  permutation_ = std::move(folded);
  return {};
}

Result<void> CodecChain::add_array_bytes_codec(const CodecSpec& spec, const CodecEntry* entry, const ChunkType& type) {
  if (has_array_bytes_codec())
    return invalid_argument("'" + spec.name +
                            "' is a second codec that turns the array into bytes; only one is allowed");
  if (entry == nullptr) {
    sharding_ = spec;
    return {};
  }
  SHERD_TRY(codec,
            entry->array_bytes_codec(spec, {.in = type, .limits = &limits_, .remarks = &remarks_, .table = table_}));
  SHERD_TRY(codec->check(type));
  array_bytes_codec_ = std::move(codec);
  return {};
}

Result<void> CodecChain::add_bytes_codec(const CodecSpec& spec, const CodecEntry& entry, const ChunkType& type) {
  if (!has_array_bytes_codec())
    return invalid_argument("'" + spec.name + "' works on bytes and must come after the codec that makes bytes");
  SHERD_TRY(codec, entry.bytes_codec(spec, {.in = type, .limits = &limits_, .remarks = &remarks_, .table = table_}));
  bytes_codecs_.push_back(std::move(codec));
  bytes_names_.push_back(spec.name);
  return {};
}

Shape CodecChain::stored_shape(const Shape& shape) const {
  Shape stored;
  stored.reserve(shape.size());
  for (const std::size_t dimension : permutation_) stored.push_back(shape[dimension]);
  return stored;
}

Result<std::vector<ChunkType>> CodecChain::types(const Shape& stored) const {
  std::vector<ChunkType> all{{dtype_, stored}};
  for (const auto& codec : array_codecs_) {
    SHERD_TRY(next, codec->encoded_type(all.back()));
    all.push_back(std::move(next));
  }
  return all;
}

Result<ChunkType> CodecChain::inner_type(const Shape& stored) const {
  if (array_codecs_.empty()) return ChunkType{dtype_, stored};
  SHERD_TRY(all, types(stored));
  return std::move(all.back());
}

bool CodecChain::has_checksum() const noexcept {
  return std::ranges::any_of(bytes_codecs_, [](const auto& codec) { return codec->frame().has_value(); });
}

std::size_t CodecChain::raw_word_size() const noexcept { return bytes_codecs_.empty() ? word_size_ : 0; }

std::optional<std::uint64_t> CodecChain::encoded_size(const Shape& stored) const {
  if (!array_bytes_codec_) return std::nullopt;
  const auto type = inner_type(stored);
  auto size = type ? array_bytes_codec_->encoded_size(*type) : std::nullopt;
  for (const auto& codec : bytes_codecs_) {
    if (!size) break;
    size = codec->encoded_size(*size);
  }
  return size;
}

}  // namespace sherd
