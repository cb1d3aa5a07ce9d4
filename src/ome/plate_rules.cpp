// The rules of plates (https://ngff.openmicroscopy.org/0.5/#plate-md) and wells.
#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "ome/rules.hpp"

namespace sherd {
namespace {

bool is_alphanumeric(const std::string& text) {
  return std::ranges::all_of(text, [](char c) { return is_digit(c) || is_letter(c); });
}

// Names of rows or columns; they must be distinct and consist of letters and digits.
std::vector<std::string> names_of(const Json& plate, const std::string& kind, OmeFindings& to) {
  std::vector<std::string> names;
  const Json* list = plate.find(kind);
  const std::string member = "plate." + kind;
  if (list == nullptr || !list->is_array()) {
    to.error(member, "must be a list of objects with a name");
    return names;
  }
  for (std::size_t i = 0; i < list->size(); ++i) {
    const std::string* name = text_of(list->elements()[i], "name");
    if (name == nullptr || !is_alphanumeric(*name))
      to.error(indexed(member, i) + ".name", "must be text of letters and digits");
    else if (std::ranges::find(names, *name) != names.end())
      to.error(indexed(member, i) + ".name", "'" + *name + "' is used twice");
    names.push_back(name == nullptr ? "" : *name);
  }
  return names;
}

struct Axis {
  const std::vector<std::string>& names;
  std::string kind, index;  ///< "rows", "rowIndex"
};

void check_position(const Json& well, const std::string& member, const Axis& axis, const std::string& name,
                    OmeFindings& to) {
  const auto found = std::ranges::find(axis.names, name);
  if (found == axis.names.end()) to.error(member + ".path", "'" + name + "' is not one of the " + axis.kind);
  const Json* index = well.find(axis.index);
  const auto number = index == nullptr ? std::nullopt : index->as_int();
  if (!number)
    to.error(member + "." + axis.index, "must be an integer");
  else if (found != axis.names.end() && *number != found - axis.names.begin())
    to.warning(member + "." + axis.index, "is not the number of '" + name + "' among the " + axis.kind);
}

void check_wells(const Json& plate, const Axis& rows, const Axis& columns, OmeFindings& to) {
  const Json* wells = plate.find("wells");
  if (wells == nullptr || !wells->is_array()) return to.error("plate.wells", "must be a list of wells");
  std::set<std::string> paths;
  for (std::size_t i = 0; i < wells->size(); ++i) {
    const Json& well = wells->elements()[i];
    const std::string member = indexed("plate.wells", i);
    const std::string* path = text_of(well, "path");
    const std::size_t slash = path == nullptr ? std::string::npos : path->find('/');
    if (slash == std::string::npos || path->find('/', slash + 1) != std::string::npos) {
      to.error(member + ".path", "must be a row and a column, as in A/1");
      continue;
    }
    if (!paths.insert(*path).second) to.warning(member + ".path", "'" + *path + "' is listed twice");
    check_position(well, member, rows, path->substr(0, slash), to);
    check_position(well, member, columns, path->substr(slash + 1), to);
  }
}

void check_positive(const Json& object, const std::string& member, const std::string& name, OmeFindings& to) {
  if (is_absent(object, name)) return;
  const auto value = object.find(name)->as_uint();
  if (!value || *value == 0) to.error(member + "." + name, "must be a positive integer");
}

void check_text(const Json& object, const std::string& member, const std::string& name, OmeFindings& to) {
  if (!is_absent(object, name) && text_of(object, name) == nullptr) to.error(member + "." + name, "must be text");
}

void check_acquisitions(const Json& plate, OmeFindings& to) {
  if (is_absent(plate, "acquisitions")) return;
  const Json& list = *plate.find("acquisitions");
  if (!list.is_array()) return to.error("plate.acquisitions", "must be a list");
  std::set<std::uint64_t> ids;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Json& each = list.elements()[i];
    const std::string member = indexed("plate.acquisitions", i);
    const Json* id = each.find("id");
    const auto number = id == nullptr ? std::nullopt : id->as_uint();
    if (!number)
      to.error(member + ".id", "must be an integer that is not negative");
    else if (!ids.insert(*number).second)
      to.warning(member + ".id", std::to_string(*number) + " is used twice");
    check_text(each, member, "name", to);
    check_text(each, member, "description", to);
    check_positive(each, member, "maximumfieldcount", to);
    for (const char* time : {"starttime", "endtime"})
      if (!is_absent(each, time) && !each.find(time)->as_int()) to.error(member + "." + time, "must be an integer");
  }
}

}  // namespace

void check_plate(const Json& plate, OmeFindings& to) {
  if (!plate.is_object()) return to.error("plate", "must be an object");
  const auto rows = names_of(plate, "rows", to), columns = names_of(plate, "columns", to);
  check_wells(plate, {rows, "rows", "rowIndex"}, {columns, "columns", "columnIndex"}, to);
  check_acquisitions(plate, to);
  check_positive(plate, "plate", "field_count", to);
  check_text(plate, "plate", "name", to);
  check_text(plate, "plate", "version", to);
}

void check_well(const Json& well, OmeFindings& to) {
  const Json* images = well.find("images");
  if (images == nullptr || !images->is_array()) return to.error("well.images", "must be a list of images");
  for (std::size_t i = 0; i < images->size(); ++i) {
    const Json& image = images->elements()[i];
    const std::string member = indexed("well.images", i);
    const std::string* path = text_of(image, "path");
    if (path == nullptr || !is_alphanumeric(*path)) to.error(member + ".path", "must be text of letters and digits");
    if (!is_absent(image, "acquisition") && !image.find("acquisition")->as_int())
      to.error(member + ".acquisition", "must be an integer");
    for (std::size_t j = 0; j < i; ++j)
      if (images->elements()[j] == image) to.error(member, "is listed twice");
  }
}

}  // namespace sherd
