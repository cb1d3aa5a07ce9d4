// numcodecs.zlib: one zlib stream (RFC 1950). Level -1, which numcodecs passes through to zlib, means 6.
#include "base/try.hpp"
#include "codec/configuration.hpp"
#include "codec/deflate.hpp"

namespace sherd {
namespace {

constexpr IntegerBounds kZlibLevels{-1, 9};
constexpr std::int64_t kZlibDefaultLevel = 1;

Result<std::unique_ptr<BytesCodec>> make_zlib(const CodecSpec& spec, const CodecContext& context) {
  SHERD_TRY(configuration, Configuration::open(spec, context));
  SHERD_TRY(level, configuration.integer_or_text("level", kZlibLevels, kZlibDefaultLevel));
  SHERD_TRY(configuration.done());
  return std::make_unique<DeflateCodec>(DeflateCodec::Wrapper::zlib, level == -1 ? 6 : static_cast<int>(level));
}

Result<Json> short_zlib(std::string_view argument, const DType&) {
  SHERD_TRY(level, short_integer(argument, kZlibLevels, kZlibDefaultLevel));
  return Json(Json::Object{{"level", level}});
}

}  // namespace

extern constinit const CodecEntry zlib_codec{.name = "numcodecs.zlib",
                                             .aliases = {"zlib"},
                                             .bytes_codec = make_zlib,
                                             .short_form = short_zlib,
                                             .is_compressor = true};

}  // namespace sherd
