// What `.zarray` does not say of a codec: numcodecs' defaults, and what netcdf-c derives from the variable for szip.
// Chains of filters and compressors, and back.
#include "format/numcodecs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "api/registry.hpp"
#include "base/buffer.hpp"
#include "tests/codec/codec_fixture.hpp"
#include "tests/test_data.hpp"
#include "tests/zarr2/zarr2_testing.hpp"

namespace sherd::v2 {
namespace numcodecs_test {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::string_view kChanges = R"({"dtype": "<i2", "fill_value": 0, "shape": [6, 40], "chunks": [6, 20],
  "compressor": {"id": "szip", "mask": 32, "pixels-per-block": 16}})";

class V2Szip : public testing::Test {
 protected:
  void SetUp() override {
    if (array_with(kChanges)) return;
    if (std::getenv("SHERD_CI") != nullptr) FAIL() << "libaec-dev is not installed; run script/bootstrap";
    GTEST_SKIP() << "libaec-dev is not installed; run script/bootstrap";
  }

  /// A chunk of HDF5's that is encoded as netcdf-c does it for these changes: of 120 numbers in lines of 40.
  static Json golden(std::string_view endian) {
    std::ifstream file(test_data("codec/szip_streams.json"));
    std::stringstream text;
    text << file.rdbuf();
    const Json rows = parsed(text.str());
    for (const Json& row : rows.elements())
      if (row.find("dtype")->text() == "int16" && row.find("shape")->dump() == "[3,40]" &&
          row.find("endian")->text() == endian)
        return row;
    return {};
  }
  static std::string text_of(const Json& row, const char* member) {
    const test::Bytes bytes = test::from_hex(row.find(member)->text());
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  static std::string first_chunk(const Array& array) {
    std::string elements(240, '\0');
    array
        .read(Box{{0, 0}, {6, 20}},
              AnyView::dense(reinterpret_cast<std::byte*>(elements.data()), DType::int16, {6, 20}))
        .value();
    return elements;
  }
};

TEST_F(V2Szip, HasTheScanlinesOfTheVariableAndTheByteOrderOfItsType) {
  for (const bool big : {false, true}) {
    const Json row = golden(big ? "big" : "little"), native = golden("little");
    ASSERT_FALSE(row.is_null());
    std::string document = changed(kChanges);
    if (big) document.replace(document.find("<i2"), 3, ">i2");
    const auto store = hierarchy(document);
    store->set("a/0.0", text_of(row, "encoded")).value();
    Array array = open_a(store, true).value();
    EXPECT_EQ(first_chunk(array), text_of(native, "elements"));
    const std::string elements = text_of(native, "elements");
    store->erase("a/0.0").value();
    array
        .write(Box{{0, 0}, {6, 20}},
               ConstAnyView::dense(reinterpret_cast<const std::byte*>(elements.data()), DType::int16, {6, 20}))
        .value();
    EXPECT_EQ(text_at(*store, "a/0.0"), text_of(row, "encoded"));
  }
}

TEST_F(V2Szip, IsCopiedToZarr3AndBackWithoutAChange) {
  const auto store = hierarchy(changed(kChanges)), copied = memory_store(), back = memory_store();
  store->set("a/0.0", text_of(golden("little"), "encoded")).value();
  copy(store, copied, {.format = "zarr3"}).value();
  EXPECT_EQ(parsed(text_at(*copied, "a/zarr.json")).find("codecs")->dump(),
            R"([{"name":"bytes","configuration":{"endian":"little"}},{"name":"numcodecs.szip","configuration":)"
            R"({"mask":40,"pixels-per-block":16,"bits-per-pixel":16,"pixels-per-scanline":40}}])");
  std::string chunk;
  for (const auto& [key, text] : tree_of(*copied))
    if (key.ends_with("0.0") || key.ends_with("0/0")) chunk = text;
  EXPECT_EQ(chunk, text_at(*store, "a/0.0"));
  EXPECT_EQ(first_chunk(open_a(copied).value()), first_chunk(open_a(store).value()));
  copy(copied, back, {.format = "zarr2"}).value();
  EXPECT_EQ(parsed(text_at(*back, "a/.zarray")), parsed(text_at(*store, "a/.zarray")));
  EXPECT_EQ(text_at(*back, "a/0.0"), text_at(*store, "a/0.0"));
}

TEST_F(V2Szip, KeepsTheLengthOfItsScanlines) {
  const auto store = hierarchy(changed(kChanges));
  store->set("a/0.0", text_of(golden("little"), "encoded")).value();
  Array array = open_a(store, true).value();
  const std::string before = text_at(*store, "a/.zarray");
  const auto longer = array.resize({6, 41});
  ASSERT_FALSE(longer);
  EXPECT_EQ(longer.error().code(), ErrorCode::unsupported);
  EXPECT_THAT(longer.error().text(), HasSubstr("'numcodecs.szip' depends on the shape of the array"));
  EXPECT_EQ(text_at(*store, "a/.zarray"), before);
  array.resize({7, 40}).value();
  EXPECT_EQ(first_chunk(open_a(store).value()), text_of(golden("little"), "elements"));
}

TEST_F(V2Szip, OfAnotherScanlineIsEncodedAgainInACopy) {
  const auto store = memory_store(), copied = memory_store();
  CreateOptions options{.shape = {6, 40}, .dtype = DType::int16, .chunks = {6, 20}};
  options.codecs = std::vector<Json>{"szip"};
  Array array = create_array(store, "a", options).value();
  const std::string elements = text_of(golden("little"), "elements");
  array
      .write(Box{{0, 0}, {6, 20}},
             ConstAnyView::dense(reinterpret_cast<const std::byte*>(elements.data()), DType::int16, {6, 20}))
      .value();
  copy(store, copied, {.format = "zarr2"}).value();
  EXPECT_EQ(first_chunk(open_a(copied).value()), elements);
}

// Of numcodecs. In Zarr v3 the default is the size of an element.
TEST(V2Shuffle, HasElementsOf4BytesByDefault) {
  const auto store = hierarchy(changed(R"({"dtype": "<i8", "shape": [2], "chunks": [2], "fill_value": 0,
      "filters": [{"id": "shuffle"}]})"));
  store->set("a/0", std::string_view("\x01\x05\x09\x0d\x02\x06\x0a\x0e\x03\x07\x0b\x0f\x04\x08\x0c\x10")).value();
  std::array<std::uint64_t, 2> numbers{};
  const AnyView view = AnyView::dense(reinterpret_cast<std::byte*>(numbers.data()), DType::int64, {2});
  open_a(store).value().read(Box{{0}, {2}}, view).value();
  EXPECT_EQ(numbers[0], 0x0807060504030201U);
  const auto copied = memory_store(), back = memory_store();
  copy(store, copied, {.format = "zarr3"}).value();
  numbers = {};
  open_a(copied).value().read(Box{{0}, {2}}, view).value();
  EXPECT_EQ(numbers[1], 0x100f0e0d0c0b0a09U);
  copy(copied, back, {.format = "zarr2"}).value();
  EXPECT_EQ(parsed(text_at(*back, "a/.zarray")).find("filters")->dump(), R"([{"id":"shuffle","elementsize":4}])");
}

TEST(V2Codec, OfOtherPackagesIsRefusedByItsName) {
  for (const char* id : {"imagecodecs_jpeg2k", "wavpack"})
    EXPECT_THAT(array_with(R"({"compressor": {"id": ")" + std::string(id) + "\"}}").error().text(),
                AllOf(HasSubstr(id), HasSubstr("not supported")));
  EXPECT_THAT(array_with(R"({"compressor": {"id": "zlip"}})").error().text(),
              AllOf(HasSubstr("id 'zlip' in numcodecs"), HasSubstr("did you mean 'zlib'?")));
}

TEST(V2Codec, OfObjectsIsRefusedByItsNameIfItIsNotSupported) {
  const auto refusal = [](const std::string& id, const std::string& more = "") {
    const auto array =
        array_with(R"({"dtype": "|O", "fill_value": "", "filters": [{"id": ")" + id + "\"}]" + more + "}");
    EXPECT_EQ(code_of(array), ErrorCode::unsupported) << id;
    EXPECT_EQ(array.error().member(), "filters[0].id") << id;
    return array.error().text();
  };
  EXPECT_THAT(refusal("json"), HasSubstr("numcodecs 0.6 replaced it by json2"));
  EXPECT_THAT(refusal("msgpack", R"(, "compressor": {"id": "zlib", "level": 1})"),
              HasSubstr("replaced it by msgpack2"));
  EXPECT_THAT(refusal("fill_hdf_strings"), HasSubstr("of the Python package kerchunk"));
  EXPECT_THAT(refusal("wavpack"), HasSubstr("of the Python package wavpack-numcodecs"));
  EXPECT_THAT(refusal("vlen_utf8"), HasSubstr("id 'vlen_utf8' in numcodecs"));
  EXPECT_THAT(refusal("pickle"), HasSubstr("executes code"));
  EXPECT_EQ(code_of(array_with(R"({"dtype": "|O", "fill_value": "", "filters": [{"id": "zlib", "level": 1}]})")),
            corrupt_code);
}

TEST(V2Codec, ThatIsAFilterOfHdf5IsRefusedAsSuch) {
  EXPECT_THAT(array_with(R"({"filters": [{"id": "307", "hdf5raw": "1"}]})").error().text(),
              HasSubstr("'307' is not supported by this version: it is a filter of HDF5 by its number"));
  EXPECT_THAT(array_with(R"({"filters": [{"id": "hdf5raw", "hdf5id": "307"}]})").error().text(),
              HasSubstr("netcdf-c calls filters of HDF5 so"));
}

TEST(V2Filters, ThatMakeBytesOfArraysMayHaveACompressorBehindThem) {
  const std::string document = changed(R"({"filters": [{"id": "delta", "dtype": "<i4"}, {"id": "pcodec", "level": 8}],
          "compressor": {"id": "zlib", "level": 1}})");
  const auto store = hierarchy(document), copied = memory_store(), back = memory_store();
  Array array = open_a(store, true).value();
  write(array, counted(35));
  EXPECT_EQ(elements(open_a(store).value()), counted(35));
  copy(store, copied, {.format = "zarr3"}).value();
  EXPECT_EQ(copy(copied, back, {.format = "zarr2"}).value().chunks_encoded, 0U);
  EXPECT_EQ(parsed(text_at(*back, "a/.zarray")), parsed(document));
  const auto big = array_with(R"({"dtype": ">i4", "filters": [{"id": "pcodec"}], "compressor": {"id": "bz2"}})");
  EXPECT_EQ(code_of(big), ErrorCode::unsupported);
  EXPECT_EQ(big.error().member(), "filters[0]");
}

TEST(V2Bitround, OfFloatsIsTheRegisteredOneInZarr3) {
  const auto v3 = memory_store(), v2 = memory_store(), back = memory_store();
  CreateOptions options{.shape = {4}, .dtype = DType::float32, .chunks = {2}};
  options.codecs = std::vector<Json>{"bitround:3", "zlib:1"};
  const std::vector<float> values = {1.2F, 12.3F, 123.4F, -1};
  create_array(v3, "a", options).value().write(Box{{0}, {4}}, std::span(values)).value();
  EXPECT_EQ(copy(v3, v2, {.format = "zarr2"}).value().chunks_encoded, 0U);
  EXPECT_EQ(parsed(text_at(*v2, "a/.zarray")).find("filters")->dump(), R"([{"id":"bitround","keepbits":3}])");
  EXPECT_EQ(copy(v2, back, {.format = "zarr3"}).value().chunks_encoded, 0U);
  EXPECT_EQ(parsed(text_at(*back, "a/zarr.json")).find("codecs")->elements()[0].dump(),
            R"({"name":"bitround","configuration":{"keepbits":3}})");
  // What numcodecs alone has keeps its name.
  const auto none =
      hierarchy(changed(R"({"dtype": "<f4", "fill_value": 0, "filters": [{"id": "bitround", "keepbits": 0}]})"));
  const auto kept = memory_store();
  copy(none, kept, {.format = "zarr3"}).value();
  EXPECT_EQ(parsed(text_at(*kept, "a/zarr.json")).find("codecs")->elements()[0].find("name")->text(),
            "numcodecs.bitround");
  EXPECT_EQ(code_of(array_with(R"({"filters": [{"id": "bitround", "keepbits": 3}]})")), corrupt_code) << "integers";
}

NumcodecsFormat the_format() { return {"the format", tables().codecs}; }

std::string names_of(std::span<const CodecSpec> chain) {
  std::string names;
  for (const CodecSpec& spec : chain) names += (names.empty() ? "" : " ") + spec.name;
  return names;
}

Result<std::vector<CodecSpec>> chain_of(const NumcodecsChunks& chunks, const std::vector<std::string>& filters,
                                        const std::vector<std::string>& compressors) {
  const auto codecs = [&](const std::vector<std::string>& texts) {
    std::vector<CodecSpec> specs;
    for (const std::string& text : texts) {
      Json json = parsed(text);
      const std::string id = json.find("id")->text();
      json.erase("id");
      specs.push_back(numcodecs_codec(id, json, chunks.type.dtype));
    }
    return specs;
  };
  return numcodecs_chain(chunks, codecs(filters), codecs(compressors), tables().codecs);
}

TEST(NumcodecsChain, PutsBytesBehindTheFiltersOfArrays) {
  const std::string delta = R"({"id": "delta", "dtype": "<i4"})", shuffle = R"({"id": "shuffle"})";
  const std::string zlib = R"({"id": "zlib"})";
  const NumcodecsChunks rows{{DType::int32}, 2, false}, columns{{DType::int32}, 2, true}, line{{DType::int32}, 1, true};
  EXPECT_EQ(names_of(chain_of(rows, {}, {}).value()), "bytes");
  EXPECT_EQ(names_of(chain_of(rows, {delta, shuffle}, {zlib}).value()),
            "numcodecs.delta bytes numcodecs.shuffle numcodecs.zlib");
  EXPECT_EQ(names_of(chain_of(columns, {delta}, {}).value()), "transpose numcodecs.delta bytes");
  EXPECT_EQ(names_of(chain_of(line, {}, {}).value()), "bytes") << "one dimension has one order";
  EXPECT_EQ(names_of(chain_of(rows, {}, {R"({"id": "pcodec"})"}).value()), "numcodecs.pcodec");
}

TEST(NumcodecsChain, FollowsTheByteOrderThroughItsFilters) {
  const NumcodecsChunks big{{DType::int32, true}, 1, false};
  const auto chain = chain_of(big, {R"({"id": "astype", "decode_dtype": ">i4", "encode_dtype": "<i2"})"}, {}).value();
  EXPECT_EQ(chain[0].configuration.dump(), R"({"decode_dtype":"i4","encode_dtype":"<i2"})");
  EXPECT_EQ(chain[1].configuration.dump(), R"({"endian":"little"})");
  const auto refused = chain_of(big, {R"({"id": "delta", "dtype": ">i4"})", R"({"id": "delta", "dtype": "<i4"})"}, {});
  EXPECT_EQ(code_of(refused), ErrorCode::unsupported);
  EXPECT_EQ(refused.error().member(), "filters[1].dtype");
  const auto pcodec = chain_of(big, {}, {R"({"id": "pcodec"})"});
  EXPECT_EQ(code_of(pcodec), ErrorCode::unsupported);
  EXPECT_EQ(pcodec.error().member(), "compressor");
}

TEST(NumcodecsWords, AreThoseFromWhichTheChainWasMade) {
  struct Row {
    NumcodecsChunks chunks;
    std::vector<std::string> filters, compressors;
  };
  const Row rows[] = {
      {{{DType::int32}, 2, false}, {}, {R"({"id":"blosc","cname":"zstd","clevel":3,"shuffle":2,"blocksize":0})"}},
      {{{DType::int32, true}, 2, true}, {R"({"id":"delta","dtype":">i4"})"}, {R"({"id":"zlib","level":1})"}},
      {{{DType::uint8}, 1, false}, {R"({"id":"shuffle","elementsize":4})"}, {R"({"id":"zstd","level":3})"}},
      {{{DType::float32}, 1, false}, {R"({"id":"bitround","keepbits":5})"}, {R"({"id":"gzip","level":1})"}},
      {{{DType::string}, 1, false}, {R"({"id":"vlen-utf8"})"}, {}},
      {{{DType::bytes}, 1, false}, {R"({"id":"vlen-array","dtype":"|u1"})"}, {R"({"id":"bz2","level":1})"}},
  };
  for (const Row& row : rows) {
    const auto chain = chain_of(row.chunks, row.filters, row.compressors).value();
    const NumcodecsWords words = numcodecs_words(chain, row.chunks.type.dtype, the_format()).value();
    std::vector<std::string> filters;
    for (const Json& filter : words.filters) filters.push_back(filter.dump());
    EXPECT_EQ(filters, row.filters);
    EXPECT_EQ(words.compressor ? words.compressor->dump() : "", row.compressors.empty() ? "" : row.compressors[0]);
    EXPECT_EQ(words.fortran, row.chunks.fortran);
    EXPECT_EQ(words.big_endian, row.chunks.type.big_endian);
  }
}

TEST(NumcodecsWords, RefuseWhatNumcodecsCannotExpress) {
  const auto refusal = [](const std::vector<CodecSpec>& chain, const DType& dtype) {
    const auto words = numcodecs_words(chain, dtype, the_format());
    EXPECT_EQ(code_of(words), ErrorCode::unsupported) << names_of(chain);
    EXPECT_EQ(words.error().member(), "codecs");
    return words.error().text();
  };
  const CodecSpec bytes{"bytes", {}};
  EXPECT_THAT(refusal({{"transpose", parsed(R"({"order": [0, 2, 1]})")}, bytes}, DType::uint8),
              HasSubstr("the format has the orders C and F only"));
  EXPECT_THAT(refusal({{"cast_value", {}}, bytes}, DType::uint8), HasSubstr("cannot express 'cast_value'"));
  EXPECT_THAT(refusal({{"bitround", parsed(R"({"keepbits": 24})")}, bytes}, DType::float32),
              HasSubstr("at most 23 bits for float32"));
  EXPECT_TRUE(numcodecs_words(std::vector<CodecSpec>{{"bitround", parsed(R"({"keepbits": 23})")}, bytes},
                              DType::float32, the_format()));
  EXPECT_THAT(refusal({{"bitround", parsed(R"({"keepbits": 3})")}, bytes}, DType::int32),
              HasSubstr("float16, float32 and float64 only"));
}

TEST(NumcodecsCodec, HasTheDefaultsOfNumcodecs) {
  const auto configuration = [](std::string_view id, const char* json, const DType& dtype) {
    return numcodecs_codec(id, parsed(json), dtype).configuration.dump();
  };
  EXPECT_EQ(configuration("blosc", "{}", DType::int32),
            R"({"cname":"lz4","clevel":5,"shuffle":"shuffle","blocksize":0,"typesize":4})");
  EXPECT_THAT(configuration("blosc", R"({"shuffle": -1})", DType::uint8), HasSubstr("bitshuffle"));
  EXPECT_THAT(configuration("blosc", R"({"shuffle": -1})", DType::int16), HasSubstr(R"("shuffle":"shuffle")"));
  EXPECT_THAT(configuration("blosc", R"({"shuffle": 0})", DType::int16), HasSubstr("noshuffle"));
  EXPECT_EQ(configuration("zstd", R"({"level": 2})", DType::int16), R"({"level":2,"checksum":false})");
  EXPECT_EQ(configuration("zstd", R"({"checksum": true})", DType::int16), R"({"checksum":true})");
  EXPECT_EQ(configuration("shuffle", "{}", DType::int64), R"({"elementsize":4})");
}

}  // namespace numcodecs_test
}  // namespace sherd::v2
