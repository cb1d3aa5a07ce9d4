// sherd nccopy: copies a netCDF dataset to NCZarr or to a netCDF file, with the options of netcdf-c's nccopy.
#include <algorithm>

#include "base/text.hpp"
#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/hierarchy.hpp"
#include "cli/nc_source.hpp"
#include "cli/netcdf_lengths.hpp"
#include "cli/option_errors.hpp"
#include "cli/options.hpp"
#include "cli/parser.hpp"
#include "cli/session.hpp"
#include "cli/values.hpp"
#include "sherd/netcdf_copy.hpp"

namespace sherd::cli {
namespace {

/// Adds the names in "a,/g/b" to those of earlier options with the same name.
Result<void> add_names(const std::vector<std::string>& lists, std::string_view option, std::vector<std::string>& to) {
  for (const std::string& list : lists) {
    SHERD_TRY(names, names_in(list, ',', option));
    to.insert(to.end(), names.begin(), names.end());
  }
  return {};
}

/// "/"; "var:10,20", "var:", "var:contiguous"; or "time/10,lat/".
Result<void> add_chunks(const std::string& text, netcdf::DatasetCopyOptions& options) {
  if (text == "/") {
    options.unchunked = true;
    return {};
  }
  netcdf::ShardLengths lengths;
  SHERD_TRY(add_lengths(text, "-c", lengths));
  std::ranges::move(lengths.variables, std::back_inserter(options.variable_chunks));
  std::ranges::move(lengths.dimensions, std::back_inserter(options.dimension_chunks));
  return {};
}

/// "none"; "var,id,parameter,…", "var1|var2,none", "*,id,…"; more filters follow after "|", as in id,p|id,p.
Result<void> add_filter(const std::string& text, netcdf::DatasetCopyOptions& options) {
  netcdf::FilterChoice choice;
  if (text == "none") {
    options.filters.push_back(std::move(choice));
    return {};
  }
  const std::size_t comma = text.find(',');
  if (comma == text.npos)
    return invalid_argument("-F: '" + text + "' names no filter; write none, VARIABLE,none, VARIABLE,ID,… or '*,ID,…'");
  const std::string names = text.substr(0, comma), filters = text.substr(comma + 1);
  if (names != "*") {
    SHERD_TRY(variables, names_in(names, '|', "-F"));
    choice.variables = std::move(variables);
  }
  if (filters != "none") {
    for (const std::string_view each : split(filters, '|')) {
      netcdf::Filter filter;
      const auto numbers = split(each, ',');
      constexpr std::uint64_t most = 0xFFFFFFFF;
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        SHERD_TRY(number, number_of(numbers[i], "-F"));
        if (number > most)
          return invalid_argument("-F: " + std::string(numbers[i]) +
                                  " is out of range; numbers of filters are at most 4294967295");
        if (i == 0)
          filter.id = static_cast<std::uint32_t>(number);
        else
          filter.parameters.push_back(static_cast<std::uint32_t>(number));
      }
      choice.filters.push_back(std::move(filter));
    }
  }
  options.filters.push_back(std::move(choice));
  return {};
}

struct Nccopy {
  std::string source, destination, kind, memory, cache, cache_elements;
  std::vector<std::string> chunks, shards, filters, variables, data_variables, groups, data_groups;
  std::optional<std::uint64_t> deflate;
  bool nc3 = false, nc4 = false, nc5 = false, nc6 = false, nc7 = false;  ///< other spellings of `kind`
  bool shuffle = false, fixed = false, diskless = false, overwrite = false, skip_damaged = false, no_durable = false;

  Result<int> run(Session& session) const {
    SHERD_TRY(chosen, options(session));
    SHERD_TRY(check_netcdf_source(source));
    SHERD_TRY(report, named(netcdf::copy(source, destination, chosen)));
    for (const std::string& warning : report.warnings) session.note("warning: " + warning);
    SHERD_TRY(session.finish());
    session.note("copied " + print_count(report.variables, "variable") + " and " + print_count(report.groups, "group") +
                 " below the root, " + print_bytes(report.bytes) + ", into " +
                 (report.kind == "nczarr" ? "NCZarr" : "a file of the kind " + report.kind));
    if (session.json()) {
      Json::Array warnings(report.warnings.begin(), report.warnings.end());
      SHERD_TRY(session.out().print(Json::Object{{"kind", report.kind},
                                                 {"groups", report.groups},
                                                 {"variables", report.variables},
                                                 {"bytes", report.bytes},
                                                 {"warnings", Json(std::move(warnings))}}));
    }
    return 0;
  }

 private:
  /// The library's members as command-line options, for errors.
  static Result<netcdf::DatasetCopyReport> named(Result<netcdf::DatasetCopyReport> copied) {
    if (copied || !copied.error().key().empty()) return copied;
    constexpr std::pair<std::string_view, std::string_view> names[] = {
        {"chunks", "-c"},    {"shards", "--shards"},   {"filters", "-F"}, {"deflate_level", "-d"}, {"kind", "-k"},
        {"variables", "-V"}, {"data_variables", "-v"}, {"groups", "-G"},  {"data_groups", "-g"}};
    const Error& error = copied.error();
    for (const auto& [member, option] : names)
      if (error.member() == member) return Error(error.code(), std::string(option) + ": " + error.message());
    return copied;
  }

  Result<std::string> chosen_kind() const {
    std::vector<std::string> given;
    if (!kind.empty()) given.push_back(kind);
    if (kind == "enhanced") given.back() = "nc4";  // names of netcdf-c that only its programs use
    if (kind == "hdf5-nc3") given.back() = "nc7";
    const std::pair<bool, const char*> flags[] = {{nc3, "nc3"}, {nc4, "nc4"}, {nc5, "nc5"}, {nc6, "nc6"}, {nc7, "nc7"}};
    for (const auto& [chosen, name] : flags)
      if (chosen) given.emplace_back(name);
    if (given.size() > 1) return invalid_argument("-k and -3 to -7 all choose the kind of file; use only one of them");
    return given.empty() ? std::string() : given.front();
  }

  Result<netcdf::DatasetCopyOptions> options(Session& session) const {
    netcdf::DatasetCopyOptions options{.config = session.guarded("nccopy")};
    SHERD_TRY(chosen, chosen_kind());
    options.kind = chosen;
    if (!session.format().empty()) options.format = session.format();
    SHERD_TRY(hides, hides_zarr2(source, session.config()));
    if (hides) options.source_format = session.format();
    for (const std::string& each : chunks) SHERD_TRY(add_chunks(each, options));
    SHERD_TRY(sharded, shard_lengths(shards));
    options.shards = std::move(sharded);
    for (const std::string& each : filters) SHERD_TRY(add_filter(each, options));
    SHERD_TRY(add_names(variables, "-V", options.variables));
    SHERD_TRY(add_names(data_variables, "-v", options.data_variables));
    SHERD_TRY(add_names(groups, "-G", options.groups));
    SHERD_TRY(add_names(data_groups, "-g", options.data_groups));
    if (deflate) {
      if (*deflate > 9) return invalid_argument("-d: the level must be from 0 to 9, not " + std::to_string(*deflate));
      options.deflate_level = static_cast<int>(*deflate);
    }
    options.shuffle = shuffle;
    options.fixed_dimensions = fixed;
    options.overwrite = overwrite;
    options.skip_damaged = skip_damaged;
    options.config.durable = !no_durable;
    if (!cache.empty()) SHERD_TRY(parse_size(cache).in([] { return "-h"; }));
    if (!cache_elements.empty()) SHERD_TRY(parse_size(cache_elements).in([] { return "-e"; }));
    SHERD_TRY(apply_memory("-m", memory, options.config));
    return options;
  }
};

}  // namespace

Run add_nccopy(Arguments& arguments) {
  auto copy = std::make_shared<Nccopy>();
  arguments.argument("SRC", copy->source, "A netCDF file, or a dataset of NCZarr or Zarr as ncdump reads it");
  arguments.argument("DST", copy->destination,
                     "The copy: a file if it ends in .nc, .nc3, .nc4, .cdf or .netcdf, otherwise NCZarr");
  arguments.release_h();
  arguments.text("-k", "KIND", copy->kind,
                 "The kind of copy: nczarr (pure Zarr with #mode=zarr after DST), classic (nc3), 64-bit-offset (nc6), "
                 "cdf5 (nc5), netCDF-4 (nc4) or "
                 "netCDF-4-classic (nc7); default: by the name of DST, and of files that of SRC");
  arguments.flag("-3", copy->nc3, "As -k nc3, and likewise -4, -5, -6 and -7");
  arguments.flag("-4", copy->nc4, "As -k nc4");
  arguments.flag("-5", copy->nc5, "As -k nc5");
  arguments.flag("-6", copy->nc6, "As -k nc6");
  arguments.flag("-7", copy->nc7, "As -k nc7");
  arguments.repeated("-c", "CHUNKS", copy->chunks,
                     "Chunk lengths by dimension: time/10,lat/ (lat whole); or of a variable: temp:10,100,100, and "
                     "temp: or / for one chunk");
  arguments.repeated("--shards", "SHARDS", copy->shards, kShardsHelp);
  arguments.number(
      "-d", copy->deflate,
      "Compress with deflate at this level, 0 to 9, and no other filter but the checksum of SRC, if there is "
      "one and DST can have it; 0: no compression");
  arguments.flag("-s", copy->shuffle, "Shuffle bytes before deflating");
  arguments.repeated("-F", "FILTER", copy->filters,
                     "Filters by their HDF5 numbers: none; VARIABLE,307,9; 'a|b,none'; '*,2|1,5' for all variables");
  arguments.repeated("-V", "NAME,...", copy->variables, "Copy these variables only: name, group/name, /group/name");
  arguments.repeated("-v", "NAME,...", copy->data_variables,
                     "Copy the definitions of all variables, and the data of these; the others have fill values");
  arguments.repeated("-G", "NAME,...", copy->groups,
                     "Copy the variables of these groups only: name, /group/name; / is the root");
  arguments.repeated("-g", "NAME,...", copy->data_groups,
                     "Copy the definitions of all groups, and the data of these; the others have fill values");
  arguments.flag("-u", copy->fixed, "Make unlimited dimensions fixed");
  arguments.text(
      "-m", "SIZE", copy->memory,
      "Memory that the copy may use, at least 8MiB, and enough for a chunk of DST and the chunks of SRC that "
      "overlap it; default: 256MiB");
  arguments.flag("--overwrite", copy->overwrite, "Replace an existing DST");
  arguments.flag("--skip-damaged", copy->skip_damaged,
                 "Leave out variables and groups of SRC that cannot be read, with a warning; default: an error");
  arguments.flag("--no-durable", copy->no_durable, "Do not wait until the copy has reached the disk");
  arguments.flag("-w", copy->diskless, "Accepted and ignored, as are -h and -e: chunks are read once");
  arguments.text("-h", "SIZE", copy->cache, "netcdf-c's size of the chunk cache");
  arguments.text("-e", "NUMBER", copy->cache_elements, "netcdf-c's number of chunks in it");
  arguments.examples(
      {{"sherd nccopy ocean.nc ocean.zarr", "a netCDF file, classic or netCDF-4, into NCZarr"},
       {"sherd nccopy -d 1 -s -c time/12,lat/,lon/ ocean.nc ocean.zarr", "compressed, in chunks of 12 maps"},
       {"sherd nccopy -c temp:120,50,50 -m 1GiB ocean.zarr series.zarr", "other chunks of one variable"},
       {"sherd --store-format zarr3 nccopy ocean.nc 'ocean.zarr#mode=zarr'", "pure Zarr v3"},
       {"sherd --store-format zarr3 nccopy --shards time/120,lat/,lon/ -c time/12 ocean.nc 'ocean.zarr#mode=zarr'",
        "pure Zarr v3 with shards of ten chunks"},
       {"sherd nccopy ocean.zarr ocean.nc", "back into a netCDF-4 file"},
       {"sherd nccopy -V temp,time,lat,lon ocean.nc temp.zarr", "a variable and its coordinates"},
       {"sherd nccopy -k nc3 ocean.zarr old.nc", "into a classic file"}});
  return [copy](Session& session) { return copy->run(session); };
}

}  // namespace sherd::cli
