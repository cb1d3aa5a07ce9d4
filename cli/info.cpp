// sherd info: describes a node, and counts what is stored of it.
#include <array>

#include "api/location.hpp"
#include "base/checked.hpp"
#include "base/try.hpp"
#include "cli/collection.hpp"
#include "cli/command.hpp"
#include "cli/describe.hpp"
#include "cli/hierarchy.hpp"
#include "cli/options.hpp"
#include "cli/values.hpp"
#include "store/listing.hpp"

namespace sherd::cli {
namespace {

/// What is stored, and the decoded size of all its elements (absent if their size varies).
struct Totals {
  Array::Stored stored;
  std::optional<std::uint64_t> elements_bytes = 0;
  std::optional<Error> failure = {};  ///< the first error of a member
};

Result<void> add_array(const Array& array, Totals& totals) {
  SHERD_TRY(stored, array.stored());
  totals.stored.objects += stored.objects;
  totals.stored.bytes += stored.bytes;
  const auto count = array.dtype().is_variable() ? std::nullopt : element_count(array.shape());
  const auto bytes = count ? checked_mul(*count, array.dtype().size()) : std::nullopt;
  totals.elements_bytes = bytes && totals.elements_bytes ? checked_add(*totals.elements_bytes, *bytes) : std::nullopt;
  return {};
}

/// Members that cannot be opened are skipped, and reported at the end.
Result<void> add_node(const Node& node, Totals& totals) {
  if (const auto* array = std::get_if<Array>(&node)) return add_array(*array, totals);
  return for_each_member(std::get<Group>(node), [&](const std::string&, NodeType, Result<Node> member) -> Result<void> {
    auto added = !member ? Result<void>(std::move(member).error()) : add_node(*member, totals);
    if (!added && !totals.failure) totals.failure = std::move(added).error();
    return {};
  });
}

std::string ratio_text(const Totals& totals) {
  if (!totals.elements_bytes || totals.stored.bytes == 0 || *totals.elements_bytes == 0) return "";
  std::array<char, 40> text;
  std::snprintf(text.data(), text.size(), "ratio %.2f",
                static_cast<double>(*totals.elements_bytes) / static_cast<double>(totals.stored.bytes));
  return text.data();
}

struct Info {
  std::string url;
  bool no_stored = false;

  Result<int> run(Session& session) const {
    auto opened = at(url, open(url, session.opening(session.config())));
    if (!opened && opened.error().code() == ErrorCode::not_found) {
      SHERD_TRY(shown, at(url, show_collection(session)));
      if (shown) return 0;
    }
    SHERD_TRY(node, std::move(opened));
    std::optional<Totals> totals;
    const auto [store, path] = std::visit([](const auto& each) { return std::pair(each.store(), each.path()); }, node);
    SHERD_TRY(unlisted, at(url, unlisted_at(*store, path)));
    if (!no_stored && !unlisted) SHERD_TRY(at(url, add_node(node, totals.emplace())));
    SHERD_TRY(print(session, node, totals, no_stored ? std::nullopt : unlisted));
    SHERD_TRY(at(url, note_hidden_group(session, node)));
    if (totals && totals->failure) return at(url, Result<int>(*totals->failure));
    return 0;
  }

  /// Why keys cannot be listed. Then stored objects are not counted, as each chunk would be a request.
  static Result<std::optional<Error>> unlisted_at(Store& store, const std::string& path) {
    auto listed =
        store.visit(path.empty() ? path : path + "/", ListDepth::children, [](const ListEntry&) { return false; });
    if (listed.has_value()) return std::optional<Error>();
    if (!is_unlisted(listed.error())) return std::move(listed).error();
    return std::optional(std::move(listed).error());
  }

  /// Whether an object exists.
  Result<bool> show_collection(Session& session) const {
    SHERD_TRY(store, open_store(url, session.config()));
    SHERD_TRY(location, collection_location(store, "", false, session.config()));
    SHERD_TRY(found, neuroglancer::Collection::State::find(std::move(location)));
    if (!found) return false;
    SHERD_TRY(unlisted, unlisted_at(*store, ""));
    const bool counts = !no_stored && !unlisted;
    SHERD_TRY(parts, count_parts(**found, counts));
    Array::Stored stored;
    if (counts)
      SHERD_TRY(store->list("", [&](const std::string&, std::uint64_t size) {
        ++stored.objects;
        stored.bytes += size;
        return true;
      }));
    if (session.json()) {
      Json json = describe(**found, parts);
      if (counts) json.set("stored", Json::Object{{"objects", stored.objects}, {"bytes", stored.bytes}});
      SHERD_TRY(session.out().print(json));
      return true;
    }
    auto rows = describe_rows(**found, parts);
    if (counts) rows.push_back({"stored", print_count(stored.objects, "object") + ", " + print_bytes(stored.bytes)});
    SHERD_TRY(write_rows(session, std::move(rows)));
    return true;
  }

  static Result<void> write_rows(Session& session, std::vector<std::vector<std::string>> rows) {
    for (auto& row : rows)
      for (std::string& cell : row) cell = printable(cell);
    return session.out().write(print_table(rows));
  }

  Result<void> print(Session& session, const Node& node, const std::optional<Totals>& totals,
                     const std::optional<Error>& unlisted) const {
    if (session.json()) {
      Json json = describe(node);
      if (totals)
        json.set("stored", Json::Object{{"objects", totals->stored.objects}, {"bytes", totals->stored.bytes}});
      return session.out().print(json);
    }
    auto rows = describe_rows(node);
    if (const auto* group = std::get_if<Group>(&node)) {
      const auto members = group->members();
      if (members) rows.push_back({"members", std::to_string(members->size())});
      if (!members && !is_unlisted(members.error())) return at(url, Result<void>(members.error()));
    }
    if (totals)
      rows.push_back({"stored",
                      print_count(totals->stored.objects, "object") + ", " + print_bytes(totals->stored.bytes),
                      ratio_text(*totals)});
    if (unlisted) rows.push_back({"stored", "not counted: " + unlisted->message()});
    return write_rows(session, std::move(rows));
  }
};

}  // namespace

Run add_info(Arguments& arguments) {
  auto info = std::make_shared<Info>();
  arguments.argument("URL", info->url, "An array, a group or a collection of objects: a path or a URL");
  arguments.flag("--no-stored", info->no_stored,
                 "Do not count stored objects and bytes; they are not counted where keys cannot be listed");
  arguments.examples({{"sherd info brain.zarr", "shape, type, chunks, codecs, attributes and size of an array"},
                      {"sherd info --json brain.zarr | jq .shape", "the same for programs"}});
  return [info](Session& session) { return info->run(session); };
}

}  // namespace sherd::cli
