// sherd annotations build: writes a directory of annotations with all of its indexes, from a table on standard input.
#include <algorithm>

#include "base/size.hpp"
#include "base/try.hpp"
#include "cli/annotation_rows.hpp"
#include "cli/command.hpp"
#include "cli/option_errors.hpp"
#include "cli/options.hpp"
#include "cli/parser.hpp"
#include "cli/session.hpp"
#include "cli/values.hpp"

namespace sherd::cli {
namespace {

using namespace neuroglancer;

constexpr std::string_view kLineOfAnnotation = "a line is a row of a table, or a JSON object";

struct AnnotationsBuild {
  std::string url, type, resolution, dimensions, format = "csv", memory = "256MiB", sharding = "auto";
  std::vector<std::string> properties, relationships;
  std::optional<std::string> lower, upper;
  std::uint64_t limit = AnnotationBuildOptions{}.limit;
  bool overwrite = false;

  /// In the form of the info document, whose reader reports what is wrong.
  [[nodiscard]] Result<Json> dimensions_json() const {
    if (resolution.empty() == dimensions.empty())
      return invalid_argument("the units of the coordinates are needed: use either --resolution or --dimensions");
    if (!dimensions.empty()) return in_option(parse_json_argument(dimensions), "--dimensions");
    SHERD_TRY(parse_positive(resolution, 3).in([] { return "--resolution"; }));
    Json json{Json::Object{}};
    const Json lengths = Json::parse("[" + resolution + "]").value();
    for (std::size_t d = 0; d < 3; ++d)
      json.set(std::string(1, "xyz"[d]), Json::Array{metres(lengths.elements()[d]), "m"});
    return json;
  }

  /// Scales the number as decimal text, so that 8 nm become exactly 8e-9 m.
  static Json metres(const Json& nanometres) {
    const std::string text = nanometres.dump();
    return text.find_first_of("eE") == std::string::npos ? Json::number(text + "e-9")
                                                         : Json(*nanometres.as_double() * 1e-9);
  }

  /// "score:float32", or the property's JSON object as in the info document.
  static Result<Json> property_json(const std::string& text) {
    if (text.starts_with('{') || text.starts_with('@')) return parse_json_argument(text);
    const std::size_t colon = text.rfind(':');
    if (colon == std::string::npos || colon == 0)
      return invalid_argument("'" + text + "' is not NAME:TYPE, such as score:float32");
    return Json(Json::Object{{"id", text.substr(0, colon)}, {"type", text.substr(colon + 1)}});
  }

  [[nodiscard]] Result<Json> bound(const std::optional<std::string>& text, const char* option, std::size_t rank,
                                   double absent) const {
    if (!text) return Json(Json::Array(rank, Json(absent)));
    auto numbers = Json::parse("[" + *text + "]");
    if (numbers && numbers->elements().size() == rank) return numbers;
    return invalid_argument(std::string(option) + ": '" + *text + "' is not " + std::to_string(rank) + " numbers");
  }

  [[nodiscard]] Result<AnnotationInfo> info() const {
    if (lower.has_value() != upper.has_value())
      return invalid_argument("--lower-bound and --upper-bound can only be used together");
    SHERD_TRY(units, dimensions_json());
    const std::size_t rank = units.size();
    SHERD_TRY(low, bound(lower, "--lower-bound", rank, 0));
    SHERD_TRY(high, bound(upper, "--upper-bound", rank, 1));
    Json::Array all_properties, all_relationships;
    for (const std::string& each : properties) {
      SHERD_TRY(property, property_json(each).in([] { return "--property"; }));
      all_properties.push_back(std::move(property));
    }
    for (const std::string& each : relationships)
      all_relationships.push_back(
          Json::Object{{"id", each}, {"key", "rel_" + std::to_string(all_relationships.size())}});
    std::string kind = type == "box" ? "axis_aligned_bounding_box" : type;
    Json document{Json::Object{{"@type", "neuroglancer_annotations_v1"},
                               {"dimensions", std::move(units)},
                               {"lower_bound", std::move(low)},
                               {"upper_bound", std::move(high)},
                               {"annotation_type", std::move(kind)},
                               {"properties", Json(std::move(all_properties))},
                               {"relationships", Json(std::move(all_relationships))},
                               {"spatial", Json(Json::Array{})}}};
    SHERD_TRY(parsed, AnnotationInfo::parse(document));
    if (!lower) parsed.lower_bound = parsed.upper_bound = {};
    return parsed;
  }

  [[nodiscard]] Result<AnnotationBuildOptions> options(const Config& config) const {
    AnnotationBuildOptions options{.overwrite = overwrite, .limit = limit, .sharding = Json("auto"), .config = config};
    SHERD_TRY(bytes, parse_size(memory).in([] { return "--memory"; }));
    options.config.memory_budget = bytes;
    if (sharding == "auto") return options;
    options.sharding = Json();
    if (sharding == "none") return options;
    SHERD_TRY(given, in_option(parse_json_argument(sharding), "--sharding"));
    options.sharding = std::move(given);
    return options;
  }

  Result<AnnotationBuildReport> build(Session& session, const Config& config) const {
    SHERD_TRY(description, info());
    SHERD_TRY(chosen, options(config));
    SHERD_TRY(builder, AnnotationBuilder::create(url, description, std::move(chosen)));
    AnnotationRows rows(description, format == "json");
    InputLines input(config, kLineOfAnnotation);
    for (;;) {
      SHERD_TRY(lines, input.next().in([] { return "standard input"; }));
      if (lines.empty()) break;
      for (const InputLine& line : lines) SHERD_TRY(rows.add(line));
      const auto batch = rows.take();
      SHERD_TRY(builder.add(batch.rows, batch.related));
    }
    for (const std::string& name : rows.unused())
      session.note("'" + name + "' is not used; name it with --property or --relationship");
    return builder.finish();
  }

  /// Each index has a progress of its own; how many bytes the next ones have is not known.
  static Config in_one(Config config) {
    const auto sum = std::make_shared<std::pair<std::uint64_t, std::uint64_t>>();  // of earlier indexes, of this one
    if (const auto show = config.progress)
      config.progress = [show, sum](const Progress& progress) {
        if (progress.done < sum->second) sum->first += sum->second;
        sum->second = progress.done;
        show({sum->first + sum->second, 0});
      };
    return config;
  }

  Result<int> run(Session& session) const {
    SHERD_TRY(report, at(url, build(session, in_one(session.guarded("annotations")))));
    for (const std::string& warning : report.warnings) session.note("warning: " + warning);
    SHERD_TRY(session.finish());
    session.note("wrote " + print_count(report.annotations, "annotation") + " into " + url + ": " +
                 print_count(report.levels, "spatial level") + " with " + print_count(report.cells, "cell") + ", " +
                 print_count(report.related, "related object"));
    if (session.json())
      SHERD_TRY(session.out().print(Json::Object{{"annotations", report.annotations},
                                                 {"levels", report.levels},
                                                 {"cells", report.cells},
                                                 {"related", report.related}}));
    return 0;
  }
};

}  // namespace

Run add_annotations_build(Arguments& arguments) {
  auto build = std::make_shared<AnnotationsBuild>();
  arguments.argument("URL", build->url, "The directory of the annotations");
  arguments.choice("--type", {"point", "line", "box", "ellipsoid", "polyline"}, build->type,
                   "What the annotations are. The columns are x,y,z for points, x1,y1,z1,x2,y2,z2 for lines and boxes, "
                   "x,y,z,rx,ry,rz for ellipsoids");
  arguments.text("--resolution", "X,Y,Z", build->resolution, "Nanometres per unit of the coordinates x, y and z");
  arguments.text("--dimensions", "JSON|@FILE", build->dimensions,
                 R"(Instead: scale and unit of each dimension, such as {"x": [8e-9, "m"], "t": [1, "s"]})");
  arguments.choice("--format", {"csv", "json"}, build->format,
                   "csv: a line of names, then one line per annotation; json: one object per line; default: csv");
  arguments.repeated(
      "--property", "NAME:TYPE|JSON", build->properties,
      "A column that is a property: float32, int8 to uint32, bool, rgb or rgba (#ff8000); or the member of "
      "an info document, with enum_values and enum_labels; may be given several times");
  arguments.repeated("--relationship", "NAME", build->relationships,
                     "A column of ids of related objects, separated by spaces; may be given several times");
  arguments.number("--cell-limit", build->limit,
                   "Maximum number of annotations per cell of the spatial index; finer levels hold the rest");
  arguments.text("--sharding", "auto|none|JSON|@FILE", build->sharding,
                 "How the values of an index are grouped into shards; default: auto");
  arguments.text("--lower-bound", "X,Y,Z", build->lower, "Default: that of the annotations");
  arguments.text("--upper-bound", "X,Y,Z", build->upper, "Default: that of the annotations");
  arguments.text("--memory", "SIZE", build->memory,
                 "Memory for shards, 8MiB or more, in addition to the annotations; default: 256MiB");
  arguments.flag("--overwrite", build->overwrite, "Replace annotations that exist");
  arguments.examples(
      {{"sherd annotations build em/synapses --type point --resolution 8,8,40 --property score:float32 "
        "--relationship segment < synapses.csv",
        "the first line of the table is such as id,x,y,z,score,segment"},
       {"sherd annotations build em/paths --type polyline --resolution 8,8,40 --format json < paths.ndjson",
        R"(lines such as {"id": 7, "points": [[1, 2, 3], [4, 5, 6]]})"}});
  return [build](Session& session) { return build->run(session); };
}

}  // namespace sherd::cli
