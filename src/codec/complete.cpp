// Completes a codec that is about to be written with members that readers here do not need: zarr-python accepts
// numcodecs' names only with a `configuration`, and others require members that have defaults here.
#include "codec/chain.hpp"

namespace sherd {
namespace {

void complete_nested(Json* list, CodecTable table, const DType& dtype) {
  if (list == nullptr) return;
  auto specs = parse_codec_list(*list);
  if (!specs) return;  // reported when the chain is built
  complete_codecs(*specs, table, dtype);
  *list = codec_list_json(*specs);
}

/// What a codec of elements of this type must contain: an object, or null for a codec that needs no configuration.
Result<Json> required_members(const CodecEntry& entry, const DType& dtype) {
  if (entry.required != nullptr) return entry.required(dtype);
  if (entry.short_form != nullptr) return entry.short_form("", dtype);
  return Json();
}

/// The type of elements after an array->array codec. It is unchanged if the codec needs the shape, which is not known
/// here.
DType encoded_type(const CodecSpec& spec, CodecTable table, const DType& dtype) {
  static const Limits limits;
  const CodecEntry* entry = find_codec(table, spec.name);
  if (entry == nullptr || entry->array_codec == nullptr) return dtype;
  const ChunkType in{dtype, {}};
  const auto codec = entry->array_codec(spec, {.in = in, .limits = &limits, .table = table});
  const auto out = codec ? (*codec)->encoded_type(in) : Result<ChunkType>(in);
  return out ? out->dtype : dtype;
}

void complete(CodecSpec& spec, CodecTable table, const DType& dtype) {
  if (spec.name == "sharding_indexed") {
    complete_nested(spec.configuration.find("codecs"), table, dtype);
    complete_nested(spec.configuration.find("index_codecs"), table, DType::uint64);
    return;
  }
  if (dtype.kind() == DType::Kind::optional) {
    complete_nested(spec.configuration.find("mask_codecs"), table, DType::bool_);
    complete_nested(spec.configuration.find("data_codecs"), table, dtype.fields().front().dtype);
  }
  const CodecEntry* entry = find_codec(table, spec.name);
  if (entry == nullptr) return;
  const auto defaults = required_members(*entry, dtype);
  if (!defaults || defaults->is_null()) return;
  if (spec.configuration.is_null()) {
    spec.configuration = *defaults;
    return;
  }
  for (const auto& [key, value] : defaults->members()) {
    if (spec.configuration.find(key) == nullptr) spec.configuration.set(key, value);
  }
}

}  // namespace

void complete_codecs(std::span<CodecSpec> specs, CodecTable table, const DType& dtype) {
  DType type = dtype;
  for (CodecSpec& spec : specs) {
    complete(spec, table, type);
    type = encoded_type(spec, table, type);
  }
}

}  // namespace sherd
