// bzip2 streams, one after the other: numcodecs' bz2 writes one, and Python's bz2 module reads several. Trailing bytes
// that are not a stream are an error here, although Python ignores them.
#include <bzlib.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "base/call.hpp"
#include "base/try.hpp"
#include "codec/configuration.hpp"

namespace sherd {
namespace {

/// The maximum size for one call, since bzip2 counts in 32 bits.
unsigned window(std::size_t size) noexcept {
  return static_cast<unsigned>(std::min<std::size_t>(size, std::numeric_limits<unsigned>::max()));
}

/// One stream's state, freed on every way out.
class Bz2Stream {
 public:
  template <class Start>
  Bz2Stream(const Start& start, int (*end)(bz_stream*)) : end_(start(&stream_) == BZ_OK ? end : nullptr) {}
  Bz2Stream(const Bz2Stream&) = delete;
  Bz2Stream& operator=(const Bz2Stream&) = delete;
  ~Bz2Stream() {
    if (started()) end_(&stream_);
  }
  [[nodiscard]] bool started() const noexcept { return end_ != nullptr; }
  bz_stream& operator*() noexcept { return stream_; }

 private:
  bz_stream stream_ = {};
  int (*end_)(bz_stream*);
};

/// How much is encoded between checks for an interrupt: about a tenth of a second.
constexpr unsigned kBz2Step = 1U << 20;

/// A decoder's position in the encoded and the decoded bytes.
struct Position {
  std::size_t in = 0;
  std::size_t out = 0;
};

Error malformed_bz2(const char* what, std::size_t at) {
  return corrupt("bz2: " + std::string(what) + " at byte " + std::to_string(at));
}

/// Decodes the stream that begins at `at`; false if `to` is full before its end.
Result<bool> decode_stream(std::span<const std::byte> from, std::span<std::byte> to, Position& at) {
  Bz2Stream decoder([](bz_stream* stream) { return BZ2_bzDecompressInit(stream, 0, 0); }, BZ2_bzDecompressEnd);
  if (!decoder.started()) return unavailable("bz2: no memory for a decoder");
  bz_stream& stream = *decoder;
  char spare = 0;
  while (true) {
    const unsigned in = window(from.size() - at.in);
    const unsigned out = window(to.size() - at.out);
    stream.next_in = const_cast<char*>(reinterpret_cast<const char*>(from.data() + at.in));
    stream.avail_in = in;
    // The end of a stream may be recognised only by requesting another byte.
    stream.next_out = out > 0 ? reinterpret_cast<char*>(to.data() + at.out) : &spare;
    stream.avail_out = out > 0 ? out : 1;
    const int status = BZ2_bzDecompress(&stream);
    at.in += in - stream.avail_in;
    if (out > 0) at.out += out - stream.avail_out;
    if (status == BZ_MEM_ERROR) return unavailable("bz2: no memory for a decoder");
    if (status != BZ_OK && status != BZ_STREAM_END) return malformed_bz2("malformed stream", at.in);
    if (out == 0 && stream.avail_out == 0) return false;
    if (status == BZ_STREAM_END) return true;
    if (at.in == from.size() && stream.avail_out > 0) return malformed_bz2("truncated stream", at.in);
  }
}

class Bz2Codec final : public BytesCodec {
 public:
  explicit Bz2Codec(int level) : level_(level) {}

  /// The bound in bzip2's manual: 1 % and 600 bytes.
  std::uint64_t max_encoded_size(std::uint64_t decoded) const override { return decoded + decoded / 100 + 601; }

  Result<std::size_t> encode(std::span<const std::byte> from, std::span<std::byte> to) const override {
    Bz2Stream encoder([&](bz_stream* stream) { return BZ2_bzCompressInit(stream, level_, 0, 0); }, BZ2_bzCompressEnd);
    if (!encoder.started()) return unavailable("bz2: no memory for an encoder");
    bz_stream& stream = *encoder;
    Position at;
    int status = BZ_RUN_OK;
    while (status != BZ_STREAM_END) {
      SHERD_TRY(check_interrupted());
      const unsigned in = std::min(window(from.size() - at.in), kBz2Step);
      const unsigned out = window(to.size() - at.out);
      stream.next_in = const_cast<char*>(reinterpret_cast<const char*>(from.data() + at.in));
      stream.avail_in = in;
      stream.next_out = reinterpret_cast<char*>(to.data() + at.out);
      stream.avail_out = out;
      status = BZ2_bzCompress(&stream, at.in + in == from.size() ? BZ_FINISH : BZ_RUN);
      at.in += in - stream.avail_in;
      at.out += out - stream.avail_out;
      if (status < 0) return unavailable("bz2: the library could not encode (code " + std::to_string(status) + ")");
    }
    return at.out;
  }

  Result<std::optional<std::size_t>> decode(std::span<const std::byte> from, std::span<std::byte> to) const override {
    if (from.empty()) return malformed_bz2("no stream", 0);
    Position at;
    while (at.in < from.size()) {
      SHERD_TRY(fits, decode_stream(from, to, at));
      if (!fits) return std::optional<std::size_t>();
    }
    return std::optional(at.out);
  }

 private:
  int level_;
};

Result<std::unique_ptr<BytesCodec>> make_bz2(const CodecSpec& spec, const CodecContext& context) {
  SHERD_TRY(configuration, Configuration::open(spec, context));
  SHERD_TRY(level, configuration.integer_or_text("level", {1, 9}, 1));
  SHERD_TRY(configuration.done());
  return std::unique_ptr<BytesCodec>(std::make_unique<Bz2Codec>(static_cast<int>(level)));
}

Result<Json> short_bz2(std::string_view argument, const DType&) {
  SHERD_TRY(level, short_integer(argument, {1, 9}, 1));
  return Json(Json::Object{{"level", level}});
}

}  // namespace

extern constinit const CodecEntry bz2_codec{.name = "numcodecs.bz2",
                                            .aliases = {"bz2"},
                                            .bytes_codec = make_bz2,
                                            .short_form = short_bz2,
                                            .is_compressor = true};

}  // namespace sherd
