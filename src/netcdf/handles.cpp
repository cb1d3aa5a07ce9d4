// The handles of include/sherd/netcdf.hpp. Each keeps the whole dataset alive.
#include <algorithm>

#include "base/try.hpp"
#include "netcdf/attribute.hpp"
#include "netcdf/model.hpp"
#include "netcdf/variables.hpp"

namespace sherd::netcdf {

namespace {

/// The group that contains the last part of a path, and that part.
std::pair<const Group::State*, std::string_view> walk(const Group::State* group, std::string_view path) {
  if (path.starts_with('/')) {
    while (group->parent != nullptr) group = group->parent;
    path.remove_prefix(1);
  }
  for (std::size_t end = path.find('/'); end != path.npos && group != nullptr; end = path.find('/')) {
    const auto next = std::ranges::find(group->groups, path.substr(0, end),
                                        [](const auto& each) { return std::string_view(each->name); });
    group = next == group->groups.end() ? nullptr : next->get();
    path.remove_prefix(end + 1);
  }
  return {group, path};
}

}  // namespace

std::string Dimension::full_name() const { return member_path(group, name); }

const std::string& Variable::name() const noexcept { return state_->name; }
std::string Variable::full_name() const { return member_path(state_->group, state_->name); }
Type Variable::type() const noexcept { return state_->type; }
const std::vector<Dimension>& Variable::dimensions() const noexcept { return state_->dimensions; }
const std::vector<Attribute>& Variable::attributes() const noexcept { return state_->attributes; }
const Values* Variable::attribute(std::string_view name) const noexcept {
  return find_values(state_->attributes, name);
}
const Storage& Variable::storage() const {
  if (state_->array) std::call_once(state_->described, [&] { describe_codecs(*state_->array, state_->storage); });
  return state_->storage;
}
const Array& Variable::array() const { return *state_->array; }
bool Variable::has_array() const noexcept { return static_cast<bool>(state_->array); }

Shape Variable::shape() const {
  Shape shape;
  for (const Dimension& each : state_->dimensions) shape.push_back(each.length);
  return shape;
}

const std::string& Group::name() const noexcept { return state_->name; }
const std::string& Group::path() const noexcept { return state_->path; }
const std::vector<Dimension>& Group::dimensions() const noexcept { return state_->dimensions; }
const std::vector<Attribute>& Group::attributes() const noexcept { return state_->attributes; }
const Values* Group::attribute(std::string_view name) const noexcept { return find_values(state_->attributes, name); }

const Json& Group::stored_attributes() const noexcept { return state_->stored_attributes; }
const std::vector<Array>& Group::other_arrays() const noexcept { return state_->other_arrays; }

std::vector<Variable> Group::variables() const {
  std::vector<Variable> all;
  for (const auto& each : state_->variables)
    all.emplace_back(std::shared_ptr<const Variable::State>(state_, each.get()));
  return all;
}

std::vector<Group> Group::groups() const {
  std::vector<Group> all;
  for (const auto& each : state_->groups) all.emplace_back(std::shared_ptr<const State>(state_, each.get()));
  return all;
}

std::optional<Variable> Group::variable(std::string_view path) const {
  const auto [group, name] = walk(state_.get(), path);
  if (group == nullptr) return std::nullopt;
  for (const auto& each : group->variables)
    if (each->name == name) return Variable(std::shared_ptr<const Variable::State>(state_, each.get()));
  return std::nullopt;
}

std::optional<Group> Group::group(std::string_view path) const {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const auto [group, name] = walk(state_.get(), path);
  if (group == nullptr) return std::nullopt;
  if (name.empty()) return Group(std::shared_ptr<const State>(state_, group));
  for (const auto& each : group->groups)
    if (each->name == name) return Group(std::shared_ptr<const State>(state_, each.get()));
  return std::nullopt;
}

std::optional<Dimension> Group::dimension(std::string_view name) const {
  for (const State* at = state_.get(); at != nullptr; at = at->parent)
    if (const auto found = std::ranges::find(at->dimensions, name, &Dimension::name); found != at->dimensions.end())
      return *found;
  return std::nullopt;
}

Group Dataset::root() const { return Group(std::shared_ptr<const Group::State>(state_, &state_->root)); }
Generation Dataset::generation() const noexcept { return state_->generation; }
std::string Dataset::url() const { return state_->url; }
std::string_view Dataset::format() const noexcept { return state_->format; }
std::string_view Dataset::kind() const noexcept { return state_->kind; }
const std::string& Dataset::properties() const noexcept { return state_->properties; }
const std::vector<std::string>& Dataset::warnings() const noexcept { return state_->warnings; }
const std::vector<Unread>& Dataset::unread() const noexcept { return state_->unread; }

}  // namespace sherd::netcdf
