// sherd.netcdf.copy().
#include "sherd/netcdf_copy.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "python/bindings.hpp"
#include "python/config.hpp"

namespace sherd::python {
namespace {

using netcdf::DatasetCopyOptions;

std::vector<netcdf::Filter> filters_from(nb::handle given) {
  std::vector<netcdf::Filter> filters;
  for (const nb::handle each : given) {
    auto numbers = nb::cast<std::vector<std::uint32_t>>(each);
    const std::uint32_t id = numbers.front();
    numbers.erase(numbers.begin());
    filters.push_back({.id = id, .parameters = std::move(numbers)});
  }
  return filters;
}

/// From pairs of a name and either the length of that dimension or the lengths of that variable.
netcdf::ShardLengths lengths_from(nb::handle given) {
  netcdf::ShardLengths lengths;
  for (const nb::handle pair : given) {
    const auto name = nb::cast<std::string>(pair[0]);
    if (nb::isinstance<nb::int_>(pair[1]))
      lengths.dimensions.emplace_back(name, nb::cast<std::uint64_t>(pair[1]));
    else
      lengths.variables.emplace_back(name, nb::cast<Shape>(pair[1]));
  }
  return lengths;
}

/// `filters`: pairs of a variable (or None) and a list of filters.
nb::dict copy(const std::string& source, const std::string& destination, const nb::dict& given, nb::handle settings) {
  DatasetCopyOptions options{.config = config_from(settings)};
  options.kind = nb::cast<std::string>(given["kind"]);
  options.format = nb::cast<std::string>(given["format"]);
  options.source_format = nb::cast<std::string>(given["source_format"]);
  netcdf::ShardLengths chunks = lengths_from(given["chunks"]);
  options.dimension_chunks = std::move(chunks.dimensions);
  options.variable_chunks = std::move(chunks.variables);
  options.shards = lengths_from(given["shards"]);
  options.shards.automatic = nb::cast<bool>(given["auto_shards"]);
  options.unchunked = nb::cast<bool>(given["unchunked"]);
  options.deflate_level = nb::cast<std::optional<int>>(given["deflate"]);
  options.shuffle = nb::cast<bool>(given["shuffle"]);
  for (const nb::handle pair : given["filters"]) {
    netcdf::FilterChoice choice{.filters = filters_from(pair[1])};
    if (!pair[0].is_none()) choice.variables = {nb::cast<std::string>(pair[0])};
    options.filters.push_back(std::move(choice));
  }
  options.variables = nb::cast<std::vector<std::string>>(given["variables"]);
  options.data_variables = nb::cast<std::vector<std::string>>(given["data_variables"]);
  options.groups = nb::cast<std::vector<std::string>>(given["groups"]);
  options.data_groups = nb::cast<std::vector<std::string>>(given["data_groups"]);
  options.fixed_dimensions = nb::cast<bool>(given["fixed_dimensions"]);
  options.overwrite = nb::cast<bool>(given["overwrite"]);
  options.skip_damaged = nb::cast<bool>(given["skip_damaged"]);
  options.consolidated = nb::cast<bool>(given["consolidated"]);
  const auto report = call([&] { return netcdf::copy(source, destination, options); });
  nb::dict counts;
  counts["kind"] = report.kind;
  counts["groups"] = report.groups;
  counts["variables"] = report.variables;
  counts["bytes"] = report.bytes;
  counts["warnings"] = strings_to(report.warnings);
  return counts;
}

}  // namespace

void bind_netcdf_copy(nb::module_& module) {
  module.def("netcdf_copy", copy, nb::arg("source"), nb::arg("destination"), nb::arg("options"),
             nb::arg("config").none(),
             nb::sig("def netcdf_copy(source: str, destination: str, options: dict[str, typing.Any],"
                     " config: typing.Any) -> dict[str, typing.Any]"));
}

}  // namespace sherd::python
