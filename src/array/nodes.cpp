#include "array/nodes.hpp"

#include <algorithm>
#include <utility>

#include "array/create.hpp"
#include "array/storage.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "node/creation.hpp"
#include "node/document.hpp"
#include "node/new_node.hpp"
#include "node/presence.hpp"
#include "node/storage_kind.hpp"

namespace sherd {

Result<Node> make_node(NodeLocation location, NodeDocument document) {
  if (document.type == NodeType::group) return Node(make_group(std::move(location), std::move(document)));
  if (const auto level = location.config.gzip_level; level && (*level < 0 || *level > 9))
    return std::move(invalid_argument("must be from 0 to 9, not " + std::to_string(*level))).in_member("gzip_level");
  const auto format = location.format;
  const std::string path = location.path;
  auto array = make_array(std::move(location), std::move(document));
  if (!array) return stored_error(std::move(array).error()).in_key(format->document_key(path, NodeType::array));
  return Node(*std::move(array));
}

Result<std::optional<Node>> find_node(NodeLocation location, Store& documents) {
  SHERD_TRY(document, location.format->open(documents, location.path, location.config.limits));
  if (!document) return std::optional<Node>();
  SHERD_TRY(node, make_node(std::move(location), *std::move(document)));
  return std::optional(std::move(node));
}

Result<std::optional<Node>> find_node(NodeLocation location) {
  Store& documents = *location.store;
  return find_node(std::move(location), documents);
}

Result<Group> create_group_at(NodeLocation location, const Json& attributes, bool overwrite) {
  if (!attributes.is_null() && !attributes.is_object())
    return invalid_argument("must be an object").in_member("attributes");
  SHERD_TRY(document, location.format->group_document(attributes));
  SHERD_TRY(node, location.format->lower(std::move(document), location.config.limits));
  SHERD_TRY(check_documents(location, node.document));
  SHERD_TRY(create_node(location, node, {.overwrite = overwrite, .members = true}));
  return make_group(std::move(location), std::move(node));
}

Result<Group> create_group_of(NodeLocation location, NodeDocument node, bool overwrite) {
  SHERD_TRY(check_documents(location, node.document));
  SHERD_TRY(create_node(location, node, {.overwrite = overwrite}));
  return make_group(std::move(location), std::move(node));
}

Result<Array> create_array_of(NodeLocation location, NodeDocument node, bool overwrite) {
  SHERD_TRY(create_node(location, node, {.overwrite = overwrite}));
  return make_array(std::move(location), std::move(node));
}

namespace {

// The names of layouts, for messages.
std::string layout_names(const Tables& tables) {
  std::string names;
  for (const StorageKind* kind : tables.storages)
    if (!kind->layout_name().empty()) names += (names.empty() ? "" : " or ") + std::string(kind->layout_name());
  return names;
}

Result<NodeDocument> make_document(const NodeLocation& location, const CreateOptions& options) {
  const StorageKind* kind = find_storage(location.tables, options.config.layout);
  if (options.volume && kind == nullptr)
    return std::move(invalid_argument("can only be used with the layout " + layout_names(location.tables)))
        .in_member("volume");
  SHERD_TRY(check_index_options(options));
  DefaultCodecs defaults = location.format->traits().default_codecs;
  if (kind != nullptr) kind->set_defaults(options.config, defaults);
  SHERD_TRY(spec, new_array_spec(options, location.codecs(), defaults));
  complete_codecs(spec.codecs, location.codecs(), spec.dtype);
  SHERD_TRY(document, location.format->array_document(spec));
  SHERD_TRY(node, location.format->lower(std::move(document), location.config.limits));
  if (kind != nullptr) SHERD_TRY(kind->lay_out(location, node, options));
  NodeLocation reading = location;
  reading.writable = false;
  SHERD_TRY(array, make_array(std::move(reading), node));  // a node that cannot be opened is not written
  SHERD_TRY(array.state().check_change());
  Shape last = array.state().grid.count(array.shape());
  const bool is_empty = std::ranges::find(last, 0U) != last.end();
  for (std::uint64_t& each : last) each -= is_empty ? 0 : 1;
  if (!is_empty && !node.array->ids) SHERD_TRY(check_key_length(*location.store, array.state().key(last)));
  SHERD_TRY(check_documents(location, node.document));
  return node;
}

/// Stores chunks that a reader of another format would read as another value if they were missing.
Result<void> store_all(const Array& array) {
  if (!array.state().storage->stores_fill_values()) return {};
  return array.fill(Box{Shape(array.ndim(), 0), array.shape()}, array.fill_value());
}

}  // namespace

Result<NodeDocument> new_document(const NodeLocation& location, const CreateOptions& options) {
  auto node = make_document(location, options);
  if (node || node.error().code() == ErrorCode::corrupt) return node;
  // Nothing is stored yet, so the error is about an option, not about the document.
  return Error(node.error().code(), node.error().message()).in_member(node.error().member());
}

Result<void> create_with(const NodeLocation& destination, const NodeDocument& node, bool overwrite,
                         const std::function<Result<void>(const Array&)>& contents) {
  const std::string& url = destination.store->url();
  SHERD_TRY(made, in_store(NewNode::begin(destination, {.overwrite = overwrite}), url));
  const auto make = [&]() -> Result<void> {
    SHERD_TRY(in_store(check_links(made.location(), node), url));
    SHERD_TRY(in_store(write_counterpart(made.location(), node), url));
    SHERD_TRY(in_store(write_documents(made.location(), node.document, Condition::absent()), url));
    SHERD_TRY(array, make_array(made.location(), node));
    if (auto filled = contents(array); !filled) return made.outward(filled.error());
    return in_store(made.commit(), url);
  };
  auto done = make();
  if (!done) (void)made.abandon();  // the first failure is the one to report
  return done;
}

Result<Array> create_array_at(NodeLocation location, const CreateOptions& options) {
  SHERD_TRY(node, new_document(location, options));
  if (options.contents) {
    SHERD_TRY(create_with(location, node, options.overwrite, [&](const Array& array) -> Result<void> {
      SHERD_TRY(store_all(array));
      return options.contents(array);
    }));
    SHERD_TRY(enter(location));
    SHERD_TRY(made, location.format->open(*location.store, location.path, location.config.limits));
    if (!made || !made->array) return conflict("another process created something else here in the meantime");
    return make_array(std::move(location), *std::move(made));
  }
  SHERD_TRY(array, create_array_of(std::move(location), std::move(node), options.overwrite));
  SHERD_TRY(store_all(array));
  return array;
}

}  // namespace sherd
