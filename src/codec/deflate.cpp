// Uses the best library for each task with deflate: libdeflate decodes whole chunks and encodes at levels 0 and 4-9;
// ISA-L decodes in blocks and encodes at levels 1-3. libdeflate encodes in a single call that cannot be interrupted, so
// zlib encodes chunks above 16 MiB at its levels, and ISA-L encodes them in steps. Header, checksum and length of every
// gzip member are verified. Bytes after the last member are an error, or after the first if only one is allowed. The
// output contains no time and no name, so it is reproducible.
#include "codec/deflate.hpp"

#include <isa-l/igzip_lib.h>
#include <libdeflate.h>
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>

#include "base/call.hpp"
#include "base/try.hpp"

namespace sherd {
namespace {

using Wrapper = DeflateCodec::Wrapper;

constexpr std::size_t kMax32 = std::numeric_limits<std::uint32_t>::max();  // ISA-L and zlib count in 32 bits
constexpr std::size_t kDeflateStep = std::size_t{1} << 20;

struct FreeDeflate {
  void operator()(libdeflate_compressor* context) const noexcept { libdeflate_free_compressor(context); }
  void operator()(libdeflate_decompressor* context) const noexcept { libdeflate_free_decompressor(context); }
};

Error out_of_memory() { return unavailable("out of memory for a deflate context"); }

/// This thread's compressor, recreated when the level changes.
libdeflate_compressor* compressor(int level) {
  thread_local std::unique_ptr<libdeflate_compressor, FreeDeflate> context;
  thread_local int context_level = -1;
  if (!context || context_level != level) {
    context.reset(libdeflate_alloc_compressor(level));
    context_level = level;
  }
  return context.get();
}

libdeflate_decompressor* decompressor() {
  thread_local std::unique_ptr<libdeflate_decompressor, FreeDeflate> context;
  if (!context) context.reset(libdeflate_alloc_decompressor());
  return context.get();
}

bool is_fast(int level) noexcept { return level >= 1 && level <= 3; }

/// ISA-L's encoder with the buffer required by its highest level.
struct FastEncoder {
  isal_zstream stream;
  std::uint8_t buffer[std::max({ISAL_DEF_LVL1_DEFAULT, ISAL_DEF_LVL2_DEFAULT, ISAL_DEF_LVL3_DEFAULT})];
};

/// This thread's encoder, at the beginning of a stream; nullptr if out of memory.
isal_zstream* fast_stream(Wrapper wrapper, int level, void (*init)(isal_zstream*)) {
  thread_local std::unique_ptr<FastEncoder> encoder;
  if (!encoder) encoder.reset(new (std::nothrow) FastEncoder);
  if (!encoder) return nullptr;
  isal_zstream& stream = encoder->stream;
  init(&stream);
  stream.hist_bits = 0;  // the largest window; ISA-L 2.30 leaves what the memory held before in a stateless stream
  stream.level = static_cast<std::uint32_t>(level);
  stream.level_buf = encoder->buffer;
  stream.level_buf_size = sizeof encoder->buffer;
  stream.gzip_flag = wrapper == Wrapper::zlib ? IGZIP_ZLIB : IGZIP_GZIP;
  stream.flush = NO_FLUSH;
  return &stream;
}

/// The encoded size, or 0 if the buffer is too small for ISA-L.
std::size_t encode_fast(Wrapper wrapper, int level, std::span<const std::byte> from, std::span<std::byte> to) {
  isal_zstream* const stream = fast_stream(wrapper, level, isal_deflate_stateless_init);
  if (stream == nullptr) return 0;
  stream->end_of_stream = 1;
  stream->next_in = const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(from.data()));
  stream->avail_in = static_cast<std::uint32_t>(from.size());
  stream->next_out = reinterpret_cast<std::uint8_t*>(to.data());
  stream->avail_out = static_cast<std::uint32_t>(std::min(to.size(), kMax32));
  if (isal_deflate_stateless(stream) != COMP_OK || stream->avail_in != 0) return 0;
  return stream->total_out;
}

/// One step of a library: its input, and the destination of the encoded bytes.
struct Step {
  std::span<const std::byte> from;
  std::span<std::byte> to;
  bool is_last = false;
  std::size_t made = 0;   ///< of `to`
  bool finished = false;  ///< the stream has ended
};

/// Calls encode(step), which must consume step.from, for the parts of a chunk in order. Returns the encoded size, or 0
/// if `to` is too small.
template <class Encode>
Result<std::size_t> in_steps(std::span<const std::byte> from, std::span<std::byte> to, const Encode& encode) {
  std::size_t made = 0;
  for (Step step; !step.finished;) {
    SHERD_TRY(check_interrupted());
    const std::size_t taken = std::min(from.size(), kDeflateStep);
    step = {from.first(taken), to.subspan(made, std::min(to.size() - made, kMax32)), taken == from.size()};
    if (!encode(step) || (step.is_last && !step.finished)) return 0;
    made += step.made;
    from = from.subspan(taken);
  }
  return made;
}

Result<std::size_t> encode_fast_in_steps(Wrapper wrapper, int level, std::span<const std::byte> from,
                                         std::span<std::byte> to) {
  isal_zstream* const stream = fast_stream(wrapper, level, isal_deflate_init);
  if (stream == nullptr) return 0;
  return in_steps(from, to, [&](Step& step) {
    stream->next_in = const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(step.from.data()));
    stream->avail_in = static_cast<std::uint32_t>(step.from.size());
    stream->next_out = reinterpret_cast<std::uint8_t*>(step.to.data());
    stream->avail_out = static_cast<std::uint32_t>(step.to.size());
    stream->end_of_stream = step.is_last ? 1 : 0;
    if (isal_deflate(stream) != COMP_OK || stream->avail_in != 0) return false;
    step.made = step.to.size() - stream->avail_out;
    step.finished = stream->internal_state.state == ZSTATE_END;
    return true;
  });
}

/// One stream of zlib, freed on every way out.
class ZlibEncoder {
 public:
  ZlibEncoder(Wrapper wrapper, int level) {
    constexpr int kWindowBits = 15, kGzip = 16, kMemoryLevel = 9;
    const int bits = kWindowBits + (wrapper == Wrapper::zlib ? 0 : kGzip);
    started_ = deflateInit2(&stream_, level, Z_DEFLATED, bits, kMemoryLevel, Z_DEFAULT_STRATEGY) == Z_OK;
  }
  ZlibEncoder(const ZlibEncoder&) = delete;
  ZlibEncoder& operator=(const ZlibEncoder&) = delete;
  ~ZlibEncoder() {
    if (started_) deflateEnd(&stream_);
  }
  [[nodiscard]] bool started() const noexcept { return started_; }
  bool encode(Step& step) {
    stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(step.from.data()));
    stream_.avail_in = static_cast<uInt>(step.from.size());
    stream_.next_out = reinterpret_cast<Bytef*>(step.to.data());
    stream_.avail_out = static_cast<uInt>(step.to.size());
    const int status = deflate(&stream_, step.is_last ? Z_FINISH : Z_NO_FLUSH);
    step.made = step.to.size() - stream_.avail_out;
    step.finished = status == Z_STREAM_END;
    return status >= Z_OK && stream_.avail_in == 0;
  }

 private:
  z_stream stream_ = {};
  bool started_ = false;
};

/// The encoded size, or 0 if `to` is too small.
Result<std::size_t> encode_long(Wrapper wrapper, int level, std::span<const std::byte> from, std::span<std::byte> to) {
  if (is_fast(level)) {
    SHERD_TRY(size, encode_fast_in_steps(wrapper, level, from, to));
    if (size != 0) return size;
  }
  ZlibEncoder encoder(wrapper, level);
  if (!encoder.started()) return out_of_memory();
  return in_steps(from, to, [&](Step& step) { return encoder.encode(step); });
}

Error truncated_stream(std::size_t at) { return corrupt("truncated stream at byte " + std::to_string(at)); }
Error trailing(std::size_t at) { return corrupt("trailing bytes after the stream at byte " + std::to_string(at)); }

/// One run of ISA-L's streaming decoder over all members.
class DeflateStream {
 public:
  static Result<DeflateStream> start(Wrapper wrapper, std::span<const std::byte> from) {
    thread_local std::unique_ptr<inflate_state> state;
    if (!state) state.reset(new (std::nothrow) inflate_state);
    if (!state) return out_of_memory();
    isal_inflate_init(state.get());
    DeflateStream stream(*state, wrapper, from);
    SHERD_TRY(stream.check_header(0));
    return stream;
  }

  /// Fills the block as far as there is content; fewer bytes than the block mean the end.
  Result<std::size_t> fill(std::span<std::byte> block) {
    std::size_t filled = 0;
    while (filled < block.size() && !ended_) {
      feed();
      const std::size_t available = std::min(block.size() - filled, kStep);
      state_->next_out = reinterpret_cast<std::uint8_t*>(block.data() + filled);
      state_->avail_out = static_cast<std::uint32_t>(available);
      const std::uint32_t in_before = state_->avail_in;
      const int fault = isal_inflate(state_);
      const std::size_t made = available - state_->avail_out;
      filled += made;
      if (fault == ISAL_NEED_DICT) return unsupported("the stream needs a dictionary, which is not supported");
      if (fault != ISAL_DECOMP_OK) return broken(fault);
      if (state_->block_state == ISAL_BLOCK_FINISH) {
        SHERD_TRY(next_member());
      } else if (made == 0 && state_->avail_in == in_before) {
        return truncated_stream(position());
      }
    }
    return filled;
  }

 private:
  static constexpr std::size_t kStep = std::size_t{1} << 30;

  DeflateStream(inflate_state& state, Wrapper wrapper, std::span<const std::byte> from) noexcept
      : state_(&state), wrapper_(wrapper), from_(from), rest_(from) {
    state_->crc_flag = wrapper == Wrapper::zlib ? ISAL_ZLIB : ISAL_GZIP;
    state_->avail_in = 0;
  }

  [[nodiscard]] std::size_t position() const noexcept { return from_.size() - rest_.size() - state_->avail_in; }

  /// ISA-L ignores flags that RFC 1952 (2.3.1.2) reserves; libdeflate, which decodes whole chunks, does not.
  [[nodiscard]] Result<void> check_header(std::size_t at) const {
    constexpr std::byte reserved{0xe0};
    constexpr std::size_t flags = 3;
    if (wrapper_ == Wrapper::zlib || from_.size() <= at + flags || (from_[at + flags] & reserved) == std::byte{0})
      return {};
    return corrupt("reserved flags in the header at byte " + std::to_string(at));
  }

  void feed() noexcept {
    if (state_->avail_in != 0 || rest_.empty()) return;
    const auto part = rest_.first(std::min(rest_.size(), kStep));
    state_->next_in = const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(part.data()));
    state_->avail_in = static_cast<std::uint32_t>(part.size());
    rest_ = rest_.subspan(part.size());
  }

  Result<void> next_member() {
    // ISA-L reads eight bytes ahead: bytes beyond the checksum are still in its bit buffer.
    const std::size_t ahead = state_->read_in_length > 0 ? static_cast<std::size_t>(state_->read_in_length) / 8 : 0;
    ended_ = state_->avail_in == 0 && rest_.empty() && ahead == 0;
    if (ended_) return {};
    if (wrapper_ != Wrapper::gzip) return trailing(position() - ahead);
    isal_inflate_reset(state_);
    return check_header(position() - ahead);
  }

  [[nodiscard]] Error broken(int fault) const {
    const std::string at = " before byte " + std::to_string(position());
    if (fault == ISAL_INCORRECT_CHECKSUM) return corrupt("checksum or length mismatch" + at);
    if (fault == ISAL_INVALID_WRAPPER || fault == ISAL_UNSUPPORTED_METHOD)
      return corrupt("the stream has no valid header" + at);
    return corrupt("invalid stream" + at);
  }

  inflate_state* state_;
  Wrapper wrapper_;
  std::span<const std::byte> from_;
  std::span<const std::byte> rest_;
  bool ended_ = false;
};

}  // namespace

std::uint64_t DeflateCodec::max_encoded_size(std::uint64_t decoded) const {
  return wrapper_ == Wrapper::zlib ? libdeflate_zlib_compress_bound(nullptr, decoded)
                                   : libdeflate_gzip_compress_bound(nullptr, decoded);
}

Result<std::size_t> DeflateCodec::encode(std::span<const std::byte> from, std::span<std::byte> to) const {
  std::size_t size = 0;
  if (level_ != 0 && from.size() > kLongChunk) {
    SHERD_TRY(encoded, encode_long(wrapper_, level_, from, to));
    size = encoded;
  } else {
    if (is_fast(level_)) size = encode_fast(wrapper_, level_, from, to);
    if (size == 0) {
      libdeflate_compressor* context = compressor(level_);
      if (context == nullptr) return out_of_memory();
      const auto compress = wrapper_ == Wrapper::zlib ? libdeflate_zlib_compress : libdeflate_gzip_compress;
      size = compress(context, from.data(), from.size(), to.data(), to.size());
    }
  }
  if (size == 0) return invalid_argument("the buffer for the encoded bytes is too small");
  return size;
}

Result<std::optional<std::size_t>> DeflateCodec::decode(std::span<const std::byte> from,
                                                        std::span<std::byte> to) const {
  libdeflate_decompressor* context = decompressor();
  if (context == nullptr) return out_of_memory();
  if (from.empty()) return truncated_stream(0);
  std::byte nothing{};
  std::byte* out = to.empty() ? &nothing : to.data();
  const auto decode_one = wrapper_ == Wrapper::zlib ? libdeflate_zlib_decompress_ex : libdeflate_gzip_decompress_ex;
  std::size_t read = 0;
  std::size_t written = 0;
  do {
    std::size_t in = 0;
    std::size_t made = 0;
    const auto result =
        decode_one(context, from.data() + read, from.size() - read, out + written, to.size() - written, &in, &made);
    if (result == LIBDEFLATE_INSUFFICIENT_SPACE) return std::optional<std::size_t>{};
    if (result != LIBDEFLATE_SUCCESS)
      return corrupt("truncated or invalid stream, or wrong checksum or length, in the stream from byte " +
                     std::to_string(read));
    read += in;
    written += made;
    if (wrapper_ != Wrapper::gzip && read < from.size()) return trailing(read);
  } while (read < from.size());
  return std::optional{written};
}

Result<bool> DeflateCodec::decode_blocks(std::span<const std::byte> from, std::span<std::byte> block,
                                         std::uint64_t limit, const Sink& sink) const {
  SHERD_TRY(stream, DeflateStream::start(wrapper_, from));
  for (std::uint64_t total = 0;;) {
    SHERD_TRY(count, stream.fill(block));
    if (count > limit - total) return corrupt("decodes to more than the expected " + std::to_string(limit) + " bytes");
    total += count;
    if (count != 0 && !sink(block.first(count))) return true;
    if (count < block.size()) return true;
  }
}

Result<std::optional<std::size_t>> decode_raw_deflate(std::span<const std::byte> from, std::span<std::byte> to) {
  libdeflate_decompressor* context = decompressor();
  if (context == nullptr) return out_of_memory();
  std::byte nothing{};
  std::size_t in = 0;
  std::size_t made = 0;
  const auto result = libdeflate_deflate_decompress_ex(context, from.data(), from.size(),
                                                       to.empty() ? &nothing : to.data(), to.size(), &in, &made);
  if (result == LIBDEFLATE_INSUFFICIENT_SPACE) return std::optional<std::size_t>{};
  if (result != LIBDEFLATE_SUCCESS) return corrupt("truncated or invalid deflate stream");
  if (in < from.size()) return trailing(in);
  return std::optional{made};
}

}  // namespace sherd
