// numcodecs.crc32: the CRC-32 of gzip as four little-endian bytes, then the bytes.
// numcodecs can put it after them too (`location`).
#include "base/checksum.hpp"
#include "codec/checksum.hpp"
#include "codec/configuration.hpp"

namespace sherd {
namespace {

Result<std::unique_ptr<BytesCodec>> make_crc32(const CodecSpec& spec, const CodecContext&) {
  return make_located_checksum(spec, crc32, ChecksumCodec::Location::before);
}

}  // namespace

extern constinit const CodecEntry crc32_codec{
    .name = "numcodecs.crc32", .aliases = {"crc32"}, .bytes_codec = make_crc32, .short_form = short_without_members};

}  // namespace sherd
