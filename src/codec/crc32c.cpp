// crc32c (Zarr v3 core): the bytes, then their CRC-32C as four little-endian bytes.
// `numcodecs.crc32c` names the same bytes, with numcodecs' member `location`.
#include "base/checksum.hpp"
#include "base/try.hpp"
#include "codec/checksum.hpp"
#include "codec/configuration.hpp"

namespace sherd {
namespace {

Result<std::unique_ptr<BytesCodec>> make_crc32c(const CodecSpec& spec, const CodecContext&) {
  SHERD_TRY(configuration, Configuration::open(spec));
  SHERD_TRY(configuration.done());
  return std::make_unique<ChecksumCodec>(crc32c, ChecksumCodec::Location::after);
}

Result<std::unique_ptr<BytesCodec>> make_numcodecs_crc32c(const CodecSpec& spec, const CodecContext&) {
  return make_located_checksum(spec, crc32c, ChecksumCodec::Location::after);
}

Result<Json> short_crc32c(std::string_view argument, const DType&) {
  SHERD_TRY(no_argument(argument));
  return Json();
}

}  // namespace

extern constinit const CodecEntry crc32c_codec{
    .name = "crc32c", .aliases = {}, .bytes_codec = make_crc32c, .short_form = short_crc32c};
extern constinit const CodecEntry numcodecs_crc32c_codec{.name = "numcodecs.crc32c",
                                                         .aliases = {},
                                                         .bytes_codec = make_numcodecs_crc32c,
                                                         .short_form = short_without_members};

}  // namespace sherd
