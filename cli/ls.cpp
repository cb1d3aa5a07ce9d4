// sherd ls: the direct members of a group, one a line; an array is its own only line.
#include "base/scalar.hpp"
#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/describe.hpp"
#include "cli/options.hpp"
#include "cli/values.hpp"

namespace sherd::cli {
namespace {

struct Entry {
  std::string name;
  NodeType type = NodeType::group;
  std::optional<Array> array = {};
};

Json as_json(const Entry& entry) {
  Json json(Json::Object{{"name", entry.name}, {"node_type", type_name(entry.type)}});
  if (entry.array) {
    json.set("shape", Json::numbers(entry.array->shape()));
    json.set("dtype", print_dtype(entry.array->dtype()));
  }
  return json;
}

std::vector<std::string> long_row(const Entry& entry) {
  std::vector<std::string> row{std::string(type_name(entry.type)), "-", "-", "-", "-", printable(entry.name)};
  if (!entry.array) return row;
  row[1] = dtype_text(entry.array->dtype());
  row[2] = to_string(entry.array->shape());
  if (!entry.array->chunks().empty()) row[3] = to_string(entry.array->chunks());
  if (const auto shards = entry.array->shards()) row[4] = to_string(*shards);
  return row;
}

struct Ls {
  std::string url;
  bool long_form = false;

  [[nodiscard]] Result<std::vector<Entry>> entries(const Node& node) const {
    if (const auto* array = std::get_if<Array>(&node))
      return std::vector<Entry>{
          {last_component(url), NodeType::array, long_form ? std::optional(*array) : std::nullopt}};
    const Group& group = std::get<Group>(node);
    std::vector<Entry> list;
    SHERD_TRY(members, group.members());
    for (const auto& [name, type] : members) {
      list.push_back({name, type});
      if (!long_form || type == NodeType::group) continue;
      SHERD_TRY(opened, group.open(name));
      if (auto* array = std::get_if<Array>(&opened)) list.back().array = std::move(*array);
    }
    return list;
  }

  Result<int> run(Session& session) const {
    SHERD_TRY(node, open(url, session.opening(session.config())));
    SHERD_TRY(list, entries(node));
    if (session.json()) {
      Json::Array json;
      for (const Entry& entry : list) json.push_back(as_json(entry));
      SHERD_TRY(session.out().print(Json(std::move(json))));
      return 0;
    }
    std::vector<std::vector<std::string>> rows;
    for (const Entry& entry : list) rows.push_back(long_form ? long_row(entry) : std::vector{printable(entry.name)});
    if (long_form && !rows.empty()) rows.insert(rows.begin(), {"TYPE", "DTYPE", "SHAPE", "CHUNKS", "SHARDS", "NAME"});
    SHERD_TRY(session.out().write(print_table(rows)));
    return 0;
  }
};

}  // namespace

Run add_ls(Arguments& arguments) {
  auto ls = std::make_shared<Ls>();
  arguments.argument("URL", ls->url, "A group or an array");
  arguments.flag("-l,--long", ls->long_form, "Type, shape, chunks and shards too");
  arguments.examples({{"sherd ls study.zarr", "the names of what study.zarr holds"},
                      {"sherd ls -l study.zarr/images", "with types and shapes"}});
  return [ls](Session& session) { return ls->run(session); };
}

}  // namespace sherd::cli
