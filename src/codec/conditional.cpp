// conditional (zarr-extensions): a list of bytes -> bytes codecs. A chunk begins with one bit for each, from the lowest
// bit of the first byte, set if the codec was applied. The encoder applies a codec if it makes the chunk shorter,
// and always if its encoded size depends only on the decoded size, as for checksums.
#include <algorithm>
#include <memory>
#include <vector>

#include "base/checked.hpp"
#include "base/try.hpp"
#include "codec/chain.hpp"
#include "codec/configuration.hpp"

namespace sherd {
namespace {

std::byte bit(std::size_t codec) noexcept { return static_cast<std::byte>(1U << codec % 8); }

struct ConditionalStep {
  std::unique_ptr<BytesCodec> codec;
  std::string name;
};

class Conditional final : public BytesCodec {
  using Bytes = std::span<const std::byte>;

 public:
  Conditional(std::vector<ConditionalStep> steps, std::size_t header_bytes, std::uint64_t decode_ratio)
      : steps_(std::move(steps)), header_bytes_(header_bytes), decode_ratio_(decode_ratio) {}

  [[nodiscard]] std::uint64_t max_encoded_size(std::uint64_t decoded) const override {
    std::uint64_t size = decoded;
    for (const ConditionalStep& step : steps_) size = std::max(size, step.codec->encoded_size(size).value_or(0));
    return checked_add(size, header_bytes_).value_or(~std::uint64_t{0});
  }

  Result<std::size_t> encode(Bytes from, std::span<std::byte> to) const override {
    std::ranges::fill(to.first(header_bytes_), std::byte{0});
    Scratch buffers[2];
    std::size_t turn = 0;
    Bytes current = from;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const BytesCodec& codec = *steps_[i].codec;
      Buffer& out = *buffers[turn];
      SHERD_TRY(out.resize(codec.max_encoded_size(current.size())));
      SHERD_TRY(size, codec.encode(current, out.span()).in([&] { return steps_[i].name; }));
      if (size >= current.size() && !codec.encoded_size(current.size())) continue;
      to[i / 8] |= bit(i);
      current = Bytes(out.span()).first(size);
      turn = 1 - turn;
    }
    std::ranges::copy(current, to.data() + header_bytes_);
    return header_bytes_ + current.size();
  }

  Result<std::optional<std::size_t>> decode(Bytes from, std::span<std::byte> to) const override {
    if (from.size() < header_bytes_)
      return corrupt("conditional: the header has " + std::to_string(header_bytes_) + " bytes, the chunk " +
                     std::to_string(from.size()));
    const Bytes header = from.first(header_bytes_);
    for (std::size_t i = steps_.size(); i < 8 * header_bytes_; ++i)
      if ((header[i / 8] & bit(i)) != std::byte{0})
        return corrupt("conditional: the chunk uses codec " + std::to_string(i) + ", but the document lists only " +
                       std::to_string(steps_.size()));
    Scratch buffers[2];
    std::size_t turn = 0;
    Bytes current = from.subspan(header_bytes_);
    for (std::size_t i = steps_.size(); i-- > 0;) {
      if ((header[i / 8] & bit(i)) == std::byte{0}) continue;
      const auto name = [&] { return steps_[i].name; };
      if (is_first(header, i)) return steps_[i].codec->decode(current, to).in(name);
      SHERD_TRY(decoded, decode_between(*steps_[i].codec, current, to.size(), *buffers[turn]).in(name));
      current = decoded;
      turn = 1 - turn;
    }
    if (current.size() > to.size()) return std::optional<std::size_t>();
    std::ranges::copy(current, to.data());
    return std::optional(current.size());
  }

 private:
  /// The output of a codec other than the first, for a chunk that decodes to at most `chunk` bytes.
  Result<Bytes> decode_between(const BytesCodec& codec, Bytes from, std::uint64_t chunk, Buffer& to) const {
    constexpr std::uint64_t unbounded = ~std::uint64_t{0};
    std::uint64_t most = checked_add(checked_mul(chunk, 2).value_or(unbounded), kSlackBytes).value_or(unbounded);
    for (const std::uint64_t ratio : {codec.max_ratio(), decode_ratio_})
      if (ratio != 0) most = std::min(most, checked_mul(from.size(), ratio).value_or(unbounded));
    std::uint64_t size = std::min(most, std::max<std::uint64_t>(kSlackBytes, 4 * std::uint64_t{from.size()}));
    for (;; size = std::min(most, 4 * size)) {
      SHERD_TRY(to.resize(size));
      SHERD_TRY(count, codec.decode(from, to.span()));
      if (count) return Bytes(to.span()).first(*count);
      if (size == most) return corrupt("decodes to more than the " + std::to_string(most) + " bytes that it may have");
    }
  }

  /// Whether no codec before `codec` was applied.
  static bool is_first(Bytes header, std::size_t codec) noexcept {
    for (std::size_t i = 0; i < codec; ++i)
      if ((header[i / 8] & bit(i)) != std::byte{0}) return false;
    return true;
  }

  std::vector<ConditionalStep> steps_;
  std::size_t header_bytes_;
  std::uint64_t decode_ratio_;  ///< the user's limit; 0: none
};

/// The maximum number of codecs and of header bytes, against documents that request gigabytes.
constexpr std::int64_t kMaxBits = 1024;

Result<ConditionalStep> make_step(const CodecSpec& spec, const CodecContext& context) {
  const CodecEntry* entry = find_codec(context.table, spec.name);
  if (entry == nullptr) return no_such_codec(spec.name, context.table, ErrorCode::unsupported).in_member("name");
  // Otherwise a chunk could double the work of decoding at every level.
  if (entry->name == "conditional")
    return unsupported("conditional: a 'conditional' inside another is not supported").in_member("name");
  if (entry->bytes_codec == nullptr)
    return invalid_argument("conditional: '" + spec.name + "' does not turn bytes into bytes").in_member("name");
  SHERD_TRY(codec, entry->bytes_codec(spec, context));
  return ConditionalStep{std::move(codec), spec.name};
}

Result<std::unique_ptr<BytesCodec>> make_conditional(const CodecSpec& spec, const CodecContext& context) {
  SHERD_TRY(configuration, Configuration::open(spec));
  const Json* list = configuration.find("codecs");
  if (list == nullptr) return configuration_error("codecs", "conditional: 'codecs' is missing");
  constexpr std::string_view kMember = "configuration.codecs";
  SHERD_TRY(specs, parse_codec_list(*list).in_member(kMember));
  const auto count = static_cast<std::int64_t>(specs.size());
  if (count > kMaxBits)
    return unsupported("conditional: more than " + std::to_string(kMaxBits) + " codecs are not supported")
        .in_member(kMember);
  SHERD_TRY(bits, configuration.integer("header_bits", {count, kMaxBits}, (count + 7) / 8 * 8));
  SHERD_TRY(configuration.done());
  if (bits % 8 != 0) return configuration_error("header_bits", "conditional: 'header_bits' must be a multiple of 8");
  std::vector<ConditionalStep> steps;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    SHERD_TRY(step, make_step(specs[i], context).in_member("[" + std::to_string(i) + "]").in_member(kMember));
    steps.push_back(std::move(step));
  }
  return std::unique_ptr<BytesCodec>(
      std::make_unique<Conditional>(std::move(steps), static_cast<std::size_t>(bits) / 8,
                                    context.limits != nullptr ? context.limits->decode_ratio : 0));
}

}  // namespace

extern constinit const CodecEntry conditional_codec{
    .name = "conditional", .aliases = {}, .bytes_codec = make_conditional};

}  // namespace sherd
