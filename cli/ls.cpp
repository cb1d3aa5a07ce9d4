// sherd ls: prints the direct members of a group, including the collections of a volume, or the ids of a collection's
// objects, one per line. For an array it prints the array itself. Broken members are listed too, and the error of the
// first one becomes the command's error.
#include <algorithm>
#include <chrono>
#include <ctime>
#include <string_view>

#include "base/try.hpp"
#include "cli/collection.hpp"
#include "cli/command.hpp"
#include "cli/describe.hpp"
#include "cli/hierarchy.hpp"
#include "cli/options.hpp"
#include "cli/values.hpp"
#include "sherd/collection.hpp"

namespace sherd::cli {
namespace {

struct Entry {
  std::string name;
  NodeType type = NodeType::group;
  std::optional<Array> array = {};
  std::string collection = {};  ///< the kind of objects in it; empty: a node
};

Json entry_json(const Entry& entry) {
  if (!entry.collection.empty())
    return Json(Json::Object{{"name", entry.name}, {"node_type", "collection"}, {"kind", entry.collection}});
  Json json(Json::Object{{"name", entry.name}, {"node_type", type_name(entry.type)}});
  if (!entry.array) return json;
  const Json all = describe(*entry.array);
  for (const char* member : {"shape", "dtype", "chunks", "shards"}) json.set(member, *all.find(member));
  return json;
}

std::vector<std::string> long_row(const Entry& entry) {
  const std::string type = entry.collection.empty() ? std::string(type_name(entry.type)) : entry.collection;
  std::vector<std::string> row{type, "-", "-", "-", "-", printable(entry.name)};
  if (!entry.array) return row;
  row[1] = dtype_text(entry.array->dtype());
  row[2] = to_string(entry.array->shape());
  const auto lengths = [&](const Shape& shape) {
    return shape.size() == entry.array->ndim() ? to_string(shape) : std::string("rectilinear");
  };
  row[3] = lengths(entry.array->chunks());
  if (const auto shards = entry.array->shards()) row[4] = lengths(*shards);
  return row;
}

using Time = std::chrono::system_clock::time_point;

/// An object, as the store lists it.
struct StoredObject {
  std::string key;
  std::uint64_t size = 0;
  std::string generation;
  std::optional<Time> modified;
};

/// "2026-11-29T10:42:01Z"
std::string time_text(Time time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%FT%TZ", &parts)};
}

/// A generation as it is or, if it is not text, in hexadecimal digits.
std::string token_text(const std::string& token) {
  const auto is_shown = [](char c) { return c >= ' ' && c <= '~'; };
  if (std::ranges::all_of(token, is_shown)) return token;
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const char c : token) {
    const auto byte = static_cast<unsigned char>(c);
    text += {digits[byte >> 4U], digits[byte & 15U]};
  }
  return text;
}

Json object_json(const StoredObject& object) {
  Json json(Json::Object{{"key", object.key}, {"size", object.size}});
  if (object.modified) json.set("modified", time_text(*object.modified));
  if (!object.generation.empty()) json.set("generation", token_text(object.generation));
  return json;
}

struct Ls {
  std::string url;
  bool long_form = false, raw = false;

  [[nodiscard]] Result<std::vector<Entry>> entries(const Node& node, std::optional<Error>& failure) const {
    if (const auto* array = std::get_if<Array>(&node))
      return std::vector<Entry>{
          {last_component(shown(url)), NodeType::array, long_form ? std::optional(*array) : std::nullopt}};
    const Group& group = std::get<Group>(node);
    std::vector<Entry> list;
    SHERD_TRY(members, shown_members(group));
    std::vector<std::size_t> opened;
    std::vector<std::string> names;
    for (const auto& [name, type] : members) {
      list.push_back({name, type});
      if (type == NodeType::group || (type == NodeType::array && !long_form)) continue;
      opened.push_back(list.size() - 1);
      names.push_back(name);
    }
    SHERD_TRY(group.open_all(names, [&](std::size_t i, Result<Node> member) -> Result<void> {
      if (!member && !failure) failure = std::move(member).error();
      if (!member) return {};
      if (auto* array = std::get_if<Array>(&*member)) list[opened[i]].array = std::move(*array);
      return {};
    }));
    for (neuroglancer::VolumeCollection& each : neuroglancer::collections_in(group))
      list.push_back({.name = std::move(each.name), .collection = std::move(each.kind)});
    return list;
  }

  /// Prints the ids of a collection's objects; false if there is no collection.
  Result<bool> list_objects(Session& session) const {
    const auto collection = neuroglancer::Collection::open(url, {.config = session.config()});
    if (!collection) return false;
    Json::Array ids;
    SHERD_TRY(at(url, collection->list([&](std::uint64_t id) {
      ids.emplace_back(id);
      return true;
    })));
    if (session.json()) {
      SHERD_TRY(session.out().print(Json(std::move(ids))));
      return true;
    }
    for (const Json& id : ids) SHERD_TRY(session.out().write(id.text() + "\n"));
    return true;
  }

  /// Prints the keys of all objects, in order.
  Result<int> list_keys(Session& session) const {
    SHERD_TRY(store, open_store(url, session.config()));
    if (session.json() || long_form) return list_objects_with_keys(session, *store);
    Result<void> written;
    bool any = false;
    SHERD_TRY(all, at(url, store->list("", [&](const std::string& key, std::uint64_t) {
                any = true;
                written = session.out().write(printable(key) + "\n");
                return written.has_value();
              })));
    if (all && !any) return not_found("no objects at " + shown(url));
    SHERD_TRY(std::move(written));
    return 0;
  }

  /// Lists the size, time and version of each object beside its key.
  Result<int> list_objects_with_keys(Session& session, Store& store) const {
    std::vector<StoredObject> objects;
    SHERD_TRY(all, at(url, store.visit("", ListDepth::all, [&](const ListEntry& entry) {
                objects.push_back({std::string(entry.name), entry.size, std::string(entry.generation), entry.modified});
                return true;
              })));
    if (all && objects.empty()) return not_found("no objects at " + shown(url));
    std::ranges::sort(objects, {}, &StoredObject::key);
    if (session.json()) {
      Json::Array json;
      for (const StoredObject& object : objects) json.push_back(object_json(object));
      SHERD_TRY(session.out().print(Json(std::move(json))));
      return 0;
    }
    std::vector<std::vector<std::string>> rows;
    for (const StoredObject& object : objects)
      rows.push_back(
          {std::to_string(object.size), object.modified ? time_text(*object.modified) : "-", printable(object.key)});
    SHERD_TRY(session.out().write(print_table(rows)));
    return 0;
  }

  Result<int> run(Session& session) const {
    if (raw) return list_keys(session);
    auto opened = at(url, open(url, session.opening(session.config())));
    if (!opened && opened.error().code() == ErrorCode::not_found) {
      SHERD_TRY(listed, list_objects(session));
      if (listed) return 0;
    }
    SHERD_TRY(node, std::move(opened));
    std::optional<Error> failure;
    SHERD_TRY(list, entries(node, failure));
    SHERD_TRY(print(session, list));
    if (list.empty()) SHERD_TRY(at(url, note_hidden_group(session, node)));
    if (failure) return at(url, Result<int>(*failure));
    return 0;
  }

  Result<void> print(Session& session, const std::vector<Entry>& list) const {
    if (session.json()) {
      Json::Array json;
      for (const Entry& entry : list) json.push_back(entry_json(entry));
      return session.out().print(Json(std::move(json)));
    }
    std::vector<std::vector<std::string>> rows;
    for (const Entry& entry : list) rows.push_back(long_form ? long_row(entry) : std::vector{printable(entry.name)});
    if (long_form && !rows.empty()) rows.insert(rows.begin(), {"TYPE", "DTYPE", "SHAPE", "CHUNKS", "SHARDS", "NAME"});
    return session.out().write(print_table(rows));
  }
};

}  // namespace

Run add_ls(Arguments& arguments) {
  auto ls = std::make_shared<Ls>();
  arguments.argument("URL", ls->url, "A group, an array, a volume, or a collection of objects");
  arguments.flag("-l,--long", ls->long_form,
                 "Type, shape, chunks and shards too; with --raw, sizes in bytes and times");
  arguments.flag("--raw", ls->raw, "The keys of all objects below URL, whatever they are");
  arguments.examples({{"sherd ls study.zarr", "the names of what study.zarr holds"},
                      {"sherd ls -l study.zarr/images", "with types and shapes"},
                      {"sherd ls --raw -l study.zip", "the members of a zip archive, with their sizes"},
                      {"sherd ls em", "the scales of a volume, its skeletons, meshes and annotations"},
                      {"sherd ls em/skeletons", "the ids of skeletons, meshes or annotations"}});
  return [ls](Session& session) { return ls->run(session); };
}

}  // namespace sherd::cli
