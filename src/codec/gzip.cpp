// gzip (Zarr v3 core; also `numcodecs.gzip`): reads one or more gzip members (RFC 1952), writes one. gzip_member_codec
// is for formats whose readers accept exactly one, so that any bytes after it are damage.
#include "base/try.hpp"
#include "codec/configuration.hpp"
#include "codec/deflate.hpp"

namespace sherd {
namespace {

constexpr IntegerBounds kGzipLevels{0, 9};
constexpr std::int64_t kGzipDefaultLevel = 5;

template <DeflateCodec::Wrapper wrapper>
Result<std::unique_ptr<BytesCodec>> make_gzip(const CodecSpec& spec, const CodecContext&) {
  SHERD_TRY(configuration, Configuration::open(spec));
  SHERD_TRY(level, configuration.integer("level", kGzipLevels, kGzipDefaultLevel));
  SHERD_TRY(configuration.done());
  return std::make_unique<DeflateCodec>(wrapper, static_cast<int>(level));
}

Result<Json> short_gzip(std::string_view argument, const DType&) {
  SHERD_TRY(level, short_integer(argument, kGzipLevels, kGzipDefaultLevel));
  return Json(Json::Object{{"level", level}});
}

}  // namespace

extern constinit const CodecEntry gzip_codec{.name = "gzip",
                                             .aliases = {},
                                             .bytes_codec = make_gzip<DeflateCodec::Wrapper::gzip>,
                                             .short_form = short_gzip,
                                             .is_compressor = true};
extern constinit const CodecEntry numcodecs_gzip_codec{.name = "numcodecs.gzip",
                                                       .aliases = {},
                                                       .bytes_codec = make_gzip<DeflateCodec::Wrapper::gzip>,
                                                       .short_form = short_gzip,
                                                       .is_compressor = true};
extern constinit const CodecEntry gzip_member_codec{.name = "gzip",
                                                    .aliases = {},
                                                    .bytes_codec = make_gzip<DeflateCodec::Wrapper::gzip_member>,
                                                    .short_form = short_gzip};

}  // namespace sherd
