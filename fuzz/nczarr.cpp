// Any bytes as a URL, as an attribute, and as each document of an NCZarr dataset are rejected or make a dataset that
// can be read and printed. The stored value of an attribute is read back.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "api/netcdf.hpp"
#include "base/lenient.hpp"
#include "fuzz/nodes.hpp"
#include "netcdf/attribute.hpp"
#include "sherd/netcdf.hpp"
#include "sherd/sherd.hpp"

namespace {

using namespace sherd;

constexpr std::string_view kGroup = R"({"zarr_format": 2, "_nczarr_group": {"dims": {"x": 2}, "vars": ["v"], "groups":
  ["g"]}})";
constexpr std::string_view kArray = R"({"zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "<i4", "fill_value": 0,
  "order": "C", "compressor": null, "filters": null, "_nczarr_array": {"dimrefs": ["/x"], "storage": "chunked"}})";

void check_dataset(const char* key, std::string_view text) {
  const auto store = memory_store();
  store->set(".zgroup", kGroup).value();
  store->set("v/.zarray", kArray).value();
  store->set(key, text).value();
  const auto dataset = netcdf::Dataset::open(store, {.config = fuzz::small_config()});
  if (!dataset) {
    (void)dataset.error().text();
    return;
  }
  std::size_t size = 0;
  const auto count = [&](std::string_view part) -> Result<void> {
    size += part.size();
    return size > (std::size_t{1} << 20U) ? Result<void>(unavailable("enough")) : Result<void>();
  };
  const auto dumped = netcdf::dump(*dataset, {.special_attributes = true, .times = true}, count);
  if (!dumped) (void)dumped.error().text();
}

void check_attribute(std::string_view text) {
  const auto json = parse_lenient(text, {});
  if (!json) return;
  const netcdf::Values values = netcdf::inferred_values(json->json);
  const auto stored = netcdf::attribute_json(values, netcdf::TextForm::plain);
  if (!stored) std::abort();  // strings of JSON are UTF-8
  const auto again = netcdf::values_of_type(*stored, netcdf::type_of(values));
  if (!again || netcdf::size_of(*again) != netcdf::size_of(values)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto url = netcdf::parse_dataset_url(text); url && url->place.shown.empty()) std::abort();
  check_attribute(text);
  for (const char* key : {".zgroup", ".zattrs", ".zmetadata", ".nczarr", "v/.zarray", "v/.zattrs", "zarr.json"})
    check_dataset(key, text);
  return 0;
}
