// Builds a dataset: first the tree of groups with the dimensions named in metadata, then for every variable its
// dimensions, found by name and checked against the array's shape. If a length contradicts the shape, the dimensions of
// that variable are anonymous; the dataset can still be opened.
#include "netcdf/read_dataset.hpp"

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "format/hidden_group.hpp"
#include "format/zarr_common.hpp"
#include "netcdf/attribute.hpp"
#include "netcdf/note_forms.hpp"
#include "netcdf/notes.hpp"
#include "netcdf/variables.hpp"
#include "node/document.hpp"

namespace sherd::netcdf {

/// The result for a stored array.
struct MadeArray {
  std::optional<ArrayNote> note;
  Result<MadeVariable> variable = MadeVariable{};
  bool scalar_by_name = false;
  Warnings warnings = {};
  std::vector<Array> others = {};
};

namespace {

struct Unfinished {
  std::unique_ptr<Variable::State> variable;
  std::vector<Dimension*> dimensions;
};

/// A group while the dataset is being built.
struct Branch {
  std::string name, path = "/";
  Branch* parent = nullptr;
  std::vector<std::unique_ptr<Dimension>> dimensions = {};
  std::vector<std::uint64_t> recorded = {};  ///< as in Group::State
  std::optional<GroupNote> note = {};
  std::vector<Attribute> attributes = {};
  Json stored_attributes = Json(Json::Object{});
  std::vector<StoredNode> arrays = {};
  std::vector<Unfinished> variables = {};
  std::vector<Array> other_arrays = {};
  std::vector<std::unique_ptr<Branch>> groups = {};

  std::map<std::string, Dimension*, std::less<>> by_name = {};

  [[nodiscard]] Dimension* own(std::string_view dimension) const {
    const auto found = by_name.find(dimension);
    return found == by_name.end() ? nullptr : found->second;
  }
  Dimension* add(const std::string& dimension, std::uint64_t length) {
    dimensions.push_back(std::make_unique<Dimension>(Dimension{.name = dimension, .group = path, .length = length}));
    return by_name[dimension] = dimensions.back().get();
  }
};

class Builder {
 public:
  Builder(NodeReader& reader, const Mode& mode) : reader_(reader), mode_(mode) {}

  Result<std::shared_ptr<Dataset::State>> run() {
    const StoredNode& root = reader_.root();
    reading_.location = reader_.location();
    reading_.shared_location = std::make_shared<const NodeLocation>(reading_.location);
    reading_.mode = mode_;
    reading_.generation = mode_.pure ? Generation::pure : generation_of(root, reader_.is_v1());
    const Json* properties = root.attributes().find("_NCProperties");
    if (properties != nullptr) reading_.release = release_in(properties->text(), reading_.generation);
    if (reading_.generation == Generation::v1) reading_.release = reading_.release.value_or(std::array{4, 8, 0});
    if (root.type == NodeType::array)
      add_single(root);
    else
      SHERD_TRY(add_group(root_, root, 0));
    if (root_.arrays.empty() && root_.groups.empty()) SHERD_TRY(check_empty());
    SHERD_TRY(resolve(root_));
    auto state = std::make_shared<Dataset::State>();
    state->url = url_below(reading_.location.store->url(), reading_.location.path);
    state->format = reading_.location.format->name();
    state->location = reading_.location;
    state->mode = mode_;
    state->generation = reading_.generation;
    state->consolidated = reader_.is_consolidated();
    state->release = reading_.release;
    if (properties != nullptr) state->properties = properties->text();
    state->warnings = reader_.warnings();
    std::ranges::move(warnings_, std::back_inserter(state->warnings));
    state->unread = reader_.unread();
    std::ranges::move(unread_, std::back_inserter(state->unread));
    finish(root_, state->root, nullptr);
    return state;
  }

 private:
  /// A dataset whose URL names an array has it as its only variable.
  void add_single(const StoredNode& root) {
    StoredNode node = root;
    node.name = root.path.empty() ? "data" : last_segment(root.path);
    make(node);
    root_.arrays.push_back(std::move(node));
  }

  void warn(const std::string& place, const std::string& what) { warnings_.push_back(place + ": " + what); }

  void leave_out(const std::string& place, Error error) { unread_.push_back({place, std::move(error)}); }

  /// A stray zarr.json hides a whole dataset of Zarr v2.
  Result<void> check_empty() {
    SHERD_TRY(hidden, hidden_group(reader_.location(), reader_.root().document));
    if (!hidden) return {};
    warn("/", *hidden);
    leave_out("/", corrupt(*hidden));
    return {};
  }

  /// Called on all threads.
  void make(StoredNode& node) const {
    node.made = std::make_shared<MadeArray>();
    MadeArray& made = *node.made;
    made.note = reading_.noted() ? array_note(node, made.warnings) : std::nullopt;
    made.scalar_by_name = is_scalar_by_name(node);
    made.variable = make_variable(reading_, node, made.note, made.warnings, made.others);
    node.document = Json();  // the next arrays need memory
  }

  // The depth is bounded.
  Result<void> add_group(Branch& branch, const StoredNode& node, std::size_t depth) {  // NOLINT(misc-no-recursion)
    if (reading_.noted()) branch.note = group_note(node, warnings_);
    const auto& note = branch.note;
    branch.attributes = attributes_of(reading_, node, std::nullopt, warnings_);
    branch.stored_attributes = node.attributes();
    if (note)
      for (const DimensionNote& each : note->dimensions) {
        branch.add(each.name, each.length)->unlimited = each.unlimited;
        branch.recorded.push_back(each.unlimited ? recorded_length(node.document, each) : each.length);
      }
    SHERD_TRY(members,
              reader_.members(node, note ? &note->members : nullptr, [this](StoredNode& each) { make(each); }));
    for (StoredNode& member : members) {
      if (member.type == NodeType::array) {
        branch.arrays.push_back(std::move(member));
        continue;
      }
      if (depth == kMaxGroupDepth) {
        const std::string fault = "it is nested more than " + std::to_string(kMaxGroupDepth) + " deep";
        warn("/" + member.path, "the group is left out: " + fault);
        leave_out(member_path(branch.path, member.name), unsupported(fault));
        continue;
      }
      auto group = std::make_unique<Branch>(
          Branch{.name = member.name, .path = member_path(branch.path, member.name), .parent = &branch});
      SHERD_TRY(add_group(*group, member, depth + 1));
      branch.groups.push_back(std::move(group));
    }
    return {};
  }

  Result<void> resolve(Branch& branch) {  // NOLINT(misc-no-recursion)
    for (const StoredNode& each : branch.arrays) {
      MadeArray& made = *each.made;
      const std::string& path = each.path;
      std::ranges::move(made.warnings, std::back_inserter(warnings_));
      const bool is_other = !made.others.empty();
      std::ranges::move(made.others, std::back_inserter(branch.other_arrays));
      if (!made.variable && !is_stored_fault(made.variable.error())) return made.variable.error();
      if (!made.variable) {
        warn("/" + path, "the variable is left out: " + made.variable.error().text());
        if (!is_other) leave_out(member_path(branch.path, each.name), made.variable.error());
        continue;
      }
      made.variable->state->group = branch.path;
      auto dimensions = dimensions_of(branch, *made.variable, path, made.note, made.scalar_by_name);
      branch.variables.push_back({std::move(made.variable->state), std::move(dimensions)});
    }
    for (const auto& group : branch.groups) SHERD_TRY(resolve(*group));
    return {};
  }

  std::vector<Dimension*> dimensions_of(Branch& branch, const MadeVariable& made, const std::string& node_path,
                                        const std::optional<ArrayNote>& note, bool scalar_by_name) {
    Variable::State& variable = *made.state;
    if (variable.scalar) return {};
    const Shape& shape = made.shape;
    if (note) {
      auto noted = noted_dimensions(shape, *note);
      if (noted) return *std::move(noted);
      warn("/" + node_path, noted.error().message() + "; its dimensions are anonymous");
      return anonymous(shape);
    }
    const auto& names = made.dimension_names;
    if (scalar_by_name && shape == Shape{1}) {
      variable.scalar = true;
      variable.storage.chunks.clear();
      return {};
    }
    if (names.size() != shape.size() || names.empty() || mode_.noxarray) return anonymous(shape);
    auto named = named_dimensions(branch, shape, names);
    if (named) return *std::move(named);
    warn("/" + node_path, named.error().message() + "; its dimensions are anonymous");
    return anonymous(shape);
  }

  /// netcdf-c has no arrays without dimensions: it writes one element, with the name "_scalar_" or none.
  static bool is_scalar_by_name(const StoredNode& node) {
    const Json* names = node.attributes().find(kNamesAttribute);
    if (names == nullptr) names = node.document.find("dimension_names");  // of a copy in Zarr v3
    if (names == nullptr || !names->is_array()) return false;
    return names->size() == 0 || (names->size() == 1 && names->elements()[0].text() == "_scalar_");
  }

  /// The dimensions with these full names. An unlimited one is as long as its longest variable.
  Result<std::vector<Dimension*>> noted_dimensions(const Shape& shape, const ArrayNote& note) {
    if (note.dimensions.size() != shape.size())
      return corrupt("has " + std::to_string(shape.size()) + " dimensions, but its metadata name " +
                     std::to_string(note.dimensions.size()));
    std::vector<Dimension*> found;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      Dimension* dimension = dimension_called(note.dimensions[d]);
      if (dimension == nullptr)
        return corrupt("refers to the dimension '" + note.dimensions[d].substr(0, 200) + "', which does not exist");
      if (!dimension->unlimited && dimension->length != shape[d])
        return corrupt("is " + std::to_string(shape[d]) + " long along '" + note.dimensions[d].substr(0, 200) +
                       "', whose length is " + std::to_string(dimension->length));
      found.push_back(dimension);
    }
    for (std::size_t d = 0; d < shape.size(); ++d) found[d]->length = std::max(found[d]->length, shape[d]);
    return found;
  }

  Dimension* dimension_called(std::string_view full) {
    const Branch* branch = &root_;
    if (full.starts_with('/')) full.remove_prefix(1);
    for (std::size_t end = full.find('/'); end != full.npos; end = full.find('/')) {
      const auto next = std::ranges::find(branch->groups, full.substr(0, end),
                                          [](const auto& each) { return std::string_view(each->name); });
      if (next == branch->groups.end()) return nullptr;
      branch = next->get();
      full.remove_prefix(end + 1);
    }
    if (Dimension* found = branch->own(full)) return found;
    return branch == &root_ ? anonymous_called(full) : nullptr;
  }

  /// netcdf-c refers to anonymous dimensions without defining them: `_zdim_5`, `.zdim_5`, `_Anonymous_Dim_5`.
  Dimension* anonymous_called(std::string_view name) {
    for (const std::string_view prefix : {"_Anonymous_Dim_", "_zdim_", ".zdim_", ".zdim"}) {
      if (!name.starts_with(prefix)) continue;
      const auto length = Json::number(std::string(name.substr(prefix.size()))).as_uint();
      return length ? anonymous_of(*length) : nullptr;
    }
    return nullptr;
  }

  /// Dimensions by xarray's names: visible here with the same length, or new ones of this group.
  Result<std::vector<Dimension*>> named_dimensions(Branch& branch, const Shape& shape,
                                                   const std::vector<std::optional<std::string>>& names) {
    std::vector<Dimension*> found(shape.size(), nullptr);
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (!names[d] || names[d]->empty() || names[d]->find('/') != std::string::npos) {
        found[d] = anonymous_of(shape[d]);
        continue;
      }
      if (Dimension* own = branch.own(*names[d]); own != nullptr && own->length != shape[d])
        return corrupt("is " + std::to_string(shape[d]) + " long along '" + *names[d] + "', whose length is " +
                       std::to_string(own->length) + " in another variable");
      for (std::size_t e = 0; e < d; ++e)
        if (names[e] == names[d] && shape[e] != shape[d]) return corrupt("has two lengths along '" + *names[d] + "'");
      for (const Branch* at = &branch; at != nullptr && found[d] == nullptr; at = at->parent)
        if (Dimension* known = at->own(*names[d]); known != nullptr && known->length == shape[d]) found[d] = known;
    }
    for (std::size_t d = 0; d < shape.size(); ++d)
      if (found[d] == nullptr) {
        found[d] = branch.own(*names[d]);
        if (found[d] == nullptr) found[d] = branch.add(*names[d], shape[d]);
      }
    return found;
  }

  std::vector<Dimension*> anonymous(const Shape& shape) {
    std::vector<Dimension*> all;
    all.reserve(shape.size());
    for (const std::uint64_t length : shape) all.push_back(anonymous_of(length));
    return all;
  }

  Dimension* anonymous_of(std::uint64_t length) {
    Dimension*& found = anonymous_[length];
    if (found != nullptr) return found;
    std::string name = (mode_.compat_seed ? ".zdim_" : "_Anonymous_Dim_") + std::to_string(length);
    for (found = root_.own(name); found != nullptr && found->length != length; found = root_.own(name)) name += '_';
    if (found == nullptr) found = root_.add(name, length);
    found->anonymous = true;
    return found;
  }

  static void finish(Branch& branch, Group::State& to, const Group::State* parent) {  // NOLINT(misc-no-recursion)
    to.name = std::move(branch.name);
    to.path = std::move(branch.path);
    to.parent = parent;
    to.attributes = std::move(branch.attributes);
    to.stored_attributes = std::move(branch.stored_attributes);
    to.other_arrays = std::move(branch.other_arrays);
    for (const auto& each : branch.dimensions) to.dimensions.push_back(*each);
    to.recorded = std::move(branch.recorded);
    to.note = std::move(branch.note);
    for (Unfinished& each : branch.variables) {
      for (const Dimension* dimension : each.dimensions) each.variable->dimensions.push_back(*dimension);
      to.variables.push_back(std::move(each.variable));
    }
    for (const auto& group : branch.groups) {
      to.groups.push_back(std::make_unique<Group::State>());
      finish(*group, *to.groups.back(), &to);
    }
  }

  NodeReader& reader_;
  Mode mode_;
  Reading reading_;
  Branch root_;
  std::map<std::uint64_t, Dimension*> anonymous_;
  Warnings warnings_;
  std::vector<Unread> unread_;
};

}  // namespace

Result<std::shared_ptr<Dataset::State>> read_state(NodeLocation location, const Mode& mode, bool consolidated) {
  SHERD_TRY(reader, NodeReader::open(std::move(location), consolidated));
  return Builder(reader, mode).run();
}

Result<Dataset> read_dataset(NodeLocation location, const Mode& mode, bool consolidated) {
  SHERD_TRY(state, read_state(std::move(location), mode, consolidated));
  return Dataset(std::move(state));
}

}  // namespace sherd::netcdf
