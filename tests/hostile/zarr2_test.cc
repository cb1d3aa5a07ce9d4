// Hostile documents of Zarr v2: 1 to 37 of docs/limits.md for each of the four, as far as they have such members, and
// what only they have. Nothing of what a document claims is allocated before it is checked.
#include <fstream>

#include "tests/format/documents_testing.hpp"
#include "tests/hostile/hostile.hpp"

namespace sherd::hostile {
namespace zarr2_test {

using Make = std::function<void(Store&, const std::string& root)>;
using Act = std::function<Result<void>(const std::shared_ptr<Store>&)>;

constexpr const char* kGood = R"({"chunks": [2, 4], "compressor": null, "dtype": "<u2", "fill_value": 0,
  "filters": null, "order": "C", "shape": [4, 8], "zarr_format": 2})";
constexpr const char* kGroup = R"({"zarr_format": 2})";
constexpr std::string_view kDocuments[] = {".zarray", ".zgroup", ".zattrs", ".zmetadata"};

/// The good node `a` that has this document: an array, or a group.
void make_node(Store& store, std::string_view document) {
  if (document == ".zarray" || document == ".zattrs")
    store.set("a/.zarray", kGood).value();
  else
    store.set("a/.zgroup", kGroup).value();
}
Make text(std::string_view document, std::string bytes) {
  return [key = "a/" + std::string(document), document, bytes = std::move(bytes)](Store& store, const std::string&) {
    make_node(store, document);
    store.set(key, bytes).value();
  };
}
std::string repeated(std::string_view part, std::size_t times) {
  std::string whole;
  whole.reserve(part.size() * times);
  for (std::size_t i = 0; i < times; ++i) whole += part;
  return whole;
}
/// The text is made when the case is run: each test is a process, which makes the whole table.
Make a_million_times(std::string_view part, std::string_view document) {
  return [=](Store& store, const std::string& root) { text(document, repeated(part, 1'000'000))(store, root); };
}
/// A gibibyte, as a sparse file.
Make huge_string(std::string_view document) {
  return [=](Store& store, const std::string& root) {
    text(document, R"({"zarr_format": 2, "a": ")")(store, root);
    std::filesystem::resize_file(root + "/a/" + std::string(document), std::uint64_t{1} << 30);
  };
}
/// More than metadata_bytes.
Make ten_million_keys(std::string_view document) {
  return [=](Store& store, const std::string& root) {
    text(document, "{}")(store, root);
    std::ofstream(root + "/a/" + std::string(document)) << many_keys(10'000'000);
  };
}

/// The refusal of the node `a`, if it names this document and member, and check reports an error too.
Act refusal(const std::string& key, const std::string& member = "") {
  return [=](const std::shared_ptr<Store>& store) -> Result<void> {
    const auto report = check(store, {.path = "a"});
    if (!report || report->ok()) return invalid_argument("check reports nothing");
    const auto node = open(store, {.path = "a"});
    if (node) return {};
    const Error& error = node.error();
    if (error.key() != key || (!member.empty() && error.member() != member))
      return invalid_argument("names " + error.key() + " " + error.member());
    return error;
  };
}

/// Copies of documents that are damaged hide nothing: check reports them, and they are renewed on request.
Result<void> renew_copies(const std::shared_ptr<Store>& store) {
  const auto report = check(store, {.path = "a"});
  if (!report || report->ok()) return invalid_argument("check reports nothing");
  if (report->faults[0].key != "a/.zmetadata") return invalid_argument("names " + report->faults[0].key);
  Group group = open_group(store, {.path = "a", .writable = true}).value();
  const auto renewed = group.consolidate();
  if (!renewed) return renewed.error();
  return check(store, {.path = "a"}).value().ok() ? Result<void>() : invalid_argument("check still reports it");
}

std::vector<StoredCase> texts_of(std::string_view document) {
  const std::string name(document), key = "a/" + name;
  const auto refused = [&](int number, const std::string& what, Make make, ErrorCode code, std::string says) {
    const bool hides_nothing = document == ".zmetadata";
    return StoredCase{number,
                      name + ": " + what,
                      std::move(make),
                      hides_nothing ? Act(renew_copies) : refusal(key),
                      hides_nothing ? std::nullopt : std::optional(code),
                      std::move(says)};
  };
  const auto bad = [&](int number, const std::string& what, std::string bytes, std::string says) {
    return refused(number, what, text(document, std::move(bytes)), corrupt_code, std::move(says));
  };
  return {bad(1, "an empty file", "", key),
          bad(2, "only a byte order mark", "\xef\xbb\xbf", "byte order mark"),
          bad(2, "a byte order mark before an object", "\xef\xbb\xbf{}", "byte order mark"),
          bad(3, "invalid UTF-8", "{\"a\": \"\xc0\xaf\"}", "UTF-8"),
          bad(4, "a lone surrogate", R"({"a": "\ud800"})", "surrogate"),
          refused(5, "a million opening brackets", a_million_times("[", document), unsupported_code, "json_depth"),
          refused(5, "a million opening braces", a_million_times("{\"a\":", document), unsupported_code, "json_depth"),
          refused(6, "a string of a gibibyte", huge_string(document), unsupported_code, "metadata_bytes"),
          refused(7, "ten million keys", ten_million_keys(document), unsupported_code, "metadata_bytes"),
          bad(8, "a key twice", R"({"zarr_format": 2, "shape": [1], "shape": [1]})", "shape"),
          bad(9, "a key twice, once with an escape", R"({"zarr_format": 2, "shape": [1], "sh\u0061pe": [1]})", "shape"),
          bad(10, "garbage behind it", "{} x", "byte"),
          bad(10, "a NUL behind it", std::string("{}\0", 3), "byte"),
          bad(11, "a word", "NaN", key),
          bad(16, "a list", "[]", key)};
}

std::vector<StoredCase> texts() {
  std::vector<StoredCase> rows;
  for (const std::string_view document : kDocuments) std::ranges::move(texts_of(document), std::back_inserter(rows));
  rows.push_back({.number = 7,
                  .name = "three hundred thousand attributes do not cost quadratic time",
                  .make = text(".zattrs", many_keys(300'000)),
                  .act = [](const std::shared_ptr<Store>& store) -> Result<void> {
                    const auto array = open_array(store, {.path = "a"});
                    return array ? Result<void>() : array.error();
                  },
                  .megabytes = 192});
  return rows;
}

// 11 and 12: Python's NaN is read in attributes and in copies of them, and refused elsewhere.
Act opens(const std::string& path) {
  return [=](const std::shared_ptr<Store>& store) -> Result<void> {
    const auto node = open(store, {.path = path});
    return node ? Result<void>() : node.error();
  };
}
std::vector<StoredCase> numbers() {
  std::vector<StoredCase> rows;
  for (const std::string number : {"NaN", "Infinity", "-Infinity"}) {
    const std::string member = R"("a": )" + number;
    const std::string listed = R"({"metadata": {"b/.zattrs": {)" + member + "}}}";
    rows.push_back({11, number + " in .zattrs", text(".zattrs", "{" + member + "}"), opens("a")});
    rows.push_back({11, number + " in .zmetadata", text(".zmetadata", listed), opens("a")});
    for (const char* document : {".zarray", ".zgroup"})
      rows.push_back({11, number + " in " + document, text(document, R"({"zarr_format": 2, )" + member + "}"),
                      refusal(std::string("a/") + document), corrupt_code});
  }
  rows.push_back({12, "1e999 as a fill value is infinity",
                  text(".zarray", changed(kGood, R"({"dtype": "<f8", "fill_value": 1e999})")), opens("a")});
  for (const char* document : {"{}", R"({"zarr_format": 3})", R"({"zarr_format": "2"})", R"({"zarr_format": 1e999})"})
    rows.push_back({37, std::string(document) + " as a group", text(".zgroup", document),
                    refusal("a/.zgroup", "zarr_format"), corrupt_code});
  return rows;
}

struct BadMember {
  int number;  ///< of docs/limits.md
  std::string changes, member;
  ErrorCode code;
};

std::string nested_struct(std::size_t depth) {
  return R"({"dtype": )" + repeated("[[\"a\", ", depth) + "\"<i4\"" + repeated("]]", depth) + "}";
}

std::vector<BadMember> bad_members() {
  const ErrorCode corrupt = ErrorCode::corrupt, unsupported = ErrorCode::unsupported;
  return {{12, R"({"shape": [4, 1e999]})", "shape[1]", corrupt},
          {12, R"({"fill_value": 1e999})", "fill_value", corrupt},
          {13, R"({"shape": [4, 9223372036854775808]})", "shape[1]", corrupt},
          {14, R"({"shape": [4, -1]})", "shape[1]", corrupt},
          {15, R"({"shape": [4, 1.5]})", "shape[1]", corrupt},
          {16, R"({"shape": ["4", 8]})", "shape[0]", corrupt},
          {17, R"({"shape": []})", "chunks", corrupt},
          {18, R"({"shape": [)" + repeated("1,", 99'999) + "1]}", "shape", unsupported},
          {19, R"({"shape": [4294967296, 4294967296]})", "shape", unsupported},
          {20, R"({"chunks": [4294967296, 4294967296]})", "chunks", unsupported},
          {20, R"({"chunks": [1073741824, 1073741824]})", "", unsupported},
          {21, R"({"chunks": [2, 0]})", "chunks[1]", corrupt},
          {22, R"({"chunks": [2]})", "chunks", corrupt},
          {25, R"({"compressor": []})", "compressor", corrupt},
          {25, R"({"filters": {}})", "filters", corrupt},
          {25, R"({"dtype": "|O", "filters": {}})", "filters", corrupt},
          {25, R"({"dtype": "|O", "filters": {"id": "zlib"}})", "filters", corrupt},
          {25, R"({"dtype": "|O", "filters": {"id": "vlen-utf8", "a": {"id": "vlen-bytes"}}})", "filters", corrupt},
          {25, R"({"dtype": "|O", "filters": "vlen-utf8"})", "filters", corrupt},
          {25, R"({"dtype": "|O", "filters": 5})", "filters", corrupt},
          {25, R"({"dtype": "|O", "filters": [5]})", "filters", corrupt},
          {25, R"({"dtype": "|O", "filters": [{"id": 5}]})", "filters[0].id", corrupt},
          {25, R"({"shape": {"a": 4, "b": 8}})", "shape", corrupt},
          {25, R"({"chunks": {"a": 2, "b": 4}})", "chunks", corrupt},
          {25, R"({"dtype": {"a": "<u2"}})", "dtype", corrupt},
          {25, R"({"dtype": [{"a": "x", "b": "<u2"}]})", "dtype[0]", corrupt},
          {25, R"({"dtype": [["a", "<u2", {"a": 2}]]})", "dtype[0][2]", corrupt},
          {25, R"({"dtype": "<c8", "fill_value": {"a": 1, "b": 2}})", "fill_value", corrupt},
          {26, R"({"dtype": "|O", "filters": [{"id": "vlen-utf8"}, {"id": "vlen-utf8"}]})", "filters[1]", corrupt},
          {26, R"({"compressor": {"id": "vlen-utf8"}})", "compressor", corrupt},
          {27, nested_struct(1000), "", unsupported},
          {29, R"({"order": [1, 0]})", "order", corrupt},
          {31, R"({"fill_value": "x"})", "fill_value", corrupt},
          {31, R"({"fill_value": 65536})", "fill_value", corrupt},
          {31, R"({"dtype": "<c8", "fill_value": [1, 2, 3]})", "fill_value", corrupt},
          {31, R"({"dtype": "<U1", "fill_value": "ab"})", "fill_value", corrupt},
          {31, R"({"fill_value": [0]})", "fill_value", corrupt},
          {31, R"({"dtype": "<f4", "fill_value": "0x7fc"})", "fill_value", corrupt},
          {31, R"({"dtype": "|V3", "fill_value": "AAAAAAAA"})", "fill_value", corrupt},
          {32, R"({"dtype": "|V137438953472"})", "dtype", unsupported},
          {32, R"({"dtype": "<U99999999999999999999"})", "dtype", corrupt},
          {33, R"({"dtype": [["a", "|V1073741824"], ["b", "|V1073741824"]]})", "dtype", unsupported},
          {33, R"({"dtype": [["a", "|u1", [65536, 65536, 65536]]]})", "", unsupported},
          {33, R"({"dtype": [["a", "|V65536", [32768]]]})", "", unsupported},
          {33, R"({"dtype": [["a", "|u1"], ["a", "|u1"]]})", "dtype", corrupt},
          {33, R"({"dtype": []})", "dtype", corrupt},
          {36, R"({"dimension_separator": "//"})", "dimension_separator", corrupt},
          {36, R"({"dimension_separator": ".."})", "dimension_separator", corrupt},
          {36, R"({"dimension_separator": 46})", "dimension_separator", corrupt},
          {37, R"({"zarr_format": 3})", "zarr_format", corrupt},
          {37, R"({"shape": "-", "chunks": "-", "dtype": "-"})", "shape", corrupt}};
}

std::vector<StoredCase> members() {
  std::vector<StoredCase> rows;
  for (const BadMember& bad : bad_members())
    rows.push_back({bad.number, ".zarray with " + bad.changes.substr(0, 80),
                    text(".zarray", changed(kGood, bad.changes)), refusal("a/.zarray", bad.member), bad.code});
  return rows;
}

Result<void> all_of(std::initializer_list<bool> facts) {
  std::size_t at = 0;
  for (const bool fact : facts) {
    ++at;
    if (!fact) return invalid_argument("fact " + std::to_string(at) + " is not so");
  }
  return {};
}

// 12, 30, 34, 35 and 37: what a node need not know is passed over and kept.
void make_strange(Store& store, const std::string&) {
  const std::string attributes = R"({"a": 1e999, ")" + std::string(300, 'n') +
                                 R"(": 1, "nul\u0000": 2, "_nczarr_attrs": {"types": 5},
                                    "_ARRAY_DIMENSIONS": ["/none", "/none", "/more"]})";
  store.set(".zgroup", R"({"zarr_format": 2, "_nczarr_superblock": {"version": []}, "shape": [1]})").value();
  store
      .set("a/.zarray",
           changed(kGood,
                   R"({"_nczarr_array": {"dimrefs": ["/a", "/a"], "must_understand": true}, "node_type": "group"})"))
      .value();
  store.set("a/.zattrs", attributes).value();
  store.set("a/.zgroup", kGroup).value();
}
Result<void> edit_strange(const std::shared_ptr<Store>& store) {
  Array array = open_array(store, {.path = "a", .writable = true}).value();
  const bool has_long_name = array.attributes().find(std::string(300, 'n')) != nullptr;
  array.update_attributes(Json(Json::Object{{"b", 1}})).value();
  array.resize({5, 8}).value();
  const Json now = open_array(store, {.path = "a"}).value().metadata();
  return all_of({has_long_name, now.find(".zattrs")->find("a")->dump() == "1e999",
                 now.find(".zarray")->find("_nczarr_array") != nullptr, open_group(store).has_value(),
                 check(store).has_value()});
}

Make consolidated(const std::string& list) {
  return [=](Store& store, const std::string&) {
    store.set(".zgroup", kGroup).value();
    store.set("a/.zarray", kGood).value();
    store.set(".zmetadata", list).value();
  };
}
/// The one array is found, whatever the list says, and edits renew the list.
Result<void> edit_consolidated(const std::shared_ptr<Store>& store) {
  Group group = open_group(store, {.writable = true}).value();
  const auto has_one = [](const Group& of) { return of.members().value().size() == 1; };
  return all_of({has_one(group), open_array(store, {.path = "a"}).has_value(), check(store).has_value(),
                 open_array(store, {.path = "a", .writable = true}).value().resize({5, 8}).has_value(),
                 group.update_attributes(Json(Json::Object{{"x", 1}})).has_value(), group.consolidate().has_value(),
                 has_one(open_group(store).value())});
}

std::vector<StoredCase> kept() {
  std::vector<StoredCase> rows{{34, "unknown members and attributes", make_strange, edit_strange}};
  int count = 0;
  for (const char* list : {R"({"metadata": {"": 1, "/": {}, "../x/.zarray": {}, "a//.zgroup": [], ".zgroup": 5}})",
                           R"({"metadata": 5})", R"({"metadata": {"b/.zarray": 1}})", "{}"})
    rows.push_back({35, "a list of strange nodes " + std::to_string(++count), consolidated(list), edit_consolidated});
  // 12 to 37 in copies of documents, which only give the type of a node.
  for (const BadMember& bad : bad_members()) {
    if (bad.number == 27) continue;  // deeper than json_depth, as a million brackets
    const std::string entry = changed(kGood, bad.changes);
    rows.push_back({bad.number, ".zmetadata with " + bad.changes.substr(0, 80),
                    consolidated(R"({"zarr_consolidated_format": 1, "metadata": {"a/.zarray": )" + entry +
                                 R"(, "b/.zarray": )" + entry + "}}"),
                    edit_consolidated});
  }
  return rows;
}

std::vector<StoredCase> chunks() {
  std::vector<StoredCase> rows;
  for (const std::size_t size : {std::size_t{0}, std::size_t{15}, std::size_t{17}})
    rows.push_back({size < 16 ? 73 : 74, "a chunk of " + std::to_string(size) + " bytes",
                    [=](Store& store, const std::string&) {
                      store.set("a/.zarray", kGood).value();
                      store.set("a/0.0", std::string(size, 'x')).value();
                    },
                    [](const std::shared_ptr<Store>& store) -> Result<void> {
                      std::vector<std::uint16_t> values(32);
                      const Array array = open_array(store, {.path = "a"}).value();
                      return array.read(Box{{0, 0}, {4, 8}}, std::span(values));
                    },
                    corrupt_code, "'a/0.0'"});
  return rows;
}

std::string numbered_name(const testing::TestParamInfo<StoredCase>& info) {
  return stored_name(info) + "_" + std::to_string(info.index);
}

INSTANTIATE_TEST_SUITE_P(Zarr2Texts, HostileStore, testing::ValuesIn(texts()), numbered_name);
INSTANTIATE_TEST_SUITE_P(Zarr2Numbers, HostileStore, testing::ValuesIn(numbers()), numbered_name);
INSTANTIATE_TEST_SUITE_P(Zarr2Members, HostileStore, testing::ValuesIn(members()), numbered_name);
INSTANTIATE_TEST_SUITE_P(Zarr2Kept, HostileStore, testing::ValuesIn(kept()), numbered_name);
INSTANTIATE_TEST_SUITE_P(Zarr2Chunks, HostileStore, testing::ValuesIn(chunks()), numbered_name);

}  // namespace zarr2_test
}  // namespace sherd::hostile
