// Knows what a codec that is about to be written must say although readers here can do without it: zarr-python takes
// names of numcodecs only with a `configuration`, and others ask for members that have defaults here.
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
  if (entry == nullptr || entry->short_form == nullptr) return;
  const auto defaults = entry->short_form("", dtype);
  if (!defaults) return;
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
  for (CodecSpec& spec : specs) complete(spec, table, dtype);
}

}  // namespace sherd
