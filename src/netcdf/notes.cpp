// A note is looked for first where the newest generation stores it: a dataset for readers of several generations has it
// in more than one place, and the newest is the most complete.
#include "netcdf/notes.hpp"
#include "format/zarr2.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace sherd::netcdf {

namespace {

const Json* object_in(const Json& json, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    if (const Json* found = json.find(name); found != nullptr && found->is_object()) return found;
  return nullptr;
}

const Json* object_in(const Json* json, std::initializer_list<std::string_view> names) {
  return json != nullptr ? object_in(*json, names) : nullptr;
}

const Json* first_of(std::initializer_list<const Json*> all) {
  const auto* const found = std::ranges::find_if(all, [](const Json* each) { return each != nullptr; });
  return found == all.end() ? nullptr : *found;
}

const Json* member_of(const Json& json, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    if (const Json* found = json.find(name)) return found;
  return nullptr;
}

std::optional<std::vector<std::string>> texts_in(const Json* list) {
  std::vector<std::string> texts;
  if (list == nullptr) return texts;
  if (!list->is_array() || !std::ranges::all_of(list->elements(), &Json::is_string)) return std::nullopt;
  for (const Json& each : list->elements()) texts.push_back(each.text());
  return texts;
}

std::optional<DimensionNote> dimension_in(const std::string& name, const Json& json) {
  const Json* size = json.is_object() ? json.find("size") : &json;
  const auto length = size != nullptr ? size->as_uint() : std::nullopt;
  if (!length || *length > std::uint64_t{1} << 62U) return std::nullopt;
  const Json* unlimited = json.is_object() ? json.find("unlimited") : nullptr;
  const bool grows = unlimited != nullptr && (unlimited->as_int() == 1 || unlimited->as_bool() == true);
  return DimensionNote{name, *length, grows};
}

}  // namespace

void warn(Warnings& warnings, const StoredNode& node, const std::string& what) {
  warnings.push_back("/" + node.path + ": " + what);
}

const std::string* AttributeNotes::type_of(std::string_view attribute) const noexcept {
  const auto found = std::ranges::lower_bound(types, attribute, {}, &decltype(types)::value_type::first);
  return found == types.end() || found->first != attribute ? nullptr : found->second;
}

Generation generation_of(const StoredNode& root, bool v1) {
  if (object_in(root.attributes(), {"_nczarr_superblock", "_nczarr_group"}) != nullptr &&
      object_in(root.part(zarr2::kGroup), {"_nczarr_group", "_nczarr_superblock"}) == nullptr)
    return Generation::v2c;
  if (object_in(root.part(zarr2::kGroup), {"_nczarr_superblock", "_nczarr_group"}) != nullptr) return Generation::v2b;
  if (object_in(root.part(zarr2::kGroup), {"_NCZARR_SUPERBLOCK", "_NCZARR_GROUP"}) != nullptr) return Generation::v2a;
  return v1 ? Generation::v1 : Generation::pure;
}

std::optional<GroupNote> group_note(const StoredNode& node, Warnings& warnings) {
  const Json* note = first_of({object_in(node.attributes(), {"_nczarr_group"}),
                               object_in(node.part(zarr2::kGroup), {"_nczarr_group", "_NCZARR_GROUP"}),
                               object_in(node.legacy, {".nczgroup"})});
  if (note == nullptr) return std::nullopt;
  GroupNote result;
  const Json* dimensions = member_of(*note, {"dimensions", "dims"});
  const auto arrays = texts_in(member_of(*note, {"arrays", "vars"}));
  const auto groups = texts_in(note->find("groups"));
  if ((dimensions != nullptr && !dimensions->is_object()) || !arrays || !groups) {
    warn(warnings, node, "NCZarr's metadata of the group have an unknown form and were ignored");
    return std::nullopt;
  }
  if (dimensions != nullptr)
    for (const auto& [name, json] : dimensions->members()) {
      if (auto dimension = dimension_in(name, json))
        result.dimensions.push_back(*std::move(dimension));
      else
        warn(warnings, node, "the dimension '" + name.substr(0, 80) + "' has no valid length and was ignored");
    }
  for (const std::string& name : *arrays) result.members.push_back({name, NodeType::array});
  for (const std::string& name : *groups) result.members.push_back({name, NodeType::group});
  return result;
}

std::optional<ArrayNote> array_note(const StoredNode& node, Warnings& warnings) {
  const Json* note = first_of({object_in(node.attributes(), {"_nczarr_array"}),
                               object_in(node.part(zarr2::kArray), {"_nczarr_array", "_NCZARR_ARRAY"}),
                               object_in(node.legacy, {".nczarray", ".nczvar"})});
  if (note == nullptr) return std::nullopt;
  ArrayNote result;
  auto dimensions = texts_in(member_of(*note, {"dimension_references", "dimrefs"}));
  if (!dimensions) {
    warn(warnings, node, "NCZarr's metadata of the variable have an unknown form and were ignored");
    return std::nullopt;
  }
  result.dimensions = *std::move(dimensions);
  const Json* scalar = note->find("scalar");
  const Json* storage = note->find("storage");
  result.scalar = (scalar != nullptr && (scalar->as_int() == 1 || scalar->as_bool() == true)) ||
                  (storage != nullptr && storage->text() == "scalar");
  const Json* type = note->find("type");
  result.characters = type != nullptr && type->text() == "char";
  const Json* no_fill = note->find("no_fill");
  result.no_fill = no_fill != nullptr && no_fill->as_int() == 1;
  return result;
}

AttributeNotes attribute_notes(const StoredNode& node) {
  const Json* note = first_of({object_in(node.attributes(), {"_nczarr_attr", "_nczarr_attrs", "_NCZARR_ATTR"}),
                               object_in(node.legacy, {".nczattr", ".nczattrs"})});
  AttributeNotes notes;
  const Json* types = note != nullptr ? note->find("types") : nullptr;
  if (types == nullptr || !types->is_object()) return notes;
  notes.stored = types;
  notes.types.reserve(types->size());
  for (const auto& [name, type] : types->members())
    if (type.is_string()) notes.types.emplace_back(name, &type.text());
  std::ranges::sort(notes.types);
  return notes;
}

std::optional<std::array<int, 3>> release_in(std::string_view properties, Generation generation) noexcept {
  constexpr std::string_view key = "netcdf=";
  const std::size_t at = properties.find(key);
  if (at == properties.npos) return std::nullopt;
  std::array<int, 3> release{};
  const char* text = properties.data() + at + key.size();
  const char* const end = properties.data() + properties.size();
  for (std::size_t i = 0; i < release.size(); ++i) {
    const auto [next, failed] = std::from_chars(text, end, release[i]);
    if (failed != std::errc()) return std::nullopt;
    text = next;
    if (i + 1 < release.size()) {
      if (text == end || *text != '.') return std::nullopt;
      ++text;
    }
  }
  const bool develops = std::string_view(text, static_cast<std::size_t>(end - text)).starts_with("-development");
  if (develops && release == std::array{4, 9, 3} && generation != Generation::v2c) return std::array{4, 9, 2};
  return release;
}

}  // namespace sherd::netcdf
