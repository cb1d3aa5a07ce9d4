// Finds a netCDF dataset: in a store, or at a URL whose fragment has options.
#include "api/netcdf.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <type_traits>

#include "api/location.hpp"
#include "api/open_hints.hpp"
#include "api/registry.hpp"
#include "api/trace.hpp"
#include "array/nodes.hpp"
#include "base/call.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "io/netcdf_file.hpp"
#include "netcdf/model.hpp"
#include "netcdf/read_dataset.hpp"
#include "netcdf/writer.hpp"
#include "ome/ome.hpp"
#include "os/calls.hpp"
#include "sherd/netcdf_cdl.hpp"
#include "sherd/netcdf_writer.hpp"
#include "sherd/netcdf_zmap.hpp"

namespace sherd::netcdf {

Result<Mode> with_environment(Mode mode) {
  const char* compat = std::getenv("SHERD_COMPAT");  // NOLINT(concurrency-mt-unsafe)
  if (compat == nullptr || *compat == '\0') return mode;
  SHERD_TRY(check_compat("SHERD_COMPAT", compat));
  mode.compat_seed = true;
  return mode;
}

Mode merged_mode(const Mode& a, const Mode& b) {
  return {a.pure || b.pure, a.noxarray || b.noxarray, a.compat_seed || b.compat_seed};
}

Result<ParsedUrl> parse_dataset_url(std::string_view text) {
  constexpr std::string_view scheme = "file://";
  if (text.starts_with(scheme) && !text.substr(scheme.size()).starts_with('/')) text.remove_prefix(scheme.size());
  SHERD_TRY(place, parse_url(text));
  return dataset_url(std::move(place));
}

std::string file_path_of(const ParsedUrl& url) { return url.place.is_file() ? url.place.path : std::string(); }

namespace {

/// The root of an existing dataset; without a format if it is to be detected.
Result<NodeLocation> location_of(std::shared_ptr<Store> store, const OpenOptions& options) {
  SHERD_TRY(location, make_location(std::move(store), options.path, traced(options.config)));
  if (options.format.empty()) return location;
  if (!is_version_of_zarr(options.format))
    return invalid_argument("a netCDF dataset is stored as zarr2 or zarr3, not '" + options.format + "'");
  SHERD_TRY(formats, formats_called(options.format));
  SHERD_TRY(format, formats.front()->in(*location.store, options.config.limits));
  location.format = std::move(format);
  return location;
}

/// A better error than that nothing was found in a directory.
Result<void> check_exists(const ParsedUrl& url) {
  const std::string path = file_path_of(url);
  if (path.empty() || os::exists(path.c_str()) || errno == EACCES) return {};
  return not_found("file or directory does not exist: " + path + tried_path(path));
}

/// A netCDF file on a server.
Result<Dataset> open_remote_file(const StoreUrl& url, const Config& given) {
  const Config config = traced(given);
  auto place = parent_of(url);
  if (!place) return invalid_argument("'" + url.shown + "' names no file");
  SHERD_TRY(store, open_store(place->store, config));
  if (config.recorder) store = recorded_store(std::move(store), config.recorder);
  return as_call(config, [&]() -> Result<Dataset> {
    SHERD_TRY(copy, PartialCopy::make(*store, place->key, url.shown));
    if (copy == nullptr) return not_found("file does not exist: " + url.shown);
    SHERD_TRY(is_netcdf, is_netcdf_file(*copy));
    if (!is_netcdf) return invalid_argument("'" + url.shown + "' is not a netCDF file");
    return open_netcdf_file(std::move(copy), config);
  });
}

/// Opens a dataset in the store of its URL, with the URL's modes added to those of the options.
template <class Open>
std::invoke_result_t<Open, std::shared_ptr<Store>, const OpenOptions&> in_store_of(const ParsedUrl& parsed,
                                                                                   OpenOptions options,
                                                                                   const Open& open) {
  SHERD_TRY(store, open_existing(parsed.place, options.config));
  options.mode = merged_mode(options.mode, parsed.mode);
  auto opened = in_store(open(store, options), store->url());
  if (!opened && opened.error().code() == ErrorCode::not_found) {
    if (auto missing = missing_store(store)) return *std::move(missing);
    if (auto file = as_call(options.config, [&] { return hint_at_object(*store); })) return *std::move(file);
  }
  return opened;
}

/// Whether all dimensions in pure Zarr have names, as those of datasets have.
bool has_names(const Group& group) {  // NOLINT(misc-no-recursion)
  const auto is_named = [](const Dimension& each) { return !each.anonymous; };
  const auto has_dimensions = [&](const Variable& each) { return std::ranges::all_of(each.dimensions(), is_named); };
  return group.other_arrays().empty() && std::ranges::all_of(group.variables(), has_dimensions) &&
         std::ranges::all_of(group.groups(), has_names);
}

/// What a node is that is not a dataset. Empty for a dataset, and in formats whose groups no dataset can replace.
std::string other_than_dataset(const Node& node) {
  const auto* const group = std::get_if<sherd::Group>(&node);
  if (group == nullptr) return "an array";
  if (!is_version_of_zarr(group->format())) return {};
  for (const char* member : {"multiscales", "plate", "well", "labels", "bioformats2raw.layout"})
    if (is_ome_member(group->attributes(), member, group->path())) return "an OME-NGFF image or a group of images";
  const auto dataset = Dataset::open(group->store(), {.path = group->path()});
  if (!dataset || dataset->generation() != Generation::pure || has_names(dataset->root())) return {};
  return "a Zarr group whose dimensions have no names";
}

}  // namespace

Result<void> check_replaceable(const ParsedUrl& url, const Config& config) {
  SHERD_TRY(store, open_existing(url.place, config));
  const auto node = sherd::open(std::move(store), {.config = config});
  if (!node) return {};  // what cannot be opened is either nothing, or refused when the new one is created
  const std::string what = other_than_dataset(*node);
  if (what.empty()) return {};
  return conflict(url.place.shown + " is " + what + ", not a netCDF dataset; overwrite it or choose another path");
}

Result<Dataset> Dataset::open(std::shared_ptr<Store> store, const OpenOptions& options) {
  return as_call(options.config, [&]() -> Result<Dataset> {
    SHERD_TRY(location, location_of(std::move(store), options));
    SHERD_TRY(mode, with_environment(options.mode));
    return read_dataset(std::move(location), mode, options.consolidated);
  });
}

Result<Dataset> Dataset::open(std::string_view url, const OpenOptions& options) {
  SHERD_TRY(parsed, parse_dataset_url(url));
  if (const std::string path = file_path_of(parsed); parsed.is_file || is_netcdf_file(path)) {
    if (options.path.empty())
      return parsed.is_file ? open_remote_file(parsed.place, options.config) : open_netcdf_file(path, options.config);
    return invalid_argument("a netCDF file cannot be opened with a path; open the file, and then the group in it")
        .in_member("path");
  }
  SHERD_TRY(check_exists(parsed));
  return in_store_of(parsed, options, [](auto store, const auto& inside) { return open(std::move(store), inside); });
}

Result<Writer> Writer::open(std::shared_ptr<Store> store, const OpenOptions& options) {
  return as_call(options.config, [&]() -> Result<Writer> {
    if (store->read_only()) return invalid_argument("the store " + store->url() + " is read-only");
    SHERD_TRY(location, location_of(std::move(store), options));
    location.writable = true;
    SHERD_TRY(mode, with_environment(options.mode));
    return open_writer(std::move(location), mode);
  });
}

Result<Writer> Writer::open(std::string_view url, const OpenOptions& options) {
  SHERD_TRY(parsed, parse_dataset_url(url));
  if (is_netcdf_file(file_path_of(parsed)))
    return unsupported(std::string(url) + " is a netCDF file, which can only be read; copy it into Zarr first");
  SHERD_TRY(check_exists(parsed));
  return in_store_of(parsed, options, [](auto store, const auto& inside) { return open(std::move(store), inside); });
}

Result<Zmap> Zmap::open(std::string_view url, const Config& config) {
  SHERD_TRY(parsed, parse_dataset_url(url));
  if (is_netcdf_file(file_path_of(parsed)))
    return invalid_argument(std::string(url) + " is a netCDF file, which has no keys; ncdump prints it");
  SHERD_TRY(store, open_store(parsed.place, config));
  const Config with = traced(config);
  Zmap map(with.recorder ? recorded_store(store, with.recorder) : store);
  SHERD_TRY(root, map.look("/"));
  if (root.status == ZmapStatus::no_object) return not_found("no objects are stored at " + store->url());
  return map;
}

Result<void> Cdl::check(const NewDataset& options) const {
  NewDataset rehearsal{.format = options.format, .mode = options.mode, .shards = options.shards};
  SHERD_TRY(check_names(options.shards));
  rehearsal.config.limits = options.config.limits;
  SHERD_TRY(writer, Writer::create(memory_store(), rehearsal));
  return define(writer);
}

}  // namespace sherd::netcdf
