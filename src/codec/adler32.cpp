// numcodecs.adler32: the Adler-32 of zlib as four little-endian bytes, then the bytes.
// numcodecs can put it after them too (`location`).
#include "base/checksum.hpp"
#include "codec/checksum.hpp"
#include "codec/configuration.hpp"

namespace sherd {
namespace {

Result<std::unique_ptr<BytesCodec>> make_adler32(const CodecSpec& spec, const CodecContext&) {
  return make_located_checksum(spec, adler32, ChecksumCodec::Location::before);
}

}  // namespace

extern constinit const CodecEntry adler32_codec{.name = "numcodecs.adler32",
                                                .aliases = {"adler32"},
                                                .bytes_codec = make_adler32,
                                                .short_form = short_without_members};

}  // namespace sherd
