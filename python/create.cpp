// The options of a new array by their Python names. sherd._options has normalized them; here they are converted to
// those of the engine.
#include "python/json.hpp"
#include "python/node.hpp"
#include "python/numpy.hpp"

namespace sherd::python {
namespace {

std::vector<Json> json_list(nb::handle list) {
  std::vector<Json> elements;
  for (const nb::handle element : list) elements.push_back(json_from(element));
  return elements;
}

IndexLocation index_location_from(nb::handle value) {
  const std::string name = text_of(value, "index_location");
  if (name == "start") return IndexLocation::start;
  if (name == "end") return IndexLocation::end;
  throw Exception(invalid_argument("must be \"start\" or \"end\", not \"" + name + "\"").in_member("index_location"));
}

std::vector<std::optional<std::string>> names_from(nb::handle list) {
  std::vector<std::optional<std::string>> names;
  for (const nb::handle name : list)
    names.push_back(name.is_none() ? std::nullopt : std::optional(text_of(name, "a dimension's name")));
  return names;
}

/// A Python function that writes to the new array; `function` must outlive the call.
std::function<Result<void>(const Array&)> contents_from(nb::handle function) {
  return [function](const Array& array) -> Result<void> {
    const WithGil held;
    try {
      function(BoundArray(array));
      return {};
    } catch (nb::python_error& raised) {
      raised.restore();  // raised again after the engine has returned
      return invalid_argument("the data could not be written");
    }
  };
}

/// Copies the given options one by one.
void apply(CreateOptions& to, const std::string& name, nb::handle value) {
  if (name == "shape")
    to.shape = shape_from(value, "shape");
  else if (name == "dtype")
    to.dtype = dtype_from(value);
  else if (name == "chunks")
    to.chunks = shape_from(value, "chunks");
  else if (name == "shards")
    to.shards = shape_from(value, "shards");
  else if (name == "auto_shards")
    to.auto_shards = nb::cast<bool>(value);
  else if (name == "codecs")
    to.codecs = json_list(value);
  else if (name == "raw_codecs")
    to.raw_codecs = json_from(value);
  else if (name == "big_endian")
    to.big_endian = nb::cast<bool>(value);
  else if (name == "fortran_order")
    to.fortran_order = nb::cast<bool>(value);
  else if (name == "index_location")
    to.index_location = index_location_from(value);
  else if (name == "index_codecs")
    to.index_codecs = json_list(value);
  else if (name == "fill_value")
    to.fill_value = json_from(value);
  else if (name == "chunk_grid")
    to.chunk_grid = json_from(value);
  else if (name == "chunk_key_encoding")
    to.chunk_key_encoding = json_from(value);
  else if (name == "dimension_names")
    to.dimension_names = names_from(value);
  else if (name == "attributes")
    to.attributes = json_from(value);
  else if (name == "format")
    to.format = text_of(value, "format");
  else if (name == "format_options")
    to.format_options = json_from(value);
  else if (name == "volume")
    to.volume = json_from(value);
  else if (name == "overwrite")
    to.overwrite = nb::cast<bool>(value);
  else if (name == "config")
    to.config = config_over(std::move(to.config), value);
  else if (name == "contents")
    to.contents = contents_from(value);
}

}  // namespace

CreateOptions create_options(const nb::dict& options, Config config) {
  CreateOptions wanted;
  wanted.config = std::move(config);
  for (const auto& [name, value] : options) apply(wanted, text_of(name, "an option's name"), value);
  return wanted;
}

}  // namespace sherd::python
