// The properties that every format derives from its keys and traits, and defaults for formats without a capability.
#include "node/format.hpp"

#include <algorithm>

namespace sherd {

bool NodeKeys::is_document(std::string_view key) const noexcept {
  return std::ranges::find(documents, key) != documents.end();
}

std::vector<std::string> NodeKeys::visible() const {
  std::vector<std::string> keys{array};
  if (group != array) keys.push_back(group);
  std::erase_if(keys, [&](const std::string& key) { return !is_document(key); });  // a scale's is that of its volume
  return keys;
}

std::string Format::document_key(const std::string& path, NodeType type) const {
  NodeKeys all = keys(path);
  return std::move(type == NodeType::array ? all.array : all.group);
}

std::string Format::likeliest_key(const std::string& path) const { return std::move(keys(path).documents.front()); }

std::string Format::chunk_prefix(const std::string& path) const { return keys(path).chunks; }

std::vector<std::string> Format::contents(const std::string& path) const { return keys(path).contents; }

Result<std::shared_ptr<const Format>> Format::in(Store& store, const Limits& limits) const {
  if (const auto* entry = capability<EntryPoint>(*this)) return entry->bind(store, limits);
  return std::shared_ptr<const Format>(std::shared_ptr<const Format>(), this);
}

std::vector<std::string> document_keys(FormatTable formats, const std::string& path) {
  std::vector<std::string> all;
  const auto add = [&](std::string key) {
    if (std::ranges::find(all, key) == all.end()) all.push_back(std::move(key));
  };
  for (const Format* format : formats) {
    if (const auto* entry = capability<EntryPoint>(*format)) add(std::string(entry->key()));
    NodeKeys keys = format->keys(path);
    for (std::string& key : keys.documents) add(std::move(key));
    add(std::move(keys.array));
  }
  return all;
}

std::vector<std::pair<std::string, std::string>> references_of(const Format& format, const Json& group) {
  const auto* collections = capability<Collections>(format);
  return collections != nullptr ? collections->references(group) : std::vector<std::pair<std::string, std::string>>();
}

std::optional<std::string> resolution_of(const Format& format, const Json& group, std::uint64_t number) {
  const auto* multiscale = capability<Multiscale>(format);
  return multiscale != nullptr ? std::optional(multiscale->resolution(group, number)) : std::nullopt;
}

std::optional<Consolidation::Entries> consolidated_entries(const Format& format, Json group) {
  const auto* consolidation = capability<Consolidation>(format);
  return consolidation != nullptr ? consolidation->take_entries(group) : std::nullopt;
}

std::optional<std::string> member_of(const Format& format, std::string_view object) {
  const auto* documents = capability<MemberDocuments>(format);
  return documents != nullptr ? documents->member_of(object) : std::nullopt;
}

Error other_hierarchy(const Format& format) {
  Error error = conflict("another hierarchy has its entry point here");
  const auto* entry = capability<EntryPoint>(format);
  return entry != nullptr ? std::move(error).in_key(std::string(entry->key())) : error;
}

}  // namespace sherd
