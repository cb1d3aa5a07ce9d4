// sherd ncdump: prints a dataset as CDL, with the options of netcdf-c's ncdump.
#include <algorithm>
#include <charconv>

#include "api/netcdf.hpp"
#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/nc_source.hpp"
#include "cli/parser.hpp"
#include "cli/session.hpp"
#include "cli/values.hpp"
#include "sherd/netcdf.hpp"

namespace sherd::cli {
namespace {

struct Ncdump {
  std::string url, name, digits;
  std::optional<std::string> variables, groups;
  bool header = false, coordinates = false, special = false, times = false, iso = false, brief = false, full = false,
       fortran = false, kind = false, xml = false, cache = false;
  std::uint64_t length = 80;

  Result<int> run(Session& session) const {
    SHERD_TRY(options, dump_options());
    SHERD_TRY(check_netcdf_source(url));
    SHERD_TRY(dataset, netcdf::Dataset::open(url, {.config = session.config(), .format = session.format()}));
    for (const std::string& warning : dataset.warnings())
      if (!is_of_unread(warning, dataset)) session.note("warning: " + warning);
    if (kind) {
      SHERD_TRY(session.out().write(std::string(dataset.kind()) + "\n"));
      return 0;
    }
    if (xml) {
      SHERD_TRY(text, netcdf::ncml(dataset, options, url));
      SHERD_TRY(session.out().write(text));
    } else {
      SHERD_TRY(netcdf::dump(dataset, options, [&](std::string_view text) { return session.out().write(text); }));
    }
    if (dataset.unread().empty()) return 0;
    return netcdf::lacking("the output lacks what cannot be read: ", dataset.unread());
  }

 private:
  /// Such a warning is part of the error at the end.
  static bool is_of_unread(const std::string& warning, const netcdf::Dataset& dataset) {
    return std::ranges::any_of(dataset.unread(),
                               [&](const netcdf::Unread& each) { return warning.starts_with(each.path + ": "); });
  }

  Result<netcdf::DumpOptions> dump_options() const {
    netcdf::DumpOptions options;
    options.name = name;
    options.header_only = header;
    options.coordinates_only = coordinates;
    if (variables) SHERD_TRY(set_names(*variables, "-v", options.variables));
    if (groups) SHERD_TRY(set_names(*groups, "-g", options.groups));
    options.special_attributes = special;
    options.times = times;
    options.iso_times = iso;
    options.line_length = length;
    options.row_comments = brief;
    options.value_comments = full;
    options.fortran = fortran;
    SHERD_TRY(set_digits(options));
    return options;
  }

  static Result<void> set_names(const std::string& list, std::string_view option, std::vector<std::string>& to) {
    SHERD_TRY(names, names_in(list, ',', option));
    to = std::move(names);
    return {};
  }

  Result<void> set_digits(netcdf::DumpOptions& options) const {
    if (digits.empty()) return {};
    const std::size_t comma = std::min(digits.find(','), digits.size());
    const auto number = [&](const std::string& text, std::optional<int>& to) {
      if (text.empty()) return true;
      int value = 0;
      const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
      to = value;
      return failed == std::errc() && end == text.data() + text.size();
    };
    if (number(digits.substr(0, comma), options.float_digits) &&
        number(digits.substr(std::min(comma + 1, digits.size())), options.double_digits))
      return {};
    return invalid_argument("-p needs one or two numbers of digits, such as 9 or 9,17; not '" + digits + "'");
  }
};

/// Options that share a setting: the last one given wins.
void add_times_and_comments(Arguments& arguments, const std::shared_ptr<Ncdump>& dump) {
  const auto times = [dump](bool iso) {
    return [dump, iso](const std::string&) {
      dump->times = true;
      dump->iso = iso;
      return std::string();
    };
  };
  const auto comments = [dump](bool Ncdump::* which) {
    return [dump, which](const std::string& language) {
      const char first = language.empty() ? '\0' : language.front();
      if (std::string_view("cCfF").find(first) == std::string_view::npos) return "'" + language + "' is none of c, f";
      dump.get()->*which = true;
      dump->fortran = first == 'f' || first == 'F';
      return std::string();
    };
  };
  arguments.in_order("-t", "", "Times as dates, in the calendar of the variable", times(false));
  arguments.in_order("-i", "", "As -t, with T between date and time", times(true));
  arguments.in_order("-b", "LANGUAGE", "A comment before each row, with indices as in C (c) or Fortran (f)",
                     comments(&Ncdump::brief));
  arguments.in_order("-f", "LANGUAGE", "A comment after each value, likewise", comments(&Ncdump::full));
}

}  // namespace

Run add_ncdump(Arguments& arguments) {
  auto dump = std::make_shared<Ncdump>();
  arguments.argument("URL", dump->url,
                     "A dataset of NCZarr or Zarr, or a netCDF file: a path, file://…#mode=nczarr,file");
  arguments.release_h();
  arguments.flag("-h", dump->header, "The header only, no data");
  arguments.flag("-c", dump->coordinates, "The header and the data of coordinate variables");
  arguments.text("-v", "NAME,...", dump->variables, "Data of these variables only: name, group/name, /group/name");
  arguments.text("-g", "NAME,...", dump->groups, "Data of these groups only: name, /group/name");
  arguments.flag("-s", dump->special, "Also attributes that describe the storage, such as _ChunkSizes");
  add_times_and_comments(arguments, dump);
  arguments.number("-l", dump->length, "The length of lines in the data section");
  arguments.text("-n", "NAME", dump->name, "The name of the dataset; default: derived from the URL");
  arguments.text("-p", "N[,N]", dump->digits, "Significant digits of floats and of doubles");
  arguments.flag("-k", dump->kind, "The kind of dataset only");
  arguments.flag("-x", dump->xml, "The header as NcML, for files of the classic model");
  arguments.flag("-w", dump->cache, "Accepted and ignored, as caches need no option");
  arguments.examples({{"sherd ncdump -h ocean.zarr", "dimensions, variables and attributes"},
                      {"sherd ncdump -v temp,salt ocean.zarr", "the header, and the data of two variables"},
                      {"sherd ncdump -t -v time 'file:///data/ocean.zarr#mode=zarr,file'", "times as dates"}});
  return [dump](Session& session) { return dump->run(session); };
}

}  // namespace sherd::cli
