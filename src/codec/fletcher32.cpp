// numcodecs.fletcher32: the bytes, then their Fletcher-32 in HDF5's variant as four little-endian bytes. HDF5 and
// netCDF-4 files use the filter under the same name.
#include "base/checksum.hpp"
#include "base/try.hpp"
#include "codec/checksum.hpp"
#include "codec/configuration.hpp"

namespace sherd {
namespace {

Result<std::unique_ptr<BytesCodec>> make(const CodecSpec& spec, const CodecContext&) {
  SHERD_TRY(configuration, Configuration::open(spec));
  SHERD_TRY(configuration.done());
  return std::make_unique<ChecksumCodec>(fletcher32, ChecksumCodec::Location::after);
}

Result<Json> short_form(std::string_view argument, const DType&) {
  SHERD_TRY(no_argument(argument));
  return Json(Json::Object{});
}

constexpr std::string_view kAliases[] = {"fletcher32", "https://codec.zarrs.dev/bytes_to_bytes/fletcher32"};

}  // namespace

extern constinit const CodecEntry fletcher32_codec{
    .name = "numcodecs.fletcher32", .aliases = kAliases, .bytes_codec = make, .short_form = short_form};

}  // namespace sherd
