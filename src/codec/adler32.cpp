// numcodecs.adler32: the Adler-32 of zlib as four little-endian bytes, then the bytes.
// numcodecs can put it after them too (`location`).
#include "base/checksum.hpp"
#include "base/try.hpp"
#include "codec/checksum.hpp"
#include "codec/configuration.hpp"

namespace sherd {
namespace {

Result<std::unique_ptr<BytesCodec>> make(const CodecSpec& spec, const CodecContext&) {
  return make_located_checksum(spec, adler32, ChecksumCodec::Location::before);
}

Result<Json> short_form(std::string_view argument, const DType&) {
  SHERD_TRY(no_argument(argument));
  return Json(Json::Object{});
}

constexpr std::string_view kAliases[] = {"adler32"};

}  // namespace

extern constinit const CodecEntry adler32_codec{
    .name = "numcodecs.adler32", .aliases = kAliases, .bytes_codec = make, .short_form = short_form};

}  // namespace sherd
