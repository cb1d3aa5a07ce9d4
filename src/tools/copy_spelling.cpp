// Documents may spell a value differently than Sherd writes it. A copy to another format keeps the spelling in a member
// that readers ignore, and a copy back restores it. In a group it is an attribute, because zarr-python cannot open a
// group of Zarr v3 with an unknown member.
#include <algorithm>
#include <map>

#include "base/try.hpp"
#include "codec/chain.hpp"
#include "node/format.hpp"
#include "ome/ome.hpp"
#include "tools/planned_copy.hpp"

namespace sherd {
namespace {

constexpr const char* kIgnored = "must_understand";

constexpr const char* kAttributes = "attributes";
/// In a group whose OME-NGFF metadata do not have the version of its format.
constexpr const char* kUnconverted = "ome_unconverted";

/// The document that describes an array with all parameters of its codecs: equal for equal arrays, however their
/// documents are spelled.
Result<Json> complete_document(const NodeLocation& location, ArraySpec array) {
  array.attributes = {};
  array.dimension_names.clear();
  complete_codecs(array.codecs, location.codecs(), array.dtype);
  array.codecs = without_checksums(std::move(array.codecs));
  return location.format->array_document(array);
}

/// Uses a single byte order for all fields of structs, which a copy in another format had to choose.
void with_orders_of(const ArraySpec& copy, ArraySpec& array) {
  const auto own = std::ranges::find(array.codecs, "bytes", &CodecSpec::name);
  const auto other = std::ranges::find(copy.codecs, "bytes", &CodecSpec::name);
  if (own == array.codecs.end() || other == copy.codecs.end()) return;
  const Json* endian = own->configuration.find("endian");
  if (endian != nullptr && endian->is_array()) own->configuration = other->configuration;
}

/// Whether `respelled` describes the same elements as `copied`, since a spelling may have been edited or invented. It
/// may lack dimension names, which the copy had to add, and may have fields with several byte orders, in which chunks
/// are encoded again.
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

/// Members by their names.
std::map<std::string_view, const Json*> by_name(const Json& object) {
  std::map<std::string_view, const Json*> all;
  for (const auto& [key, value] : object.members()) all.emplace(key, &value);
  return all;
}

/// The attributes that a copy of the copy would spell differently: for each its value there (`is`, from `back`) and
/// what it `was`; null if there are none.
Json attributes_spelled(const Json& attributes, const Json& back, const auto& is_same) {
  const auto all = by_name(back);
  Json::Object spelled;
  for (const auto& [key, was] : attributes.members())
    if (const auto is = all.find(key); is != all.end() && !is_same(*is->second, was))
      spelled.emplace_back(key, Json::Object{{"is", *is->second}, {"was", was}});
  return spelled.empty() ? Json() : Json(std::move(spelled));
}

/// Restores the spelling of attributes, unless they have changed since. Returns whether there are any.
bool spell_attributes(const Json* spelled, Json& attributes) {
  if (spelled == nullptr) return false;
  const auto all = by_name(*spelled);
  bool changes = false;
  for (auto& [key, now] : attributes.members()) {
    const auto found = all.find(key);
    if (found == all.end()) continue;
    const Json *is = found->second->find("is"), *was = found->second->find("was");
    if (is == nullptr || was == nullptr || is->dump() != now.dump()) continue;
    now = *was;
    changes = true;
  }
  return changes;
}

/// In the form stored in the copy: readers ignore it.
Json ignored_member(const Json& spelling) {
  Json::Object member{{kIgnored, false}};
  for (const auto& [key, value] : spelling.members()) member.emplace_back(key, value);
  return member;
}

Result<void> keep_spelling(const Format& from, const Spelling& own, const NodeDocument& source,
                           const NodeLocation& destination, Json& copied) {
  Json spelling = own.spelling(source);
  SHERD_TRY(lowered, destination.format->lower(copied, destination.config.limits));
  Json attributes = attributes_spelled(source.attributes, copied_attributes(*destination.format, from, lowered),
                                       [](const Json& is, const Json& was) { return is.dump() == was.dump(); });
  if (!attributes.is_null()) spelling.set(kAttributes, std::move(attributes));
  if (!spelling.is_null()) copied.set(std::string(own.member()), ignored_member(spelling));
  return {};
}

Result<void> restore_spelling(const Spelling& own, const NodeDocument& source, const NodeLocation& destination,
                              Json& copied) {
  const Json* kept = source.document.find(own.member());
  if (kept == nullptr || !kept->is_object()) return {};
  copied =
      own.respelled(copied, *kept, [&](const Json& respelled) { return say_the_same(destination, respelled, copied); });
  const Json* attributes = kept->find(kAttributes);
  if (attributes == nullptr) return {};
  SHERD_TRY(lowered, destination.format->lower(copied, destination.config.limits));
  if (!spell_attributes(attributes, lowered.attributes)) return {};
  SHERD_TRY(changed, destination.format->changed(std::move(copied), {.attributes = std::move(lowered.attributes)}));
  copied = std::move(changed);
  return {};
}

/// The attribute with the spelling of a group whose attributes are those of the copy.
std::optional<Json> spelling_of_group(const Format& from, const Spelling& own, const NodeDocument& source,
                                      const Json& attributes) {
  Json spelling = own.spelling(source);
  const std::string_view version = ome_version_of(from);
  const Json back = as_ome_version(attributes, version, {});
  // Readers of Zarr v3 tolerate less in groups, so only different values are kept.
  Json spelled = attributes_spelled(source.attributes, back, [](const Json& is, const Json& was) { return is == was; });
  // It has metadata of the other version, which a copy of the copy would convert.
  if (attributes == source.attributes && !(back == attributes)) {
    spelling.set(kUnconverted, true);
    spelled = {};
  }
  if (!spelled.is_null()) spelling.set(kAttributes, std::move(spelled));
  return spelling.is_null() ? std::nullopt : std::optional(ignored_member(spelling));
}

/// What is converted from a version before 0.4 must become valid metadata.
Result<void> refuse_invalid_conversion(const NodeLocation& location, const Json& given, const Json& converted) {
  if (given == converted) return {};
  for (const OmeFinding& each : check_ome(converted, "0.4", location.path))
    if (each.is_error)
      return std::move(unsupported(each.message +
                                   " in OME-NGFF 0.4, to which a copy converts older metadata; correct it, or copy the "
                                   "arrays one by one"))
          .in_key(attributes_key(*location.format, location.path))
          .in_member(each.member)
          .in_member(attributes_member(*location.format));
  return {};
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

Result<Json> copied_group(const NodeLocation& location, const NodeDocument& source, const NodeLocation& destination) {
  const Format &from = *location.format, &to = *destination.format;
  SHERD_TRY(present, ome_attributes(location, source.attributes));
  SHERD_TRY(refuse_invalid_conversion(location, source.attributes, present));
  Json attributes = as_ome_version(present, ome_version_of(to), location.path);
  if (const auto* own = capability<Spelling>(from); own != nullptr && to.traits().ignores_members) {
    auto member = spelling_of_group(from, *own, source, attributes);
    if (member) attributes.set(std::string(own->member()), *std::move(member));
  }
  const auto* own = from.traits().ignores_members ? capability<Spelling>(to) : nullptr;
  const Json* kept = own != nullptr ? source.attributes.find(own->member()) : nullptr;
  if (kept == nullptr || !kept->is_object()) return to.group_document(attributes);
  if (kept->find(kUnconverted) != nullptr) attributes = source.attributes;
  attributes.erase(own->member());
  spell_attributes(kept->find(kAttributes), attributes);
  SHERD_TRY(plain, to.group_document(Json::Object{}));
  Json spelled =
      own->respelled(plain, *kept, [&](const Json& respelled) { return say_the_same(destination, respelled, plain); });
  return to.changed(std::move(spelled), {.attributes = std::move(attributes)});
}

}  // namespace sherd
