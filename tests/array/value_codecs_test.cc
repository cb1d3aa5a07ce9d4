// Arrays with codecs that change values, types and shapes, including those before shards, and their fill values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sherd/sherd.hpp"

namespace sherd {
namespace value_codecs_test {

using ::testing::HasSubstr;

/// An array of int16 whose codecs are `codecs`, before or around a shard.
Array array_of(std::string_view codecs, std::string_view fill = "7", std::shared_ptr<Store> store = memory_store()) {
  const std::string text = R"({"zarr_format": 3, "node_type": "array", "shape": [6, 8], "data_type": "int16",
      "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4, 4]}},
      "chunk_key_encoding": {"name": "default"}, "fill_value": )" +
                           std::string(fill) + R"(, "codecs": [)" + std::string(codecs) + "]}";
  store->set("zarr.json", text).value();
  return open_array(store, {.writable = true}).value();
}

constexpr std::string_view kShard = R"({"name": "sharding_indexed", "configuration": {"chunk_shape": [8],
    "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
    "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}})";

TEST(ValueCodecs, CanPrecedeShardsAndConvertTheirFillValue) {
  const std::string chain = R"({"name": "scale_offset", "configuration": {"offset": 7}},
      {"name": "cast_value", "configuration": {"data_type": "int8"}},
      {"name": "transpose", "configuration": {"order": [1, 0]}},
      {"name": "reshape", "configuration": {"shape": [[0, 1]]}}, )";
  for (const std::string& codecs : {chain + R"({"name": "bytes"})", chain + std::string(kShard)}) {
    const Array array = array_of(codecs);
    std::vector<std::int16_t> values(48, 7);
    for (int i = 0; i < 20; ++i) values[static_cast<std::size_t>(i)] = static_cast<std::int16_t>(i * 5);
    array.write(Box{{0, 0}, {6, 8}}, std::span<const std::int16_t>(values)).value();
    std::vector<std::int16_t> read(48);
    array.read(Box{{0, 0}, {6, 8}}, std::span(read)).value();
    EXPECT_EQ(read, values);
    array.write(Box{{5, 5}, {1, 1}}, std::span(values).subspan(1, 1)).value();
    read.resize(1);
    array.read(Box{{4, 4}, {1, 1}}, std::span(read)).value();
    EXPECT_EQ(read[0], 7);
  }
}

TEST(ValueCodecs, AFillValueThatDoesNotSurviveIsRefusedWithTheDocument) {
  const auto refused = [](std::string_view codec, std::string_view fill) {
    auto store = memory_store();
    const std::string text = R"({"zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "float32",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4]}},
        "chunk_key_encoding": {"name": "default"}, "fill_value": )" +
                             std::string(fill) + R"(, "codecs": [)" + std::string(codec) +
                             R"(, {"name": "bytes", "configuration": {"endian": "little"}}]})";
    store->set("zarr.json", text).value();
    const auto array = open_array(store, {});
    return array.has_value() ? std::string() : array.error().text();
  };
  const std::string_view to_int8 = R"({"name": "cast_value", "configuration": {"data_type": "int8"}})";
  EXPECT_EQ(refused(to_int8, "5"), "");
  EXPECT_THAT(refused(to_int8, "5.5"),
              HasSubstr("fill value: cast_value: the fill value would be decoded from int8 as 6"));
  EXPECT_THAT(refused(to_int8, "500"), HasSubstr("fill value"));
  EXPECT_THAT(refused(to_int8, R"("NaN")"), HasSubstr("fill value"));
  EXPECT_EQ(refused(R"({"name": "cast_value", "configuration": {"data_type": "int8",
      "scalar_map": {"encode": [["NaN", -1]], "decode": [[-1, "NaN"]]}}})",
                    R"("NaN")"),
            "");
  EXPECT_THAT(refused(R"({"name": "scale_offset", "configuration": {"scale": 1e30}})", "1e30"),
              HasSubstr("fill value"));
}

}  // namespace value_codecs_test
}  // namespace sherd
