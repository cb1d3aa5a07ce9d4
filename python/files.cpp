// Import and export of files of other formats, called by sherd._files.
#include <nanobind/stl/array.h>
#include <nanobind/stl/vector.h>

#include "python/json.hpp"
#include "python/node.hpp"
#include "python/numpy.hpp"
#include "python/pyramid.hpp"
#include "sherd/tools.hpp"

namespace sherd::python {
namespace {

std::vector<std::string> texts_from(nb::handle list, const char* what) {
  std::vector<std::string> texts;
  for (const nb::handle each : list) texts.push_back(text_of(each, what));
  return texts;
}

/// Copies the given options of the file one by one.
void apply(ImportOptions& to, const std::string& name, nb::handle value) {
  if (name == "from")
    to.from = text_of(value, "from_");
  else if (name == "shape")
    to.shape = shape_from(value, "shape");
  else if (name == "dtype")
    to.dtype = dtype_from(value);
  else if (name == "big_endian")
    to.big_endian = nb::cast<bool>(value);
  else if (name == "apply_scale")
    to.apply_scale = nb::cast<bool>(value);
  else if (name == "axes")
    to.axes = texts_from(value, "axes");
  else if (name == "spacing")
    to.spacing = nb::cast<std::vector<double>>(value);
  else if (name == "units")
    to.units = texts_from(value, "units");
  else if (name == "resolution")
    to.resolution = {nb::cast<double>(value[0]), nb::cast<double>(value[1]), nb::cast<double>(value[2])};
  else if (name == "voxel_offset")
    to.voxel_offset = nb::cast<std::array<std::int64_t, 3>>(value);
  else if (name == "type")
    to.type = text_of(value, "type");
  else if (name == "encoding")
    to.encoding = text_of(value, "encoding");
  else if (name == "sharding")
    to.sharding = json_from(value);
}

/// The array, and what was left out of the file.
nb::tuple import_at(const std::string& source, const std::string& url, nb::dict given, const nb::dict& create) {
  ImportOptions options;
  options.pyramid = take_pyramid(given);
  options.create = create_options(create, config_from(nb::none()));
  for (const auto& [name, value] : given) apply(options, text_of(name, "an option's name"), value);
  std::vector<std::string> notes;
  options.note = [&notes](const std::string& text) { notes.push_back(text); };
  nb::object array = nb::cast(BoundArray(call([&] { return import_file(source, url, options); })));
  return nb::make_tuple(std::move(array), strings_to(notes));
}

}  // namespace

void bind_files(nb::module_& module) {
  module.def("import_file", import_at, nb::arg("source"), nb::arg("url"), nb::arg("options"), nb::arg("create"),
             nb::sig("def import_file(source: str, url: str, options: dict[str, typing.Any], create: dict[str, "
                     "typing.Any]) -> tuple[Array, list[str]]"),
             "Makes an array of a file's elements; and what of the file was left out.");
  module.def(
      "export_file",
      [](const BoundArray& array, const std::string& file, const std::string& format, bool overwrite) {
        std::vector<std::string> notes;
        const ExportOptions options{
            .to = format, .overwrite = overwrite, .note = [&notes](const std::string& text) { notes.push_back(text); }};
        call(*array.array.store(), [&] { return export_file(array.array, file, options); });
        return strings_to(notes);
      },
      nb::arg("array"), nb::arg("file"), nb::arg("format"), nb::arg("overwrite"),
      nb::sig("def export_file(array: Array, file: str, format: str, overwrite: bool) -> list[str]"),
      "Writes an array as a file, or as a directory of images. Returns what of the array was left out.");
}

}  // namespace sherd::python
