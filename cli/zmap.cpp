// sherd zmap: shows the stored objects of a dataset, by the keys of netcdf-c's zmap and in the output format of its
// zmapio.
#include <algorithm>

#include "api/registry.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "base/utf8.hpp"
#include "cli/command.hpp"
#include "cli/parser.hpp"
#include "cli/session.hpp"
#include "cli/values.hpp"
#include "node/format.hpp"
#include "sherd/netcdf_zmap.hpp"

namespace sherd::cli {
namespace {

using netcdf::Zmap;
using netcdf::ZmapStatus;

constexpr std::size_t kPieceBytes = std::size_t{64} << 10U;

std::string hexadecimal(std::span<const std::byte> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::byte each : bytes) {
    text += digits[static_cast<unsigned>(each) >> 4U];
    text += digits[static_cast<unsigned>(each) & 15U];
  }
  return text;
}

/// Metadata documents are text, everything else is binary. All metadata names of NCZarr and Zarr v2 begin with a dot.
bool is_document(std::string_view key) {
  static const NodeKeys zarr3 = find_format("zarr3")->keys("");
  const std::string_view name = last_segment(key);
  return name.starts_with('.') || zarr3.is_document(name);
}

struct ZmapCommand {
  std::string url;
  std::optional<std::string> key;
  bool headers = false, keys = false, search = false;
  std::string action = "objdump";

  [[nodiscard]] std::string at() const { return key.value_or("/"); }

  Result<int> run(Session& session) const {
    if (keys && headers)
      return invalid_argument("-k and -h cannot be combined: -k prints only keys, -h also the contents of metadata");
    SHERD_TRY(map, Zmap::open(url, session.config()));
    SHERD_TRY(object, map.look(at()));
    if (search) return names(session, map);
    if (object.status == ZmapStatus::no_object)
      return not_found("NC_ENOOBJECT: no object exists at or below '" + printable(at()) + "' in " + shown(url));
    return dump(session, map);
  }

  Result<int> names(Session& session, const Zmap& map) const {
    SHERD_TRY(found, map.search(at()));
    if (session.json()) {
      SHERD_TRY(session.out().print(Json(Json::Array(found.begin(), found.end()))));
      return 0;
    }
    for (const std::string& name : found) SHERD_TRY(session.out().write(printable(name) + "\n"));
    return 0;
  }

  Result<int> dump(Session& session, const Zmap& map) const {
    Result<void> outcome;
    std::string before;
    std::uint64_t number = 0;
    SHERD_TRY(map.walk(at(), [&](const std::string& each, std::uint64_t size) {
      number += new_keys(before, each);
      before = each;
      if (headers && !is_document(each)) return true;
      outcome = session.json() ? json(session, map, each, size) : line(session, map, number, each, size);
      return outcome.has_value();
    }));
    SHERD_TRY(outcome);
    return 0;
  }

  /// zmapio numbers all keys of the tree, including those without an object: "/" is 0.
  static std::uint64_t new_keys(std::string_view before, std::string_view key) {
    std::size_t same = 0;
    while (same < before.size() && same < key.size() && before[same] == key[same]) ++same;
    const std::size_t from = same == 0 ? 0 : key.substr(0, same).rfind('/');
    return static_cast<std::uint64_t>(std::ranges::count(key.substr(from == key.npos ? 0 : from), '/'));
  }

  Result<void> line(Session& session, const Zmap& map, std::uint64_t number, const std::string& each,
                    std::uint64_t size) const {
    Output& out = session.out();
    SHERD_TRY(out.write("[" + std::to_string(number) + "] " + printable(each) + " : (" + std::to_string(size) + ")"));
    if (keys) return out.write("\n");
    SHERD_TRY(out.write(" |"));
    std::vector<std::byte> block;
    for (std::uint64_t start = 0; start < size; start += block.size()) {
      block.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kPieceBytes, size - start)));
      SHERD_TRY(status, map.read(each, start, block));
      if (status != ZmapStatus::found)
        return conflict("another process erased " + printable(each) + " in the meantime");
      SHERD_TRY(out.write(is_document(each) ? text_of(block) : hexadecimal(block)));
    }
    return out.write("|\n");
  }

  /// Line breaks are kept; other control characters could affect the terminal.
  static std::string text_of(std::span<const std::byte> bytes) {
    std::string text;
    for (const std::byte each : bytes) {
      const auto c = static_cast<unsigned char>(each);
      const bool plain = (c >= 0x20 && c != 0x7f) || c == '\n' || c == '\t';
      text += plain ? std::string(1, static_cast<char>(c)) : "\\x" + hexadecimal({&each, 1});
    }
    return text;
  }

  Result<void> json(Session& session, const Zmap& map, const std::string& each, std::uint64_t size) const {
    Json object{Json::Object{{"key", each}, {"size", size}}};
    if (!keys) {
      if (size > session.config().limits.chunk_bytes)
        return unsupported("the object is larger than the limit chunk_bytes; print keys alone with -k").in_key(each);
      std::vector<std::byte> bytes(static_cast<std::size_t>(size));
      SHERD_TRY(status, map.read(each, 0, bytes));
      if (status != ZmapStatus::found) return conflict("another process erased it in the meantime").in_key(each);
      std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      if (is_document(each) && is_utf8(text))
        object.set("text", std::move(text));
      else
        object.set("hex", hexadecimal(bytes));
    }
    return session.out().write(object.dump() + "\n");
  }
};

}  // namespace

Run add_zmap(Arguments& arguments) {
  auto zmap = std::make_shared<ZmapCommand>();
  arguments.argument("URL", zmap->url, "A dataset of NCZarr or Zarr: a path, file://…#mode=nczarr,file");
  arguments.argument("KEY", zmap->key, "Only what is stored at or below this key, such as /g/v; default: /");
  arguments.release_h();
  arguments.flag("-h", zmap->headers, "Metadata documents only, no chunks");
  arguments.flag("-k,--keys", zmap->keys, "Keys and sizes only, no contents");
  arguments.flag("--search", zmap->search,
                 "The names directly below KEY, one per line, whether they have objects or not");
  arguments.choice("-x", {"objdump"}, zmap->action, "The action, as of netcdf-c's zmapio; objdump is the only one");
  arguments.examples({{"sherd zmap ocean.zarr", "every object: number, key, size and contents; chunks as hexadecimal"},
                      {"sherd zmap -h ocean.zarr /temp", "the metadata documents of one variable"},
                      {"sherd zmap -k --json ocean.zarr", "keys and sizes, a line of JSON each"},
                      {"NCTRACING=9 sherd zmap --search ocean.zarr /", "names in the root, and each request made"}});
  return [zmap](Session& session) { return zmap->run(session); };
}

}  // namespace sherd::cli
