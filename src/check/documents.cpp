// Documents of a node that other readers refuse although Sherd does not: attributes as printed by Python, and damaged
// copies of other documents, which Sherd does not need.
#include "check/documents.hpp"

#include "base/lenient.hpp"
#include "store/key.hpp"

namespace sherd {
namespace {

/// The name of the document with copies of others, if a format has one.
std::string_view name_of_copies(const Format& format) noexcept {
  const auto* consolidation = capability<Consolidation>(format);
  return consolidation == nullptr ? std::string_view() : consolidation->entries_document();
}

}  // namespace

void check_documents(const NodeLocation& location, const NodeDocument& node,
                     const std::function<void(Findings&)>& merge) {
  const Format& format = *location.format;
  const std::string_view copies = name_of_copies(format);
  if (has_bare_number(node.attributes)) {
    for (const Document& each : format.documents(location.path, node.document)) {
      const auto parsed = parse_lenient(each.text, location.config.limits, {.tails = false, .points = true});
      if (!parsed || !has_bare_number(parsed->json) || split_key(each.key).name == copies) continue;
      Findings findings(each.key);
      findings.warning("document_odd", {}, "the attributes have NaN or Infinity without quotes, which JSON lacks");
      merge(findings);
    }
  }
  if (node.type != NodeType::group || copies.empty() || node.document.find(copies) == nullptr) return;
  if (consolidated_entries(format, node.document)) return;
  Findings findings(prefix_of(location.path) + std::string(copies));
  findings.error("document_corrupt", {},
                 "not consolidated metadata; Sherd ignores it, other readers may not open the group; "
                 "consolidate again");
  merge(findings);
}

std::string other_format_of(const NodeLocation& root, const std::string& key) {
  std::string path(split_key(key).prefix);
  if (!path.empty()) path.pop_back();
  for (const Format* other : root.tables.formats)
    if (other->name() != root.format->name() && other->keys(path).is_document(key)) return std::string(other->name());
  return {};
}

}  // namespace sherd
