#include "node/document_keys.hpp"

#include <algorithm>

namespace sherd {

DocumentKeys::DocumentKeys(const NodeLocation& location)
    : tables_(location.tables), path_(location.path), prefix_(prefix_of(location.path)) {
  for (const Format* format : tables_.formats) add(*format);
  add(*location.format);  // as used by this store
}

void DocumentKeys::add(const Format& format) {
  const std::string name = ".sherd-any";
  for (const std::string& key : format.keys(name).documents) {
    const std::size_t at = key.find(name);
    patterns_.push_back({key.substr(0, at), key.substr(at + name.size())});
  }
  const NodeKeys own = format.keys(path_);
  own_.insert(own.documents.begin(), own.documents.end());
  const std::vector<std::string> visible = own.visible();
  visible_.insert(visible.begin(), visible.end());
}

bool DocumentKeys::has(std::string_view key) const {
  if (own_.contains(key)) return true;
  if (tables_.is_model_document(split_key(key).name)) return is_below(key);
  return std::ranges::any_of(patterns_, [&](const Pattern& each) {
    const std::size_t around = each.before.size() + each.after.size();
    return key.size() > around && key.starts_with(each.before) && key.ends_with(each.after) &&
           is_below(key.substr(each.before.size(), key.size() - around));
  });
}

bool is_document_of(FormatTable formats, std::string_view key) {
  const std::string name(split_key(key).name);
  return std::ranges::any_of(formats, [&](const Format* each) { return each->keys("").is_document(name); });
}

}  // namespace sherd
