// The public ways into what is done with whole trees: copy, check and import. A URL names a store whose root is the
// node; the format is the first of the table that knows something there, readable or not.
#include <filesystem>

#include "array/hierarchy.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "registry.hpp"
#include "sherd/tools.hpp"
#include "tools/check.hpp"
#include "tools/copy.hpp"
#include "tools/files.hpp"

namespace sherd {

namespace {

Result<NodePlace> make_place(std::shared_ptr<Store> store, const std::string& path, const Config& config) {
  SHERD_TRY(normal, normal_path(path));
  if (config.recorder) store = recorded_store(std::move(store), config.recorder);
  return NodePlace{.store = std::move(store), .path = std::move(normal), .tables = tables(), .config = config};
}

Result<NodePlace> find_place(std::shared_ptr<Store> store, const std::string& path, const Config& config) {
  SHERD_TRY(place, make_place(std::move(store), path, config));
  for (const Format* format : place.tables.formats) {
    for (const std::string& key : format->probes(place.path)) {
      auto source = place.store->open(key);
      // What stands there but cannot be opened is for the reader of the document to tell.
      if (source && *source == nullptr) continue;
      place.format = format;
      return place;
    }
  }
  return not_found("no array and no group in " + place.store->url())
      .in_key(place.tables.formats.front()->document_key(place.path));
}

/// Where a node is, as a prefix of all that is below it; for files without the symbolic links on the way there.
Result<std::string> location(const NodePlace& place) {
  std::string text = url_below(place.store->url(), place.path);
  if (text.starts_with("file:")) {
    SHERD_TRY(url, parse_url(text));
    std::error_code failed;
    const auto path = std::filesystem::weakly_canonical(url.path, failed);
    if (failed) return io_error("cannot find out what " + url.path + " is: " + failed.message());
    text = path.string();
  }
  return text.ends_with('/') ? text : text + "/";
}

/// A copy cannot go into its own source, nor, where it replaces something, around it.
Result<void> check_apart(const NodePlace& source, const NodePlace& destination, bool one_store) {
  SHERD_TRY(from, location(source));
  SHERD_TRY(to, location(destination));
  // All stores in memory are called alike.
  if (from.starts_with("memory:") && !one_store) return {};
  if (!to.starts_with(from) && !from.starts_with(to)) return {};
  return invalid_argument("cannot copy " + from + " to " + to + ": one lies inside the other");
}

}  // namespace

Result<CopyReport> copy(std::shared_ptr<Store> source, std::shared_ptr<Store> destination, const CopyOptions& options) {
  const bool one_store = source == destination;
  if (destination->read_only()) return invalid_argument("the store " + destination->url() + " is read-only");
  SHERD_TRY(from, find_place(std::move(source), options.source_path, options.config));
  SHERD_TRY(to, make_place(std::move(destination), options.destination_path, options.config));
  to.writable = true;
  to.format = from.format;
  SHERD_TRY(check_apart(from, to, one_store));
  return copy_nodes(from, to, options);
}

Result<CopyReport> copy(std::string_view source, std::string_view destination, const CopyOptions& options) {
  SHERD_TRY(from, open_store(source, options.config));
  SHERD_TRY(to, open_store(destination, options.config));
  return copy(std::move(from), std::move(to), options);
}

Result<CheckReport> check(std::shared_ptr<Store> store, const CheckOptions& options) {
  SHERD_TRY(place, find_place(std::move(store), options.path, options.config));
  return check_nodes(place, options);
}

Result<CheckReport> check(std::string_view url, const CheckOptions& options) {
  SHERD_TRY(store, open_store(url, options.config));
  return check(std::move(store), options);
}

Result<Array> import_file(const std::string& source, std::string_view url, const ImportOptions& options) {
  SHERD_TRY(place, new_place(url, options.create.config));
  SHERD_TRY(import_at(source, options, place));
  return open_array(url, {.writable = true, .config = options.create.config});
}

}  // namespace sherd
