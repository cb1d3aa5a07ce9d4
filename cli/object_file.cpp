#include "cli/object_file.hpp"

#include <cstdio>

#include "base/try.hpp"
#include "cli/scratch_file.hpp"
#include "cli/values.hpp"
#include "neuroglancer/document.hpp"

namespace sherd::cli {
namespace {

/// "0 to 1200, 30 to 900, 5 to 44 nm", which makes a wrong unit visible.
std::string extent_text(const ObjectFileReport& report) {
  std::string text;
  for (std::size_t d = 0; d < 3; ++d) {
    char numbers[96];
    std::snprintf(numbers, sizeof numbers, "%s%.6g to %.6g", d == 0 ? "" : ", ", static_cast<double>(report.low[d]),
                  static_cast<double>(report.high[d]));
    text += numbers;
  }
  return text + " nm";
}

Json position_json(const neuroglancer::Position& position) {
  Json::Array numbers;
  for (const float at : position) numbers.push_back(neuroglancer::number_json(at));
  return numbers;
}

Result<int> tell(Session& session, const std::string& what, const ObjectFileReport& report) {
  const std::string vertices = report.vertices == 1 ? "1 vertex" : std::to_string(report.vertices) + " vertices";
  SHERD_TRY(session.finish());
  session.note(what + ": " + vertices + ", " + print_count(report.parts, report.is_skeleton ? "edge" : "triangle") +
               ", " + extent_text(report));
  if (session.json())
    SHERD_TRY(session.out().print(Json::Object{{"id", report.id},
                                               {"vertices", report.vertices},
                                               {report.is_skeleton ? "edges" : "triangles", report.parts},
                                               {"lower_bound", position_json(report.low)},
                                               {"upper_bound", position_json(report.high)},
                                               {"created", report.created}}));
  return 0;
}

}  // namespace

void add_object_id(Arguments& arguments, std::optional<std::uint64_t>& id, const std::string& help) {
  arguments.begin_group("Skeletons and meshes (SWC, PLY, OBJ)");
  arguments.number("--id", id, help);
}

Result<int> run_import_object(Session& session, const std::string& source, const std::string& url,
                              ObjectFileOptions options) {
  std::optional<ScratchFile> spooled;
  if (source == "-") {
    SHERD_TRY(file, ScratchFile::make());
    SHERD_TRY(file.take_input(*InputPipe::standard_input(options.config)).in_key("standard input"));
    spooled.emplace(std::move(file));
  }
  auto made = import_object(spooled ? spooled->path() : source, url, options);
  if (!made && spooled && made.error().key() == spooled->path())
    return Error(made.error().code(), made.error().message()).in_key("standard input");
  SHERD_TRY(report, at(url, std::move(made)));
  if (report.created) session.note("created " + url);
  return tell(session, "imported " + source + " as object " + std::to_string(report.id) + " of " + shown(url), report);
}

Result<int> run_export_object(Session& session, const std::string& url, const std::string& destination,
                              ObjectFileOptions options) {
  options.config = session.guarded("export");
  options.overwrite = true;
  options.note = [&session](const std::string& text) { session.note(text); };
  if (destination == "-") {
    SHERD_TRY(file, ScratchFile::make());
    if (const auto made = at(url, export_object(url, file.path(), options)); !made) return file.of_output(made.error());
    SHERD_TRY(file.give(session.out()));
    return 0;
  }
  SHERD_TRY(report, at(url, export_object(url, destination, options)));
  return tell(session, "exported object " + std::to_string(report.id) + " of " + shown(url) + " as " + destination,
              report);
}

}  // namespace sherd::cli
