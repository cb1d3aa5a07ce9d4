// Hostile metadata documents: 1 to 37 of docs/limits.md.
#include "tests/hostile/hostile.hpp"

#include <fstream>

namespace sherd::hostile {
namespace metadata_test {

using Make = std::function<void(World&)>;

Make text(std::string document) {
  return [document = std::move(document)](World& world) { world.document(document); };
}
/// The good document with these members instead.
Make with(std::string_view changes) { return text(document_with(changes)); }
Make with_codecs(const std::string& codecs) { return with("{\"codecs\": " + codecs + "}"); }
/// The good array, with elements, its document with these members instead.
Make good_with(std::string_view changes) {
  return [document = document_with(changes)](World& world) { world.array_of(document); };
}

std::string repeated(std::string_view part, std::size_t times) {
  std::string whole;
  whole.reserve(part.size() * times);
  for (std::size_t i = 0; i < times; ++i) whole += part;
  return whole;
}

// A document of a size that none has, as a sparse file.
void huge_string(World& world) {
  world.document(R"({"zarr_format": 3, "node_type": "group", "attributes": {"x": ")");
  std::filesystem::resize_file(world.root() / "a/zarr.json", std::uint64_t{1} << 30);
}

// Ten million keys are more than metadata_bytes.
void too_many_keys(World& world) {
  world.document("{}");
  std::ofstream(world.root() / "a/zarr.json") << many_keys(10'000'000);
}

/// sharding_indexed in itself, all of one shape.
std::string nested(int depth) {
  const std::string open = R"([{"name": "sharding_indexed", "configuration": {"chunk_shape": [4, 8], "index_codecs": [)"
                           R"({"name": "bytes", "configuration": {"endian": "little"}}], "codecs": )";
  const std::string bytes = R"([{"name": "bytes", "configuration": {"endian": "little"}}])";
  return repeated(open, static_cast<std::size_t>(depth)) + bytes + repeated("}}]", static_cast<std::size_t>(depth));
}

/// The good codecs with one text in them replaced.
Make shard_with(std::string_view from, std::string_view to) {
  std::string codecs = sharded();
  codecs.replace(codecs.find(from), from.size(), to);
  return with_codecs(codecs);
}

std::string shape(std::string_view value) { return "{\"shape\": " + std::string(value) + "}"; }
std::string transpose(std::string_view order) {
  return R"([{"name": "transpose", "configuration": {"order": )" + std::string(order) + "}}, \"bytes\"]";
}
std::string grid(std::string_view lengths) {
  return R"({"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": )" + std::string(lengths) + "}}}";
}
const std::string kLittle = R"([{"name": "bytes", "configuration": {"endian": "little"}}])";
constexpr Act open_it = Act::open;
constexpr Act read_it = Act::read_all;

std::vector<Case> texts() {
  return {
      {1, "an empty file", text(""), open_it, refused(corrupt_code, "'a/zarr.json'")},
      {2, "only a byte order mark", text("\xef\xbb\xbf"), open_it, refused(corrupt_code, "byte order mark")},
      {2, "a byte order mark before a good document", text("\xef\xbb\xbf" + document_with("{}")), open_it,
       refused(corrupt_code, "byte order mark")},
      {3, "invalid UTF-8", text("{\"zarr_format\": 3, \"a\": \"\xc0\xaf\"}"), open_it, refused(corrupt_code, "UTF-8")},
      {4, "a lone surrogate", text(R"({"zarr_format": 3, "a": "\ud800"})"), open_it,
       refused(corrupt_code, "surrogate")},
      {5, "a million opening brackets", [](World& world) { world.document(std::string(1'000'000, '[')); }, open_it,
       refused(unsupported_code, "json_depth")},
      {5, "a million opening braces", [](World& world) { world.document(repeated("{\"a\":", 1'000'000)); }, open_it,
       refused(unsupported_code, "json_depth")},
      {6, "a string of a gibibyte", huge_string, open_it, refused(unsupported_code, "metadata_bytes"), Where::files},
      {7, "ten million keys", too_many_keys, open_it, refused(unsupported_code, "metadata_bytes"), Where::files},
      {.number = 7,
       .name = "three hundred thousand attributes do not cost quadratic time",
       .make = [](World& world) { world.array_of(document_with("{\"attributes\": " + many_keys(300'000) + "}")); },
       .act = read_it,
       .expected = reads(),
       .megabytes = 192},
      {8, "shape twice", text(R"({"zarr_format": 3, "shape": [4, 8], "shape": [4, 9]})"), open_it,
       refused(corrupt_code, "shape")},
      {9, "one key in two spellings", text(R"({"zarr_format": 3, "shape": [4, 8], "sh\u0061pe": [4, 9]})"), open_it,
       refused(corrupt_code, "shape")},
      {10, "garbage after the document", text(document_with("{}") + "x"), open_it, refused(corrupt_code, "byte")},
      {10, "a NUL after the document", text(document_with("{}") + std::string(1, '\0')), open_it,
       refused(corrupt_code, "byte")},
      {11, "a bare NaN", text(R"({"zarr_format": NaN})"), open_it, refused(corrupt_code, "NaN")},
      {12, "1e999 as an attribute", good_with(R"({"attributes": {"a": 1e999}})"), read_it, reads()},
      {12, "1e999 as a length", with(shape("[4, 1e999]")), open_it, refused(corrupt_code, "shape[1]")},
      {12, "1e999 as a fill value is infinity", with(R"({"data_type": "float32", "fill_value": 1e999})"), open_it,
       reads()},
  };
}

std::vector<Case> shapes() {
  const std::string long_shape = "[" + repeated("1,", 99'999) + "1]";
  return {
      {13, "a length of 2^63", with(shape("[4, 9223372036854775808]")), open_it, refused(corrupt_code, "shape[1]")},
      {14, "a length of -1", with(shape("[4, -1]")), open_it, refused(corrupt_code, "shape[1]")},
      {15, "a length of 1.5", with(shape("[4, 1.5]")), open_it, refused(corrupt_code, "shape[1]")},
      {16, "a length in quotes", with(shape(R"(["4", 8])")), open_it, refused(corrupt_code, "shape[0]")},
      {17, "no dimensions and a shard of none",
       text(document_with(
           R"({"shape": [], "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": []}}, "codecs": [
            {"name": "sharding_indexed", "configuration": {"chunk_shape": [], "codecs": [{"name": "bytes",
            "configuration": {"endian": "little"}}], "index_codecs": [{"name": "bytes", "configuration": {"endian":
            "little"}}]}}]})")),
       read_it, reads()},
      {17, "no dimensions and a shard of two",
       with(R"({"shape": [], "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": []}}})"), open_it,
       refused(corrupt_code, "codecs[0].configuration.chunk_shape")},
      {18, "a hundred thousand dimensions", with(shape(long_shape)), open_it, refused(unsupported_code, "dimensions")},
      {19, "lengths whose product wraps to 0", with(shape("[4294967296, 4294967296]")), open_it,
       refused(unsupported_code, "shape")},
      {20, "chunk lengths whose product wraps to 0", with(grid("[4294967296, 4294967296]")), open_it,
       refused(unsupported_code, "chunk_grid.configuration.chunk_shape")},
      {20, "a chunk of 2^61 bytes",
       with(
           R"({"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1073741824, 1073741824]}}, "codecs": )" +
           kLittle + "}"),
       open_it, refused(unsupported_code, "chunk_bytes")},
      {20, "a shard of 2^57 chunks", with(grid("[1073741824, 1073741824]")), open_it,
       refused(unsupported_code, "index_bytes")},
      {20, "one edge of a rectilinear grid of 2^40",
       with(R"({"shape": [4, 1099511627784], "chunk_grid": {"name": "rectilinear", "configuration": {"kind": "inline",
            "chunk_shapes": [[4], [8, 1099511627776]]}}, "codecs": )" +
            kLittle + "}"),
       open_it, refused(unsupported_code, "chunk_bytes")},
      {20, "one shard of a rectilinear grid of 2^40",
       with(R"({"shape": [4, 1099511627784], "chunk_grid": {"name": "rectilinear", "configuration": {"kind": "inline",
            "chunk_shapes": [[4], [8, 1099511627776]]}}})"),
       open_it, refused(unsupported_code, "index_bytes")},
      {20, "the largest edges of a rectilinear grid together",
       with(R"({"shape": [40004, 40008], "chunk_grid": {"name": "rectilinear", "configuration": {"kind": "inline",
            "chunk_shapes": [[4, 40000], [8, 40000]]}}, "codecs": )" +
            kLittle + "}"),
       open_it, refused(unsupported_code, "chunk_bytes")},
      {21, "a chunk length of 0", with(grid("[4, 0]")), open_it,
       refused(corrupt_code, "chunk_grid.configuration.chunk_shape[1]")},
      {21, "an inner chunk length of 0", shard_with("[2, 4]", "[2, 0]"), open_it,
       refused(corrupt_code, "codecs[0].configuration.chunk_shape")},
      {22, "a chunk of more dimensions", with(grid("[4, 8, 1]")), open_it,
       refused(corrupt_code, "chunk_grid.configuration.chunk_shape")},
      {22, "an inner chunk of more dimensions", shard_with("[2, 4]", "[2, 4, 1]"), open_it,
       refused(corrupt_code, "codecs[0].configuration.chunk_shape")},
      {23, "an inner chunk that does not divide", shard_with("[2, 4]", "[3, 4]"), open_it,
       refused(corrupt_code, "codecs[0].configuration.chunk_shape")},
      {24, "an inner chunk larger than the shard", shard_with("[2, 4]", "[2, 16]"), open_it,
       refused(corrupt_code, "codecs[0].configuration.chunk_shape")},
  };
}

std::vector<Case> codecs() {
  return {
      {25, "no codecs", with_codecs("[]"), open_it, refused(corrupt_code, "codecs")},
      {25, "no inner codecs",
       shard_with(R"("codecs": [{"name": "bytes", "configuration": {"endian": "little"}}])", R"("codecs": [])"),
       open_it, refused(corrupt_code, "codecs[0].configuration.codecs")},
      {25, "inner codecs without a name, of a codec that has none",
       with_codecs(R"([{"name": "bytes", "configuration": {"endian": "little", "codecs": [{"configuration": {}}]}}])"),
       open_it, refused(unsupported_code, "codecs[0].configuration.codecs")},
      {26, "two codecs that make bytes",
       with_codecs("[" + kLittle.substr(1, kLittle.size() - 2) + ", " + kLittle.substr(1)), open_it,
       refused(corrupt_code, "codecs[1]")},
      {26, "sharding and bytes", with_codecs("[" + sharded().substr(1, sharded().size() - 2) + R"(, "bytes"])"),
       open_it, refused(corrupt_code, "codecs[1]")},
      {27, "shards in shards, twenty deep", with_codecs(nested(20)), open_it,
       refused(unsupported_code, "shard_nesting")},
      {27, "shards in shards, a thousand deep",
       [](World& world) {
         std::string document = document_with("{}");
         const std::string here = Json::parse(sharded()).value().dump();
         world.document(document.replace(document.find(here), here.size(), nested(1000)));
       },
       open_it, refused(unsupported_code, "json_depth")},
      {28, "gzip in index_codecs",
       shard_with(R"({"name": "crc32c"})", R"({"name": "gzip", "configuration": {"level": 1}})"), open_it,
       refused(corrupt_code, "index_codecs")},
      {28, "sharding in index_codecs",
       shard_with(R"("index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}])",
                  "\"index_codecs\": " + sharded()),
       open_it, refused(corrupt_code, "index_codecs")},
      {29, "a transpose with one axis twice", with_codecs(transpose("[0, 0]")), open_it,
       refused(corrupt_code, "codecs[0].configuration.order")},
      {29, "a transpose with axis -1", with_codecs(transpose("[0, -1]")), open_it,
       refused(corrupt_code, "codecs[0].configuration.order")},
      {29, "a transpose with a huge axis", with_codecs(transpose("[0, 18446744073709551615]")), open_it,
       refused(corrupt_code, "codecs[0].configuration.order")},
      {29, "a transpose of a huge rank", with_codecs(transpose("[" + repeated("1,", 100'000) + "0]")), open_it,
       refused(corrupt_code, "codecs[0].configuration.order")},
  };
}

std::vector<Case> members() {
  const std::string long_name(300, 'n');
  return {
      {30, "an unknown member", with(R"({"what": {"name": "x"}})"), open_it, refused(unsupported_code, "what")},
      {30, "an unknown member that must be understood", with(R"({"what": {"must_understand": true}})"), open_it,
       refused(unsupported_code, "what")},
      {30, "an unknown member that may be passed over", good_with(R"({"what": {"must_understand": false}})"), read_it,
       reads()},
      {31, "a fill value of another type", with(R"({"fill_value": "x"})"), open_it,
       refused(corrupt_code, "fill_value")},
      {31, "a fill value out of range", with(R"({"fill_value": 65536})"), open_it, refused(corrupt_code, "fill_value")},
      {31, "a NaN in hexadecimal digits too few", with(R"({"data_type": "float32", "fill_value": "0x7fc"})"), open_it,
       refused(corrupt_code, "fill_value")},
      {32, "raw elements of 2^40 bits", with(R"({"data_type": "r1099511627776", "fill_value": []})"), open_it,
       refused(unsupported_code, "data_type")},
      {35, "an attribute with a long name", good_with("{\"attributes\": {\"" + long_name + "\": 1}}"), read_it,
       reads()},
      {35, "an attribute with a NUL in its name", good_with(R"({"attributes": {"a\u0000b": 1}})"), read_it, reads()},
      {36, "an odd separator",
       with(R"({"chunk_key_encoding": {"name": "default", "configuration": {"separator": ".."}}})"), open_it,
       refused(corrupt_code, "chunk_key_encoding.configuration.separator")},
      {36, "a separator that leads upwards",
       with(R"({"chunk_key_encoding": {"name": "v2", "configuration": {"separator": "/../"}}})"), open_it,
       refused(corrupt_code, "chunk_key_encoding.configuration.separator")},
      {37, "an array that calls itself a group", with(R"({"node_type": "group"})"), open_it,
       refused(unsupported_code, "shape")},
      {37, "a group that calls itself an array", text(R"({"zarr_format": 3, "node_type": "array"})"), open_it,
       refused(corrupt_code, "shape")},
  };
}

INSTANTIATE_TEST_SUITE_P(Text, Hostile, testing::ValuesIn(texts()), name_of);
INSTANTIATE_TEST_SUITE_P(Shape, Hostile, testing::ValuesIn(shapes()), name_of);
INSTANTIATE_TEST_SUITE_P(Codecs, Hostile, testing::ValuesIn(codecs()), name_of);
INSTANTIATE_TEST_SUITE_P(Members, Hostile, testing::ValuesIn(members()), name_of);

}  // namespace metadata_test
}  // namespace sherd::hostile
