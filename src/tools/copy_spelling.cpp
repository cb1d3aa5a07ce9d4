// Documents may spell a value differently than Sherd writes it. A copy to another format keeps the spelling in a member
// that readers ignore, and a copy back restores it. In a group it is an attribute, because zarr-python does not open a
// group of Zarr v3 with an unknown member.
#include "array/format.hpp"
#include "base/try.hpp"
#include "tools/copy.hpp"

namespace sherd {
namespace {

constexpr const char* kIgnored = "must_understand";

/// Whether both describe the same node with the same chunks: a spelling may have been edited, or made up. `one` may
/// lack names of dimensions, which the copy has had to add.
bool say_the_same(const Format& format, const Json& one, const Json& other, const Limits& limits) {
  const auto a = format.lower(one, limits), b = format.lower(other, limits);
  if (!a || !b || a->type != b->type) return false;
  if (!a->array || !b->array) return !a->array && !b->array;
  return a->array->shape == b->array->shape && a->array->stores_like(*b->array) &&
         (a->array->dimension_names.empty() || a->array->dimension_names == b->array->dimension_names) &&
         a->array->no_access.has_value() == b->array->no_access.has_value() &&
         a->array->no_change.has_value() == b->array->no_change.has_value();
}

Result<Json> with_attribute(const Format& format, Json document, const Limits& limits, std::string_view name,
                            std::optional<Json> value) {
  SHERD_TRY(lowered, format.lower(document, limits));
  if (value)
    lowered.attributes.set(std::string(name), *std::move(value));
  else
    lowered.attributes.erase(name);
  return format.changed(std::move(document), {.attributes = std::move(lowered.attributes)});
}

}  // namespace

Result<void> carry_spelling(const Format& from, const NodeDocument& source, const Format& to, Json& copied,
                            const Limits& limits) {
  const bool is_group = source.type == NodeType::group;
  if (const auto* own = capability<Spelling>(from); own != nullptr && to.traits().ignores_members) {
    const Json spelling = own->spelling(source);
    if (spelling.is_null()) return {};
    Json member(Json::Object{{kIgnored, false}});
    for (const auto& [key, value] : spelling.members()) member.set(key, value);
    if (!is_group) {
      copied.set(std::string(own->member()), std::move(member));
      return {};
    }
    SHERD_TRY(changed, with_attribute(to, std::move(copied), limits, own->member(), std::move(member)));
    copied = std::move(changed);
  }
  if (const auto* own = capability<Spelling>(to); own != nullptr && from.traits().ignores_members) {
    const Json* kept = source.document.find(own->member());
    const Json* noted = is_group ? source.attributes.find(own->member()) : nullptr;
    if (noted != nullptr && noted->is_object()) {
      SHERD_TRY(changed, with_attribute(to, std::move(copied), limits, own->member(), std::nullopt));
      copied = std::move(changed);
      kept = noted;
    }
    if (kept == nullptr || !kept->is_object()) return {};
    Json respelled = own->respelled(copied, *kept);
    if (say_the_same(to, respelled, copied, limits)) copied = std::move(respelled);
  }
  return {};
}

}  // namespace sherd
