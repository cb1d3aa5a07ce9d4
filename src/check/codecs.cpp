// Warnings about how a document spells the codecs of an array.
#include <string>

#include "check/check.hpp"
#include "codec/chain.hpp"

namespace sherd {

bool lacks_byte_order(std::span<const CodecSpec> codecs, CodecTable table, const DType& dtype) {
  if (dtype.kind() != DType::Kind::structure) return false;  // for other types the codec refuses it
  for (const CodecSpec& spec : codecs) {
    const CodecEntry* entry = find_codec(table, spec.name);
    if (entry != nullptr && entry->name == "bytes") {
      const auto needed = entry->short_form("", dtype);
      return needed && needed->find("endian") != nullptr && spec.configuration.find("endian") == nullptr;
    }
    const Json* inner = spec.name == "sharding_indexed" ? spec.configuration.find("codecs") : nullptr;
    if (inner == nullptr) continue;
    const auto nested = parse_codec_list(*inner);
    if (nested && lacks_byte_order(*nested, table, dtype)) return true;
  }
  return false;
}

void warn_of_codecs(const ChunkLayout& layout, Findings& findings) {
  for (const std::string& remark : layout.chain.remarks()) findings.warning("document_odd", {}, remark);
  if (!layout.shard) return;
  if (const auto* index = std::get_if<IndexFormat>(&layout.shard->index))
    for (const std::string& remark : index->codecs.remarks()) findings.warning("document_odd", {}, remark);
  if (layout.shard->inner) warn_of_codecs(*layout.shard->inner, findings);
}

}  // namespace sherd
