// Knows how to present a node: its grid in elements, counts and binary units, its codecs, and its attributes in short.
#include "cli/describe.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "base/scalar.hpp"
#include "base/scalar_dtype.hpp"
#include "base/try.hpp"
#include "cli/collection.hpp"
#include "cli/values.hpp"
#include "ome/ome.hpp"

namespace sherd::cli {
namespace {

using Rows = std::vector<std::vector<std::string>>;
constexpr std::size_t kAttributeWidth = 72;

Json member(const Json& document, std::string_view name) {
  const Json* value = document.find(name);
  return value != nullptr ? *value : Json();
}

Json names_json(const std::vector<std::optional<std::string>>& names) {
  if (names.empty()) return {};
  Json list(Json::Array{});
  for (const auto& name : names) list.push_back(name ? Json(*name) : Json());
  return list;
}

/// Formats a codec's configuration as "(level 3, checksum false)".
std::string configuration_text(const Json& configuration) {
  std::string text;
  for (const auto& [name, value] : configuration.members()) {
    text += text.empty() ? " (" : ", ";
    text += name + " " + (value.is_string() ? value.text() : value.dump());
  }
  return text.empty() ? text : text + ")";
}

std::string chain_text(const Json& codecs) {
  std::string text;
  for (const Json& codec : codecs.elements()) {
    const std::string name = codec.is_string() ? codec.text() : member(codec, "name").text();
    const Json configuration = member(codec, "configuration");
    text += text.empty() ? "" : ", ";
    if (name == "sharding_indexed")
      text += "shards of " + member(configuration, "chunk_shape").dump() + " (" +
              chain_text(member(configuration, "codecs")) + ")";
    else
      text += name + configuration_text(configuration);
  }
  return text;
}

void codec_rows(const Json& codecs, Rows& rows) {
  const auto& list = codecs.elements();
  if (list.size() != 1 || member(list[0], "name").text() != "sharding_indexed") {
    rows.push_back({"codecs", chain_text(codecs)});
    return;
  }
  const Json configuration = member(list[0], "configuration");
  const std::string location = member(configuration, "index_location").text();
  rows.push_back({"codecs", chain_text(member(configuration, "codecs"))});
  rows.push_back({"index", "at the " + (location.empty() ? "end" : location) + ": " +
                               chain_text(member(configuration, "index_codecs"))});
}

std::string bytes_text(const Shape& shape, const DType& dtype) {
  const auto count = element_count(shape);
  if (dtype.is_variable()) return count ? print_count(*count, "element") : "";
  const auto bytes = count ? checked_mul(*count, dtype.size()) : std::nullopt;
  return bytes ? print_bytes(*bytes) : "more than 16 EiB";
}

std::string grid_text(const Shape& shape, const Shape& cell, const DType& dtype, std::string_view thing) {
  Shape cells;
  for (std::size_t d = 0; d < shape.size(); ++d) cells.push_back(ceil_div(shape[d], cell[d]));
  const auto count = element_count(cells);
  return (count ? print_count(*count, thing) : "very many " + std::string(thing) + "s") + " of " +
         bytes_text(cell, dtype);
}

/// "[3×2, 4], [5]", followed by the number of objects.
std::vector<std::string> edges_row(const Array& array, std::string label) {
  std::string text;
  Shape cells;
  for (std::size_t d = 0; d < array.ndim(); ++d) {
    text += d == 0 ? "[" : ", [";
    cells.push_back(0);
    for (const auto& [length, count] : array.edges(d)) {
      text += (cells.back() == 0 ? "" : ", ") + std::to_string(length);
      if (count != 1) text += "×" + std::to_string(count);
      cells.back() += count;
    }
    text += "]";
  }
  const auto count = element_count(cells);
  return {label + "s", shortened(std::move(text), kAttributeWidth), count ? print_count(*count, label) : ""};
}

/// One list of lengths per dimension; long lists become runs of [length, count].
Json edges_json(const Array& array) {
  constexpr std::uint64_t kMost = 65536;
  Json::Array axes;
  for (std::size_t d = 0; d < array.ndim(); ++d) {
    const auto runs = array.edges(d);
    std::uint64_t cells = 0;
    for (const auto& [length, count] : runs) cells += count;
    Json::Array lengths;
    for (const auto& [length, count] : runs) {
      if (cells > kMost)
        lengths.push_back(Json::numbers({length, count}));
      else
        lengths.insert(lengths.end(), count, Json(length));
    }
    axes.emplace_back(std::move(lengths));
  }
  return Json(std::move(axes));
}

void array_rows(const Array& array, Rows& rows) {
  const Shape shape = array.shape();
  const DType& dtype = array.dtype();
  rows.push_back({"shape", to_string(shape), bytes_text(shape, dtype)});
  if (const auto names = array.dimension_names(); !names.empty()) {
    std::string text;
    for (const auto& name : names) text += (text.empty() ? "" : ", ") + name.value_or("-");
    rows.push_back({"dimensions", text});
  }
  rows.push_back({"dtype", dtype_text(dtype)});
  if (const auto shards = array.shards())
    rows.push_back(shards->size() == shape.size() ? std::vector{std::string("shards"), to_string(*shards),
                                                                grid_text(shape, *shards, dtype, "shard")}
                                                  : edges_row(array, "shard"));
  if (const Json sharding = sharding_of(array); !sharding.is_null())
    rows.push_back({array.shards() ? "sharding" : "shards", sharding_text(sharding), why_no_shards(array)});
  const Shape& chunks = array.chunks();
  rows.push_back(chunks.size() == shape.size()
                     ? std::vector{std::string("chunks"), to_string(chunks), grid_text(shape, chunks, dtype, "chunk")}
                     : edges_row(array, "chunk"));
  codec_rows(array.codecs(), rows);
  rows.push_back({"fill value", print_scalar(array.fill_value(), dtype).dump()});
}

void attribute_rows(const Json& attributes, Rows& rows) {
  std::size_t width = 0;
  for (const auto& [name, value] : attributes.members()) width = std::max(width, printable(name).size());
  bool first = true;
  for (const auto& [name, value] : attributes.members()) {
    const std::string label = printable(name) + std::string(width - printable(name).size() + 2, ' ');
    rows.push_back({first ? "attributes" : "", label + shortened(value.dump(), kAttributeWidth)});
    first = false;
  }
}

/// The resolutions of an image with their element sizes, and the names of its labels.
void image_rows(const Group& group, Rows& rows) {
  const auto image = describe_image(group);
  if (!image || !*image) return;
  const auto axes = member(**image, "axes"), levels = member(**image, "levels"), labels = member(**image, "labels");
  Rows described;
  for (const Json& level : levels.elements()) {
    std::string size, shape;
    for (std::size_t d = 0; d < axes.size(); ++d) {
      const Json& axis = axes.elements()[d];
      if (member(axis, "type").text() == "channel") continue;
      const std::string unit = member(axis, "unit").text();
      size += (size.empty() ? "" : ", ") + member(axis, "name").text() + " " +
              member(level, "scale").elements()[d].dump() + (unit.empty() ? "" : " " + unit);
    }
    const Json lengths = member(level, "shape");
    if (!lengths.is_null())
      for (const Json& length : lengths.elements()) shape += (shape.empty() ? "(" : ", ") + length.dump();
    described.push_back(
        {member(level, "path").text(), shape.empty() ? "missing" : shape + ")", member(level, "dtype").text(), size});
  }
  const std::string table = print_table(described);
  std::string_view lines = table;
  for (bool first = true; !lines.empty(); first = false) {
    const std::size_t end = lines.find('\n');
    rows.push_back({first ? "levels" : "", std::string(lines.substr(0, end))});
    lines.remove_prefix(end + 1);
  }
  std::string names;
  for (const Json& label : labels.elements()) names += (names.empty() ? "" : ", ") + label.text();
  if (!names.empty()) rows.push_back({"labels", names});
}

}  // namespace

std::string dtype_text(const DType& dtype) {
  if (dtype.unit().empty()) return dtype.name();
  const std::string scale = dtype.scale_factor() == 1 ? "" : std::to_string(dtype.scale_factor());
  return dtype.name() + "[" + scale + std::string(dtype.unit()) + "]";
}

std::string_view type_name(NodeType type) noexcept {
  return type == NodeType::array ? "array" : type == NodeType::group ? "group" : "unknown";
}

std::string summary(const Array& array) { return to_string(array.shape()) + " " + dtype_text(array.dtype()); }

Json describe(const Node& node) {
  if (const auto* group = std::get_if<Group>(&node)) {
    Json json(Json::Object{{"url", group->url()},
                           {"format", group->format()},
                           {"node_type", "group"},
                           {"attributes", group->attributes()}});
    if (Json scales = scales_of(*group); !scales.is_null()) json.set("scales", std::move(scales));
    if (auto image = describe_image(*group); image && *image) json.set("image", **std::move(image));
    return json;
  }
  const Array& array = std::get<Array>(node);
  const Shape& chunks = array.chunks();
  const auto shards = array.shards();
  Json json(Json::Object{{"url", array.url()},
                         {"format", array.format()},
                         {"node_type", "array"},
                         {"shape", Json::numbers(array.shape())},
                         {"dtype", print_dtype(array.dtype())},
                         {"chunks", chunks.size() == array.ndim() ? Json::numbers(chunks) : edges_json(array)},
                         {"shards", !shards                          ? Json()
                                    : shards->size() == array.ndim() ? Json::numbers(*shards)
                                                                     : edges_json(array)},
                         {"codecs", array.codecs()},
                         {"fill_value", print_scalar(array.fill_value(), array.dtype())},
                         {"dimension_names", names_json(array.dimension_names())},
                         {"attributes", array.attributes()}});
  if (Json sharding = sharding_of(array); !sharding.is_null()) json.set("sharding", std::move(sharding));
  return json;
}

std::vector<std::vector<std::string>> describe_rows(const Node& node) {
  const bool is_array = std::holds_alternative<Array>(node);
  Rows rows = std::visit(
      [&](const auto& handle) {
        return Rows{
            {"url", handle.url()}, {"format", std::string(handle.format())}, {"type", is_array ? "array" : "group"}};
      },
      node);
  if (is_array)
    array_rows(std::get<Array>(node), rows);
  else
    std::ranges::move(scale_rows(std::get<Group>(node)), std::back_inserter(rows));
  if (!is_array) image_rows(std::get<Group>(node), rows);
  attribute_rows(std::visit([](const auto& handle) { return handle.attributes(); }, node), rows);
  return rows;
}

Result<std::vector<std::pair<std::string, NodeType>>> shown_members(const Group& group) {
  SHERD_TRY(members, group.members());
  const Json scales = scales_of(group);
  const auto place = [&](const auto& member) {
    const auto& all = scales.elements();
    const auto is_it = [&](const Json& scale) { return scale.find("key")->text() == member.first; };
    return std::pair(std::ranges::find_if(all, is_it) - all.begin(), member.first);
  };
  std::ranges::sort(members, {}, place);
  return members;
}

Result<void> for_each_member(const Group& group,
                             const std::function<Result<void>(const std::string&, NodeType, Result<Node>)>& visit) {
  SHERD_TRY(members, shown_members(group));
  std::vector<std::string> names;
  for (const auto& member : members) names.push_back(member.first);
  return group.open_all(names, [&](std::size_t i, Result<Node> node) {
    return visit(members[i].first, members[i].second, std::move(node));
  });
}

}  // namespace sherd::cli
