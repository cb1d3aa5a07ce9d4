// Knows how to present skeletons, meshes, annotations and segment properties: the parameters of the info document, one
// line per index, and the number of objects. Also how to present the scales of a volume.
#include "cli/collection.hpp"

#include <algorithm>
#include <cctype>

#include "base/text.hpp"
#include "base/try.hpp"
#include "cli/values.hpp"
#include "neuroglancer/create.hpp"
#include "neuroglancer/document.hpp"
#include "ome/axis.hpp"
#include "store/key.hpp"

namespace sherd::cli {
namespace {

using namespace neuroglancer;
using Rows = std::vector<std::vector<std::string>>;
using State = Collection::State;

constexpr std::uint64_t kMostCounted = 1'000'000;
constexpr std::size_t kListWidth = 72;

Json document_of(const CollectionInfo& info) {
  const auto json = std::visit([](const auto& each) { return each.print(); }, info);
  return json ? *json : Json();
}

std::string text_of(const Json& object, std::string_view member) {
  const Json* value = object.find(member);
  if (value == nullptr) return {};
  return value->is_string() ? value->text() : value->dump();
}

/// Formats a list of numbers as "x×y×z".
std::string product_text(const Json& numbers) {
  std::string text;
  for (const Json& each : numbers.elements()) text += (text.empty() ? "" : "×") + each.dump();
  return text;
}

void add_transform(const Transform& transform, Rows& rows) {
  if (transform == kIdentity) return;
  rows.push_back({"transform", shortened(numbers_json(transform).dump(), kListWidth)});
}

void add_list(const std::vector<std::string>& texts, const std::string& label, Rows& rows) {
  if (!texts.empty()) rows.push_back({label, shortened(joined(texts, ", "), kListWidth)});
}

void parameter_rows(const SkeletonInfo& info, Rows& rows) {
  std::vector<std::string> attributes;
  for (const VertexAttribute& each : info.vertex_attributes)
    attributes.push_back(each.id + " " + each.data_type.name() +
                         (each.num_components == 1 ? "" : "×" + std::to_string(each.num_components)));
  add_list(attributes, "attributes", rows);
  add_transform(info.transform, rows);
}

void parameter_rows(const LegacyMeshInfo&, Rows&) {}

void parameter_rows(const MultiscaleMeshInfo& info, Rows& rows) {
  rows.push_back({"quantization", std::to_string(info.vertex_quantization_bits) + " bits"});
  rows.push_back({"lod scale", "×" + number_json(info.lod_scale_multiplier).dump()});
  add_transform(info.transform, rows);
}

/// Formats 8e-9 m as "8 nm".
std::string scale_text(double scale, const std::string& unit) {
  constexpr std::pair<double, const char*> kPrefixes[] = {{1e3, "m"}, {1e6, "µ"}, {1e9, "n"}};
  if (scale < 1 && (unit == "m" || unit == "s"))
    for (const auto& [factor, prefix] : kPrefixes)
      if (tidy(scale * factor) >= 1) return number_json(tidy(scale * factor)).dump() + " " + prefix + unit;
  return number_json(scale).dump() + " " + unit;
}

void parameter_rows(const AnnotationInfo& info, Rows& rows) {
  const Json document = document_of(info);
  rows.push_back({"geometry", lowered(text_of(document, "annotation_type"))});
  std::vector<std::string> dimensions, properties, relationships;
  for (const AnnotationDimension& each : info.dimensions)
    dimensions.push_back(each.name + " " + scale_text(each.scale, each.unit));
  add_list(dimensions, "dimensions", rows);
  rows.push_back({"bounds", text_of(document, "lower_bound") + " to " + text_of(document, "upper_bound")});
  if (const Json* list = document.find("properties"))
    for (const Json& each : list->elements()) properties.push_back(text_of(each, "id") + " " + text_of(each, "type"));
  add_list(properties, "properties", rows);
  for (const AnnotationRelationship& each : info.relationships) relationships.push_back(each.id);
  add_list(relationships, "relationships", rows);
}

void parameter_rows(const SegmentProperties& info, Rows& rows) {
  rows.push_back({"segments", std::to_string(info.ids.size())});
  const Json document = document_of(info);
  std::vector<std::string> properties;
  if (const Json* inlined = document.find("inline"))
    for (const Json& each : inlined->find("properties")->elements())
      properties.push_back(text_of(each, "id") + " " + text_of(each, "type"));
  add_list(properties, "properties", rows);
}

std::string count_text(const PartCount& each) {
  if (!each.counted) return {};
  return (each.complete ? "" : "at least ") + print_count(each.objects, "object");
}

/// The text that distinguishes an index from the others of its collection.
std::string part_label(const CollectionPart& part) { return part.name.empty() ? "objects" : part.name; }

std::string place_text(const CollectionPart& part) {
  std::string text = part.key.empty() ? "" : "'" + part.key + "', ";
  if (part.level != nullptr)
    text += "cells " + product_text(Json::numbers(part.level->grid_shape)) + " of " +
            product_text(numbers_json(part.level->chunk_size)) + ", ";
  return text + (part.sharding.is_null() ? "not sharded" : sharding_text(part.sharding));
}

const Json* info_of(const Json& document) {
  const Json* info = info_in(document);
  return info != nullptr && info->find("scales") != nullptr ? info : nullptr;
}

/// A scale of a volume, in the form of `info --json`.
Json scale_json(const VolumeScale& scale) {
  return Json::Object{{"key", scale.key},
                      {"size", Json::numbers({scale.size.begin(), scale.size.end()})},
                      {"resolution", numbers_json(scale.resolution)},
                      {"voxel_offset", Json(Json::Array(scale.voxel_offset.begin(), scale.voxel_offset.end()))},
                      {"chunk_size", Json::numbers({scale.chunk_sizes[0].begin(), scale.chunk_sizes[0].end()})},
                      {"encoding", scale.encoding},
                      {"sharding", scale.sharding}};
}

}  // namespace

std::string sharding_text(const Json& sharding) {
  const std::string data = text_of(sharding, "data_encoding");
  return "2^" + text_of(sharding, "shard_bits") + " shards of 2^" + text_of(sharding, "minishard_bits") +
         " minishards, " + text_of(sharding, "hash") +
         (text_of(sharding, "preshift_bits") == "0" ? "" : " >> " + text_of(sharding, "preshift_bits")) +
         (data.empty() || data == "raw" ? "" : ", " + data);
}

Result<std::vector<PartCount>> count_parts(const State& collection, bool counted) {
  std::vector<PartCount> counts;
  for (CollectionPart& part : collection.parts()) {
    PartCount each{std::move(part), counted};
    if (counted) {
      SHERD_TRY(objects, collection.count(each.part, kMostCounted));
      each.objects = objects;
      each.complete = objects < kMostCounted;
    }
    counts.push_back(std::move(each));
  }
  return counts;
}

Json describe(const State& collection, const std::vector<PartCount>& parts) {
  Json::Array indices;
  for (const PartCount& each : parts) {
    Json index(Json::Object{{"name", each.part.name.empty() ? Json() : Json(each.part.name)},
                            {"key", each.part.key},
                            {"sharding", each.part.sharding}});
    if (each.counted) index.set("objects", each.objects);
    if (each.counted) index.set("complete", each.complete);
    indices.push_back(std::move(index));
  }
  Json json(Json::Object{{"url", collection.url},
                         {"format", "precomputed"},
                         {"node_type", "collection"},
                         {"kind", std::string(kind_name(collection.info))}});
  if (const auto* properties = std::get_if<SegmentProperties>(&collection.info))
    json.set("segments", std::uint64_t{properties->ids.size()});
  else
    json.set("info", document_of(collection.info));
  json.set("indices", Json(std::move(indices)));
  return json;
}

Rows describe_rows(const State& collection, const std::vector<PartCount>& parts) {
  Rows rows{{"url", collection.url}, {"format", "precomputed"}, {"type", std::string(kind_name(collection.info))}};
  std::visit([&](const auto& info) { parameter_rows(info, rows); }, collection.info);
  for (const PartCount& each : parts) rows.push_back({part_label(each.part), place_text(each.part), count_text(each)});
  const std::string properties = collection.properties_path();
  if (!properties.empty()) rows.push_back({"segment properties", "'" + properties + "'"});
  return rows;
}

Json scales_of(const Group& group) {
  const Json document = group.metadata();
  const Json* info = info_of(document);
  const auto volume = info != nullptr ? VolumeInfo::parse(*info) : Result<VolumeInfo>(not_found(""));
  if (!volume) return {};
  Json::Array scales;
  for (const VolumeScale& scale : volume->scales) scales.push_back(scale_json(scale));
  return Json(std::move(scales));
}

Rows scale_rows(const Group& group) {
  Rows rows;
  const Json scales = scales_of(group);
  for (const Json& scale : scales.elements()) {
    std::string offset = text_of(scale, "voxel_offset");
    if (offset == "[0,0,0]") offset.clear();
    const Json& sharding = *scale.find("sharding");
    rows.push_back({rows.empty() ? "scales" : "",
                    text_of(scale, "key") + "  " + product_text(*scale.find("size")) +
                        (offset.empty() ? "" : " at " + offset) + ", " + product_text(*scale.find("resolution")) +
                        " nm, chunks " + product_text(*scale.find("chunk_size")) + ", " + text_of(scale, "encoding") +
                        ", " + (sharding.is_null() ? "not sharded" : sharding_text(sharding))});
  }
  return rows;
}

Json sharding_of(const Array& array) {
  const Json document = array.metadata();
  const Json* info = info_of(document);
  const Json* scale = document.find("scale");
  const auto number = scale != nullptr ? scale->as_uint() : std::nullopt;
  if (info == nullptr || !number || *number >= info->find("scales")->size()) return {};
  const Json* sharding = info->find("scales")->elements()[static_cast<std::size_t>(*number)].find("sharding");
  return sharding != nullptr ? *sharding : Json();
}

std::string why_no_shards(const Array& array) {
  const Json sharding = sharding_of(array);
  if (sharding.is_null() || array.shards()) return {};
  return text_of(sharding, "hash") == "identity"
             ? "no boxes: ids have more bits than the sharding, so that distant chunks share a shard"
             : "no boxes: ids are hashed, so that neighbouring chunks lie in different shards";
}

}  // namespace sherd::cli
