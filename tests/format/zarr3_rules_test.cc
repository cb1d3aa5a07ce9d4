// Rules of Zarr v3 and its extensions that single members of a document do not show: what must be there in a shard's
// configuration and what is taken where it is not, names that are known but not supported, aliases, depth.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sherd/sherd.hpp"

namespace sherd {
namespace zarr3_rules_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

const std::string kBytes = R"({"name": "bytes", "configuration": {"endian": "little"}})";

std::string sharding(const std::string& inner, const std::string& rest) {
  return R"({"name": "sharding_indexed", "configuration": {"chunk_shape": [2, 2])" + inner + rest + "}}";
}

std::string document(const std::string& codecs, const std::string& data_type = R"("uint16")") {
  return R"({"zarr_format": 3, "node_type": "array", "shape": [4, 4], "data_type": )" + data_type +
         R"(, "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4, 4]}},
    "chunk_key_encoding": {"name": "default"}, "fill_value": 0, "codecs": [)" +
         codecs + "]}";
}

Result<Array> opened(const std::string& text, std::shared_ptr<Store> store = memory_store()) {
  store->set("zarr.json", text).value();
  return open_array(store, {.writable = true});
}

void expect_refused(const Result<Array>& array, ErrorCode code, std::string_view member) {
  ASSERT_FALSE(array);
  EXPECT_EQ(array.error().code(), code) << array.error().text();
  EXPECT_EQ(array.error().member(), member) << array.error().text();
}

TEST(Zarr3Shards, NeedChunkShapeCodecsAndIndexCodecs) {
  const std::string codecs = R"(, "codecs": [)" + kBytes + "]";
  const std::string index = R"(, "index_codecs": [)" + kBytes + "]";
  ASSERT_TRUE(opened(document(sharding(codecs, index))));
  const auto corrupt = ErrorCode::corrupt;
  expect_refused(opened(document(sharding("", index))), corrupt, "codecs[0].configuration.codecs");
  expect_refused(opened(document(sharding(codecs, ""))), corrupt, "codecs[0].configuration.index_codecs");
  expect_refused(
      opened(document(R"({"name": "sharding_indexed", "configuration": {"codecs": [)" + kBytes + "]" + index + "}}")),
      corrupt, "codecs[0].configuration.chunk_shape");
  expect_refused(opened(document(sharding(codecs, index + R"(, "index_location": "middle")"))), corrupt,
                 "codecs[0].configuration.index_location");
  expect_refused(opened(document(sharding(codecs, index + R"(, "order": "morton")"))), ErrorCode::unsupported,
                 "codecs[0].configuration.order");
}

TEST(Zarr3Shards, HaveTheirIndexAtTheEndByDefault) {
  const std::string members = R"(, "codecs": [)" + kBytes + R"(], "index_codecs": [)" + kBytes + "]";
  std::string objects[2];
  for (const bool says_end : {false, true}) {
    const auto store = memory_store();
    const Array array =
        opened(document(sharding(members, says_end ? R"(, "index_location": "end")" : "")), store).value();
    const std::vector<std::uint16_t> values(16, 7);
    array.write(Box{{0, 0}, {4, 4}}, std::span(values)).value();
    objects[says_end ? 1 : 0] = store->get("c/0/0").value().value();
  }
  EXPECT_EQ(objects[0], objects[1]);
  EXPECT_EQ(objects[0].size(), 4U * 8 + 4 * 16) << "chunks, and sixteen bytes a slot";
  EXPECT_EQ(objects[0].substr(0, 2), std::string("\x07\0", 2)) << "the chunks come first";
}

TEST(Zarr3Shards, NestSixteenDeepAndNoDeeper) {
  const auto nested = [](int depth) {
    std::string codec = kBytes;
    for (int i = 0; i < depth; ++i)
      codec = R"({"name": "sharding_indexed", "configuration": {"chunk_shape": [4, 4], "codecs": [)" + codec +
              R"(], "index_codecs": [)" + kBytes + "]}}";
    return document(codec);
  };
  const Array array = opened(nested(16)).value();
  std::vector<std::uint16_t> values{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  array.write(Box{{0, 0}, {4, 4}}, std::span<const std::uint16_t>(values)).value();
  std::vector<std::uint16_t> read(16);
  array.read(Box{{0, 0}, {4, 4}}, std::span(read)).value();
  EXPECT_EQ(read, values);
  const auto refused = opened(nested(17));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::unsupported);
  EXPECT_THAT(refused.error().message(), HasSubstr("shard_nesting (16)"));
}

TEST(Zarr3Names, OfCodecsThatAreNotSupportedAreNamed) {
  for (const std::string name :
       {"numcodecs.wavpack", "https://example.org/codec", "compressed_segmentation", "jpeg", "png"}) {
    const auto array = opened(document(R"({"name": ")" + name + R"(", "configuration": {}}, )" + kBytes));
    expect_refused(array, ErrorCode::unsupported, "codecs[0].name");
    EXPECT_THAT(array.error().message(), HasSubstr("'" + name + "'"));
    EXPECT_EQ(array.error().key(), "zarr.json");
  }
}

TEST(Zarr3Names, OfDataTypesThatAreNotSupportedAreNamed) {
  for (const std::string name : {"int3", "float8_e4m4", "complex_int8", "https://example.org/type"}) {
    const auto array = opened(document(kBytes, "\"" + name + "\""));
    expect_refused(array, ErrorCode::unsupported, "data_type");
    EXPECT_THAT(array.error().message(), HasSubstr("'" + name + "'"));
  }
}

TEST(Zarr3Names, BareNamesOfNumcodecsAreReadAndTheirFullNamesWritten) {
  const std::pair<std::string, std::string> rows[] = {
      {"zlib", ""},
      {"lz4", ""},
      {"bz2", ""},
      {"lzma", ""},
      {"adler32", ""},
      {"crc32", ""},
      {"fletcher32", ""},
      {"shuffle", R"({"elementsize": 2})"},
      {"delta", R"({"dtype": "<u2"})"},
      {"fixedscaleoffset", R"({"offset": 0, "scale": 1, "dtype": "<u2"})"},
      {"astype", R"({"encode_dtype": "<u4"})"},
      {"jenkins_lookup3", ""}};
  for (const auto& [name, configuration] : rows) {
    const std::string text =
        R"({"name": ")" + name + "\"" + (configuration.empty() ? "" : R"(, "configuration": )" + configuration) + "}";
    const bool comes_first = name == "delta" || name == "fixedscaleoffset" || name == "astype";
    EXPECT_TRUE(opened(document(comes_first ? text + ", " + kBytes : kBytes + ", " + text))) << name;
    const Json codec = Json::parse(text).value();
    const Array made =
        create_array(memory_store(), "", {.shape = {4}, .dtype = DType::uint16, .codecs = std::vector<Json>{codec}})
            .value();
    const Json metadata = made.metadata();
    const auto& written = metadata.find("codecs")->elements();
    EXPECT_EQ(written[comes_first ? 0 : 1].find("name")->text(), "numcodecs." + name);
  }
}

}  // namespace zarr3_rules_test
}  // namespace sherd
