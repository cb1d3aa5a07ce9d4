// Documents may spell a value differently than Sherd writes it. A copy to another format keeps the spelling in a member
// that readers ignore, and a copy back restores it. In a group it is an attribute, because zarr-python does not open a
// group of Zarr v3 with an unknown member.
#include <algorithm>
#include <map>

#include "array/format.hpp"
#include "base/try.hpp"
#include "codec/chain.hpp"
#include "ome/ome.hpp"
#include "tools/copy.hpp"

namespace sherd {
namespace {

constexpr const char* kIgnored = "must_understand";

constexpr const char* kAttributes = "attributes";

/// The document that describes an array with all parameters of its codecs: equal for equal arrays, however their
/// documents spell them.
Result<Json> complete_document(const NodeLocation& location, ArraySpec array) {
  array.attributes = {};
  array.dimension_names.clear();
  complete_codecs(array.codecs, location.codecs(), array.dtype);
  return location.format->array_document(array);
}

/// With one byte order for all fields of structs, which a copy in another format has had to choose.
void with_orders_of(const ArraySpec& copy, ArraySpec& array) {
  const auto own = std::ranges::find(array.codecs, "bytes", &CodecSpec::name);
  const auto other = std::ranges::find(copy.codecs, "bytes", &CodecSpec::name);
  if (own == array.codecs.end() || other == copy.codecs.end()) return;
  const Json* endian = own->configuration.find("endian");
  if (endian != nullptr && endian->is_array()) own->configuration = other->configuration;
}

/// Whether `respelled` describes the same elements as `copied`: a spelling may have been edited, or made up. It may
/// lack names of dimensions, which the copy has had to add, and have fields of several byte orders, in which chunks are
/// encoded again.
bool say_the_same(const NodeLocation& location, const Json& respelled, const Json& copied) {
  const Limits& limits = location.config.limits;
  auto a = location.format->lower(respelled, limits), b = location.format->lower(copied, limits);
  if (!a || !b || a->type != b->type) return false;
  if (!a->array || !b->array) return !a->array && !b->array;
  if (!a->array->dimension_names.empty() && a->array->dimension_names != b->array->dimension_names) return false;
  if (a->array->no_access.has_value() != b->array->no_access.has_value() ||
      a->array->no_change.has_value() != b->array->no_change.has_value())
    return false;
  with_orders_of(*b->array, *a->array);
  const auto one = complete_document(location, *std::move(a->array)),
             other = complete_document(location, *std::move(b->array));
  return one && other && one->dump() == other->dump();
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

/// The attributes that a copy of the copy would spell otherwise: for each what it would be (`is`) and what it `was`. Of
/// groups, in which Zarr v3's readers tolerate less, only those that would have other values.
Json attributes_spelled(const Format& from, const NodeDocument& source, const Format& to, const NodeDocument& copied) {
  const Json back =
      source.array ? copied_attributes(to, from, copied) : as_ome_version(copied.attributes, ome_version_of(from), {});
  std::map<std::string_view, const Json*> all;
  for (const auto& [key, is] : back.members()) all.emplace(key, &is);
  Json spelled;
  for (const auto& [key, was] : source.attributes.members()) {
    const auto is = all.find(key);
    if (is == all.end()) continue;
    if (source.array ? is->second->dump() != was.dump() : !(*is->second == was))
      spelled.set(key, Json::Object{{"is", *is->second}, {"was", was}});
  }
  return spelled;
}

/// The attributes as they were, unless they have changed since.
Result<void> spell_attributes(const NodeLocation& location, const Json& spelled, Json& copied) {
  SHERD_TRY(lowered, location.format->lower(copied, location.config.limits));
  bool changes = false;
  for (const auto& [key, each] : spelled.members()) {
    Json* now = lowered.attributes.find(key);
    const Json *is = each.find("is"), *was = each.find("was");
    if (now == nullptr || is == nullptr || was == nullptr || is->dump() != now->dump()) continue;
    *now = *was;
    changes = true;
  }
  if (!changes) return {};
  SHERD_TRY(changed, location.format->changed(std::move(copied), {.attributes = std::move(lowered.attributes)}));
  copied = std::move(changed);
  return {};
}

Result<void> keep_spelling(const Format& from, const Spelling& own, const NodeDocument& source,
                           const NodeLocation& destination, Json& copied) {
  const Format& to = *destination.format;
  const Limits& limits = destination.config.limits;
  Json spelling = own.spelling(source);
  SHERD_TRY(lowered, to.lower(copied, limits));
  Json attributes = attributes_spelled(from, source, to, lowered);
  if (!attributes.is_null()) spelling.set(kAttributes, std::move(attributes));
  if (spelling.is_null()) return {};
  Json member(Json::Object{{kIgnored, false}});
  for (const auto& [key, value] : spelling.members()) member.set(key, value);
  if (source.array) {
    copied.set(std::string(own.member()), std::move(member));
    return {};
  }
  SHERD_TRY(changed, with_attribute(to, std::move(copied), limits, own.member(), std::move(member)));
  copied = std::move(changed);
  return {};
}

Result<void> restore_spelling(const Spelling& own, const NodeDocument& source, const NodeLocation& destination,
                              Json& copied) {
  const Json* kept = source.document.find(own.member());
  const Json* noted = source.type == NodeType::group ? source.attributes.find(own.member()) : nullptr;
  if (noted != nullptr && noted->is_object()) {
    SHERD_TRY(changed, with_attribute(*destination.format, std::move(copied), destination.config.limits, own.member(),
                                      std::nullopt));
    copied = std::move(changed);
    kept = noted;
  }
  if (kept == nullptr || !kept->is_object()) return {};
  copied =
      own.respelled(copied, *kept, [&](const Json& respelled) { return say_the_same(destination, respelled, copied); });
  const Json* attributes = kept->find(kAttributes);
  return attributes == nullptr ? Result<void>() : spell_attributes(destination, *attributes, copied);
}

}  // namespace

Result<void> carry_spelling(const Format& from, const NodeDocument& source, const NodeLocation& destination,
                            Json& copied) {
  const Format& to = *destination.format;
  if (const auto* own = capability<Spelling>(from); own != nullptr && to.traits().ignores_members)
    SHERD_TRY(keep_spelling(from, *own, source, destination, copied));
  if (const auto* own = capability<Spelling>(to); own != nullptr && from.traits().ignores_members)
    SHERD_TRY(restore_spelling(*own, source, destination, copied));
  return {};
}

}  // namespace sherd
