// Determines the source and the destination of a copy of a netCDF dataset.
#include "sherd/netcdf_copy.hpp"

#include <algorithm>
#include <filesystem>

#include "api/netcdf.hpp"
#include "api/registry.hpp"
#include "base/call.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "copy/netcdf_copy.hpp"
#include "io/netcdf_file.hpp"
#include "sherd/netcdf_cdl.hpp"
#include "sherd/netcdf_writer.hpp"

namespace sherd::netcdf {

namespace {

constexpr std::string_view kSuffixes[] = {".nc", ".nc3", ".nc4", ".cdf", ".netcdf"};

/// "nczarr", or the kind of a file.
Result<std::string> kind_of_copy(const Dataset& source, const ParsedUrl& to, const DatasetCopyOptions& options) {
  if (options.deflate_level && (*options.deflate_level < 0 || *options.deflate_level > 9))
    return invalid_argument("must be from 0 to 9").in_member("deflate_level");
  if (options.kind == "nczarr") return options.kind;
  if (!options.kind.empty()) {
    auto kind = netcdf_kind(options.kind);
    if (kind) return kind;
    return invalid_argument(kind.error().message() + ", or nczarr; pure Zarr is nczarr at a URL with #mode=zarr")
        .in_member("kind");
  }
  if (!is_file_name(to)) return std::string("nczarr");
  if (source.format() != "netcdf") return std::string("netCDF-4");
  const bool wants_chunks = options.deflate_level.value_or(0) > 0 || !options.filters.empty() ||
                            !options.dimension_chunks.empty() || !options.variable_chunks.empty();
  const std::string kind(source.kind());
  // As in netcdf-c: features that classic files lack make it a netCDF-4 file of the classic model.
  if (wants_chunks && (kind == "classic" || kind == "64-bit offset")) return std::string("netCDF-4 classic model");
  return wants_chunks && kind == "cdf5" ? std::string("netCDF-4") : kind;
}

/// A copy cannot be inside its own source, nor replace it.
Result<void> check_apart(const std::string& source, const std::string& destination) {
  if (source.empty() || destination.empty()) return {};
  std::error_code failed;
  const auto from = std::filesystem::weakly_canonical(source, failed).string() + "/";
  const auto to = std::filesystem::weakly_canonical(destination, failed).string() + "/";
  if (!to.starts_with(from) && !from.starts_with(to)) return {};
  return invalid_argument("cannot copy " + source + " to " + destination + ": one lies inside the other");
}

/// Whether the options leave out a damaged part, as a variable and, unless it is one, as a group: a bare name selects
/// what has it in any group.
bool is_left_out(const Unread& part, const DatasetCopyOptions& options) {
  const std::string& path = part.path;
  const std::size_t slash = path.rfind('/');
  const std::string name = path.substr(slash + 1), group = path.substr(0, std::max<std::size_t>(slash, 1));
  const auto any = [](const std::vector<std::string>& names, const auto& test) {
    return names.empty() || std::ranges::any_of(names, test);
  };
  const auto absolute = [](const std::string& each) { return each.starts_with('/') ? each : "/" + each; };
  const auto is_part = [&](const std::string& each) { return each == name || absolute(each) == path; };
  const auto is_group = [&](const std::string& each) {
    return each == group.substr(group.rfind('/') + 1) || absolute(each) == group;
  };
  const auto may_be_inside = [&](const std::string& each) {
    return each.find('/') == each.npos || (absolute(each) + "/").starts_with(path + "/");
  };
  if (any(options.variables, is_part) && any(options.groups, is_group)) return false;
  const bool is_array = !part.may_be_group || part.error.key().ends_with("/.zarray");
  return is_array || !any(options.variables, may_be_inside) || !any(options.groups, may_be_inside);
}

/// A copy that lacks something must not look complete.
Result<void> check_complete(const Dataset& source, const DatasetCopyOptions& options) {
  if (options.skip_damaged) return {};
  std::vector<Unread> parts = source.unread();
  std::erase_if(parts, [&](const Unread& each) { return each.path != "/" && is_left_out(each, options); });
  if (parts.empty()) return {};
  return lacking("is needed to copy only the rest of " + source.url() + ", without ", parts).in_member("skip_damaged");
}

Result<void> check_file_options(const std::string& kind, const DatasetCopyOptions& options) {
  if (kind.starts_with("netCDF-4")) return {};
  const bool filtered =
      std::ranges::any_of(options.filters, [](const FilterChoice& each) { return !each.filters.empty(); });
  if (options.deflate_level.value_or(0) > 0 || options.shuffle || filtered)
    return invalid_argument("files of the kind '" + kind + "' have no filters; choose netCDF-4 or netCDF-4-classic")
        .in_member("kind");
  return {};
}

/// `sparse`: as in CopyTask.
Result<DatasetCopyReport> copy_to_file(const Dataset& source, NewNetcdfFile file, const DatasetCopyOptions& options,
                                       bool sparse) {
  SHERD_TRY(check_file_options(file.kind, options));
  DatasetCopyReport report{.kind = file.kind};
  const FilterForm form = file.kind.starts_with("netCDF-4") ? FilterForm::hdf5 : FilterForm::none;
  file.mode = {options.overwrite, options.config.durable};
  file.fills = sparse || !options.data_variables.empty() || !options.data_groups.empty();
  file.attributes = copied_attributes(source.root().attributes(), form, "/", report.warnings);
  SHERD_TRY(sink, create_netcdf_file(file));
  return copy_dataset({.source = source, .sink = *sink, .form = form, .options = options, .sparse = sparse},
                      std::move(report));
}

Result<DatasetCopyReport> copy_to_zarr(const Dataset& source, const ParsedUrl& to, const DatasetCopyOptions& options) {
  DatasetCopyReport report{.kind = "nczarr"};
  const FilterForm form = options.format == "zarr3" ? FilterForm::zarr3 : FilterForm::zarr2;
  NewDataset dataset{.format = options.format, .mode = options.mode, .overwrite = options.overwrite};
  dataset.consolidated = options.consolidated;
  dataset.config = options.config;
  dataset.attributes = copied_attributes(source.root().attributes(), form, "/", report.warnings);
  SHERD_TRY(create_whole(to, dataset, [&](Writer writer) -> Result<void> {
    const Mode mode = writer.mode();
    const auto sink = sink_of(std::move(writer));
    SHERD_TRY(copied, copy_dataset({source, *sink, form, options, mode}, std::move(report)));
    report = std::move(copied);
    return {};
  }));
  return report;
}

/// The path of a netCDF file to be written.
Result<std::string> new_file_path(const ParsedUrl& to) {
  std::string path = file_path_of(to);
  if (path.empty() || is_anonymous(to.place.shown))
    return invalid_argument("a netCDF file can only be written to a path, not to " + to.place.shown);
  return path;
}

}  // namespace

Error lacking(std::string text, const std::vector<Unread>& parts) {
  for (const Unread& each : parts)
    text += (&each == parts.data() ? "" : "; ") + each.path + ": " + std::string(each.error.text());
  return Error(parts.front().error.code(), std::move(text));
}

bool is_file_name(const ParsedUrl& url) { return url.parameters.empty() && has_suffix(url.place.shown, kSuffixes); }

Result<DatasetCopyReport> write_file(const Cdl& cdl, const ParsedUrl& to, const DatasetCopyOptions& options) {
  SHERD_TRY(path, new_file_path(to));
  return as_call(options.config, [&]() -> Result<DatasetCopyReport> {
    const auto store = memory_store();
    Config config;
    config.write_empty_chunks = true;  // a variable has data if it has chunks
    SHERD_TRY(writer, Writer::create(store, {.format = "zarr3", .mode = options.mode, .config = config}));
    SHERD_TRY(cdl.write(writer));
    SHERD_TRY(dataset, Dataset::open(store));
    SHERD_TRY(kind, netcdf_kind(options.kind));
    return copy_to_file(dataset, {.path = path, .kind = kind}, options, true);
  });
}

Result<DatasetCopyReport> copy(std::string_view source, std::string_view destination,
                               const DatasetCopyOptions& options) {
  return as_call(options.config, [&]() -> Result<DatasetCopyReport> {
    SHERD_TRY(from, parse_dataset_url(source));
    SHERD_TRY(to, parse_dataset_url(destination));
    SHERD_TRY(check_apart(file_path_of(from), file_path_of(to)));
    Config reading = config_beside(from.place, to.place, options.config);
    reading.progress = nullptr;
    reading.memory_budget = std::max<std::uint64_t>(options.config.memory_budget / 4, std::uint64_t{1} << 20U);
    SHERD_TRY(dataset,
              Dataset::open(source, {.mode = options.source_mode, .config = reading, .format = options.source_format}));
    SHERD_TRY(check_complete(dataset, options));
    SHERD_TRY(kind, kind_of_copy(dataset, to, options));
    if (!options.shards.empty() && (kind != "nczarr" || options.format != "zarr3"))
      return invalid_argument("only datasets in Zarr v3 have shards; choose the format zarr3").in_member("shards");
    DatasetCopyOptions writing = options;
    writing.config = config_beside(to.place, from.place, options.config);
    if (kind == "nczarr") return copy_to_zarr(dataset, to, writing);
    SHERD_TRY(path, new_file_path(to));
    return copy_to_file(dataset, {.path = path, .kind = kind}, options, false);
  });
}

}  // namespace sherd::netcdf
