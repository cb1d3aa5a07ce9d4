// Ways of storing chunks that formats provide.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "node/node_location.hpp"

namespace sherd {

class ChunkStorage;
struct ChunkLayout;

/// A way of storing chunks that a format provides: a row of Tables::storages.
class StorageKind {
 public:
  virtual ~StorageKind() = default;
  /// The storage of the array `node`; null if it is not stored in this way. May complete the layout.
  [[nodiscard]] virtual Result<std::shared_ptr<const ChunkStorage>> open(const NodeLocation& location,
                                                                         const NodeDocument& node,
                                                                         ChunkLayout& layout) const = 0;

  /// The layout that selects this kind when an array is created; `plain` if none does.
  [[nodiscard]] virtual Layout layout() const noexcept { return Layout::plain; }
  /// The name of that layout, as users write it.
  [[nodiscard]] virtual std::string_view layout_name() const noexcept { return {}; }
  /// Changes what a format chooses for a new array.
  virtual void set_defaults(const Config& config, DefaultCodecs& codecs) const { (void)config, (void)codecs; }
  /// Lays out a new array in this way: completes its document and creates that of its counterpart. invalid_argument
  /// names the condition that is not met.
  virtual Result<void> lay_out(const NodeLocation& location, NodeDocument& node, const CreateOptions& options) const;
  /// The array of another format, or the group with it as only member, that has the same objects as `node`; nullopt if
  /// there is none. Its format is null if the store holds no nodes of that format. `unsupported` if the document names
  /// an unknown layout.
  [[nodiscard]] virtual Result<std::optional<NodeLocation>> counterpart(const NodeLocation& location,
                                                                        const NodeDocument& node) const;
  /// The attribute that marks an array as stored in this way; empty if there is none. Users cannot change it.
  [[nodiscard]] virtual std::string_view attribute() const noexcept { return {}; }
};

/// The kind that a layout selects; null for `plain`.
[[nodiscard]] const StorageKind* find_storage(const Tables& tables, Layout layout) noexcept;
/// StorageKind::counterpart() of the kind that has one.
Result<std::optional<NodeLocation>> find_counterpart(const NodeLocation& location, const NodeDocument& node);
/// New attributes of an array, together with those present ones that describe how it is stored.
[[nodiscard]] Json keep_storage_attributes(const NodeLocation& location, const Json& present, Json attributes);

}  // namespace sherd
