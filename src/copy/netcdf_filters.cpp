// Converts filters of HDF5, by number, to codecs of Zarr, by name, and back. A filter that one side lacks is an error,
// and is never left out silently.
#include <algorithm>

#include "base/try.hpp"
#include "copy/netcdf_copy.hpp"
#include "netcdf/filters.hpp"
#include "netcdf/type.hpp"

namespace sherd::netcdf {

namespace {

constexpr std::string_view kAdvice = "; choose filters with -d or -F";

bool has_member(const std::string& name) { return name == "zlib" || name == "shuffle" || name == "fletcher32"; }

/// Codecs as HDF5's filters; an error for a codec without an HDF5 filter.
Result<std::vector<Filter>> filters_of(const std::vector<Json>& codecs) {
  std::vector<Filter> filters;
  for (const Json& codec : codecs) {
    if (is_layout(codec)) continue;
    auto filter = filter_of(codec);
    if (!filter)
      return unsupported("the codec '" + plain_name(codec) +
                         "' has no counterpart among the filters of netCDF-4 files" + std::string(kAdvice));
    filters.push_back(*std::move(filter));
  }
  return filters;
}

/// The codec that converts elements of this type to bytes.
Json serializer(const Variable& source, FilterForm form, bool big_endian) {
  if (source.type() == Type::string && form == FilterForm::zarr3) return Json::Object{{"name", "vlen-utf8"}};
  const bool wide = element_size(source.type()) > 1;
  if (!wide) return Json::Object{{"name", "bytes"}};
  return Json::Object{{"name", "bytes"}, {"configuration", Json::Object{{"endian", big_endian ? "big" : "little"}}}};
}

bool is_plain(const std::vector<Filter>& filters) {
  constexpr std::uint32_t order[] = {filter_id::shuffle, filter_id::deflate, filter_id::fletcher32};
  std::size_t at = 0;
  for (const Filter& each : filters) {
    while (at < 3 && order[at] != each.id) ++at;
    if (at++ == 3) return false;
  }
  return true;
}

/// Sets the members for the three filters for which netCDF has functions.
Result<void> set_members(const std::vector<Filter>& filters, NewVariable& to) {
  for (const Filter& each : filters) {
    if (each.id == filter_id::shuffle) to.shuffle = true;
    if (each.id == filter_id::fletcher32) to.fletcher32 = true;
    if (each.id != filter_id::deflate) continue;
    const std::uint32_t level = each.parameters.empty() ? 1 : each.parameters.front();
    if (level > 9) return invalid_argument("the level of deflate must be from 0 to 9, not " + std::to_string(level));
    to.deflate_level = static_cast<int>(level);
  }
  return {};
}

bool is_checksum(const Filter& filter) { return filter.id == filter_id::fletcher32; }

bool has_checked_compression(const std::vector<Filter>& filters) {
  return std::ranges::any_of(filters, is_checksum) && std::ranges::any_of(filters, [](const Filter& each) {
           return !is_checksum(each) && each.id != filter_id::shuffle;
         });
}

Result<std::vector<Filter>> store_filters(const Variable& source, std::vector<Filter> filters, FilterForm form,
                                          NewVariable& to) {
  if (form == FilterForm::hdf5) {
    std::vector<Filter> others;
    SHERD_TRY(set_members(filters, to));
    for (Filter& each : filters)
      if (each.id > filter_id::fletcher32) others.push_back(std::move(each));
    return others;
  }
  const bool checked = has_checked_compression(filters);
  if (checked && form == FilterForm::zarr2)
    return unsupported(
        "the checksum fletcher32 together with compression cannot be stored in Zarr v2, because its readers do not "
        "agree on it; write Zarr v3 (--store-format zarr3), or choose filters with -d or -F");
  std::ranges::stable_partition(filters, [](const Filter& each) { return !is_checksum(each); });  // of stored bytes
  if (!checked && is_plain(filters) && (source.type() != Type::string || form == FilterForm::zarr2)) {
    SHERD_TRY(set_members(filters, to));
    return std::vector<Filter>();
  }
  std::vector<Json> codecs = {serializer(source, form, to.big_endian)};
  const std::size_t element = std::max<std::size_t>(1, element_size(source.type()));
  for (const Filter& each : filters) {
    if (each.id == filter_id::shuffle && source.type() == Type::string) continue;
    auto codec = codec_of(each, element, form == FilterForm::zarr3);
    if (!codec)
      return unsupported("the filter " + filter_name(each.id) + " cannot be stored in Zarr" + std::string(kAdvice));
    codecs.push_back(*std::move(codec));
  }
  to.codecs = std::move(codecs);
  to.big_endian = false;  // in the codecs
  return std::vector<Filter>();
}

/// Keeps the codecs of a Zarr array for another one.
Result<std::vector<Filter>> keep_codecs(const Variable& source, FilterForm form, NewVariable& to) {
  const std::vector<Json> codecs = inner_codecs(source.storage().codecs);
  if (form == FilterForm::hdf5) {
    SHERD_TRY(filters, filters_of(codecs));
    return store_filters(source, std::move(filters), form, to);
  }
  const bool plain =
      std::ranges::all_of(codecs, [](const Json& each) { return is_layout(each) || has_member(plain_name(each)); });
  if (plain) {
    SHERD_TRY(filters, filters_of(codecs));
    return store_filters(source, std::move(filters), form, to);
  }
  std::vector<Json> kept;
  for (const Json& each : codecs) {
    const std::string name = plain_name(each);
    if (name == "transpose") continue;  // an order of elements that readers of NCZarr do not know
    kept.push_back(is_layout(each) ? serializer(source, form, to.big_endian) : each);
  }
  to.codecs = std::move(kept);
  to.big_endian = false;
  return std::vector<Filter>();
}

/// The choice in the options, if there is one. As in netcdf-c, -d keeps the checksum.
std::optional<std::vector<Filter>> asked_for(const Variable& source, const DatasetCopyOptions& options, FilterForm form,
                                             std::vector<std::string>& warnings) {
  for (auto choice = options.filters.rbegin(); choice != options.filters.rend(); ++choice)
    if (choice->variables.empty() ||
        std::ranges::any_of(choice->variables, [&](const auto& name) { return is_named(name, source); }))
      return choice->filters;
  if (!options.deflate_level) return std::nullopt;
  std::vector<Filter> filters;
  if (*options.deflate_level > 0) {
    if (options.shuffle) filters.push_back({filter_id::shuffle, {}});
    filters.push_back({filter_id::deflate, {static_cast<std::uint32_t>(*options.deflate_level)}});
  }
  if (source.storage().fletcher32) filters.push_back({filter_id::fletcher32, {}});
  const bool refused = form == FilterForm::zarr2 && has_checked_compression(filters);
  if (refused) {
    filters.pop_back();
    warnings.push_back(source.full_name() +
                       ": the copy has no checksum (fletcher32), which readers of Zarr v2 do not agree on together "
                       "with compression; -d 0 keeps it, and so does Zarr v3 (--store-format zarr3)");
  }
  return filters;
}

}  // namespace

bool is_named(const std::string& wanted, const Variable& variable) {
  return wanted == "*" || wanted == variable.name() || wanted == variable.full_name() ||
         "/" + wanted == variable.full_name();
}

Result<std::vector<Filter>> choose_filters(const Variable& source, const DatasetCopyOptions& options, FilterForm form,
                                           NewVariable& to, std::vector<std::string>& warnings) {
  to.big_endian = source.storage().big_endian && form != FilterForm::none;
  const bool scalar = source.dimensions().empty();
  if (form == FilterForm::none || scalar) return std::vector<Filter>();
  if (form == FilterForm::hdf5 && source.type() == Type::string)
    return std::vector<Filter>();  // HDF5 has none for them
  if (const auto asked = asked_for(source, options, form, warnings)) return store_filters(source, *asked, form, to);
  auto kept =
      source.has_array() ? keep_codecs(source, form, to) : store_filters(source, source.storage().filters, form, to);
  if (kept && options.shuffle && to.deflate_level) to.shuffle = true;
  return kept;
}

}  // namespace sherd::netcdf
