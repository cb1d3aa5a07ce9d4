#include "netcdf/cdl/schema.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/netcdf/cdl/cdl_testing.hpp"

namespace sherd::netcdf {
namespace attributes_test {

TEST(CdlAttributes, HaveTheTypeOfTheirValues) {
  EXPECT_EQ(attribute_of("1"), "1");
  EXPECT_EQ(attribute_of("1b, 2s"), "1s, 2s");
  EXPECT_EQ(attribute_of("2b, 1ub"), "2UB, 1UB");
  EXPECT_EQ(attribute_of("1us, 3l, +4"), "1, 3, 4");
  EXPECT_EQ(attribute_of("10su"), "10US");
  EXPECT_EQ(attribute_of("3000000000, -3000000000"), "3000000000LL, -3000000000LL");
  EXPECT_EQ(attribute_of("9999999999"), "9999999999ULL");
  EXPECT_EQ(attribute_of("18446744073709551615"), "18446744073709551615ULL");
  EXPECT_EQ(attribute_of("1, 2.5f"), "1.f, 2.5f");
  EXPECT_EQ(attribute_of("1, 2.5f, 3d, .5, 1e3, 1.e-3L"), "1., 2.5, 3., 0.5, 1000., 0.001");
  EXPECT_EQ(attribute_of("NaNf, -Infinityf, Inff"), "NaNf, -Infinityf, Infinityf");
  EXPECT_EQ(attribute_of("NaN, -Infinity, Infinity"), "NaN, -Infinity, Infinity");
  EXPECT_EQ(attribute_of("'a'"), "97b");
  EXPECT_EQ(attribute_of("\"one\", \"two\""), "\"onetwo\"");
  EXPECT_EQ(attribute_of(""), "\"\"");
}

TEST(CdlAttributes, AreConvertedToADeclaredType) {
  EXPECT_EQ(attribute_of("\"one\", \"\", \"two\"", "string"), "\"one\", \"\", \"two\"");
  EXPECT_EQ(attribute_of("1, 2.5", "string"), "\"1\", \"2.5\"");
  EXPECT_EQ(attribute_of("2ll, \"b\", 65b, 'x', 0.5f", "string"), R"("2", "b", "65", "120", "0.5")");
  EXPECT_EQ(attribute_of("NaN, \"b\", -Inff, NIL, Infinity", "string"), R"("nan", "b", "-inf", "", "inf")");
  EXPECT_EQ(attribute_of("1, 2", "float"), "1.f, 2.f");
  EXPECT_EQ(attribute_of("2.9, -2.9", "short"), "2s, -2s");
  EXPECT_EQ(attribute_of("255, -1", "byte"), "-1b, -1b");
  EXPECT_EQ(attribute_of("65b, 'b'", "char"), "\"Ab\"");
  EXPECT_EQ(attribute_of("7", "ULONG"), "7U");
}

TEST(CdlSpecials, OfAllCodecsReplaceThoseOfSingleFilters) {
  const Dataset dataset = dataset_of(with(R"(int lz4(x) ; lz4:_Codecs = "[{\"id\": \"lz4\", \"acceleration\": \"2\"}]" ;
    int delta(x) ; delta:_DeflateLevel = 3 ; delta:_Endianness = "big" ; delta:_Filter = "307,9" ; delta:_Codecs =
    "[{\"id\": \"delta\", \"dtype\": \">i4\", \"astype\": \">i4\"}, {\"name\": \"bytes\"}, {\"id\": \"zlib\", \"level\": 7}]" ;
    int blosc(x) ; blosc:_Filter = "32001,2,2,4,400,9,2,5" ;)",
                                          "delta = 1, 2, 3, 4 ;"));
  const auto codecs = [&](const char* name) {
    const Json all = dataset.root().variable(name)->storage().codecs;
    return std::vector<Json>(all.elements().begin(), all.elements().end());
  };
  EXPECT_EQ(codecs("lz4").back(),
            Json::parse(R"({"name": "numcodecs.lz4", "configuration": {"acceleration": 2}})").value());
  ASSERT_EQ(codecs("delta").size(), 3U);
  EXPECT_EQ(codecs("delta").back(),
            Json::parse(R"({"name": "numcodecs.zlib", "configuration": {"level": 7}})").value());
  EXPECT_TRUE(dataset.root().variable("delta")->storage().big_endian);
  EXPECT_EQ(dataset.root().variable("delta")->read().value(), Values(std::vector<std::int32_t>{1, 2, 3, 4}));
  const std::string blosc = codecs("blosc").back().dump();
  for (const char* part : {"\"zstd\"", "\"clevel\":9"}) EXPECT_NE(blosc.find(part), std::string::npos) << blosc;
}

TEST(CdlSpecials, DecideHowAVariableIsStored) {
  const std::string text = with(R"(int v(x, y) ; v:_ChunkSizes = 2, 2 ; v:_DeflateLevel = 4 ; v:_Shuffle = "true" ;
    v:_Endianness = "big" ; v:_NoFill = "true" ; v:_Storage = "chunked" ; v:_Codecs = "[]" ;
    int sum(x) ; sum:_Fletcher32 = 1 ; int many(x) ; many:_Filter = "2|32015,7" ; many:_Endianness = "big" ;
    int before(x) ; before:_Shuffle = "true" ; before:_Filter = "307,9" ;
    int after(x) ; after:_Filter = "307,9" ; after:_Shuffle = "true" ;
    int plain(x) ; plain:_Filter = "2,0|1,7" ; byte z(x) ; z:_Filter = "307,9" ;
    :_Format = "netCDF-4" ; :_NCProperties = "version=2" ; :_IsNetcdf4 = 1 ; :_SuperblockVersion = 2 ;)");
  EXPECT_TRUE(Cdl::parse(text)->warnings().empty());
  const Dataset dataset = dataset_of(text);
  EXPECT_TRUE(dataset.root().attributes().empty());
  const Storage& v = dataset.root().variable("v")->storage();
  EXPECT_EQ(v.chunks, (Shape{2, 2}));
  EXPECT_EQ(v.deflate_level, 4);
  EXPECT_TRUE(v.shuffle && v.big_endian && v.no_fill && !v.fletcher32);
  EXPECT_TRUE(dataset.root().variable("v")->attributes().empty());
  EXPECT_TRUE(dataset.root().variable("sum")->storage().fletcher32);
  EXPECT_TRUE(dataset.root().variable("many")->storage().big_endian);
  EXPECT_TRUE(dataset.root().variable("many")->storage().shuffle);
  EXPECT_EQ(dataset.root().variable("plain")->storage().deflate_level, 7);
  for (const char* name : {"before", "after"}) {
    EXPECT_TRUE(dataset.root().variable(name)->storage().shuffle) << name;
    EXPECT_NE(dataset.root().variable(name)->storage().codecs.dump().find("bz2"), std::string::npos) << name;
  }
  for (const char* name : {"many", "plain", "z"})
    EXPECT_NE(dataset.root().variable(name)->storage().codecs.size(), 0U) << name;
  EXPECT_TRUE(dataset_of(with("int v ;"), {.no_fill = true}).root().variable("v")->storage().no_fill);
  expect_refused({
      {with("int v(x) ; v:_Filter = \"32004,0\" ;"), ErrorCode::unsupported, "v:_Filter: the filter lz4 (32004)"},
      {with("int v(x) ; v:_Filter = \"32001,0,0,0,0,5,1,6\" ;"), ErrorCode::unsupported, "the filter blosc (32001)"},
      {with("int v(x) ; v:_Filter = \"32015,4294967296\" ;"), ErrorCode::corrupt, "out of range"},
      {with("int v(x) ; v:_Codecs = \"lz4\" ;"), ErrorCode::corrupt, "v:_Codecs: must be a list of codecs in JSON"},
      {with("int v(x) ; v:_Codecs = \"[1]\" ;"), ErrorCode::corrupt, "v:_Codecs: must be a list"},
      {with("int v(x) ; v:_Codecs = \"[{\\\"id\\\": 1}]\" ;"), ErrorCode::corrupt, "v:_Codecs: must be a list"},
      {with("int v(x) ; v:_Codecs = 5 ;"), ErrorCode::corrupt, "v:_Codecs: must be one text"},
      {with("int v(x) ; v:_Filter = \"zstd\" ;"), ErrorCode::corrupt, "v:_Filter: must contain numbers only"},
      {with("int v(x) ; v:_Shuffle = 2 ;"), ErrorCode::corrupt, "v:_Shuffle: must be \"true\" or \"false\""},
      {with("int v(x) ; v:_Endianness = \"odd\" ;"), ErrorCode::corrupt, "v:_Endianness: must be"},
      {with("int v(x) ; v:_Storage = \"odd\" ;"), ErrorCode::corrupt, "v:_Storage: must be"},
      {with("int v ; :_Format = \"hdf4\" ;"), ErrorCode::corrupt, ":_Format: must name a format of netCDF"},
  });
}

TEST(CdlSpecials, KeepQuantizationAsAnAttribute) {
  for (const char* name : {"_QuantizeBitGroomNumberOfSignificantDigits", "_QuantizeBitRoundNumberOfSignificantBits"}) {
    const std::string text = with("float v(x) ;\n v:" + std::string(name) + " = 3 ;");
    EXPECT_NE(header_of(dataset_of(text)).find("v:" + std::string(name) + " = 3 ;"), std::string::npos);
    const std::vector<std::string> warnings = Cdl::parse(text)->warnings();
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_TRUE(warnings[0].starts_with("line 6, column 4: " + std::string(name) + " is kept as an attribute"))
        << warnings[0];
  }
}

}  // namespace attributes_test
}  // namespace sherd::netcdf
