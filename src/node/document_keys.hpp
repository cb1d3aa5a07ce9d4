// The keys of documents, in any format, of the node at a path and of all nodes below it.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "node/node_location.hpp"
#include "store/key.hpp"

namespace sherd {

class DocumentKeys {
 public:
  explicit DocumentKeys(const NodeLocation& location);

  [[nodiscard]] bool has(std::string_view key) const;
  /// Whether it is a document of the node at the path itself.
  [[nodiscard]] bool is_own(std::string_view key) const {
    return own_.contains(key) || (has(key) && split_key(key).prefix == prefix_);
  }
  /// Whether it makes the node at the path visible.
  [[nodiscard]] bool is_visible(std::string_view key) const { return visible_.contains(key); }

 private:
  /// What surrounds a node's path in the key of one of its documents.
  struct Pattern {
    std::string before, after;
  };

  void add(const Format& format);
  [[nodiscard]] bool is_below(std::string_view path) const { return path.starts_with(prefix_); }

  Tables tables_;
  std::string path_, prefix_;
  std::vector<Pattern> patterns_;
  std::set<std::string, std::less<>> own_, visible_;
};

/// Whether any of the formats has a document with this name at the end of a key.
[[nodiscard]] bool is_document_of(FormatTable formats, std::string_view key);

}  // namespace sherd
