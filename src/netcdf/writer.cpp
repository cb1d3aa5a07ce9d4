// Definitions are kept in memory and stored together. An array appears with all of its metadata, after the groups
// around it. A stored group lists new members after they are stored, since netcdf-c cannot open a dataset that
// lists a missing one. A new group, which its parent does not list yet, is stored with its list before its
// members.
#include "netcdf/writer.hpp"

#include <algorithm>
#include <cstring>

#include "array/array_state.hpp"
#include "array/nodes.hpp"
#include "base/call.hpp"
#include "base/checked.hpp"
#include "base/pool.hpp"
#include "base/try.hpp"
#include "format/zarr3.hpp"
#include "netcdf/attribute.hpp"
#include "netcdf/model.hpp"
#include "netcdf/names.hpp"
#include "netcdf/note_forms.hpp"
#include "netcdf/type.hpp"
#include "netcdf/variables.hpp"
#include "node/consolidated.hpp"
#include "node/document.hpp"
#include "node/erase.hpp"
#include "node/path.hpp"
#include "store/key.hpp"

namespace sherd::netcdf {

namespace {

Result<DimensionDefinition*> find_dimension(GroupDefinition& root, const GroupDefinition& from, std::string_view name) {
  if (name.starts_with('/')) {
    const auto [group_path, own] = split_path(name);
    SHERD_TRY(group, find_group(root, group_path));
    if (DimensionDefinition* found = group->dimension(own)) return found;
  } else {
    for (const GroupDefinition* at = &from; at != nullptr; at = at->parent)
      if (DimensionDefinition* found = at->dimension(name)) return found;
  }
  return not_found("the dimension '" + std::string(name) + "' is not known in the group '" + from.path + "'");
}

Result<void> check_attribute(const Attribute& attribute) {
  SHERD_TRY(check_attribute_name(attribute.name));
  SHERD_TRY(
      attribute_json(attribute.values, TextForm::plain).in([&] { return "the attribute '" + attribute.name + "'"; }));
  return {};
}

void replace(std::vector<Attribute>& attributes, Attribute attribute) {
  const auto found = std::ranges::find(attributes, attribute.name, &Attribute::name);
  if (found == attributes.end())
    attributes.push_back(std::move(attribute));
  else
    found->values = std::move(attribute.values);
}

/// Elements in the form of the array. Texts are owned by `values` or by `bytes`.
struct Elements {
  std::vector<std::byte> bytes;
  const std::byte* data = nullptr;
};

/// Whether stores allow the names of all documents that can be at a path, since those of other formats are looked for
/// too.
Result<void> check_segments(const NodeLocation& location, const std::string& path, const std::string& name) {
  std::size_t longest = 0;
  for (const std::string& key : document_keys(location.tables.formats, path)) {
    std::string_view rest = key;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('/'), rest.size());
      longest = std::max(longest, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  if (longest <= kMaxSegmentBytes || longest < name.size()) return {};
  const std::size_t added = longest - name.size();
  return invalid_argument("the name '" + shown_name(name) + "' has " + std::to_string(name.size()) +
                          " bytes; those of variables and groups are parts of keys and have at most " +
                          std::to_string(kMaxSegmentBytes - std::min(added, kMaxSegmentBytes)));
}

Result<Elements> elements_of(const Values& values, const DType& dtype, bool cuts) {
  Elements elements;
  if (const auto* texts = std::get_if<std::vector<std::string>>(&values)) {
    const std::size_t size = dtype.size();
    elements.bytes.resize(texts->size() * size);
    for (std::size_t i = 0; i < texts->size(); ++i) {
      const std::string& text = (*texts)[i];
      std::byte* to = elements.bytes.data() + i * size;
      if (dtype.is_variable()) {
        const VarBytes handle{text.data(), text.size()};
        std::memcpy(to, &handle, sizeof handle);
      } else if (text.size() > size && !cuts) {
        return invalid_argument("a text has " + std::to_string(text.size()) +
                                " bytes, and the strings of the variable " + std::to_string(size) +
                                "; define it with a larger " + std::string(kMaxLength));
      } else {
        std::memcpy(to, text.data(), std::min(text.size(), size));
      }
    }
    elements.data = elements.bytes.data();
    return elements;
  }
  std::visit([&](const auto& list) { elements.data = reinterpret_cast<const std::byte*>(list.data()); }, values);
  return elements;
}

/// `cuts`: texts that are too long are cut instead of refused.
Result<void> write_elements(const Array& array, const Box& box, const Values& values, bool cuts) {
  SHERD_TRY(elements, elements_of(values, array.dtype(), cuts));
  return array.write(box, ConstAnyView::dense(elements.data, array.dtype(), box.shape));
}

Result<void> store_group(const Writer::State& state, GroupDefinition& group) {
  if (!group.changed) return {};
  if (group.stored) {
    SHERD_TRY(store_changes(state.form, group));
  } else {
    const NodeLocation location = state.form.at(group.path);
    SHERD_TRY(metadata, group_metadata(state.form, group));
    SHERD_TRY(node, location.format->lower(std::move(metadata), location.config.limits));
    group.known = note_of_group(node.document);
    SHERD_TRY(create_group_of(location, std::move(node), false));
  }
  group.stored = true;
  group.changed = false;
  group.touched.emplace();
  for (const auto& each : group.dimensions) each->noted = each->length;
  for (const auto& each : group.variables) each->listed = true;
  for (const auto& each : group.groups) each->listed = true;
  return {};
}

Result<void> store_variable(const Writer::State& state, const GroupDefinition& group, VariableDefinition& variable) {
  const NodeLocation location = state.form.at(member_path(group.path, variable.options.name));
  if (!variable.array) {
    SHERD_TRY(node, new_variable(state.form, group.path, variable));
    SHERD_TRY(check_documents(location, node.document));
    NodeLocation made_at = variable_location(location, state.form.mode, node);
    SHERD_TRY(array, create_array_of(std::move(made_at), std::move(node), false));
    variable.array = std::move(array);
    variable.known_shape = variable.array->shape();
    variable.changed = false;
    variable.touched.emplace();
    variable.unfilled = {Box{Shape(variable.array->ndim(), 0), variable.known_shape}};
  }
  SHERD_TRY(fill_new_parts(variable));
  if (!variable.changed) return {};
  SHERD_TRY(store_changes(state.form, group.path, variable));
  variable.changed = false;
  variable.touched.emplace();
  return {};
}

Result<void> store_definitions(const Writer::State& state, GroupDefinition& group) {  // NOLINT(misc-no-recursion)
  const bool is_new = !group.stored;
  if (is_new) SHERD_TRY(store_group(state, group));
  const bool makes_members = std::ranges::any_of(group.variables, [](const auto& each) { return !each->array; }) ||
                             std::ranges::any_of(group.groups, [](const auto& each) { return !each->stored; });
  if (!is_new && makes_members) SHERD_TRY(check_definitions(state.form, group, false));
  SHERD_TRY(parallel_for(group.variables.size(), waiting(state.form), [&](std::size_t i) {
    VariableDefinition& each = *group.variables[i];
    return store_variable(state, group, each).in([&] { return member_path(group.path, each.options.name); });
  }));
  for (const auto& each : group.groups) SHERD_TRY(store_definitions(state, *each));
  return is_new ? Result<void>() : store_group(state, group);
}

void mark_all(GroupDefinition& group) {  // NOLINT(misc-no-recursion)
  group.changed = true;
  for (const auto& each : group.variables) each->changed = true;
  for (const auto& each : group.groups) mark_all(*each);
}

Result<void> check_fill(const Form& form, const NewVariable& variable) {
  const auto check = [&](const Values& fill, const std::string& name) -> Result<void> {
    if (type_of(fill) == variable.type && size_of(fill) == 1) return {};
    return invalid_argument(name + " must be one value of the variable's type, " +
                            std::string(to_string(variable.type)));
  };
  if (const Values* fill = find_values(variable.attributes, kFillValue))
    SHERD_TRY(check(*fill, std::string(kFillValue)));
  if (!variable.array_fill) return {};
  if (!form.v3()) return invalid_argument("array_fill can only be used with Zarr v3");
  return check(*variable.array_fill, "array_fill");
}

/// The destination of elements: the array, and the box of it.
struct WrittenBox {
  Array array;
  Box box;
};

/// Stores definitions, and extends dimensions as needed for the box. `check` examines the variable's type.
template <class Check>
Result<WrittenBox> prepare(Writer::State& state, std::string_view variable, const Box& box, std::uint64_t count,
                           const Check& check) {
  const std::scoped_lock lock(state.mutex);
  SHERD_TRY(found, find_variable(state.root, variable));
  const std::size_t rank = found->dimensions.size();
  if (box.origin.size() != rank || box.shape.size() != rank)
    return invalid_argument("the variable has " + std::to_string(rank) + " dimensions, the box " +
                            std::to_string(box.shape.size()));
  SHERD_TRY(check(found->options.type));
  if (element_count(box.shape) != count)
    return invalid_argument("the box has shape " + sherd::to_string(box.shape) + ", but there are " +
                            std::to_string(count) + " values");
  SHERD_TRY(check_writable(*found));
  if (state.defined) SHERD_TRY(store_all(state));
  if (count > 0) SHERD_TRY(grow(state, *found, box));
  const Array array = *found->array;
  return WrittenBox{array, rank == 0 ? Box{Shape(array.ndim(), 0), Shape(array.ndim(), 1)} : box};
}

}  // namespace

Config waiting(const Form& form) {
  constexpr unsigned kThreads = 16;  // even for stores without latency, whose writes wait for the disk
  const NodeLocation& location = form.location;
  Config config = with_requests(location.config, std::max(kThreads, location.store->traits().parallel_requests));
  config.progress = nullptr;
  return config;
}

Result<void> check_attribute_name(const std::string& name) {
  SHERD_TRY(check_netcdf_name(name, "an attribute"));
  if (is_hidden_attribute(name)) return invalid_argument("'" + name + "' is reserved for metadata of the storage");
  return {};
}

Result<void> check_dimension_name(const std::string& name) { return check_netcdf_name(name, "a dimension"); }

Result<void> check_new_name(const Writer::State& state, const GroupDefinition& group, const std::string& name) {
  SHERD_TRY(check_netcdf_name(name, "a variable or group"));
  const NodeLocation& location = state.form.location;
  SHERD_TRY(location.format->check_name(name));
  if (name == zarr3::kDocument)  // a directory that would be taken for the document
    return invalid_argument("'" + name +
                            "' cannot be the name of a variable or group: it is that of metadata documents");
  SHERD_TRY(check_segments(location, join_path(location.path, member_path(group.path, name).substr(1)), name));
  if (group.has_member(name)) return conflict("'" + member_path(group.path, name) + "' is defined already");
  return {};
}

Result<void> store_all(Writer::State& state) {
  SHERD_TRY(catch_up(state));
  SHERD_TRY(store_definitions(state, state.root));
  state.defined = false;
  return {};
}

namespace {

void add_members(const GroupDefinition& group, std::vector<std::string>& paths) {  // NOLINT(misc-no-recursion)
  for (const auto& each : group.variables) paths.push_back(member_path(group.path, each->options.name).substr(1));
  for (const auto& each : group.groups) {
    paths.push_back(each->path.substr(1));
    add_members(*each, paths);
  }
}

}  // namespace

std::vector<std::string> member_paths(const Writer::State& state) {
  std::vector<std::string> paths;
  add_members(state.root, paths);
  return paths;
}

Result<void> consolidate(const Writer::State& state) {
  if (!state.consolidated) return {};
  SHERD_TRY(node, find_node(state.form.location));
  auto* root = node ? std::get_if<sherd::Group>(&*node) : nullptr;
  if (root == nullptr) return conflict("another process replaced the dataset in the meantime");
  auto done = root->consolidate();
  if (done || !is_stored_fault(done.error())) return done;
  // The entry of a damaged member, which netCDF has left out with a warning, remains as it is.
  const std::string& root_path = state.form.location.path;
  std::vector<std::string> paths{root_path};
  for (const std::string& each : member_paths(state)) paths.push_back(join_path(root_path, each));
  return renew_consolidated_of(state.form.location, paths);
}

Result<std::shared_ptr<Writer::State>> create_writer(NodeLocation location, const NewDataset& options) {
  if (!options.shards.empty() && location.format->name() != "zarr3")
    return invalid_argument("Zarr v2 has no shards; choose zarr3").in_member("shards");
  auto state = std::make_shared<Writer::State>();
  state->form.location = std::move(location);
  state->form.shards = options.shards;
  state->form.location.tables.changed = no_lists;  // the writer makes its own notes
  state->form.mode = options.mode;
  state->consolidated = options.consolidated;
  for (const Attribute& each : options.attributes) SHERD_TRY(check_attribute(each));
  state->root.attributes = options.attributes;
  SHERD_TRY(store_group(*state, state->root));  // so that an existing dataset is a conflict now
  return state;
}

const std::optional<Dataset>& Writer::opened() const noexcept { return state_->opened; }

const Mode& Writer::mode() const noexcept { return state_->form.mode; }

std::string_view Writer::format() const noexcept { return state_->form.location.format->name(); }

Result<void> Writer::define_group(std::string_view path, std::vector<Attribute> attributes) {
  const std::scoped_lock lock(state_->mutex);
  state_->defined = true;
  for (const Attribute& each : attributes) SHERD_TRY(check_attribute(each));
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const auto [above, name] = split_path(path);
  SHERD_TRY(parent, find_group(state_->root, above));
  SHERD_TRY(check_new_name(*state_, *parent, std::string(name)));
  std::size_t depth = 1;
  for (const GroupDefinition* at = parent; at->parent != nullptr; at = at->parent) ++depth;
  if (depth > kMaxGroupDepth)
    return unsupported("groups can be nested at most " + std::to_string(kMaxGroupDepth) + " deep");
  auto group = std::make_unique<GroupDefinition>();
  group->name = name;
  group->path = member_path(parent->path, name);
  const NodeLocation location = state_->form.at(group->path);
  SHERD_TRY(check_key_length(*location.store, location.format->document_key(location.path, NodeType::group)));
  group->parent = parent;
  group->attributes = std::move(attributes);
  parent->groups.push_back(std::move(group));
  parent->changed = true;
  return {};
}

Result<void> Writer::define_dimension(std::string_view group, const std::string& name, std::uint64_t length,
                                      bool unlimited) {
  const std::scoped_lock lock(state_->mutex);
  state_->defined = true;
  SHERD_TRY(owner, find_group(state_->root, group));
  SHERD_TRY(check_dimension_name(name));
  if (length > kLongestDimension) return invalid_argument("the length of a dimension must be 2^62 or less");
  if (owner->dimension(name) != nullptr)
    return conflict("the dimension '" + member_path(owner->path, name) + "' is defined already");
  owner->dimensions.push_back(
      std::make_unique<DimensionDefinition>(DimensionDefinition{name, owner, length, unlimited}));
  owner->changed = true;
  if (unlimited && !state_->form.unlimited) {
    state_->form.unlimited = true;  // the newest generation then needs its notes on every node
    mark_all(state_->root);
  }
  return {};
}

Result<void> Writer::define_variable(std::string_view group, NewVariable variable) {
  const std::scoped_lock lock(state_->mutex);
  state_->defined = true;
  SHERD_TRY(owner, find_group(state_->root, group));
  SHERD_TRY(check_new_name(*state_, *owner, variable.name));
  for (const Attribute& each : variable.attributes) SHERD_TRY(check_attribute(each));
  SHERD_TRY(check_fill(state_->form, variable));
  if (variable.big_endian && state_->form.little_only)
    return unsupported("the dataset was made by netcdf-c before 4.9.3, whose readers ignore the byte order")
        .in_member("big_endian");
  auto definition = std::make_unique<VariableDefinition>();
  for (const std::string& name : variable.dimensions) {
    SHERD_TRY(dimension, find_dimension(state_->root, *owner, name));
    definition->dimensions.push_back(dimension);
  }
  definition->string_length = variable.string_length.value_or(
      string_length_in(variable.attributes)
          .value_or(string_length_in(state_->root.attributes, kDefaultMaxLength).value_or(kDefaultStringLength)));
  definition->options = std::move(variable);
  SHERD_TRY(new_variable(state_->form, owner->path, *definition));  // errors are reported now
  owner->variables.push_back(std::move(definition));
  owner->changed = true;
  return {};
}

Result<void> Writer::set_attribute(std::string_view path, Attribute attribute) {
  const std::scoped_lock lock(state_->mutex);
  state_->defined = true;
  SHERD_TRY(check_attribute(attribute));
  if (auto group = find_group(state_->root, path)) {
    (*group)->changed = true;
    if ((*group)->touched) (*group)->touched->insert(attribute.name);
    replace((*group)->attributes, std::move(attribute));
    return {};
  }
  SHERD_TRY(variable, find_variable(state_->root, path));
  if (attribute.name == kFillValue || attribute.name == kMaxLength)
    return invalid_argument("'" + attribute.name + "' can only be set when the variable is defined");
  variable->changed = true;
  if (variable->touched) variable->touched->insert(attribute.name);
  replace(variable->options.attributes, std::move(attribute));
  return {};
}

Result<Shape> Writer::shape(std::string_view variable) const {
  const std::scoped_lock lock(state_->mutex);
  SHERD_TRY(found, find_variable(state_->root, variable));
  return found->shape();
}

Result<void> Writer::write(std::string_view variable, const Box& box, const Values& values) {
  return as_call(state_->form.location.config, [&]() -> Result<void> {
    SHERD_TRY(target, prepare(*state_, variable, box, size_of(values), [&](Type type) -> Result<void> {
                if (type == type_of(values)) return {};
                return invalid_argument("the variable is of type " + std::string(to_string(type)) +
                                        ", the values of type " + std::string(to_string(type_of(values))));
              }));
    return write_elements(target.array, target.box, values, state_->form.mode.compat_seed);
  });
}

Result<void> Writer::write(std::string_view variable, const Box& box, std::span<const std::byte> elements) {
  return as_call(state_->form.location.config, [&]() -> Result<void> {
    const auto count = element_count(box.shape);
    SHERD_TRY(target, prepare(*state_, variable, box, count.value_or(0), [&](Type type) -> Result<void> {
                if (type == Type::string)
                  return invalid_argument("the elements are strings, which have no fixed size; write them as Values");
                if (count && checked_mul(*count, element_size(type)) == elements.size()) return {};
                return invalid_argument("the box has shape " + sherd::to_string(box.shape) + ", but there are " +
                                        std::to_string(elements.size()) + " bytes");
              }));
    return target.array.write(target.box, ConstAnyView::dense(elements.data(), target.array.dtype(), target.box.shape));
  });
}

Result<void> Writer::store_definitions() {
  return as_call(state_->form.location.config, [&]() -> Result<void> {
    const std::scoped_lock lock(state_->mutex);
    return store_all(*state_);
  });
}

Result<void> Writer::sync() {
  return as_call(state_->form.location.config, [&]() -> Result<void> {
    const std::scoped_lock lock(state_->mutex);
    SHERD_TRY(store_all(*state_));
    SHERD_TRY(consolidate(*state_));
    return state_->form.location.store->finish();
  });
}

Result<void> Writer::discard() {
  const std::scoped_lock lock(state_->mutex);
  NodeLocation location = state_->form.location;
  location.config.interrupted = nullptr;
  SHERD_TRY(erase_node(location));
  return location.store->finish();
}

}  // namespace sherd::netcdf
