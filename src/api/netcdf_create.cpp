// Creates netCDF datasets in Zarr. What replaces another dataset is made next to its destination, and moved there in
// one step where the store can do that.
#include <utility>

#include "api/location.hpp"
#include "api/netcdf.hpp"
#include "api/registry.hpp"
#include "api/trace.hpp"
#include "base/call.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "netcdf/writer.hpp"
#include "node/format.hpp"
#include "node/new_node.hpp"

namespace sherd::netcdf {

namespace {

Result<void> check_version(const std::string& format) {
  if (is_version_of_zarr(format)) return {};
  return invalid_argument("a netCDF dataset is stored as zarr2 or zarr3, not '" + format + "'");
}

/// Where a dataset is created. What it replaces may be in the other version of Zarr.
struct Place {
  NodeLocation location;
  std::shared_ptr<const Format> format;  ///< of the new dataset
};

/// The node at the root of a store, if it is in the other one of the two versions of Zarr.
Result<std::optional<NodeLocation>> dataset_of_other_version(std::shared_ptr<Store> store, const NewDataset& options) {
  SHERD_TRY(location, make_location(std::move(store), "", options.config));
  location.writable = true;
  std::vector<const Format*> versions;
  for (const Format* each : location.tables.formats)
    if (is_version_of_zarr(each->name())) versions.push_back(each);
  SHERD_TRY(found, find_format_of(std::move(location), versions, Unreadable::fails));
  if (found && found->format->name() == options.format) found.reset();
  return found;
}

Result<Place> place_in(std::shared_ptr<Store> store, const NewDataset& options) {
  if (options.overwrite && options.path.empty() && !store->read_only()) {
    SHERD_TRY(formats, formats_called(options.format));
    SHERD_TRY(format, formats.front()->in(*store, options.config.limits));
    SHERD_TRY(other, dataset_of_other_version(store, options));
    if (other && format != nullptr) return Place{*std::move(other), std::move(format)};
  }
  SHERD_TRY(location, new_location(std::move(store), options.path, options.format, options.config));
  std::shared_ptr<const Format> format = location.format;
  return Place{std::move(location), std::move(format)};
}

Result<Place> place_at(const StoreUrl& url, const NewDataset& options) {
  SHERD_TRY(store, open_sought(url, options.config));
  SHERD_TRY(around, enclosure_of_new(*store, options.config));
  if (!around) return place_in(std::move(store), options);
  SHERD_TRY(location, new_location(url, options.format, options.config));
  std::shared_ptr<const Format> format = location.format;
  return Place{std::move(location), std::move(format)};
}

/// Makes a dataset, whose contents `fill` writes, and moves it to its place when it is complete.
Result<std::shared_ptr<Writer::State>> make_whole(const Place& place, const NewDataset& options, const Fill& fill) {
  const std::string& url = place.location.store->url();
  SHERD_TRY(made, in_store(NewNode::begin(place.location, {.overwrite = options.overwrite}), url));
  if (place.format->name() != place.location.format->name()) made.replace_with(place.format);
  auto written = [&]() -> Result<std::shared_ptr<Writer::State>> {
    SHERD_TRY(state, create_writer(made.location(), options));
    if (auto filled = fill(Writer(state)); !filled) return made.outward(filled.error());
    SHERD_TRY(made.commit(member_paths(*state)));
    return state;
  }();
  if (!written) (void)made.abandon();  // the first failure is the one to report
  return in_store(std::move(written), url);
}

}  // namespace

Result<void> create_whole(const ParsedUrl& to, const NewDataset& options, const Fill& fill) {
  return as_call(options.config, [&]() -> Result<void> {
    SHERD_TRY(check_version(options.format));
    NewDataset with = options;
    SHERD_TRY(mode, with_environment(merged_mode(options.mode, to.mode)));
    with.mode = mode;
    SHERD_TRY(place, place_at(to.place, with));
    SHERD_TRY(make_whole(place, with, fill));
    return in_store(place.location.store->finish(), place.location.store->url());
  });
}

Result<Writer> Writer::create(std::shared_ptr<Store> store, const NewDataset& options) {
  return as_call(options.config, [&]() -> Result<Writer> {
    SHERD_TRY(check_version(options.format));
    NewDataset with = options;
    SHERD_TRY(mode, with_environment(options.mode));
    with.mode = mode;
    with.config = traced(options.config);
    SHERD_TRY(place, place_in(std::move(store), with));
    if (!options.overwrite) {
      SHERD_TRY(state, create_writer(std::move(place.location), with));
      return Writer(std::move(state));
    }
    place.location.tables.changed = no_lists;  // the writer makes its own notes
    SHERD_TRY(state, make_whole(place, with, [](const Writer&) { return Result<void>(); }));
    state->form.location.store = place.location.store;
    return Writer(std::move(state));
  });
}

Result<Writer> Writer::create(std::string_view url, const NewDataset& options) {
  SHERD_TRY(parsed, parse_dataset_url(url));
  if (is_file_name(parsed))
    return invalid_argument(
        "'" + parsed.place.shown + "' is the name of a netCDF file, and a new dataset is stored as Zarr: " +
        "choose a name such as " + parsed.place.shown.substr(0, parsed.place.shown.rfind('.')) + ".zarr, or " +
        parsed.place.shown + "#mode=nczarr; a copy of the dataset with the name of a file is one");
  SHERD_TRY(store, open_sought(parsed.place, options.config));
  NewDataset inside = options;
  inside.mode = merged_mode(options.mode, parsed.mode);
  const std::string name = store->url();
  const auto made = [&]() -> Result<Writer> {
    SHERD_TRY(around, enclosure_of_new(*store, inside.config));
    if (around && around->format != nullptr && around->format->name() != inside.format)
      return conflict("is inside a hierarchy of the format " + std::string(around->format->name()) + " (" +
                      around->store->url() + "), whose members cannot have the format " + inside.format +
                      std::string(kStandalone))
          .in_key(around->path);
    return create(store, inside);
  };
  return in_store(made(), name);
}

}  // namespace sherd::netcdf
