// The compressors and their configurations, for their tests.
#pragma once

#include <gmock/gmock.h>

#include "tests/codec/codec_fixture.hpp"
#include "tests/test_data.hpp"

namespace sherd {
extern const CodecEntry zstd_codec, gzip_codec, gzip_member_codec, zlib_codec, crc32c_codec, crc32_codec, adler32_codec,
    fletcher32_codec, numcodecs_zstd_codec, numcodecs_gzip_codec, numcodecs_crc32c_codec;
}

namespace sherd::test::compressors_testing {
inline const CodecEntry* const kTable[] = {
    &zstd_codec,    &gzip_codec,       &zlib_codec,           &crc32c_codec,         &crc32_codec,
    &adler32_codec, &fletcher32_codec, &numcodecs_zstd_codec, &numcodecs_gzip_codec, &numcodecs_crc32c_codec};

struct Case {
  const CodecEntry* entry;
  std::string_view configuration;
};
inline const Case kCompressors[] = {{&zstd_codec, R"({"level": 3, "checksum": true})"},
                                    {&zstd_codec, R"({"level": -131072, "checksum": true})"},
                                    {&zstd_codec, R"({"level": 19, "checksum": true})"},
                                    {&gzip_codec, R"({"level": 0})"},
                                    {&gzip_codec, R"({"level": 1})"},
                                    {&gzip_codec, R"({"level": 2})"},
                                    {&gzip_codec, R"({"level": 3})"},
                                    {&gzip_codec, R"({"level": 5})"},
                                    {&gzip_codec, R"({"level": 9})"},
                                    {&zlib_codec, R"({"level": 1})"},
                                    {&zlib_codec, R"({"level": -1})"}};

inline std::string name_of(const Case& c) { return std::string(c.entry->name) + " " + std::string(c.configuration); }

}  // namespace sherd::test::compressors_testing
