// crc32c (Zarr v3 core): the bytes, then their CRC-32C as four little-endian bytes.
// `numcodecs.crc32c` names the same bytes, with numcodecs' member `location`.
#include "base/checksum.hpp"
#include "base/try.hpp"
#include "codec/checksum.hpp"
#include "codec/configuration.hpp"

namespace sherd {
namespace {

Result<std::unique_ptr<BytesCodec>> make(const CodecSpec& spec, const CodecContext&) {
  using Place = ChecksumCodec::Place;
  if (spec.name == "numcodecs.crc32c") return make_located_checksum(spec, crc32c, Place::after);
  SHERD_TRY(configuration, Configuration::open(spec));
  SHERD_TRY(configuration.done());
  return std::make_unique<ChecksumCodec>(crc32c, Place::after);
}

Result<Json> short_form(std::string_view argument, const DType&) {
  SHERD_TRY(no_argument(argument));
  return Json();
}

constexpr std::string_view kAliases[] = {"numcodecs.crc32c"};

}  // namespace

extern constinit const CodecEntry crc32c_codec{
    .name = "crc32c", .aliases = kAliases, .bytes_codec = make, .short_form = short_form};

}  // namespace sherd
