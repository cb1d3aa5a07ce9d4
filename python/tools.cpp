// What is done with whole arrays and hierarchies, as sherd._tools calls it.
#include "sherd/tools.hpp"

#include "python/json.hpp"
#include "python/node.hpp"
#include "python/numpy.hpp"

namespace sherd::python {
namespace {

nb::dict report_to(const CopyReport& report) {
  nb::dict counts;
  counts["arrays"] = report.arrays;
  counts["groups"] = report.groups;
  counts["shards"] = report.shards;
  counts["shards_skipped"] = report.shards_skipped;
  counts["chunks_moved"] = report.chunks_moved;
  counts["chunks_encoded"] = report.chunks_encoded;
  return counts;
}

/// Takes the options of a new array that a copy can change; `resume` besides.
nb::dict copy_node(nb::handle source, nb::handle destination, const nb::dict& given, bool resume) {
  CreateOptions create = create_options(given, config_from(nb::none()));
  const std::shared_ptr<Store> from = store_from(source, create.config);
  const std::shared_ptr<Store> to = store_from(destination, create.config);
  CopyOptions options{.auto_shards = create.auto_shards,
                      .codecs = std::move(create.codecs),
                      .resume = resume,
                      .overwrite = create.overwrite,
                      .format = std::move(create.format),
                      .config = std::move(create.config)};
  if (given.contains("chunks")) options.chunks = std::move(create.chunks);
  if (given.contains("shards")) options.shards = std::move(create.shards);
  if (given.contains("index_location")) options.index_location = create.index_location;
  return report_to(call([&] { return in_store(sherd::copy(from, to, options), from->url() + " or " + to->url()); }));
}

}  // namespace

void bind_tools(nb::module_& module) {
  module.def("copy", copy_node, nb::arg("source"), nb::arg("destination"), nb::arg("options"), nb::arg("resume"),
             nb::sig("def copy(source: object, destination: object, options: dict[str, typing.Any], resume: bool) -> "
                     "dict[str, int]"),
             "Copies a node.");
  module.def(
      "check",
      [](nb::handle place, const std::string& path, bool data, nb::handle settings) {
        const CheckOptions options{.path = path, .data = data, .config = config_from(settings)};
        const std::shared_ptr<Store> store = store_from(place, options.config);
        return json_to(call([&] { return sherd::check(store, options); }).to_json());
      },
      nb::arg("store"), nb::arg("path"), nb::arg("data"), nb::arg("config").none(),
      nb::sig("def check(store: object, path: str, data: bool, config: object | None) -> dict[str, typing.Any]"),
      "Verifies a node and all below it.");
}

}  // namespace sherd::python
