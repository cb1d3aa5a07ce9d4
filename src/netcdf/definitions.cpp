// The single form that is written: documents of Zarr v2 as written by netcdf-c 4.9.1, with plain lengths, and in
// `.zattrs` of every node the notes that later releases read. In Zarr v3 all notes are attributes.
#include "netcdf/definitions.hpp"

#include <algorithm>
#include <cstring>

#include "array/create.hpp"
#include "array/nodes.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "format/zarr2.hpp"
#include "format/zarr_common.hpp"
#include "netcdf/attribute.hpp"
#include "netcdf/filters.hpp"
#include "netcdf/model.hpp"
#include "netcdf/note_forms.hpp"
#include "netcdf/shards.hpp"
#include "netcdf/type.hpp"
#include "node/path.hpp"
#include "sherd/version.hpp"

namespace sherd::netcdf {

namespace {

constexpr std::uint64_t kRecords = 1024;  ///< the chunk length of a growing dimension, if it is the only one
constexpr const char* kVersion = "2.0.0";
constexpr std::string_view kNul{"\0", 1};

/// The attributes with their noted types.
Result<Json> typed_attributes(const Form& form, const std::vector<Attribute>& attributes, const Touched& touched,
                              Json& types) {
  Json stored{Json::Object{}};
  types = Json(Json::Object{});
  const TextForm text = form.mode.compat_seed ? TextForm::literal : form.mode.pure ? TextForm::plain : TextForm::same;
  for (Attribute each : attributes) {
    if (touched && !touched->contains(each.name)) continue;
    cut_final_nuls(each);  // netcdf-c reads their escapes as letters
    SHERD_TRY(json, attribute_json(each.values, text).in_member(each.name));
    if (const auto* own = std::get_if<std::string>(&each.values); own != nullptr && *own == kNul) json = "";
    stored.set(each.name, std::move(json));
    types.set(each.name, attribute_type_name(each.values));
  }
  return stored;
}

void note_types(const Form& form, Json types, Json& stored) {
  if (!form.mode.pure) stored.set(kTypesNote, Json::Object{{"types", std::move(types)}});
}

GroupNote note_of(const GroupDefinition& group) {
  GroupNote note;
  for (const auto& each : group.dimensions)
    if (!each->anonymous) note.dimensions.push_back({each->name, each->length, each->unlimited});
  for (const auto& each : group.variables) note.members.push_back({each->options.name, NodeType::array});
  for (const auto& each : group.groups) note.members.push_back({each->name, NodeType::group});
  return note;
}

ArrayNote note_of(const Form& form, const VariableDefinition& variable) {
  ArrayNote note{{},
                 variable.dimensions.empty(),
                 form.v3() && variable.options.type == Type::character,
                 form.v3() && variable.options.no_fill};
  for (const DimensionDefinition* each : variable.dimensions)
    note.dimensions.push_back(member_path(each->group->path, each->name));
  return note;
}

Json dimension_names_of(const VariableDefinition& variable) {
  std::vector<std::string> names;
  for (const DimensionDefinition* each : variable.dimensions) names.push_back(each->name);
  if (names.empty()) names.emplace_back("_scalar_");
  return Json(Json::Array(names.begin(), names.end()));
}

/// Whether a variable in this group gets the names of its dimensions for xarray. netcdf-c's documentation has them only
/// in the root, where the dimensions are too.
bool has_names(const Form& form, const std::string& group, const VariableDefinition& variable) {
  if (form.mode.noxarray) return false;
  if (!form.mode.compat_seed) return true;
  return group == "/" && std::ranges::all_of(variable.dimensions,
                                             [](const DimensionDefinition* each) { return each->group->path == "/"; });
}

bool is_text(Type type) { return type == Type::character || type == Type::string; }

std::string text_dtype(const Form& form, const VariableDefinition& variable) {
  if (variable.options.type == Type::string) return "|S" + std::to_string(variable.string_length);
  return has_variable_strings(form.mode, form.v3()) ? "|S1" : ">S1";
}

/// As in CreateOptions::codecs: netCDF shuffles, compresses and adds the checksum, in this order.
Result<std::vector<Json>> codecs_of(const NewVariable& options, std::size_t element_size, bool v3) {
  const bool filtered = options.deflate_level || options.shuffle || options.fletcher32;
  if (options.codecs && (filtered || options.big_endian))
    return invalid_argument("cannot be given together with filters and byte order").in_member("codecs");
  if (options.codecs) return *options.codecs;
  std::vector<Json> codecs;
  const char* order = options.big_endian ? "big" : "little";
  codecs.push_back(element_size > 1
                       ? Json(Json::Object{{"name", "bytes"}, {"configuration", Json::Object{{"endian", order}}}})
                       : Json(Json::Object{{"name", "bytes"}}));
  const auto add = [&](const char* name, Json configuration) {
    codecs.push_back(Json::Object{{"name", name}, {"configuration", std::move(configuration)}});
  };
  if (options.shuffle && element_size > 1)
    add("numcodecs.shuffle", Json::Object{{"elementsize", static_cast<std::uint64_t>(element_size)}});
  if (options.fletcher32 && options.deflate_level && !v3)
    return unsupported(
               "fletcher32 together with compression cannot be stored in Zarr v2, because its readers do not "
               "agree on it; write Zarr v3")
        .in_member("fletcher32");
  if (options.deflate_level) {
    if (*options.deflate_level < 0 || *options.deflate_level > 9)
      return invalid_argument("must be from 0 to 9").in_member("deflate_level");
    add("numcodecs.zlib", Json::Object{{"level", *options.deflate_level}});
  }
  if (options.fletcher32) add("numcodecs.fletcher32", Json::Object{});
  return codecs;
}

/// Nullopt: the default of Zarr v3, which strings without filters have.
Result<std::optional<std::vector<Json>>> element_codecs(const NewVariable& options, const DType& dtype, bool v3) {
  const bool chosen = options.codecs || options.deflate_level || options.shuffle || options.fletcher32;
  if (dtype.is_variable() && v3 && !chosen) return std::optional<std::vector<Json>>();
  SHERD_TRY(codecs, codecs_of(options, is_text(options.type) ? 1 : dtype.size(), v3));
  const auto is_bytes = [](const Json& each) { return plain_name(each) == "bytes"; };
  if (dtype.is_variable()) std::ranges::replace_if(codecs, is_bytes, Json(Json::Object{{"name", "vlen-utf8"}}));
  return std::optional(std::move(codecs));
}

/// The lengths for choosing chunks: a growing dimension has the length of a chunk. netcdf-c's documentation stores
/// contiguous variables in one chunk.
Shape chunks_of(const Form& form, const VariableDefinition& variable) {
  const bool grows = std::ranges::any_of(variable.dimensions, [](const auto* each) { return each->unlimited; });
  if (form.mode.compat_seed && variable.options.contiguous && variable.options.chunks.empty() && !grows) {
    Shape whole = variable.shape();
    for (std::uint64_t& length : whole) length = std::max<std::uint64_t>(length, 1);
    return whole;
  }
  if (!variable.options.chunks.empty() || !grows) return variable.options.chunks;
  Shape chunks;
  std::uint64_t elements = 1;
  for (auto it = variable.dimensions.rbegin(); it != variable.dimensions.rend(); ++it) {
    const std::uint64_t most = std::max<std::uint64_t>(1, (std::uint64_t{1} << 20U) / elements);
    const bool alone = variable.dimensions.size() == 1;
    const std::uint64_t present = std::max<std::uint64_t>(1, (*it)->length);
    std::uint64_t length = present;
    // 4.9.1 and 4.9.2 open no dataset with chunks longer than the array.
    if ((*it)->unlimited) length = !alone ? 1 : (*it)->length > 0 ? std::min(kRecords, present) : kRecords;
    chunks.insert(chunks.begin(), std::min(length, most));
    elements *= chunks.front();
  }
  return chunks;
}

/// Whether a text as fill value is stored in the array itself and not as an attribute: xarray opens no dataset of Zarr
/// v3 in which a string has the attribute `_FillValue`.
bool is_array_fill(const Form& form, Type type) { return form.v3() && type == Type::string; }

Result<std::optional<Json>> fill_of(const Form& form, const VariableDefinition& variable) {
  const NewVariable& options = variable.options;
  const Values* own = variable.attribute(kFillValue);
  const bool has_own = own != nullptr && options.type == Type::string && has_variable_strings(form.mode, form.v3());
  if (is_text(options.type) && !has_own) return std::optional<Json>();
  const Values unwritten = options.array_fill.value_or(default_fill(options.type));
  SHERD_TRY(json, attribute_json(own != nullptr ? *own : unwritten, TextForm::same));
  return std::optional(std::move(json));
}

/// Sets the shards chosen for the whole dataset, and the chunks if they are not set.
Result<void> shard(const Form& form, const std::string& full_name, const VariableDefinition& variable,
                   sherd::CreateOptions& create) {
  std::vector<Dimension> dimensions;
  for (const DimensionDefinition* each : variable.dimensions)
    dimensions.push_back({each->name, each->group->path, each->length, each->unlimited});
  Shape chunks = create.chunks;
  if (chunks.empty())
    chunks = auto_chunks(create.shape, create.dtype, chunk_bytes_target(create.shape, create.dtype, true));
  SHERD_TRY(shards, chosen_shards(form.shards, full_name, dimensions, chunks, create.dtype));
  if (shards.empty()) return {};
  create.chunks = std::move(chunks);
  create.shards = std::move(shards);
  return {};
}

Result<sherd::CreateOptions> array_options(const Form& form, const std::string& group,
                                           const VariableDefinition& variable) {
  const NewVariable& options = variable.options;
  sherd::CreateOptions create;
  const bool v3 = form.v3();
  if (options.type == Type::string && has_variable_strings(form.mode, v3)) {
    create.dtype = DType::string;
  } else if (v3 && options.type == Type::character) {
    create.dtype = DType::uint8;
  } else {
    SHERD_TRY(dtype, array_type(options.type, variable.string_length));
    create.dtype = dtype;
  }
  const bool scalar = variable.dimensions.empty();
  create.shape = scalar && !v3 ? Shape{1} : variable.shape();
  create.chunks = scalar && !v3 ? Shape{1} : chunks_of(form, variable);
  create.shards = options.shards;
  if (!scalar && create.shards.empty() && !form.shards.empty())
    SHERD_TRY(shard(form, member_path(group, options.name), variable, create));
  SHERD_TRY(codecs, element_codecs(options, create.dtype, v3));
  create.codecs = std::move(codecs);
  SHERD_TRY(fill, fill_of(form, variable));
  create.fill_value = std::move(fill);
  if (!v3)
    create.chunk_key_encoding = Json(Json::Object{{"name", "v2"}, {"configuration", Json::Object{{"separator", "."}}}});
  if (v3 && !scalar && !form.mode.noxarray) {
    std::vector<std::optional<std::string>> names;
    for (const DimensionDefinition* each : variable.dimensions) names.emplace_back(each->name);
    create.dimension_names = std::move(names);
  }
  create.config = form.location.config;
  return create;
}

}  // namespace

Shape VariableDefinition::shape() const {
  Shape lengths;
  for (const DimensionDefinition* each : dimensions) lengths.push_back(each->length);
  return lengths;
}

const Values* VariableDefinition::attribute(std::string_view name) const noexcept {
  return find_values(options.attributes, name);
}

bool needs_no_fill(const Mode& mode, const NewVariable& variable) {
  return has_variable_strings(mode, false) && find_values(variable.attributes, kFillValue) == nullptr;
}

DimensionDefinition* GroupDefinition::dimension(std::string_view called) const noexcept {
  for (const auto& each : dimensions)
    if (each->name == called) return each.get();
  return nullptr;
}

bool GroupDefinition::has_member(std::string_view called) const noexcept {
  return std::ranges::any_of(variables, [&](const auto& each) { return each->options.name == called; }) ||
         std::ranges::any_of(groups, [&](const auto& each) { return each->name == called; });
}

SplitPath split_path(std::string_view path) {
  const auto group = parent_path(path);
  return {group.empty() ? "/" : group, last_segment(path)};
}

Result<GroupDefinition*> find_group(GroupDefinition& root, std::string_view path) {
  GroupDefinition* group = &root;
  std::string_view rest = path;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('/'), rest.size());
    const std::string_view name = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (name.empty()) continue;
    const auto next =
        std::ranges::find(group->groups, name, [](const auto& each) { return std::string_view(each->name); });
    if (next == group->groups.end()) return not_found("the dataset has no group '" + std::string(path) + "'");
    group = next->get();
  }
  return group;
}

Result<VariableDefinition*> find_variable(GroupDefinition& root, std::string_view path) {
  const auto [group_path, name] = split_path(path);
  SHERD_TRY(group, find_group(root, group_path));
  for (const auto& each : group->variables)
    if (each->options.name == name) return each.get();
  return not_found("the dataset has no variable '" + std::string(path) + "'");
}

NodeLocation Form::at(const std::string& path) const {
  return at_path(location, join_path(location.path, path.substr(1)));
}

Result<Json> group_metadata(const Form& form, const GroupDefinition& group) {
  Json types;
  const bool root = group.parent == nullptr;
  SHERD_TRY(stored, typed_attributes(form, group.attributes, group.touched, types));
  if (root && !form.mode.pure && !group.stored) {
    const std::string properties = "version=2,sherd=" + std::string(version()) + ",nczarr=" + kVersion;
    stored.set("_NCProperties", properties);
    types.set("_NCProperties", ">S1");
  }
  const Json superblock{Json::Object{{"version", kVersion}}};
  if (form.notes_attributes()) {
    const NoteForm& notes = attribute_form(form.v3());
    stored.set(notes.group, group_note_json(notes, note_of(group)));
    if (root) stored.set(notes.superblock, superblock);
  }
  note_types(form, std::move(types), stored);
  if (form.v3()) return form.location.format->group_document(stored);
  Json zgroup{Json::Object{{"zarr_format", 2}}};
  if (!form.mode.pure && form.in_documents) {
    if (root) zgroup.set(kDocumentForm.superblock, superblock);
    zgroup.set(kDocumentForm.group, group_note_json(kDocumentForm, note_of(group)));
  }
  return Json(Json::Object{{zarr2::kGroup, std::move(zgroup)}, {zarr2::kAttributes, std::move(stored)}});
}

Result<Json> stored_attributes(const Form& form, const std::string& group, const VariableDefinition& variable) {
  Json types;
  SHERD_TRY(stored, typed_attributes(form, variable.options.attributes, variable.touched, types));
  if (is_array_fill(form, variable.options.type)) stored.erase(kFillValue);  // its type is noted
  if (Json* fill = form.v3() ? stored.find(kFillValue) : nullptr)
    if (auto encoded = fill_for_xarray(*variable.attribute(kFillValue))) *fill = *std::move(encoded);
  const bool scalar = variable.dimensions.empty();
  const bool noted = form.notes_attributes() || (!form.mode.pure && scalar);
  if (!form.v3() && has_names(form, group, variable)) stored.set(kNamesAttribute, dimension_names_of(variable));
  if (noted) {
    const NoteForm& notes = attribute_form(form.v3());
    stored.set(notes.array, array_note_json(notes, note_of(form, variable)));
  }
  note_types(form, std::move(types), stored);
  return stored;
}

Result<NodeDocument> new_variable(const Form& form, const std::string& group, const VariableDefinition& variable) {
  if (variable.options.string_length == 0U) return invalid_argument("must be 1 or more").in_member("string_length");
  const NodeLocation location = form.at(member_path(group, variable.options.name));
  SHERD_TRY(options, array_options(form, group, variable));
  SHERD_TRY(attributes, stored_attributes(form, group, variable));
  if (form.v3()) options.attributes = attributes;
  SHERD_TRY(node, new_document(location, options));
  if (form.v3()) return node;
  Json document = std::move(node.document);
  Json& array = *document.find(zarr2::kArray);
  const bool variable_strings = has_variable_strings(form.mode, false);
  if (variable.options.type == Type::character || (variable.options.type == Type::string && !variable_strings)) {
    array.set("dtype", text_dtype(form, variable));
    array.set("fill_value", "");
  }
  // Readers of pure Zarr take a fill value for the mark of missing texts.
  const bool unmarked = is_text(variable.options.type) && variable_strings && !options.fill_value;
  if (variable.options.no_fill || unmarked) array.set("fill_value", Json());
  if (!form.mode.pure && form.in_documents)
    array.set(kDocumentForm.array, array_note_json(kDocumentForm, note_of(form, variable)));
  document.set(zarr2::kAttributes, std::move(attributes));
  return form.location.format->lower(std::move(document), form.location.config.limits);
}

std::optional<std::string> text_fill(const VariableDefinition& variable) {
  const Values* own = is_text(variable.options.type) ? variable.attribute(kFillValue) : nullptr;
  if (own == nullptr || size_of(*own) != 1) return std::nullopt;
  const auto* texts = std::get_if<std::vector<std::string>>(own);
  std::string text = texts != nullptr ? texts->front() : std::get<std::string>(*own);
  if (text.find_first_not_of('\0') == text.npos) return std::nullopt;
  if (variable.array && variable.array->dtype().is_variable()) {
    VarBytes stored;
    std::memcpy(&stored, variable.array->fill_value().data(), sizeof stored);
    if (stored.view() == text) return std::nullopt;
  }
  return text;
}

}  // namespace sherd::netcdf
