// Changes existing datasets: reads what is stored into the definitions of a writer.
#include <algorithm>

#include "base/try.hpp"
#include "netcdf/attribute.hpp"
#include "netcdf/model.hpp"
#include "netcdf/note_forms.hpp"
#include "netcdf/read_dataset.hpp"
#include "netcdf/type.hpp"
#include "netcdf/writer.hpp"
#include "node/document.hpp"

namespace sherd::netcdf {

namespace {

/// Why a variable's elements cannot be written; empty if they are those of its array.
std::string refusal(const Variable::State& variable) {
  if (variable.reinterpreted) return "netcdf-c stored its elements otherwise than its metadata say";
  const DType& dtype = variable.array->dtype();
  const auto plain = array_type(variable.type, 1);
  const bool is_plain = variable.type == Type::string
                            ? dtype.is_variable() || dtype.kind() == DType::Kind::null_terminated_bytes
                        : variable.type == Type::character ? dtype.size() == 1
                                                           : plain && dtype == *plain;
  return is_plain ? "" : "its elements are of the type " + dtype.name() + "; write them as those of an array";
}

class Opener {
 public:
  explicit Opener(Writer::State& state) : state_(state) {}

  // The depth is limited, since the dataset was read.
  void groups(const Group::State& from, GroupDefinition& to) {  // NOLINT(misc-no-recursion)
    to.name = from.name;
    to.path = from.path;
    to.attributes = from.attributes;
    to.known = from.note;
    to.stored = to.listed = true;
    to.changed = false;
    to.touched.emplace();
    for (std::size_t i = 0; i < from.dimensions.size(); ++i) {
      const Dimension& each = from.dimensions[i];
      const std::uint64_t noted = i < from.recorded.size() ? from.recorded[i] : each.length;
      to.dimensions.push_back(std::make_unique<DimensionDefinition>(
          DimensionDefinition{each.name, &to, each.length, each.unlimited, each.anonymous, noted}));
      state_.form.unlimited |= each.unlimited;
      to.changed |= noted != each.length;
    }
    state_.behind |= to.changed;
    for (const auto& each : from.groups) {
      to.groups.push_back(std::make_unique<GroupDefinition>());
      to.groups.back()->parent = &to;
      groups(*each, *to.groups.back());
    }
  }

  Result<void> variables(const Group::State& from, GroupDefinition& to) {  // NOLINT(misc-no-recursion)
    for (const auto& each : from.variables) {
      auto made = std::make_unique<VariableDefinition>();
      made->options = {.name = each->name, .type = each->type, .attributes = each->attributes};
      made->options.no_fill = each->storage.no_fill;
      for (const Dimension& dimension : each->dimensions) {
        DimensionDefinition* found = dimension_of(dimension);
        if (found == nullptr) return corrupt("the dimension '" + dimension.full_name() + "' is not known");
        made->dimensions.push_back(found);
      }
      made->string_length = each->array->dtype().size();
      made->array = *each->array;
      made->known_shape = made->array->shape();
      made->listed = true;
      made->touched.emplace();
      made->refused = refusal(*each);
      if (!each->dimensions.empty()) {
        named_ |= !each->array->dimension_names().empty();
        unnamed_ |= each->array->dimension_names().empty();
      }
      state_.behind |= !made->dimensions.empty() && made->known_shape != made->shape();
      to.variables.push_back(std::move(made));
    }
    for (std::size_t i = 0; i < from.groups.size(); ++i) SHERD_TRY(variables(*from.groups[i], *to.groups[i]));
    return {};
  }

  /// Whether no variable has dimension names for xarray.
  [[nodiscard]] bool is_noxarray() const { return unnamed_ && !named_; }

 private:
  DimensionDefinition* dimension_of(const Dimension& dimension) {
    GroupDefinition* group = &state_.root;
    std::string_view rest = std::string_view(dimension.group).substr(1);
    while (!rest.empty()) {
      const std::string_view name = rest.substr(0, rest.find('/'));
      rest.remove_prefix(std::min(name.size() + 1, rest.size()));
      const auto next =
          std::ranges::find(group->groups, name, [](const auto& each) { return std::string_view(each->name); });
      if (next == group->groups.end()) return nullptr;
      group = next->get();
    }
    return group->dimension(dimension.name);
  }

  Writer::State& state_;
  bool named_ = false, unnamed_ = false;
};

/// Determines where the root's notes are.
void find_form(const NodeDocument& root, Form& form) {
  const auto has = [&](const NoteForm& notes) {
    return part_of(root.document, notes.group_part, notes.group) != nullptr ||
           part_of(root.document, notes.group_part, notes.superblock) != nullptr;
  };
  form.in_documents = has(kDocumentForm);
  form.in_attributes = has(attribute_form(form.v3()));
}

}  // namespace

Result<Writer> open_writer(NodeLocation location, const Mode& mode) {
  SHERD_TRY(dataset, read_state(std::move(location), mode));
  if (dataset->generation == Generation::v1 || dataset->generation == Generation::v2a)
    return unsupported(
        "the dataset was made by netcdf-c before 4.9.1 and can only be read; copy it, and change the copy");
  auto state = std::make_shared<Writer::State>();
  state->opened.emplace(dataset);
  state->form.location = *dataset->location;
  state->form.location.tables.changed = no_lists;  // the writer makes its own notes
  state->form.mode = dataset->mode;
  state->consolidated = dataset->consolidated;
  SHERD_TRY(present, edit_document(state->form.location, NodeType::group, [](const NodeDocument& root) -> Result<Json> {
              return root.document;  // nothing changes; not_found if it is an array
            }));
  find_form(present, state->form);
  const bool is_noted = state->form.in_documents || state->form.in_attributes;
  if (is_noted && mode.pure)
    return invalid_argument("the dataset has metadata of NCZarr, which mode=zarr would not keep up to date");
  state->form.mode.pure = !is_noted;
  state->form.little_only = dataset->release && *dataset->release < std::array{4, 9, 3};
  Opener opener(*state);
  opener.groups(dataset->root, state->root);
  SHERD_TRY(opener.variables(dataset->root, state->root));
  if (is_noted && opener.is_noxarray()) state->form.mode.noxarray = true;
  state->lost_before = losses_of(*state);
  return Writer(std::move(state));
}

}  // namespace sherd::netcdf
