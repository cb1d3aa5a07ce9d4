#include "netcdf/filters.hpp"

#include <algorithm>
#include <array>

#include "base/try.hpp"

namespace sherd::netcdf {

namespace {

constexpr std::string_view kNumcodecs = "numcodecs.";
constexpr std::array<std::string_view, 6> kBloscCompressors = {"blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"};
constexpr std::array<std::string_view, 3> kBloscShuffles = {"noshuffle", "shuffle", "bitshuffle"};

const Json* setting(const Json& codec, std::string_view member) {
  const Json* configuration = codec.is_object() ? codec.find("configuration") : nullptr;
  return configuration != nullptr ? configuration->find(member) : nullptr;
}

std::int64_t number_in(const Json& codec, std::string_view member, std::int64_t otherwise) {
  const Json* value = setting(codec, member);
  return value != nullptr ? value->as_int().value_or(otherwise) : otherwise;
}

Json codec_json(std::string name, Json::Object configuration) {
  return Json::Object{{"name", std::move(name)}, {"configuration", Json(std::move(configuration))}};
}

/// Parameters as in netcdf-c: four that the filter sets itself, the level, the shuffle and the compressor.
std::optional<Filter> blosc_filter(const Json& codec) {
  const Json* const name = setting(codec, "cname");
  const auto compressor = std::ranges::find(kBloscCompressors, name != nullptr ? name->text() : "lz4");
  const Json* const shuffle = setting(codec, "shuffle");
  std::int64_t how = number_in(codec, "shuffle", 1);
  if (shuffle != nullptr && shuffle->is_string())
    how = std::ranges::find(kBloscShuffles, shuffle->text()) - kBloscShuffles.begin();
  const bool is_known = compressor != kBloscCompressors.end() && how >= 0 && how < 3;
  if (!is_known || number_in(codec, "blocksize", 0) != 0) return std::nullopt;
  return Filter{filter_id::blosc,
                {0, 0, 0, 0, static_cast<std::uint32_t>(number_in(codec, "clevel", 5)), static_cast<std::uint32_t>(how),
                 static_cast<std::uint32_t>(compressor - kBloscCompressors.begin())}};
}

}  // namespace

std::string filter_name(std::uint32_t id) {
  constexpr std::pair<std::uint32_t, std::string_view> names[] = {{filter_id::deflate, "deflate"},
                                                                  {filter_id::shuffle, "shuffle"},
                                                                  {filter_id::fletcher32, "fletcher32"},
                                                                  {filter_id::szip, "szip"},
                                                                  {filter_id::nbit, "nbit"},
                                                                  {filter_id::scaleoffset, "scaleoffset"},
                                                                  {filter_id::bzip2, "bzip2"},
                                                                  {filter_id::lzf, "lzf"},
                                                                  {filter_id::lz4, "lz4"},
                                                                  {filter_id::blosc, "blosc"},
                                                                  {filter_id::bitshuffle, "bitshuffle"},
                                                                  {filter_id::zfp, "zfp"},
                                                                  {filter_id::zstd, "zstd"},
                                                                  {filter_id::sz, "sz"}};
  for (const auto& [known, name] : names)
    if (known == id) return std::string(name) + " (" + std::to_string(id) + ")";
  return std::to_string(id);
}

std::string plain_name(const Json& codec) {
  const Json* name = codec.is_object() ? codec.find("name") : nullptr;
  const std::string text = name != nullptr ? name->text() : codec.is_string() ? codec.text() : "";
  return text.starts_with(kNumcodecs) ? text.substr(kNumcodecs.size()) : text;
}

bool is_layout(const Json& codec) {
  const std::string name = plain_name(codec);
  return name == "bytes" || name == "vlen-utf8" || name == "vlen-bytes" || name == "transpose";
}

std::vector<Json> inner_codecs(const Json& codecs) {
  if (!codecs.is_array()) return {};
  for (const Json& each : codecs.elements()) {
    if (plain_name(each) != "sharding_indexed") continue;
    const Json* inner = setting(each, "codecs");
    return inner != nullptr ? inner_codecs(*inner) : std::vector<Json>();
  }
  const auto all = codecs.elements();
  return {all.begin(), all.end()};
}

std::optional<Filter> filter_of(const Json& codec) {
  const std::string name = plain_name(codec);
  const auto level = [&](std::int64_t usual) { return static_cast<std::uint32_t>(number_in(codec, "level", usual)); };
  if (name == "zlib" || name == "gzip") return Filter{filter_id::deflate, {level(1)}};
  if (name == "shuffle") return Filter{filter_id::shuffle, {}};
  if (name == "fletcher32") return Filter{filter_id::fletcher32, {}};
  if (name == "bz2") return Filter{filter_id::bzip2, {level(1)}};
  if (name == "zstd") return Filter{filter_id::zstd, {level(0)}};
  if (name == "blosc") return blosc_filter(codec);
  if (name == "szip")
    return Filter{filter_id::szip,
                  {static_cast<std::uint32_t>(number_in(codec, "mask", 0)),
                   static_cast<std::uint32_t>(number_in(codec, "pixels-per-block", 0))}};
  return std::nullopt;
}

std::optional<Json> codec_of(const Filter& filter, std::size_t element_size, bool v3) {
  const auto parameter = [&](std::size_t i, std::uint32_t otherwise) {
    return static_cast<std::uint64_t>(i < filter.parameters.size() ? filter.parameters[i] : otherwise);
  };
  switch (filter.id) {
    case filter_id::deflate:
      return codec_json("numcodecs.zlib", {{"level", parameter(0, 1)}});
    case filter_id::shuffle:
      return codec_json("numcodecs.shuffle", {{"elementsize", static_cast<std::uint64_t>(element_size)}});
    case filter_id::fletcher32:
      return codec_json("numcodecs.fletcher32", {});
    case filter_id::bzip2:
      return codec_json("numcodecs.bz2", {{"level", parameter(0, 9)}});
    case filter_id::zstd:
      if (v3) return codec_json("zstd", {{"level", parameter(0, 3)}, {"checksum", false}});
      return codec_json("numcodecs.zstd", {{"level", parameter(0, 3)}});
    case filter_id::szip:  // two parameters; HDF5 stores two more, derived from the type and the chunk
      return codec_json("numcodecs.szip", {{"mask", parameter(0, 32)}, {"pixels-per-block", parameter(1, 32)}});
    case filter_id::blosc: {
      const std::uint64_t compressor = parameter(6, 0);
      if (compressor >= kBloscCompressors.size()) return std::nullopt;
      return codec_json("numcodecs.blosc", {{"cname", std::string(kBloscCompressors[compressor])},
                                            {"clevel", parameter(4, 5)},
                                            {"shuffle", parameter(5, 1)},
                                            {"blocksize", 0}});
    }
    default:
      return std::nullopt;
  }
}

std::string codecs_text(const std::vector<Json>& codecs) {
  Json::Array all;
  for (const Json& codec : codecs) {
    const Json* name = codec.is_object() ? codec.find("name") : nullptr;
    if (is_layout(codec)) {
      if (!all.empty() && plain_name(codec) == "bytes") all.emplace_back(Json::Object{{"name", "bytes"}});
      continue;
    }
    if (name == nullptr || !name->text().starts_with(kNumcodecs)) {
      all.push_back(codec);
      continue;
    }
    Json::Object printed = {{"id", plain_name(codec)}};
    if (const Json* configuration = codec.find("configuration"))
      for (const auto& [member, value] : configuration->members()) printed.emplace_back(member, value);
    all.emplace_back(std::move(printed));
  }
  return Json(std::move(all)).dump();
}

Result<std::vector<Json>> codecs_of_text(const std::string& text) {
  const auto wrong = [] {
    return corrupt("must be a list of codecs in JSON, such as '[{\"id\": \"lz4\", \"acceleration\": 1}]'");
  };
  const auto json = Json::parse(text);
  if (!json || !json->is_array()) return wrong();
  std::vector<Json> codecs;
  for (const Json& each : json->elements()) {
    const Json* const id = each.is_object() ? each.find("id") : nullptr;
    const Json* const name = each.is_object() ? each.find("name") : nullptr;
    if (id == nullptr) {
      if (name == nullptr || !name->is_string()) return wrong();
      codecs.push_back(each);
      continue;
    }
    if (!id->is_string()) return wrong();
    Json::Object configuration;
    for (const auto& [member, value] : each.members()) {
      if (member == "id") continue;
      // netcdf-c prints the numbers of some codecs as texts.
      const bool is_count = value.is_string() && !value.text().empty() && value.text().size() < 10 &&
                            value.text().find_first_not_of("0123456789") == std::string::npos;
      configuration.emplace_back(member, is_count ? Json::number(value.text()) : value);
    }
    codecs.push_back(codec_json(std::string(kNumcodecs) + id->text(), std::move(configuration)));
  }
  return codecs;
}

}  // namespace sherd::netcdf
