// The public entry points: combine URL, store, format and node. A URL names a store whose root is the node, so
// "data/a.zarr/b/c" opens the node c as the root of its own store; OpenOptions::path continues from there. A node
// created at a URL becomes part of the hierarchy around it.
#include <algorithm>
#include <utility>
#include <vector>

#include "api/location.hpp"
#include "api/open_hints.hpp"
#include "api/registry.hpp"
#include "array/nodes.hpp"
#include "base/call.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "ome/ome.hpp"
#include "sherd/group.hpp"
#include "store/prefetched.hpp"

namespace sherd {

namespace {

std::string url_of(const Node& node) {
  return std::visit([](const auto& handle) { return handle.url(); }, node);
}

template <class T>
Result<T> expect(Result<Node> node, std::string_view wanted, std::string_view found) {
  if (!node) return std::move(node).error();
  if (T* wanted_node = std::get_if<T>(&*node)) return std::move(*wanted_node);
  return invalid_argument(url_of(*node) + " is " + std::string(found) + ", not " + std::string(wanted));
}

// Says where the arrays are in a group that is an OME-NGFF image.
std::string hint_at_resolutions(const Group& group) {
  const auto image = image_of_group(location_of(group), group.attributes());
  if (image && *image && !(*image)->levels.empty())
    return "; open a resolution of the image, such as " + url_below(group.url(), (*image)->levels.front().path);
  const Json attributes = group.attributes();
  const Json* plate = ome_member(attributes, "plate");
  const Json* wells = plate == nullptr ? nullptr : plate->find("wells");
  const Json* path = wells == nullptr || wells->elements().empty() ? nullptr : wells->elements().front().find("path");
  if (path == nullptr || !path->is_string()) return {};
  return "; open an image of a well, such as " + url_below(group.url(), path->text() + "/0");
}

std::uint64_t scale_count(const Format& format, const Json& group) {
  std::uint64_t count = 0;
  while (!resolution_of(format, group, count).value_or("").empty()) ++count;
  return count;
}

// For data stored in several resolutions, opening an array means opening one of them.
Result<Array> expect_array(Result<Node> node, const OpenOptions& options) {
  Group* group = node ? std::get_if<Group>(&*node) : nullptr;
  const Format* format = group != nullptr ? find_format(group->format()) : nullptr;
  const auto name = format != nullptr ? resolution_of(*format, group->metadata(), options.scale) : std::nullopt;
  if (!name && node && options.scale != 0)
    return not_found(url_of(*node) + " has no scale " + std::to_string(options.scale) +
                     ": it is not a volume of several scales");
  const std::string hint = group != nullptr && !name ? hint_at_resolutions(*group) : "";
  if (!hint.empty()) return invalid_argument(group->url() + " is a group, not an array" + hint);
  if (!name) return expect<Array>(std::move(node), "an array", "a group");
  if (name->empty())
    return not_found(group->url() + " has no scale " + std::to_string(options.scale) + "; it has " +
                     std::to_string(scale_count(*format, group->metadata())) + ", the finest is 0");
  return expect<Array>(group->open(*name), "an array", "a group");
}

}  // namespace

namespace {

Result<Node> open_in(std::shared_ptr<Store> store, const OpenOptions& options) {
  if (options.writable && store->read_only()) return invalid_argument("the store " + store->url() + " is read-only");
  SHERD_TRY(location, make_location(std::move(store), options.path, options.config));
  location.writable = options.writable;
  SHERD_TRY(formats, formats_called(options.format));
  SHERD_TRY(documents, prefetched_store(*location.store, document_keys(formats, location.path)));
  for (const Format* format : formats) {
    SHERD_TRY(bound, format->in(*documents, location.config.limits));
    if (bound == nullptr) continue;
    location.format = std::move(bound);
    SHERD_TRY(node, find_node(location, *documents));
    if (node) return *std::move(node);
  }
  return nothing_found(location, formats);
}

Result<Node> open_at(std::string_view url, OpenOptions options) {
  SHERD_TRY(named, open_named(url, options.format, options.config));
  const auto& [store, format] = named;
  options.format = format;
  auto node = open_in(store, options);
  if (node || node.error().code() != ErrorCode::not_found) return node;
  SHERD_TRY(formats, formats_called(options.format));
  SHERD_TRY(around, find_around(*store, formats, options.config));
  if (!around) return node;
  options.path = around->path + "/" + options.path;
  return in_store(open_in(around->store, options), around->store->url());
}

/// A node that has just been created at a URL inside a hierarchy, `made` there. A directory is a store of its own; in
/// an archive that is not finished only the same store has it, and on a server it would be read again.
template <class T>
Result<T> at_url(std::string_view url, const NodeLocation& location, T made) {
  if (!path_of_store(location.store->url())) return made;
  SHERD_TRY(node, open_at(url, {.writable = true, .config = location.config}));
  constexpr bool is_array = std::is_same_v<T, Array>;
  return expect<T>(std::move(node), is_array ? "an array" : "a group", is_array ? "a group" : "an array");
}

}  // namespace

// Each of these is a call, so that waits for requests can be interrupted.
Result<Node> open(std::shared_ptr<Store> store, const OpenOptions& options) {
  return as_call(options.config, [&] { return open_in(std::move(store), options); });
}
Result<Node> open(std::string_view url, const OpenOptions& options) {
  return as_call(options.config, [&] { return open_at(url, options); });
}

Result<Array> open_array(std::shared_ptr<Store> store, const OpenOptions& options) {
  return as_call(options.config,
                 [&]() -> Result<Array> { return expect_array(open(std::move(store), options), options); });
}
Result<Array> open_array(std::string_view url, const OpenOptions& options) {
  return as_call(options.config, [&]() -> Result<Array> { return expect_array(open(url, options), options); });
}
Result<Group> open_group(std::shared_ptr<Store> store, const OpenOptions& options) {
  return expect<Group>(open(std::move(store), options), "a group", "an array");
}
Result<Group> open_group(std::string_view url, const OpenOptions& options) {
  return expect<Group>(open(url, options), "a group", "an array");
}

Result<Array> create_array(std::shared_ptr<Store> store, std::string_view path, const CreateOptions& options) {
  return as_call(options.config, [&]() -> Result<Array> {
    SHERD_TRY(location, new_location(std::move(store), path, options.format, options.config));
    return create_array_at(std::move(location), options);
  });
}
Result<Array> create_array(std::string_view url, const CreateOptions& options) {
  return as_call(options.config, [&]() -> Result<Array> {
    SHERD_TRY(location, new_location(url, options.format, options.config));
    if (location.path.empty()) return create_array_at(std::move(location), options);
    const std::string name = location.store->url();
    SHERD_TRY(made, in_store(create_array_at(location, options), name));
    return at_url(url, location, std::move(made));
  });
}

Result<Group> create_group(std::shared_ptr<Store> store, std::string_view path, const Json& attributes, bool overwrite,
                           const Config& config, const std::string& format) {
  return as_call(config, [&]() -> Result<Group> {
    SHERD_TRY(location, new_location(std::move(store), path, format, config));
    return create_group_at(std::move(location), attributes, overwrite);
  });
}
Result<Group> create_group(std::string_view url, const Json& attributes, bool overwrite, const Config& config,
                           const std::string& format) {
  return as_call(config, [&]() -> Result<Group> {
    SHERD_TRY(location, new_location(url, format, config));
    if (location.path.empty()) return create_group_at(std::move(location), attributes, overwrite);
    const std::string name = location.store->url();
    SHERD_TRY(made, in_store(create_group_at(location, attributes, overwrite), name));
    return at_url(url, location, std::move(made));
  });
}

}  // namespace sherd
