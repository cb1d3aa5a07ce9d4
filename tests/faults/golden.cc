#include "tests/faults/golden.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

namespace golden {
namespace {

using sherd::Json;
using sherd::Update;
using Ids = sherd::neuroglancer::ShardedStore;
using Elements = std::vector<std::uint16_t>;

constexpr std::uint64_t kLength = 320;  // of a chunk, which has more bytes than a sector

Elements elements_of(std::size_t chunk, int value) {
  Elements elements(kLength, static_cast<std::uint16_t>(1000 * value + static_cast<int>(chunk)));
  std::uint32_t noise = static_cast<std::uint32_t>(chunk * 10 + static_cast<std::size_t>(value));
  if (value == missing) std::ranges::fill(elements, std::uint16_t{0});
  if (value == missing || value % 2 != 0) return elements;
  for (auto& element : elements) {
    noise = noise * 1664525 + 1013904223;
    element = static_cast<std::uint16_t>(noise >> 16);
  }
  return elements;
}

std::string bytes_of(std::size_t chunk, int value) {
  const Elements elements = elements_of(chunk, value);
  const auto bytes = std::as_bytes(std::span(elements)).first(value % 2 == 0 ? 2 * kLength : 30);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The value whose representation this is.
template <class Found, class Represent>
int value_of(const Found& found, std::size_t chunk, const Represent& represent) {
  for (int value = 0; value <= most; ++value)
    if (found == represent(chunk, value)) return value;
  return mixed;
}

sherd::Config config_of(const Case& of) {
  sherd::Config config;
  config.threads = 1;
  config.update = of.update;
  config.max_unused = of.max_unused;
  config.slack = of.slack;
  return config;
}

// ---- arrays ----

sherd::Array open_array(const Case& of, const std::string& folder, bool writable) {
  return sherd::open_array(folder, {.writable = writable, .config = config_of(of)}).value();
}

void create_array(const Case& of, const std::string& folder) {
  sherd::CreateOptions options{
      .shape = {kChunks * kLength}, .dtype = sherd::DType::uint16, .chunks = {kLength}, .shards = {kChunks * kLength}};
  const bool is_draft = of.kind == Kind::draft2022;
  if (is_draft) options.format = "draft2022";
  options.codecs = std::vector<Json>{};
  if (!of.is_raw) options.codecs->push_back(is_draft ? "gzip" : "zstd:1");
  if (of.kind == Kind::index_at_start) options.index_location = sherd::IndexLocation::start;
  options.config = config_of(of);
  sherd::create_array(folder, options).value();
}

/// In one call, so the chunks are neighbours.
void put(sherd::Array& array, const Change& change) {
  const std::size_t first = change.puts.empty() ? 0 : change.puts.begin()->first;
  Elements elements;
  for (const auto& [chunk, value] : change.puts) {
    const Elements more = elements_of(chunk, value);
    elements.insert(elements.end(), more.begin(), more.end());
  }
  const std::uint64_t now = array.shape()[0], length = change.length * kLength;
  if (now == first * kLength && now + elements.size() == length) {
    array.append(sherd::StridedView<const std::uint16_t>(elements.data(), {elements.size()}).untyped()).value();
    return;
  }
  if (now != length) array.resize({length}).value();
  if (elements.empty()) return;
  array.write(sherd::Box{{first * kLength}, {elements.size()}}, std::span<const std::uint16_t>(elements)).value();
}

Seen see_array(const Case& of, const std::string& folder) {
  const sherd::Array array = open_array(of, folder, false);
  Elements elements(array.shape()[0]);
  const bool is_whole = array.read(sherd::Box{{0}, {elements.size()}}, std::span(elements)).has_value();
  Seen seen{};
  for (std::size_t chunk = 0; chunk < kChunks; ++chunk) {
    if (chunk * kLength >= elements.size()) {
      seen[chunk] = beyond;
      continue;
    }
    const auto part = std::span(elements).subspan(chunk * kLength, kLength);
    if (!is_whole && !array.read(sherd::Box{{chunk * kLength}, {kLength}}, part))
      seen[chunk] = unreadable;
    else
      seen[chunk] = value_of(Elements(part.begin(), part.end()), chunk, elements_of);
  }
  return seen;
}

// ---- values by id ----

const char* const kSharding =
    R"({"@type": "neuroglancer_uint64_sharded_v1", "preshift_bits": 0, "hash": "identity", "minishard_bits": 6,
        "shard_bits": 0, "minishard_index_encoding": "raw", "data_encoding": "raw"})";

Ids open_ids(const Case& of, const std::string& folder, bool writable) {
  const sherd::neuroglancer::ShardedStoreOptions options{.writable = writable, .config = config_of(of)};
  return Ids::open(folder, Json::parse(kSharding).value(), options).value();
}

/// Neighbours are in minishards whose entries are in different sectors; 0 and 32 share a minishard.
std::uint64_t id_of(std::size_t chunk) { return chunk < 32 ? chunk * 33 % 64 : chunk + 32; }

void put(const Ids& ids, const Change& change) {
  std::map<std::uint64_t, std::string> bytes;
  std::vector<std::uint64_t> removed;
  for (const auto& [chunk, value] : change.puts) {
    if (value == missing) removed.push_back(id_of(chunk));
    if (value != missing) bytes[id_of(chunk)] = bytes_of(chunk, value);
  }
  std::vector<Ids::Item> items;
  for (const auto& [id, value] : bytes) items.push_back({id, std::as_bytes(std::span(value))});
  if (!items.empty()) ids.put_many(items).value();
  if (!removed.empty()) ids.erase_many(removed).value();
}

Seen see_ids(const Case& of, const std::string& folder) {
  const Ids ids = open_ids(of, folder, false);
  Seen seen{};
  for (std::size_t chunk = 0; chunk < kChunks; ++chunk) {
    const auto found = ids.get(id_of(chunk));
    if (!found)
      seen[chunk] = unreadable;
    else if (*found)
      seen[chunk] = value_of(**found, chunk, bytes_of);
  }
  return seen;
}

// ---- cases ----

/// Of a shard with the chunks 0 to 7, whose first version does not end at a block. `overwrites`: in place.
std::vector<Change> changes(bool overwrites) {
  const auto in_place = [&](std::set<std::size_t> chunks) { return overwrites ? chunks : std::set<std::size_t>(); };
  std::map<std::size_t, int> first;
  for (std::size_t chunk = 0; chunk < 8; ++chunk) first[chunk] = 1;
  return {{"First", first},
          {"One", {{3, 3}}, in_place({3})},
          {"Several", {{1, 5}, {2, 5}}, in_place({1, 2})},
          {"Larger", {{4, 2}}, in_place({4})},
          {"Smaller", {{4, 7}}, in_place({4})},
          {"Erased", {{5, missing}}},
          {"AnotherAfterErased", {{6, 2}}, in_place({6})},
          {"Added", {{31, 3}, {32, 3}}}};  // their entries in the index are in different sectors
}

/// Of the same shard: a change that cuts off stored chunks, and one that has others in their places.
void shrink_and_append(std::vector<Change>& changes) {
  changes.push_back({.name = "Shrunk", .puts = {}, .length = 5});
  changes.push_back({.name = "AppendedAfterShrunk", .puts = {{5, 3}, {6, 3}, {7, 3}, {8, 3}}, .length = 9});
}

std::vector<Change> changes_to_nothing() {
  return {{"First", {{0, 1}, {1, 1}}}, {"Erased", {{0, missing}}}, {"LastErased", {{1, missing}}}, {"Again", {{2, 3}}}};
}

std::vector<Change> changes_and_compaction() {
  return {{"First", {{0, 1}, {1, 2}, {2, 1}}}, {"Erased", {{1, missing}}}, {"Compacted", {}}};
}

/// A change with too many sectors for all trees to be looked at.
Change large(const Case& of) {
  Change change{"Large", {}};
  for (std::size_t chunk = 0; chunk < 8; ++chunk) change.puts[chunk] = 4;
  if (of.update == Update::in_place) change.overwrites = {0, 1, 2, 3, 4, 6, 7};  // 5 is missing
  return change;
}

std::vector<Case> make_cases() {
  constexpr std::pair<const char*, Kind> kinds[] = {{"IndexAtEnd", Kind::index_at_end},
                                                    {"IndexAtStart", Kind::index_at_start},
                                                    {"Draft2022", Kind::draft2022},
                                                    {"Ids", Kind::ids}};
  std::vector<Case> all;
  const auto add = [&](const std::string& name, Kind kind, Update update, std::vector<Change> of) -> Case& {
    return all.emplace_back(Case{.name = name, .kind = kind, .update = update, .changes = std::move(of)});
  };
  for (const auto& [name, kind] : kinds) {
    const std::string prefix = name;
    add(prefix + "Rewritten", kind, Update::rewrite, changes(false));
    add(prefix + "Appended", kind, Update::append, changes(false));
    add(prefix + "AppendedToNothing", kind, Update::append, changes_to_nothing());
    add(prefix + "Compacted", kind, Update::append, changes_and_compaction());
    add(prefix + "InPlace", kind, Update::in_place, changes(true)).is_raw = true;
  }
  add("IndexAtEndRewrittenAsAClone", Kind::index_at_end, Update::rewrite, changes(false)).shares_blocks = true;
  add("IndexAtStartRewrittenAsAClone", Kind::index_at_start, Update::rewrite, changes(false)).shares_blocks = true;
  add("IndexAtEndInPlaceOrAppended", Kind::index_at_end, Update::in_place, changes(true));
  add("IndexAtStartInPlaceWithSlack", Kind::index_at_start, Update::in_place, changes(true)).slack = {.bytes = 800};
  for (Case& each : all)
    if (each.name == "IndexAtStartAppended" || each.name == "IndexAtEndInPlace") each.changes.push_back(large(each));
  for (Case& each : all)
    if (each.kind != Kind::ids && each.changes.size() >= 8) shrink_and_append(each.changes);
  return all;
}

}  // namespace

const std::vector<Case>& cases() {
  static const std::vector<Case> all = make_cases();
  return all;
}

const Case& find(const std::string& name) { return *std::ranges::find(cases(), name, &Case::name); }

void create(const Case& of, const std::string& folder) {
  if (of.kind != Kind::ids) create_array(of, folder);
}

std::function<void()> begin(const Case& of, const Change& change, const std::string& folder) {
  if (of.kind == Kind::ids) {
    return [change, ids = open_ids(of, folder, true)] {
      if (change.compacts()) (void)ids.compact().value();
      if (!change.compacts()) put(ids, change);
    };
  }
  if (change.compacts())
    return [folder, config = config_of(of)] { sherd::compact(folder, {.config = config}).value(); };
  return [change, array = open_array(of, folder, true)]() mutable { put(array, change); };
}

Seen see(const Case& of, const std::string& folder) {
  return of.kind == Kind::ids ? see_ids(of, folder) : see_array(of, folder);
}

Seen amid(const Change& change, Seen seen) {
  std::replace(seen.begin(), seen.begin() + static_cast<std::ptrdiff_t>(change.length), int{beyond}, int{missing});
  for (std::size_t chunk = change.length; chunk < kChunks; ++chunk)
    if (seen[chunk] != beyond) seen[chunk] = missing;
  return seen;
}

Seen after(const Change& change, Seen seen) {
  seen = amid(change, seen);
  std::fill(seen.begin() + static_cast<std::ptrdiff_t>(change.length), seen.end(), int{beyond});
  for (const auto& [chunk, value] : change.puts) seen[chunk] = value;
  return seen;
}

sherd::CheckReport check(const Case& of, const std::string& folder, bool repairs) {
  sherd::CheckOptions options{.data = true, .config = config_of(of)};
  if (of.kind == Kind::ids) options.sharding = Json::parse(kSharding).value();
  if (repairs) options.repair = sherd::RepairOptions{.backup = false};
  return sherd::check(folder, options).value();
}

}  // namespace golden
