// Writes files of pcodec: chunks of one page each, in the format version that pcodec 0.3 writes, so that numcodecs with
// that version can read them.
#include <algorithm>

#include "base/call.hpp"
#include "base/checked.hpp"
#include "base/try.hpp"
#include "codec/pcodec_bins.hpp"
#include "codec/pcodec_mode.hpp"

namespace sherd::pcodec {
namespace {

constexpr std::uint64_t kFileVersion = 2, kVersion = 3;
constexpr unsigned kSecondaryLog = 6;
constexpr std::size_t kHeaderBytes = kMagicBytes + 1 + 9 + 1;
/// The bytes that a BitWriter writes after its end, and the byte that ends a file.
constexpr std::size_t kSlackBytes = 16;

/// Approximately the number of ranges that is worth the metadata.
unsigned range_log(unsigned level, std::size_t count) {
  const auto enough = static_cast<unsigned>(std::bit_width(count)) - 1;
  return std::min(level, enough > 4 ? enough - 4 : 0);
}

template <class Word>
class ChunkWriter {
 public:
  explicit ChunkWriter(Kind kind) noexcept : kind_(kind) {}

  Result<void> prepare(const Settings& settings, std::span<const std::byte> numbers) {
    count_ = numbers.size() / sizeof(Word);
    plan_ = choose_plan<Word>(kind_, settings, numbers);
    const unsigned log = range_log(settings.level, count_);
    SHERD_TRY(primary_words_->resize(numbers.size()));
    if (plan_.has_secondary()) SHERD_TRY(secondary_words_->resize(numbers.size()));
    const std::span primary(reinterpret_cast<Word*>(primary_words_->data()), count_);
    auto* const secondary = reinterpret_cast<Word*>(secondary_words_->data());
    split(kind_, plan_, numbers, primary, secondary);
    if (plan_.looks_back) {
      SHERD_TRY(lookbacks_words_->resize(count_ * sizeof(std::uint32_t)));
      auto* const lookbacks = reinterpret_cast<std::uint32_t*>(lookbacks_words_->data());
      choose_lookbacks<Word>(primary, kMaxWindow, lookbacks);
      first_[0] = primary[0];
      look_back(primary, lookbacks);
      SHERD_TRY(lookbacks_.train(std::span<const std::uint32_t>(lookbacks, count_).subspan(1), log));
      SHERD_TRY(primary_.train(primary.subspan(1), log));
    } else {
      SHERD_TRY(primary_.train(take_differences(primary, plan_.order, first_.data()), log));
    }
    if (plan_.has_secondary()) SHERD_TRY(secondary_.train({secondary, count_}, std::min(log, kSecondaryLog)));
    return {};
  }

  /// An upper bound on the bytes that write() writes.
  [[nodiscard]] std::uint64_t bytes() const noexcept {
    std::uint64_t bits = primary_.metadata_bits() + primary_.bits();
    if (plan_.has_secondary()) bits += secondary_.metadata_bits() + secondary_.bits();
    if (plan_.looks_back) bits += lookbacks_.metadata_bits() + lookbacks_.bits();
    return bits / 8 + kMaxOrder * sizeof(Word) + 64;
  }

  std::byte* write(std::uint8_t code, std::byte* at) noexcept {
    BitWriter to(at);
    to.write(code, 8);
    to.write(count_ - 1, kChunkCountBits);
    to.write(static_cast<std::uint64_t>(plan_.mode), kModeBits);
    if (plan_.mode == Mode::float_quant) to.write(plan_.quant, kQuantBits);
    if (plan_.mode == Mode::int_mult || plan_.mode == Mode::float_mult) to.write(plan_.base, kBits<Word>);
    write_difference(to);
    if (plan_.looks_back) lookbacks_.write_bins(to);
    primary_.write_bins(to);
    if (plan_.has_secondary()) secondary_.write_bins(to);
    at = to.finish();
    return write_page(at);
  }

 private:
  void write_difference(BitWriter& to) const noexcept {
    const Delta delta = plan_.looks_back ? Delta::lookback : plan_.order > 0 ? Delta::consecutive : Delta::none;
    to.write(static_cast<std::uint64_t>(delta), kDeltaBits);
    if (delta == Delta::consecutive) to.write(plan_.order, kOrderBits + 1);
    if (delta != Delta::lookback) return;
    to.write(kWindowLog - 1, kWindowBits);
    to.write(0, kStateCountBits + 1);  // one state; the secondary latents are stored unchanged
  }

  std::byte* write_page(std::byte* at) noexcept {
    BitWriter to(at);
    if (plan_.looks_back) lookbacks_.write_states(to);
    for (unsigned i = 0; i < (plan_.looks_back ? 1 : plan_.order); ++i) to.write(first_[i], kBits<Word>);
    primary_.write_states(to);
    if (plan_.has_secondary()) secondary_.write_states(to);
    to.finish();
    const auto batch = [&](auto& sequence, std::size_t first) {
      if (first < sequence.count()) sequence.write(to, first, std::min(kBatch, sequence.count() - first));
    };
    for (std::size_t first = 0; first < count_; first += kBatch) {
      if (plan_.looks_back) batch(lookbacks_, first);
      batch(primary_, first);
      if (plan_.has_secondary()) batch(secondary_, first);
    }
    return to.finish();
  }

  Kind kind_;
  Plan<Word> plan_;
  std::size_t count_ = 0;
  std::array<Word, kMaxOrder> first_{};
  Scratch primary_words_, secondary_words_, lookbacks_words_;
  SequenceWriter<Word> primary_, secondary_;
  SequenceWriter<std::uint32_t> lookbacks_;
};

std::byte* write_header(std::byte* at, std::uint64_t count) noexcept {
  BitWriter to(at);
  for (std::size_t i = 0; i < kMagicBytes; ++i) to.write(static_cast<unsigned char>(kMagic[i]), 8);
  to.write(kFileVersion, 8);
  const auto bits = std::max(static_cast<unsigned>(std::bit_width(count)), 1U);
  to.write(bits - 1, kHintLogBits);
  to.write(count, bits);
  to.finish();
  to.write(kVersion, 8);
  return to.finish();
}

template <class Word>
Result<void> encode_words(const NumberType& type, const Settings& settings, std::span<const std::byte> numbers,
                          Buffer& to) {
  const std::size_t count = numbers.size() / sizeof(Word);
  const std::size_t page = std::clamp<std::size_t>(settings.page_numbers, 1, kMaxChunkNumbers);
  const std::size_t pages = ceil_div(count, page);
  SHERD_TRY(to.resize(kHeaderBytes + kSlackBytes));
  auto size = static_cast<std::size_t>(write_header(to.data(), count) - to.data());
  for (std::size_t i = 0, first = 0; i < pages; ++i) {
    SHERD_TRY(check_interrupted());
    const std::size_t here = count / pages + (i < count % pages ? 1 : 0);
    ChunkWriter<Word> chunk(type.kind);
    SHERD_TRY(chunk.prepare(settings, numbers.subspan(first * sizeof(Word), here * sizeof(Word))));
    SHERD_TRY(to.grow(size + chunk.bytes() + kSlackBytes));
    size = static_cast<std::size_t>(chunk.write(type.code, to.data() + size) - to.data());
    first += here;
  }
  to.data()[size] = std::byte{0};
  to.truncate(size + 1);
  return {};
}

}  // namespace

Result<void> encode(const NumberType& type, const Settings& settings, std::span<const std::byte> numbers, Buffer& to) {
  return visit_word(type.bytes, [&]<class Word>(Word) { return encode_words<Word>(type, settings, numbers, to); });
}

}  // namespace sherd::pcodec
