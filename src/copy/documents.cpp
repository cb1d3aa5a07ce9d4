// What is derived from all documents of a copy: the consolidated metadata of its groups, whether the copy is finished,
// and its identity.
#include "copy/documents.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/buffer.hpp"
#include "base/checksum.hpp"
#include "base/try.hpp"
#include "netcdf/member_notes.hpp"
#include "node/consolidated.hpp"
#include "node/path.hpp"

namespace sherd {

Result<void> renew_consolidated_metadata(std::vector<NodeCopy>& nodes, const Format& format) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    NodeCopy& group = nodes[i];
    const auto told = consolidated_entries(format, group.document.document);
    if (!told) continue;
    Consolidation::Entries documents;
    for (std::size_t j = i + 1; j < nodes.size(); ++j) {
      const auto path = path_from(group.path, nodes[j].path);
      if (!path) break;
      documents.emplace_back(*path, nodes[j].document.document);
    }
    std::sort(documents.begin(), documents.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    const auto same = [&format](const auto& a, const auto& b) {
      return a.first == b.first && same_node(format, a.second, b.second);
    };
    if (std::equal(told->begin(), told->end(), documents.begin(), documents.end(), same)) continue;
    const auto& consolidation = *capability<Consolidation>(format);
    SHERD_TRY(document, consolidation.with_entries(group.document.document, std::move(documents)));
    group.document.document = std::move(document);
    group.stored.clear();
  }
  return {};
}

Result<bool> are_stored(Store& store, const NodeCopy& node, const Limits& limits) {
  for (const Document& document : node.stored) {
    SHERD_TRY(present, store.get(document.key, limits.metadata_bytes));
    if (!present) return false;
    if (*present == document.text) continue;
    const auto stored = Json::parse(*present), planned = Json::parse(document.text);
    if (!stored || !planned || !(*stored == *planned)) return false;
  }
  return true;
}

Result<void> add_notes(std::vector<NodeCopy>& nodes, const NodeLocation& destination) {
  std::vector<Json> before;
  std::vector<std::pair<std::string, NodeDocument*>> documents;
  for (NodeCopy& node : nodes) {
    before.push_back(node.document.document);
    documents.emplace_back(node.path, &node.document);
  }
  SHERD_TRY(netcdf::note_planned_members(destination, documents));
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (!(before[i] == nodes[i].document.document)) nodes[i].stored.clear();
  return renew_consolidated_metadata(nodes, *destination.format);
}

std::string fingerprint(const NodeLocation& source, const std::vector<NodeCopy>& nodes, const CopyOptions& options) {
  std::string all;
  for (const NodeCopy& node : nodes) {
    all += node.path + '\n';
    for (const Document& document : node.stored) all += document.text + '\n';
    const auto& other = node.document.counterpart;
    if (!other) continue;
    for (const Document& document : other->format->documents(node.path, other->document)) all += document.text + '\n';
  }
  Json json;
  json.set("source", source.store->url());
  json.set("path", source.path);
  json.set("documents", static_cast<std::uint64_t>(crc32c(as_bytes(all))));
  json.set("chunk_order", static_cast<std::uint64_t>(options.config.chunk_order));
  json.set("write_empty_chunks", options.config.write_empty_chunks);
  if (options.select) json.set("select", *options.select);
  if (const auto& pyramid = options.pyramid) {
    json.set("pyramid", pyramid->method == Pyramid::Method::mean ? "mean" : "mode");
    json.set("ignore_zero", pyramid->ignore_zero);
    std::string factors;
    for (const auto& [axis, factor] : pyramid->factors) factors += axis + "=" + std::to_string(factor) + " ";
    json.set("factors", factors);
  }
  return json.dump(2);
}

}  // namespace sherd
