// zstd (registered; also `numcodecs.zstd`): one or more Zstandard frames (RFC 8878), possibly with skippable ones.
// Parses the frame header, because three of its fields must be checked before any memory is used: the content size (may
// be absent, may be wrong), the window (the memory for streaming) and the dictionary (not supported).
// Writes one frame with its content size. Contexts are kept: those that decode per thread, those that encode for the
// next thread. Large ones are freed.
#define ZSTD_STATIC_LINKING_ONLY  // for input and output that stay where they are while a frame is made
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "base/call.hpp"
#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/try.hpp"
#include "codec/configuration.hpp"

namespace sherd {
namespace {

constexpr IntegerBounds kZstdLevels{-131072, 22};
constexpr std::int64_t kZstdDefaultLevel = 3;
// The maximum that the reference decoder accepts, and the largest window that any level writes.
constexpr std::uint64_t kMaxWindow = std::uint64_t{1} << 27;
// Streaming keeps a window per thread; frames with larger ones are decoded whole.
constexpr std::uint64_t kMaxStreamWindow = std::uint64_t{1} << 24;
constexpr std::size_t kKeptContextBytes = std::size_t{32} << 20;

/// Larger chunks are encoded in steps of this size, about a fifth of a second, between which interrupts are noticed.
/// Steps are as long as the level allows, since the library decides from a step's data where to split blocks.
constexpr std::size_t step_of(int level) noexcept {
  return level <= 9 ? std::size_t{4} << 20 : level <= 15 ? std::size_t{1} << 20 : std::size_t{256} << 10;
}

struct FreeContext {
  void operator()(ZSTD_DCtx* context) const noexcept { ZSTD_freeDCtx(context); }
  void operator()(ZSTD_CCtx* context) const noexcept { ZSTD_freeCCtx(context); }
};
using Decompressor = std::unique_ptr<ZSTD_DCtx, FreeContext>;
using Compressor = std::unique_ptr<ZSTD_CCtx, FreeContext>;

Result<ZSTD_DCtx*> decoding_context() {
  thread_local Decompressor context;
  if (!context) context.reset(ZSTD_createDCtx());
  if (!context) return unavailable("out of memory for a decompression context");
  return context.get();
}

/// Contexts that are not in use. If many threads encode, but few at a time, because most wait for replies, they use the
/// same few contexts, whose tables are still in the caches. A thread prefers the context that it has used last: that of
/// another thread may be in the caches of another core. Nothing is locked: a child that is forked meanwhile makes
/// another context at worst.
class Compressors {
 public:
  static Compressors& all() noexcept {
    static constinit Compressors compressors;
    return compressors;
  }
  /// nullptr if out of memory.
  Compressor take() noexcept {
    for (std::size_t i = 0; i < kSlots; ++i) {
      auto& slot = slots_[(last_ + i) % kSlots];
      if (slot.load(std::memory_order_relaxed) != nullptr)
        if (ZSTD_CCtx* const found = slot.exchange(nullptr)) return Compressor(found);
    }
    return Compressor(ZSTD_createCCtx());
  }
  void put(Compressor context) noexcept {
    if (ZSTD_sizeof_CCtx(context.get()) > kKeptContextBytes) return;
    for (std::size_t i = 0; i < kSlots; ++i) {
      const std::size_t number = (last_ + i) % kSlots;
      ZSTD_CCtx* none = nullptr;
      if (slots_[number].load(std::memory_order_relaxed) != nullptr ||
          !slots_[number].compare_exchange_strong(none, context.get()))
        continue;
      static_cast<void>(context.release());
      last_ = number;
      return;
    }
  }

 private:
  static constexpr std::size_t kSlots = 64;
  static thread_local std::size_t last_;  // the slot into which this thread has put a context
  std::array<std::atomic<ZSTD_CCtx*>, kSlots> slots_{};
};

constinit thread_local std::size_t Compressors::last_ = 0;

Error decode_error(std::size_t code) {
  if (ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation)
    return unavailable("out of memory for a decompression context");
  return corrupt(ZSTD_getErrorName(code));
}

Error wrong_content_size(std::uint64_t is, std::uint64_t expected) {
  return corrupt("decodes to " + std::to_string(is) + " bytes instead of " + std::to_string(expected));
}

/// The information in the headers of all frames.
struct Frames {
  std::uint64_t content = 0;  ///< sum of the given content sizes
  std::uint64_t window = 0;   ///< the largest
  bool checksums = false;     ///< some frame ends in one
  bool all_stated = true;     ///< content is the size of all frames
};

struct FrameHeader {
  std::size_t size = 0;  ///< of the header itself
  std::optional<std::uint64_t> content;
  std::uint64_t window = 0;
  bool checksum = false;
};

Error truncated_frame(std::size_t at) { return corrupt("truncated frame at byte " + std::to_string(at)); }

/// RFC 8878, 3.1.1.1: descriptor, window, dictionary id, content size.
Result<FrameHeader> parse_header(std::span<const std::byte> frame, std::size_t at) {
  if (frame.size() < 6) return truncated_frame(at);
  const auto descriptor = static_cast<unsigned>(frame[4]);
  const bool single_segment = (descriptor & 0x20u) != 0;
  constexpr std::size_t dictionary_sizes[] = {0, 1, 2, 4};
  const std::size_t dictionary_size = dictionary_sizes[descriptor & 3u];
  const std::size_t content_size = descriptor >> 6 != 0 ? std::size_t{1} << (descriptor >> 6) : single_segment ? 1 : 0;
  const std::size_t dictionary_at = single_segment ? 5 : 6;
  const std::size_t content_at = dictionary_at + dictionary_size;
  if ((descriptor & 8u) != 0) return corrupt("reserved bit set in the frame at byte " + std::to_string(at));
  if (frame.size() < content_at + content_size) return truncated_frame(at);

  for (std::size_t i = dictionary_at; i < content_at; ++i)
    if (frame[i] != std::byte{0})
      return unsupported("the frame at byte " + std::to_string(at) + " needs a dictionary, which is not supported");
  FrameHeader header;
  header.size = content_at + content_size;
  header.checksum = (descriptor & 4u) != 0;
  if (content_size != 0) {
    std::uint64_t value = 0;
    for (std::size_t i = content_size; i-- > 0;) value = value << 8 | static_cast<std::uint64_t>(frame[content_at + i]);
    header.content = content_size == 2 ? value + 256 : value;
  }
  if (single_segment) {
    header.window = *header.content;
  } else {
    const auto window = static_cast<unsigned>(frame[5]);
    const std::uint64_t base = std::uint64_t{1} << (10 + (window >> 3));
    header.window = base + base / 8 * (window & 7u);
    if (header.window > kMaxWindow)
      return unsupported("the frame at byte " + std::to_string(at) + " has a window of " +
                         std::to_string(header.window) + " bytes; the limit is " + std::to_string(kMaxWindow));
  }
  return header;
}

/// RFC 8878, 3.1.1.2: the length of a frame according to its block headers. Also refuses what only one of the library's
/// two decoders refuses: a compressed block without bytes.
Result<std::size_t> frame_size(std::span<const std::byte> frame, const FrameHeader& header, std::size_t at) {
  constexpr unsigned rle = 1, compressed = 2, reserved = 3;
  std::size_t size = header.size;
  for (bool last = false; !last;) {
    if (frame.size() - size < 3) return truncated_frame(at);
    const auto byte = [&](std::size_t i) { return static_cast<unsigned>(frame[size + i]); };
    const unsigned block = byte(0) | byte(1) << 8 | byte(2) << 16;
    const unsigned type = block >> 1 & 3u;
    const std::size_t length = type == rle ? 1 : block >> 3;
    if (type == reserved || (type == compressed && length == 0))
      return corrupt("invalid block at byte " + std::to_string(at + size));
    size += 3;
    if (frame.size() - size < length) return truncated_frame(at);
    size += length;
    last = (block & 1u) != 0;
  }
  const std::size_t checksum = header.checksum ? 4 : 0;
  if (frame.size() - size < checksum) return truncated_frame(at);
  return size + checksum;
}

/// Walks the frames by their block headers, without decoding; every byte must belong to one.
Result<Frames> scan_frames(std::span<const std::byte> from) {
  Frames frames;
  if (from.empty()) return corrupt("no frame: the encoded bytes are empty");
  for (std::size_t at = 0; at < from.size();) {
    const auto rest = from.subspan(at);
    if (rest.size() < 8) return corrupt("trailing bytes that are not a frame at byte " + std::to_string(at));
    const auto magic = load_little<std::uint32_t>(rest.data());
    if ((magic & 0xfffffff0u) == ZSTD_MAGIC_SKIPPABLE_START) {
      const std::uint64_t size = 8 + std::uint64_t{load_little<std::uint32_t>(rest.data() + 4)};
      if (size > rest.size()) return truncated_frame(at);
      at += size;
      continue;
    }
    if (magic != ZSTD_MAGICNUMBER) return corrupt("no frame begins at byte " + std::to_string(at));
    SHERD_TRY(header, parse_header(rest, at));
    const auto sum = checked_add(frames.content, header.content.value_or(0));
    if (!sum) return corrupt("content sizes do not fit 64 bits");
    frames.content = *sum;
    frames.window = std::max(frames.window, header.window);
    frames.checksums = frames.checksums || header.checksum;
    frames.all_stated = frames.all_stated && header.content;
    SHERD_TRY(size, frame_size(rest, header, at));
    at += size;
  }
  return frames;
}

/// One run of the streaming decoder over all frames.
class ZstdStream {
 public:
  ZstdStream(ZSTD_DCtx* context, std::span<const std::byte> from) noexcept
      : context_(context), in_{from.data(), from.size(), 0} {}

  /// Fills the block as far as there is content; fewer bytes than the block mean the end.
  Result<std::size_t> fill(std::span<std::byte> block) {
    ZSTD_outBuffer out{block.data(), block.size(), 0};
    while (out.pos < out.size && (in_.pos < in_.size || pending_ != 0)) {
      if (pending_ == 0) SHERD_TRY(begin_frame());
      const std::size_t before = in_.pos + out.pos;
      const std::size_t made_before = out.pos;
      pending_ = ZSTD_decompressStream(context_, &out, &in_);
      if (ZSTD_isError(pending_) != 0) return decode_error(pending_);
      made_ += out.pos - made_before;
      if (pending_ == 0 && stated_.value_or(made_) != made_)
        return corrupt("a frame that ends at byte " + std::to_string(in_.pos) + " states " + std::to_string(*stated_) +
                       " bytes and holds " + std::to_string(made_));
      if (in_.pos + out.pos == before && pending_ != 0) return truncated_frame(in_.pos);
    }
    return out.pos;
  }

 private:
  /// The library's streaming decoder trusts a given size if the frame's last block is empty.
  Result<void> begin_frame() {
    const auto frame = std::span(static_cast<const std::byte*>(in_.src), in_.size).subspan(in_.pos);
    made_ = 0;
    stated_.reset();
    if (load_little<std::uint32_t>(frame.data()) != ZSTD_MAGICNUMBER) return {};  // a skippable one
    SHERD_TRY(header, parse_header(frame, in_.pos));
    stated_ = header.content;
    return {};
  }

  ZSTD_DCtx* context_;
  ZSTD_inBuffer in_;
  std::size_t pending_ = 0;
  std::uint64_t made_ = 0;
  std::optional<std::uint64_t> stated_;
};

/// One frame, as made by ZSTD_compress2.
Result<std::size_t> encode_in_steps(ZSTD_CCtx* context, std::size_t step, std::span<const std::byte> from,
                                    std::span<std::byte> to) {
  std::size_t left = 0;
  if (from.size() <= step) {
    left = ZSTD_compress2(context, to.data(), to.size(), from.data(), from.size());
    if (ZSTD_isError(left) != 0) return unavailable(ZSTD_getErrorName(left));
    return left;
  }
  ZSTD_CCtx_setPledgedSrcSize(context, from.size());
  ZSTD_CCtx_setParameter(context, ZSTD_c_stableInBuffer, 1);
  ZSTD_CCtx_setParameter(context, ZSTD_c_stableOutBuffer, 1);
  ZSTD_inBuffer in{from.data(), 0, 0};
  ZSTD_outBuffer out{to.data(), to.size(), 0};
  while (in.size < from.size()) {
    SHERD_TRY(check_interrupted());
    in.size = std::min(in.size + step, from.size());
    left = ZSTD_compressStream2(context, &out, &in, in.size < from.size() ? ZSTD_e_continue : ZSTD_e_end);
    if (ZSTD_isError(left) != 0) return unavailable(ZSTD_getErrorName(left));
  }
  if (left != 0) return unavailable("the encoded bytes are larger than expected");
  return out.pos;
}

class Zstd final : public BytesCodec {
 public:
  Zstd(int level, bool checksum) noexcept : level_(level), checksum_(checksum) {}

  [[nodiscard]] std::uint64_t max_encoded_size(std::uint64_t decoded) const override {
    return ZSTD_COMPRESSBOUND(decoded);
  }
  /// A block of 4 bytes repeats one byte 128 KiB times.
  [[nodiscard]] std::uint64_t max_ratio() const noexcept override { return 32768; }

  Result<std::size_t> encode(std::span<const std::byte> from, std::span<std::byte> to) const override {
    Compressor context = Compressors::all().take();
    if (!context) return unavailable("out of memory for a compression context");
    ZSTD_CCtx_reset(context.get(), ZSTD_reset_session_and_parameters);
    ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, level_);
    ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, checksum_ ? 1 : 0);
    auto size = encode_in_steps(context.get(), step_of(level_), from, to);
    Compressors::all().put(std::move(context));
    return size;
  }

  Result<std::optional<std::size_t>> decode(std::span<const std::byte> from, std::span<std::byte> to) const override {
    SHERD_TRY(frames, scan_frames(from));
    if (frames.content > to.size()) return std::optional<std::size_t>{};
    SHERD_TRY(context, decoding_context());
    const std::size_t size = ZSTD_decompressDCtx(context, to.data(), to.size(), from.data(), from.size());
    if (ZSTD_isError(size) == 0) return std::optional{size};
    if (ZSTD_getErrorCode(size) == ZSTD_error_dstSize_tooSmall) return std::optional<std::size_t>{};
    return decode_error(size);
  }

  [[nodiscard]] bool decodes_prefixes() const noexcept override { return true; }
  Result<bool> decode_blocks(std::span<const std::byte> from, std::span<std::byte> block, std::uint64_t size,
                             const Sink& sink) const override {
    SHERD_TRY(frames, scan_frames(from));
    if (frames.window > kMaxStreamWindow) return false;
    if (frames.all_stated && frames.content != size) return wrong_content_size(frames.content, size);
    // Data after the last needed block are decoded only if nothing else shows whether they are complete.
    const bool ends_early = frames.all_stated && !frames.checksums;
    SHERD_TRY(context, decoding_context());
    ZSTD_DCtx_reset(context, ZSTD_reset_session_only);
    ZstdStream stream(context, from);
    bool wanted = true;
    for (std::uint64_t total = 0;;) {
      SHERD_TRY(count, stream.fill(block));
      if (count > size - total) return corrupt("decodes to more than the expected " + std::to_string(size) + " bytes");
      total += count;
      if (wanted && count != 0) wanted = sink(block.first(count));
      if (!wanted && ends_early) return true;
      if (count < block.size() && total != size) return wrong_content_size(total, size);
      if (count < block.size()) return true;
    }
  }

 private:
  int level_;
  bool checksum_;
};

Result<std::unique_ptr<BytesCodec>> made(Configuration& configuration, std::int64_t level) {
  SHERD_TRY(checksum, configuration.boolean("checksum", false));
  SHERD_TRY(configuration.done());
  return std::make_unique<Zstd>(static_cast<int>(level), checksum);
}

Result<std::unique_ptr<BytesCodec>> make_zstd(const CodecSpec& spec, const CodecContext&) {
  SHERD_TRY(configuration, Configuration::open(spec));
  SHERD_TRY(level, configuration.integer("level", kZstdLevels, kZstdDefaultLevel));
  return made(configuration, level);
}

Result<std::unique_ptr<BytesCodec>> make_numcodecs_zstd(const CodecSpec& spec, const CodecContext& context) {
  SHERD_TRY(configuration, Configuration::open(spec, context));
  SHERD_TRY(level, configuration.integer_or_text("level", kZstdLevels, kZstdDefaultLevel));
  return made(configuration, level);
}

Result<Json> configured(std::string_view level_text, bool checksum) {
  SHERD_TRY(level, short_integer(level_text, kZstdLevels, kZstdDefaultLevel));
  return Json(Json::Object{{"level", level}, {"checksum", checksum}});
}

Result<Json> short_zstd(std::string_view argument, const DType&) { return configured(argument, true); }

// The member is newer than the name: releases of numcodecs that lack checksums refuse `true`.
Result<Json> short_numcodecs_zstd(std::string_view argument, const DType&) { return configured(argument, false); }

}  // namespace

extern constinit const CodecEntry zstd_codec{
    .name = "zstd", .aliases = {}, .bytes_codec = make_zstd, .short_form = short_zstd, .is_compressor = true};
extern constinit const CodecEntry numcodecs_zstd_codec{.name = "numcodecs.zstd",
                                                       .aliases = {},
                                                       .bytes_codec = make_numcodecs_zstd,
                                                       .short_form = short_numcodecs_zstd,
                                                       .is_compressor = true};

}  // namespace sherd
