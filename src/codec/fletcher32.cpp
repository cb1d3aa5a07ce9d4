// numcodecs.fletcher32: the bytes, then their Fletcher-32 in HDF5's variant as four little-endian bytes. HDF5 and
// netCDF-4 files use the filter under the same name.
#include "base/checksum.hpp"
#include "base/try.hpp"
#include "codec/checksum.hpp"
#include "codec/configuration.hpp"

namespace sherd {
namespace {

Result<std::unique_ptr<BytesCodec>> make_fletcher32(const CodecSpec& spec, const CodecContext&) {
  SHERD_TRY(configuration, Configuration::open(spec));
  SHERD_TRY(configuration.done());
  return std::make_unique<ChecksumCodec>(fletcher32, ChecksumCodec::Location::after);
}

}  // namespace

extern constinit const CodecEntry fletcher32_codec{
    .name = "numcodecs.fletcher32",
    .aliases = {"fletcher32", "https://codec.zarrs.dev/bytes_to_bytes/fletcher32"},
    .bytes_codec = make_fletcher32,
    .short_form = short_without_members};

}  // namespace sherd
