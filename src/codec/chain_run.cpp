// Runs a chain over one chunk with the fewest copies. Checksums are verified and made in place. The innermost
// compressor decodes directly into the caller's elements if these are the bytes (or swapped words). Everything in
// between goes through per-thread buffers that stay warm. Nothing decoded from stored bytes becomes larger than the
// codecs inside could have made it, or than the user's limits.
#include <algorithm>
#include <cassert>
#include <cstring>

#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/narrow.hpp"
#include "base/try.hpp"
#include "codec/chain.hpp"

namespace sherd {

/// The buffers for intermediate steps, used alternately.
struct CodecChain::Spare {
  Scratch first;
  Scratch second;
  Buffer& operator[](std::size_t turn) noexcept { return turn == 0 ? *first : *second; }
};

namespace {

using Bytes = std::span<const std::byte>;

std::uint64_t saturating_mul(std::uint64_t a, std::uint64_t b) noexcept {
  return checked_mul(a, b).value_or(~std::uint64_t{0});
}

std::uint64_t with_slack(std::uint64_t size) noexcept {
  return checked_add(saturating_mul(size, 2), kSlackBytes).value_or(~std::uint64_t{0});
}

void copy(Bytes from, std::span<std::byte> to) noexcept {
  if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
}

Error wrong_size(std::uint64_t is, std::uint64_t expected) {
  return corrupt("the chunk decodes to " + std::to_string(is) + " bytes instead of " + std::to_string(expected));
}

/// The bytes of a dense chunk.
Result<std::size_t> byte_size(const ChunkType& type) {
  const auto count = element_count(type.shape);
  const auto size = count ? checked_mul(*count, type.dtype.size()) : std::nullopt;
  if (!size) return unsupported("a chunk of shape " + to_string(type.shape) + " does not fit 64 bits");
  return std::size_t{*size};
}

}  // namespace

CodecChain::Bound CodecChain::bound_of(std::size_t codec, Bound innermost) const {
  Bound bound = innermost;
  for (std::size_t i = 0; i < codec; ++i) {
    if (const auto fixed = bytes_codecs_[i]->encoded_size(bound.size)) {
      bound.size = *fixed;
    } else {
      bound.size = with_slack(std::max(bound.size, bytes_codecs_[i]->max_encoded_size(bound.size)));
      if (bound.kind == Bound::Kind::exact) bound.kind = Bound::Kind::at_most;
    }
  }
  return bound;
}

CodecChain::Bound CodecChain::innermost_bound(const ChunkType& type) const {
  if (const auto size = array_bytes_codec_->encoded_size(type)) return {Bound::Kind::exact, *size};
  const auto most = array_bytes_codec_->max_encoded_size(type);
  if (most && *most < limits_.chunk_bytes) return {Bound::Kind::at_most, *most};
  return {Bound::Kind::limit, limits_.chunk_bytes};
}

std::uint64_t CodecChain::max_encoded_size(const Shape& stored) const {
  const auto type = inner_type(stored);
  const Bound innermost = type ? innermost_bound(*type) : Bound{Bound::Kind::limit, limits_.chunk_bytes};
  return bound_of(bytes_codecs_.size(), innermost).size;
}

std::uint64_t CodecChain::decoding_bytes(const Shape& stored, std::uint64_t encoded) const {
  std::uint64_t steps = 0;
  for (std::size_t i = word_size_ != 0 ? 1 : 0; i < bytes_codecs_.size(); ++i)
    steps += bytes_codecs_[i]->frame() ? 0 : 1;
  steps = std::min<std::uint64_t>(steps, 2);  // by turns
  const auto type = inner_type(stored);
  const auto size = type ? array_bytes_codec_->encoded_size(*type) : std::nullopt;
  // The output of a step without a size of its own is decoded into a buffer of four times its encoding, or more if that
  // is too small.
  const std::uint64_t step = size.value_or(saturating_mul(encoded, 4));
  const std::uint64_t arrays = array_codecs_.empty() ? 0 : std::min<std::uint64_t>(array_codecs_.size(), 3);
  return saturating_mul(step, steps + arrays);
}

Result<Bytes> CodecChain::decode_growing(const BytesCodec& codec, Bytes from, Bound bound, Buffer& to) const {
  std::uint64_t most = bound.size;
  if (codec.max_ratio() != 0) most = std::min(most, saturating_mul(from.size(), codec.max_ratio()));
  const std::uint64_t by_ratio =
      limits_.decode_ratio != 0 ? saturating_mul(from.size(), limits_.decode_ratio) : ~std::uint64_t{0};
  const bool ratio_limits = by_ratio < most;
  most = std::min(most, by_ratio);
  std::uint64_t size = most;
  if (bound.kind != Bound::Kind::exact) size = std::min(most, std::max(kSlackBytes, saturating_mul(from.size(), 4)));
  for (;; size = std::min(most, saturating_mul(size, 4))) {
    SHERD_TRY(to.resize(size));
    SHERD_TRY(count, codec.decode(from, to.span()));
    if (count) return Bytes(to.span().first(*count));
    if (size == most) break;
  }
  if (ratio_limits)
    return unsupported(std::to_string(from.size()) + " bytes decode to more than the limit decode_ratio " +
                       std::to_string(limits_.decode_ratio) + " allows; raise it to read them");
  if (bound.kind == Bound::Kind::limit)
    return unsupported("decodes to more than " + std::to_string(bound.size) +
                       " bytes; raise the limit chunk_bytes to read it");
  return corrupt("decodes to more than the " + std::to_string(most) + " bytes that it may have");
}

Result<Bytes> CodecChain::undo_one(std::size_t codec, Bytes from, Bound bound, Target target) const {
  const BytesCodec& step = *bytes_codecs_[codec];
  if (const auto frame = step.frame()) {
    SHERD_TRY(step.check_frame(from));
    return from.subspan(frame->before, from.size() - frame->before - frame->after);
  }
  if (target.buffer != nullptr) return decode_growing(step, from, bound, *target.buffer);
  const std::size_t wanted = target.elements.size();
  if (limits_.decode_ratio != 0 && wanted > saturating_mul(from.size(), limits_.decode_ratio))
    return unsupported(std::to_string(from.size()) + " bytes encode " + std::to_string(wanted) +
                       ", more than the limit decode_ratio " + std::to_string(limits_.decode_ratio) +
                       " allows; raise it to read them");
  SHERD_TRY(count, step.decode(from, target.elements));
  if (!count) return corrupt("decodes to more than the chunk's " + std::to_string(wanted) + " bytes");
  return Bytes(target.elements.first(*count));
}

Result<Bytes> CodecChain::undo(Bytes encoded, Bound innermost, Target target, Spare& spare) const {
  Bytes current = encoded;
  std::size_t turn = 0;
  for (std::size_t i = bytes_codecs_.size(); i-- > 0;) {
    const bool last = i == 0 && (target.buffer != nullptr || !target.elements.empty());
    const bool in_place = bytes_codecs_[i]->frame().has_value();
    const Target step = last ? target : Target{.buffer = &spare[turn]};
    SHERD_TRY(decoded, undo_one(i, current, bound_of(i, innermost), step).in([&] { return bytes_names_[i]; }));
    current = decoded;
    if (!in_place) turn = 1 - turn;
  }
  return current;
}

Result<void> CodecChain::decode_words(Bytes encoded, std::span<std::byte> elements) const {
  Spare spare;
  const Bound bound{Bound::Kind::exact, elements.size()};
  SHERD_TRY(bytes, undo(encoded, bound, {.elements = elements}, spare));
  if (bytes.size() != elements.size()) return wrong_size(bytes.size(), elements.size());
  if (bytes.data() == elements.data())
    to_native(elements);
  else
    to_native(bytes, elements);  // they are moved anyway, so they are not examined first
  return {};
}

bool CodecChain::is_native(Bytes stored) const noexcept {
  return word_size_ == 1 && (!narrow_ || is_normal(*narrow_, stored));
}

void CodecChain::to_native(Bytes stored, std::span<std::byte> to) const noexcept {
  if (narrow_) return normalize(*narrow_, stored, to);
  swap_words(stored, to, word_size_);
}

void CodecChain::to_native(std::span<std::byte> stored) const noexcept {
  if (!is_native(stored)) to_native(stored, stored);
}

Result<void> CodecChain::decode(const Shape& stored, Bytes encoded, std::span<std::byte> elements,
                                VarBytesArena* arena) const {
  assert(array_bytes_codec_ != nullptr);
  if (word_size_ != 0) return decode_words(encoded, elements);
  SHERD_TRY(type, inner_type(stored));
  Spare spare;
  SHERD_TRY(bytes, undo(encoded, innermost_bound(type), {}, spare));
  if (array_codecs_.empty()) return array_bytes_codec_->decode(type, bytes, elements, arena);
  Scratch lent;
  Buffer& inner = *lent;
  SHERD_TRY(size, byte_size(type));
  SHERD_TRY(inner.resize(size));
  SHERD_TRY(array_bytes_codec_->decode(type, bytes, inner.span(), arena));
  return decode_arrays(stored, inner.span(), elements);
}

/// Checks the frames around the bytes and removes them; returns how many codecs are left.
Result<std::size_t> CodecChain::undo_frames(Bytes& encoded) const {
  std::size_t left = bytes_codecs_.size();
  while (left > 0 && bytes_codecs_[left - 1]->frame()) {
    --left;
    SHERD_TRY(inside, undo_one(left, encoded, {}, {}).in([&] { return bytes_names_[left]; }));
    encoded = inside;
  }
  return left;
}

Result<std::optional<std::uint64_t>> CodecChain::decode_part(const Shape& stored, Bytes encoded,
                                                             std::pair<std::uint64_t, std::uint64_t> wanted,
                                                             Buffer& to) const {
  if (!decodes_parts()) return std::nullopt;
  SHERD_TRY(size, byte_size({dtype_, stored}));
  SHERD_TRY(left, undo_frames(encoded));
  const bool suspicious = limits_.decode_ratio != 0 && size > saturating_mul(encoded.size(), limits_.decode_ratio);
  if (left != 1 || suspicious) return std::nullopt;
  SHERD_TRY(begin, bytes_codecs_[0]->decode_part(encoded, {wanted.first, wanted.second, size}, to).in([&] {
    return bytes_names_[0];
  }));
  const std::size_t element = dtype_.size();
  if (!begin || *begin % element != 0 || to.size() % element != 0) return std::nullopt;
  to_native(to.span());
  return begin;
}

Result<bool> CodecChain::decode_blocks(const Shape& stored, Bytes encoded, std::span<std::byte> block,
                                       const Sink& sink) const {
  const std::size_t element = std::max<std::size_t>(dtype_.size(), 1);
  block = block.first(block.size() / element * element);
  if (word_size_ == 0 || block.empty()) return false;
  SHERD_TRY(expected, byte_size({dtype_, stored}));
  SHERD_TRY(left, undo_frames(encoded));
  if (left > 1) return false;

  std::uint64_t done = 0;
  bool ended = false;
  const auto pass_on = [&](Bytes bytes) {
    if (!is_native(bytes)) {
      to_native(bytes, block.first(bytes.size()));
      bytes = block.first(bytes.size());
    }
    ended = !sink(done, bytes);
    done += bytes.size();
    return !ended;
  };
  if (left == 0) {
    if (encoded.size() != expected) return wrong_size(encoded.size(), expected);
    while (!encoded.empty() && pass_on(encoded.first(std::min(block.size(), encoded.size()))))
      encoded = encoded.subspan(std::min(block.size(), encoded.size()));
    return true;
  }
  SHERD_TRY(streamed,
            bytes_codecs_[0]->decode_blocks(encoded, block, expected, pass_on).in([&] { return bytes_names_[0]; }));
  if (streamed && !ended && done != expected) return wrong_size(done, expected);
  return streamed;
}

bool CodecChain::decodes_parts() const noexcept {
  return word_size_ != 0 && !bytes_codecs_.empty() && bytes_codecs_[0]->decodes_parts();
}

bool CodecChain::decodes_prefixes() const noexcept {
  return word_size_ != 0 && !bytes_codecs_.empty() && bytes_codecs_[0]->decodes_prefixes();
}

Result<void> CodecChain::encode(const Shape& stored, Bytes elements, Buffer& to) const {
  assert(array_bytes_codec_ != nullptr);
  if (word_size_ == 1) return encode_bytes(elements, to);
  SHERD_TRY(type, inner_type(stored));
  Scratch lent;
  Buffer& inner = *lent;
  if (!array_codecs_.empty()) {
    SHERD_TRY(encode_arrays(stored, elements, inner));
    elements = inner.span();
  }
  if (bytes_codecs_.empty()) return array_bytes_codec_->encode(type, elements, to);
  Spare spare;
  SHERD_TRY(array_bytes_codec_->encode(type, elements, spare[0]));
  return encode_bytes(spare[0].span(), to);
}

Result<void> CodecChain::decode_bytes(Bytes encoded, std::uint64_t max_decoded, Buffer& to) const {
  Spare spare;
  SHERD_TRY(bytes, undo(encoded, {Bound::Kind::limit, max_decoded}, {.buffer = &to}, spare));
  if (bytes.data() == to.data()) {
    to.truncate(bytes.size());
    return {};
  }
  if (bytes.size() > max_decoded)
    return unsupported("decodes to more than " + std::to_string(max_decoded) +
                       " bytes; raise the limit chunk_bytes to read it");
  SHERD_TRY(to.resize(bytes.size()));
  copy(bytes, to.span());
  return {};
}

Result<void> CodecChain::encode_bytes(Bytes decoded, Buffer& to) const {
  Spare spare;
  Bytes current = decoded;
  std::size_t turn = 0;
  // One compressor (or none, at first) and the checksums around its bytes make one pass over one buffer.
  for (std::size_t next = 0;; turn = 1 - turn) {
    const bool compresses = next < bytes_codecs_.size() && !bytes_codecs_[next]->frame();
    const std::size_t codec = next;
    const std::size_t first_frame = compresses ? next + 1 : next;
    std::size_t before = 0;
    std::size_t after = 0;
    for (next = first_frame; next < bytes_codecs_.size() && bytes_codecs_[next]->frame(); ++next) {
      before += bytes_codecs_[next]->frame()->before;
      after += bytes_codecs_[next]->frame()->after;
    }
    Buffer& out = next == bytes_codecs_.size() ? to : spare[turn];
    std::size_t size = compresses ? bytes_codecs_[codec]->max_encoded_size(current.size()) : current.size();
    SHERD_TRY(out.resize(before + size + after));
    if (compresses) {
      SHERD_TRY(written, bytes_codecs_[codec]->encode(current, out.span().subspan(before, size)).in([&] {
        return bytes_names_[codec];
      }));
      size = written;
    } else {
      copy(current, out.span().subspan(before));
    }
    out.truncate(before + size + after);
    for (std::size_t i = first_frame, at = before; i < next; ++i) {
      const auto frame = *bytes_codecs_[i]->frame();
      at -= frame.before;
      size += frame.before + frame.after;
      bytes_codecs_[i]->fill_frame(out.span().subspan(at, size));
    }
    current = out.span();
    if (next == bytes_codecs_.size()) return {};
  }
}

Result<void> CodecChain::decode_arrays(const Shape& stored, Bytes from, std::span<std::byte> to) const {
  SHERD_TRY(all, types(stored));
  Spare between;
  Bytes current = from;
  for (std::size_t i = array_codecs_.size(); i-- > 0;) {
    std::span<std::byte> out = to;
    if (i != 0) {
      SHERD_TRY(size, byte_size(all[i]));
      SHERD_TRY(between[i % 2].resize(size));
      out = between[i % 2].span();
    }
    SHERD_TRY(array_codecs_[i]->decode(all[i], current, out));
    current = out;
  }
  if (array_codecs_.empty()) copy(from, to);
  return {};
}

Result<std::vector<std::byte>> CodecChain::encode_fill(const Shape& stored, Bytes fill) const {
  SHERD_TRY(all, types(stored));
  std::vector<std::byte> element(fill.begin(), fill.end());
  for (std::size_t i = 0; i < array_codecs_.size(); ++i) {
    std::vector<std::byte> next(all[i + 1].dtype.size());
    SHERD_TRY(array_codecs_[i]->encode_fill(all[i], element, next).in([] { return "fill value"; }));
    element = std::move(next);
  }
  return element;
}

Result<void> CodecChain::encode_arrays(const Shape& stored, Bytes from, Buffer& to) const {
  SHERD_TRY(all, types(stored));
  Spare between;
  Bytes current = from;
  for (std::size_t i = 0; i < array_codecs_.size(); ++i) {
    Buffer& out = i + 1 == array_codecs_.size() ? to : between[i % 2];
    SHERD_TRY(size, byte_size(all[i + 1]));
    SHERD_TRY(out.resize(size));
    SHERD_TRY(array_codecs_[i]->encode(all[i], current, out.span()));
    current = out.span();
  }
  if (!array_codecs_.empty()) return {};
  SHERD_TRY(to.resize(from.size()));
  copy(from, to.span());
  return {};
}

}  // namespace sherd
