// Operations on whole arrays and hierarchies, called by sherd._tools.
#include "sherd/tools.hpp"
#include "sherd/object_copy.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>

#include "api/registry.hpp"
#include "base/nearest.hpp"
#include "ome/ome.hpp"
#include "python/json.hpp"
#include "python/node.hpp"
#include "python/numpy.hpp"
#include "python/pyramid.hpp"

namespace sherd::python {
namespace {

nb::dict report_to(const CopyReport& report, bool dropped) {
  nb::dict counts;
  counts["arrays"] = report.arrays;
  counts["groups"] = report.groups;
  counts["shards"] = report.shards;
  counts["shards_skipped"] = report.shards_skipped;
  counts["chunks_moved"] = report.chunks_moved;
  counts["chunks_encoded"] = report.chunks_encoded;
  nb::dict links;
  for (const auto& [member, path] : report.dangling) links[member.c_str()] = path;
  counts["dangling_kept"] = dropped ? nb::dict() : links;
  counts["dangling_dropped"] = dropped ? links : nb::dict();
  counts["warnings"] = strings_to(report.warnings);
  return counts;
}

/// None if not given.
nb::object take_option(nb::dict& given, const char* name) {
  nb::object value = given.contains(name) ? nb::object(given[name]) : nb::object(nb::none());
  if (given.contains(name)) nb::del(given[name]);
  return value;
}

/// Sets the image options of a copy from the options of the same names.
void take_image_options(nb::dict& given, CopyOptions& options) {
  const auto take = [&](const char* name) { return take_option(given, name); };
  options.pyramid = take_pyramid(given);
  if (const nb::object axes = take("axes"); !axes.is_none())
    for (const nb::handle axis : axes) options.axes.push_back(text_of(axis, "axes"));
  if (const nb::object type = take("type"); !type.is_none()) options.type = text_of(type, "type");
  if (const nb::object encoding = take("encoding"); !encoding.is_none())
    options.encoding = text_of(encoding, "encoding");
  if (const nb::object resolution = take("resolution"); !resolution.is_none())
    options.resolution = nb::cast<std::array<double, 3>>(resolution);
  if (const nb::object offset = take("voxel_offset"); !offset.is_none())
    options.voxel_offset = nb::cast<std::array<std::int64_t, 3>>(offset);
  if (const nb::object dangling = take("drop_dangling"); !dangling.is_none())
    options.drop_dangling = nb::cast<bool>(dangling);
  if (const nb::object format = take("source_format"); !format.is_none())
    options.source_format = text_of(format, "source_format");
  if (const nb::object skip = take("skip_damaged"); !skip.is_none()) options.skip_damaged = nb::cast<bool>(skip);
  if (given.contains("sharding")) options.sharding = json_from(take("sharding"));
  if (const nb::object select = take("select"); !select.is_none()) options.select = text_of(select, "select");
  if (const nb::object dtype = take("to_dtype"); !dtype.is_none()) options.dtype = dtype_from(dtype);
}

/// Reads the options of a new array that a copy can change, those of images, and `resume`. Returns the report, and what
/// the volume assumes about its source.
nb::tuple copy_node(nb::handle source, nb::handle destination, nb::dict given, bool resume) {
  CopyOptions image;
  take_image_options(given, image);
  CreateOptions create = create_options(given, config_from(nb::none()));
  const auto [from_store, to_store] = stores_of_copy(source, destination, create.config);
  const std::shared_ptr<Store>&from = from_store, &to = to_store;
  CopyOptions options{.auto_shards = create.auto_shards,
                      .codecs = std::move(create.codecs),
                      .resume = resume,
                      .overwrite = create.overwrite,
                      .format = std::move(create.format),
                      .source_format = std::move(image.source_format),
                      .axes = std::move(image.axes),
                      .pyramid = image.pyramid,
                      .type = std::move(image.type),
                      .encoding = std::move(image.encoding),
                      .resolution = image.resolution,
                      .voxel_offset = image.voxel_offset,
                      .sharding = std::move(image.sharding),
                      .select = std::move(image.select),
                      .dtype = std::move(image.dtype),
                      .drop_dangling = image.drop_dangling,
                      .skip_damaged = image.skip_damaged,
                      .config = std::move(create.config)};
  if (given.contains("chunks")) options.chunks = std::move(create.chunks);
  if (given.contains("shards")) options.shards = std::move(create.shards);
  if (given.contains("index_location")) options.index_location = create.index_location;
  std::vector<std::string> notes;
  options.note = [&notes](const std::string& text) { notes.push_back(text); };
  const std::optional<std::string> source_name = name_from(source), destination_name = name_from(destination);
  const bool by_url = source_name && destination_name;
  const CopyReport report = call([&] {
    auto copied = by_url ? sherd::copy(*source_name, *destination_name, options) : sherd::copy(from, to, options);
    return in_store(std::move(copied), from->url() + " or " + to->url());
  });
  return nb::make_tuple(report_to(report, options.drop_dangling), strings_to(notes));
}

nb::dict copy_raw(nb::handle source, nb::handle destination, nb::handle settings, bool resume, bool overwrite) {
  const ObjectCopyOptions options{.resume = resume, .overwrite = overwrite, .config = config_from(settings)};
  const auto [from_store, to_store] = stores_of_copy(source, destination, options.config);
  const std::shared_ptr<Store>&from = from_store, &to = to_store;
  const std::optional<std::string> source_name = name_from(source), destination_name = name_from(destination);
  const bool by_url = source_name && destination_name;
  const ObjectCopyReport report = call([&] {
    return by_url ? copy_objects(*source_name, *destination_name, options) : copy_objects(from, to, options);
  });
  nb::dict result;
  result["objects"] = report.objects;
  result["bytes"] = report.bytes;
  result["objects_skipped"] = report.skipped;
  return result;
}

/// `axis` and `index` are a str or an int; `at` is a list of pairs of these.
void draw_picture(const BoundArray& self, const std::string& file, const nb::dict& given) {
  const auto text = [](nb::handle value) { return text_of(nb::str(value), "picture"); };
  PictureOptions options;
  if (given.contains("axis")) options.axis = text(given["axis"]);
  if (given.contains("index")) options.index = text(given["index"]);
  if (given.contains("range")) options.range = nb::cast<std::pair<double, double>>(given["range"]);
  if (given.contains("width")) options.width = nb::cast<std::uint64_t>(given["width"]);
  for (const nb::handle each : nb::list(given["at"])) options.at.emplace_back(text(each[0]), text(each[1]));
  call(*self.array.store(), [&] { return sherd::picture(self.array, file, options); });
}

/// The names of the codecs that convert elements to bytes, except for that of shards.
nb::set serializers() {
  nb::set names;
  for (const CodecEntry* codec : tables().codecs) {
    if (codec->array_bytes_codec == nullptr) continue;
    names.add(nb::str(codec->name.data(), codec->name.size()));
    for (const std::string_view alias : codec->aliases) names.add(nb::str(alias.data(), alias.size()));
  }
  return names;
}

}  // namespace

std::optional<Pyramid> take_pyramid(nb::dict& given) {
  const nb::object levels = take_option(given, "pyramid_levels"), ignore_zero = take_option(given, "ignore_zero");
  const nb::object factors = take_option(given, "factors"), method = take_option(given, "pyramid");
  if (method.is_none()) return std::nullopt;
  Pyramid pyramid{.method = text_of(method, "pyramid") == "mean" ? Pyramid::Method::mean : Pyramid::Method::mode,
                  .ignore_zero = nb::cast<bool>(ignore_zero)};
  if (!levels.is_none()) pyramid.levels = nb::cast<std::uint64_t>(levels);
  if (!factors.is_none())
    for (const nb::handle each : factors)
      pyramid.factors.push_back({text_of(each[0], "factors"), nb::cast<std::uint64_t>(each[1])});
  return pyramid;
}

namespace {

nb::object check_node(nb::handle location, const std::string& path, const std::string& format, bool data,
                      nb::handle sharding, nb::handle repair, nb::handle settings) {
  CheckOptions options{.path = path, .format = format, .data = data, .config = config_from(settings)};
  if (!repair.is_none()) {
    const auto [drop_broken, backup] = nb::cast<std::pair<bool, bool>>(repair);
    options.repair = RepairOptions{.drop_broken = drop_broken, .backup = backup};
  }
  if (!sharding.is_none()) options.sharding = json_from(sharding);
  const std::shared_ptr<Store> store = store_from(location, options.config);
  const std::optional<std::string> name = name_from(location);
  return json_to(call([&] { return name ? sherd::check(*name, options) : sherd::check(store, options); }).to_json());
}

nb::object compact_node(nb::handle location, const std::string& path, const std::string& format, nb::handle settings) {
  const CompactOptions options{.path = path, .format = format, .config = config_from(settings)};
  const std::shared_ptr<Store> store = store_from(location, options.config);
  const std::optional<std::string> name = name_from(location);
  return json_to(
      call([&] { return name ? sherd::compact(*name, options) : sherd::compact(store, options); }).to_json());
}

void bind_check_and_compact(nb::module_& module) {
  module.def("check", check_node, nb::arg("store"), nb::arg("path"), nb::arg("format"), nb::arg("data"),
             nb::arg("sharding").none(), nb::arg("repair").none(), nb::arg("config").none(),
             nb::sig("def check(store: object, path: str, format: str, data: bool, sharding: object | None, "
                     "repair: tuple[bool, bool] | None, config: object | None) -> dict[str, typing.Any]"),
             "Verifies a node and all below it, and repairs them if `repair` is (drop_broken, backup).");
  module.def("compact", compact_node, nb::arg("store"), nb::arg("path"), nb::arg("format"), nb::arg("config").none(),
             nb::sig("def compact(store: object, path: str, format: str, config: object | None) -> dict[str, int]"),
             "Rewrites the shards of a node and of all below it that have dead bytes.");
}

}  // namespace

void bind_tools(nb::module_& module) {
  module.def("serializers", serializers, nb::sig("def serializers() -> set[str]"),
             "The names of the codecs that make bytes of elements; that of shards is not among them.");
  module.def(
      "did_you_mean",
      [](const std::string& word, const nb::list& known) {
        std::vector<std::string> names;
        for (const nb::handle name : known) names.push_back(text_of(name, "a name"));
        return did_you_mean(word, {names.begin(), names.end()});
      },
      nb::arg("word"), nb::arg("known"), nb::sig("def did_you_mean(word: str, known: list[str]) -> str"),
      "\"; did you mean 'encoding'?\", or an empty text where no known name is near.");
  module.def("copy_raw", copy_raw, nb::arg("source"), nb::arg("destination"), nb::arg("config").none(),
             nb::arg("resume"), nb::arg("overwrite"),
             nb::sig("def copy_raw(source: object, destination: object, config: dict[str, typing.Any] | None, "
                     "resume: bool, overwrite: bool) -> dict[str, int]"),
             "Copies the objects of a store as they are.");
  module.def("copy", copy_node, nb::arg("source"), nb::arg("destination"), nb::arg("options"), nb::arg("resume"),
             nb::sig("def copy(source: object, destination: object, options: dict[str, typing.Any], resume: bool) -> "
                     "tuple[dict[str, typing.Any], list[str]]"),
             "Copies a node; and what the copy takes for granted.");
  module.def(
      "ome_image",
      [](const Group& self) {
        const auto image = call(*self.store(), [&] { return describe_image(self); });
        return image ? json_to(*image) : nb::none();
      },
      nb::arg("group"), nb::sig("def ome_image(group: GroupHandle) -> dict[str, typing.Any] | None"),
      "What OME-NGFF's metadata of a group say of its image; None if it is not one.");
  module.def("picture", draw_picture, nb::arg("array"), nb::arg("file"), nb::arg("options"),
             nb::sig("def picture(array: Array, file: str, options: dict[str, typing.Any]) -> None"),
             "Draws a plane of an array.");
  bind_check_and_compact(module);
}

}  // namespace sherd::python
