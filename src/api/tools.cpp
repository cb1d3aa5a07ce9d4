// The public entry points for operations on whole trees: copy, check, compact and import. A URL names a store whose
// root is the node; the format is the first in the table that recognizes something there, readable or not.
#include <filesystem>

#include "api/location.hpp"
#include "api/open_hints.hpp"
#include "api/registry.hpp"
#include "api/whole.hpp"
#include "base/call.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "check/check.hpp"
#include "check/compact.hpp"
#include "check/leftovers.hpp"
#include "copy/below.hpp"
#include "copy/copy.hpp"
#include "copy/import_pyramid.hpp"
#include "copy/labels.hpp"
#include "io/files.hpp"
#include "node/path.hpp"
#include "node/stores_above.hpp"
#include "ome/ome.hpp"
#include "sherd/collection.hpp"
#include "sherd/tools.hpp"
#include "store/archive_of.hpp"
#include "store/capabilities.hpp"
#include "store/key.hpp"
#include "store/listing.hpp"

namespace sherd {

namespace {

/// The node at a path, nullopt if there is none. `format` is empty, or the only one that is recognized.
Result<std::optional<NodeLocation>> look_for(const std::shared_ptr<Store>& store, const std::string& path,
                                             const Config& config, const std::string& format) {
  SHERD_TRY(formats, formats_called(format));
  SHERD_TRY(location, make_location(store, path, config));
  return find_format_of(std::move(location), formats);
}

/// The node at a path. If there is none, the error says what else is there, which costs more than the search.
Result<NodeLocation> find_location(const std::shared_ptr<Store>& store, const std::string& path, const Config& config,
                                   const std::string& format) {
  SHERD_TRY(known, look_for(store, path, config, format));
  if (known) return *std::move(known);
  SHERD_TRY(formats, formats_called(format));
  SHERD_TRY(location, make_location(store, path, config));
  return nothing_found(location, formats);
}

/// The store that contains a URL's node, and the path of the node in it.
Result<Enclosure> find_store(std::string_view url, const std::string& path, const Config& config,
                             const std::string& wanted) {
  SHERD_TRY(named, open_named(url, wanted, config));
  auto& [store, format] = named;
  const auto location = look_for(store, path, config, format);
  const bool is_absent = location ? !*location : location.error().code() == ErrorCode::not_found;
  if (!is_absent) return Enclosure{std::move(store), path};
  SHERD_TRY(formats, formats_called(format));
  const auto around = find_around(*store, formats, config);
  if (!around) {
    const auto nothing = find_location(store, path, config, format);  // may say more, as of a path through a file
    const bool says_more = !nothing && nothing.error().code() != ErrorCode::not_found;
    return says_more ? nothing.error() : around.error();
  }
  if (!*around) return Enclosure{std::move(store), path};
  return Enclosure{(*around)->store, (*around)->path + "/" + path};
}

/// A location of a collection, which may be overwritten although it is not a node.
Result<CollectionCopy> collection_copy(NodeLocation location) {
  location.writable = true;
  SHERD_TRY(formats, formats_called("precomputed"));
  SHERD_TRY(format, formats.front()->in(*location.store, location.config.limits));
  location.format = std::move(format);
  SHERD_TRY(there, collection_location(location.store, location.path, false, location.config));
  const auto found = neuroglancer::Collection::State::find(std::move(there));
  if (!found && !is_stored_fault(found.error())) return found.error();
  const bool is_there = !found || *found;  // even if its info is damaged
  return CollectionCopy{std::move(location), is_there};
}

std::string url_in(const Group& group, std::string_view name) {
  return url_below(group.store()->url(), prefix_of(group.path()) + std::string(name));
}

/// A copy of a volume contains the collections that its info links to, and no others, such as annotations. A copy of a
/// single image, for example one with new resolutions, does not include its labels.
std::vector<std::string> members_left_out(const Group& original, const Group& copy) {
  std::vector<std::string> warnings;
  for (const neuroglancer::VolumeCollection& each : neuroglancer::collections_in(original))
    if (!neuroglancer::Collection::open(copy.store(), {.path = prefix_of(copy.path()) + each.name}))
      warnings.push_back(url_in(original, each.name) + " is not part of this copy; copy it by itself");
  const auto described = describe_image(original);
  const Json* const labels = described && *described ? (*described)->find("labels") : nullptr;
  const auto copied = copy.contains("labels");
  if (labels == nullptr || labels->size() == 0 || (copied.has_value() && *copied)) return warnings;
  std::string names;
  for (const Json& each : labels->elements()) names += (names.empty() ? "" : ", ") + each.text();
  warnings.push_back("labels are not part of this copy: " + names + "; copy them from " + url_in(original, "labels"));
  return warnings;
}

/// Copies nodes, and looks for what is missing from the copy of a group.
Result<CopyReport> copy_with_warnings(const NodeLocation& from, const NodeLocation& to, const CopyOptions& options) {
  SHERD_TRY(report, copy_nodes(from, to, options));
  const auto group_at = [](const NodeLocation& at) {
    return open_group(at.store, {.path = at.path, .config = {.limits = at.config.limits}});
  };
  if (const auto original = group_at(from))
    if (const auto copied = group_at(to))
      for (std::string& each : members_left_out(*original, *copied)) report.warnings.push_back(std::move(each));
  return report;
}

}  // namespace

Result<CopyReport> copy(std::shared_ptr<Store> source, std::shared_ptr<Store> destination, const CopyOptions& options) {
  return as_call(options.config, [&]() -> Result<CopyReport> {
    const bool one_store = source == destination;
    if (destination->read_only()) return invalid_argument("the store " + destination->url() + " is read-only");
    const auto found = find_location(source, options.source_path, options.config, options.source_format);
    SHERD_TRY(to, make_location(std::move(destination), options.destination_path, options.config));
    if (!found && found.error().code() == ErrorCode::not_found) {
      SHERD_TRY(collection, collection_location(source, options.source_path, false, options.config));
      SHERD_TRY(is_there, neuroglancer::Collection::State::find(collection));
      if (!is_there) return found.error();
      if (!options.format.empty() && options.format != "precomputed")
        return unsupported("a collection of objects can be copied as it is, not to the format " + options.format);
      NodeLocation there = to;
      there.store = collection.store;
      there.path = collection.path;
      SHERD_TRY(check_apart(there, to, one_store));
      SHERD_TRY(copied, collection_copy(std::move(to)));
      return in_store(copy_collection({collection.store, collection.path}, copied, options),
                      copied.location.store->url());
    }
    SHERD_TRY(from, found);
    to.writable = true;
    SHERD_TRY(formats, formats_called(options.format.empty() ? std::string(from.format->name()) : options.format));
    SHERD_TRY(format, formats.front()->in(*to.store, options.config.limits));
    if (format == nullptr) return other_hierarchy(*formats.front());
    to.format = std::move(format);
    SHERD_TRY(check_apart(from, to, one_store));
    return copy_with_warnings(from, to, options);
  });
}

// A copy joins the hierarchy around its destination, and has its format.
Result<CopyReport> copy(std::string_view source, std::string_view destination, const CopyOptions& options) {
  return as_call(options.config, [&]() -> Result<CopyReport> {
    SHERD_TRY(parsed_source, parse_url(source));
    SHERD_TRY(parsed, parse_url(destination));
    const Config reading = config_beside(parsed_source, parsed, options.config);
    SHERD_TRY(from, find_store(source, options.source_path, reading, options.source_format));
    SHERD_TRY(wanted, format_of(parsed, options.format));
    CopyOptions inside = options;
    inside.config = config_beside(parsed, parsed_source, options.config);
    SHERD_TRY(to, open_sought(parsed, inside.config));
    inside.source_path = from.path;
    inside.format = wanted;
    SHERD_TRY(around, enclosure(*to, inside.config));
    const auto is_node = [&] {
      const auto found = look_for(from.store, from.path, reading, options.source_format);
      return found && *found;
    };
    if (!around && is_node()) SHERD_TRY(refuse_inside(*to, inside.config));
    if (around) {
      to = std::move(around->store);
      inside.destination_path = join_path(around->path, options.destination_path);
      SHERD_TRY(formats, formats_called({}));
      SHERD_TRY(root, make_location(to, "", inside.config));
      SHERD_TRY(hierarchy, find_format_of(std::move(root), formats, Unreadable::fails));
      const std::string format = hierarchy ? std::string(hierarchy->format->name()) : wanted;
      if (!wanted.empty() && wanted != format)
        return conflict(std::string(destination) + " is in a hierarchy of the format " + format + "; the format " +
                        wanted + " needs a store of its own" + std::string(kStandalone));
      inside.format = format;
    }
    begin_whole(*to);
    SHERD_TRY(report, copy(std::move(from.store), to, inside));
    SHERD_TRY(finish_whole(to));
    return report;
  });
}

namespace {

/// Warns of what writers have begun to send to an object store and not ended. A store that does not list them, or does
/// not allow it, has none.
Result<void> check_uploads(const NodeLocation& location, bool repairs, CheckReport& report) {
  auto* const store = dynamic_cast<UploadingStore*>(location.store.get());
  if (store == nullptr) return {};
  const auto warn = [&](const std::string& key, const std::string& since) -> Result<bool> {
    std::string message = "a writer that began at " + since + " has sent parts of a new version and not ended";
    if (repairs)
      report.repaired.push_back({"upload_removed", key, std::move(message)});
    else
      report.faults.push_back({Fault::Severity::warning, "unfinished_upload", key, {}, {}, std::move(message)});
    return repairs;
  };
  for (const std::string& prefix : location.format->contents(location.path)) {
    auto listed = store->visit_uploads(prefix, warn);
    if (!listed && !is_unlisted(listed.error())) return listed;
  }
  return {};
}

/// Removes what killed writers have left that is not an object.
Result<void> remove_leftovers(const NodeLocation& location, CheckReport& report) {
  auto* const store = dynamic_cast<LeftoverStore*>(location.store.get());
  if (store == nullptr) return {};
  for (const std::string& prefix : location.format->contents(location.path))
    SHERD_TRY(store->remove_leftovers(prefix, [&](const std::string& key) -> Result<void> {
      report.repaired.push_back({"side_file_removed", key, "is held by no writer"});
      return {};
    }));
  return {};
}

/// Checks a node, and repairs what is wrong with it and around it if that is wanted.
Result<CheckReport> check_node(NodeLocation location, const CheckOptions& options) {
  CheckReport before;
  const StoreTraits traits = location.store->traits();
  std::shared_ptr<LeftoversSeen> left;  // with locks, they are no objects
  if (!traits.locks && traits.can_list && !is_in_archive(*location.store))
    location.store = left = std::make_shared<LeftoversSeen>(location.store);
  if (options.repair) SHERD_TRY(remove_leftovers(location, before));
  SHERD_TRY(nodes, check_nodes(location, options));
  nodes.repaired.insert(nodes.repaired.begin(), before.repaired.begin(), before.repaired.end());
  SHERD_TRY(check_archive(location.store, nodes));
  if (options.data)
    for (const std::string& prefix : location.format->contents(location.path))
      SHERD_TRY(check_members(*location.store, prefix, options.config, nodes));
  SHERD_TRY(check_uploads(location, options.repair.has_value(), nodes));
  if (left) SHERD_TRY(left->report(location, options.repair.has_value(), nodes));
  return nodes;
}

}  // namespace

Result<CheckReport> check(std::shared_ptr<Store> store, const CheckOptions& options) {
  return as_call(options.config, [&]() -> Result<CheckReport> {
    if (options.repair && store->read_only())
      return invalid_argument("the store " + store->url() + " is read-only, so nothing in it can be repaired");
    if (options.sharding) {
      SHERD_TRY(shards, collection_location(std::move(store), options.path, false, options.config));
      CheckReport report;
      SHERD_TRY(check_values(shards, *options.sharding, options.data, report));
      return report;
    }
    const auto location = find_location(store, options.path, options.config, options.format);
    if (location) return check_node(*location, options);
    CheckReport report;
    if (is_stored_fault(location.error())) {  // of the document of the whole hierarchy
      SHERD_TRY(add_unreadable(location.error(), location.error().key(), report));
      return report;
    }
    if (location.error().code() != ErrorCode::not_found) return location.error();
    SHERD_TRY(collection, collection_location(std::move(store), options.path, false, options.config));
    SHERD_TRY(found, check_collection(collection, options.data, report));
    SHERD_TRY(nowhere, make_location(collection.store, options.path, options.config));
    SHERD_TRY(left, left_without_node(nowhere, options.repair.has_value()));
    if (!found) {
      for (Fault& fault : left.faults) fault.severity = Fault::Severity::error;
      return left.faults.empty() && left.repaired.empty() ? location.error() : Result<CheckReport>(std::move(left));
    }
    std::ranges::move(left.faults, std::back_inserter(report.faults));
    std::ranges::move(left.repaired, std::back_inserter(report.repaired));
    SHERD_TRY(check_archive(collection.store, report));
    if (options.data) SHERD_TRY(check_members(*collection.store, prefix_of(collection.path), options.config, report));
    return report;
  });
}

Result<CheckReport> check(std::string_view url, const CheckOptions& options) {
  return as_call(options.config, [&]() -> Result<CheckReport> {
    if (options.sharding) {
      SHERD_TRY(store, open_store(url, options.config));
      return check(std::move(store), options);
    }
    SHERD_TRY(location, find_store(url, options.path, options.config, options.format));
    CheckOptions inside = options;
    inside.path = location.path;
    if (options.repair) begin_whole(*location.store);
    SHERD_TRY(report, check(location.store, inside));
    if (!report.repaired.empty()) SHERD_TRY(finish_whole(location.store));
    return report;
  });
}

Result<CompactReport> compact(std::shared_ptr<Store> store, const CompactOptions& options) {
  return as_call(options.config, [&]() -> Result<CompactReport> {
    if (store->read_only()) return invalid_argument("the store " + store->url() + " is read-only");
    const auto location = find_location(store, options.path, options.config, options.format);
    if (location) return compact_nodes(*location);
    if (location.error().code() != ErrorCode::not_found) return location.error();
    SHERD_TRY(collection, collection_location(std::move(store), options.path, true, options.config));
    SHERD_TRY(report, compact_collection(std::move(collection)));
    return report ? Result<CompactReport>(*report) : location.error();
  });
}

Result<CompactReport> compact(std::string_view url, const CompactOptions& options) {
  return as_call(options.config, [&]() -> Result<CompactReport> {
    SHERD_TRY(location, find_store(url, options.path, options.config, options.format));
    CompactOptions inside = options;
    inside.path = location.path;
    begin_whole(*location.store);
    SHERD_TRY(report, compact(location.store, inside));
    if (report.shards != 0) SHERD_TRY(finish_whole(location.store));
    return report;
  });
}

namespace {

/// Refuses options that a single array cannot have.
Result<void> refuse_image_options(const ImportOptions& options) {
  SHERD_TRY(refuse_volume_options({.encoding = options.encoding, .sharding = options.sharding}));
  if (options.type.empty()) return {};
  return std::move(invalid_argument("can only be used with a pyramid, or for a volume")).in_member("type");
}

}  // namespace

Result<Array> import_file(const std::string& source, std::string_view url, const ImportOptions& options) {
  return as_call(options.create.config, [&]() -> Result<Array> {
    SHERD_TRY(file, path_to_import(source));
    if (options.from.empty() && !find_file_format({}, file))
      if (auto error = hint_at_source(file)) return *std::move(error);
    SHERD_TRY(location, new_location(url, options.create.format, options.create.config));
    begin_whole(*location.store);
    const auto reopen = [&](std::string path) -> Result<Array> {
      SHERD_TRY(finish_whole(location.store));
      return open_array(url, {.path = std::move(path), .writable = true, .config = options.create.config});
    };
    if (!location.format->arrays_have_documents()) {
      SHERD_TRY(import_volume(file, options, location));
      return reopen("");
    }
    SHERD_TRY(labelled, find_labelled_image(location));
    if (!options.pyramid && !labelled) {
      SHERD_TRY(refuse_image_options(options));
      SHERD_TRY(import_at(file, options, location));
      return reopen("");
    }
    SHERD_TRY(import_pyramid(file, options, location, labelled));
    return reopen("0");
  });
}

}  // namespace sherd
