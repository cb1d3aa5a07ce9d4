// Splits a checksum from the bytes that it covers, without copying them.
#include "codec/checksum.hpp"

#include <cstdio>
#include <cstring>

#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/try.hpp"
#include "codec/configuration.hpp"

namespace sherd {
namespace {

constexpr std::size_t kSumBytes = 4;

std::string hex(std::uint32_t value) {
  char text[11];
  std::snprintf(text, sizeof text, "0x%08x", value);
  return text;
}

}  // namespace

std::optional<std::uint64_t> ChecksumCodec::encoded_size(std::uint64_t decoded) const {
  return checked_add(decoded, kSumBytes);
}

std::uint64_t ChecksumCodec::max_encoded_size(std::uint64_t decoded) const {
  return checked_add(decoded, kSumBytes).value_or(decoded);
}

std::optional<BytesCodec::Frame> ChecksumCodec::frame() const noexcept {
  return location_ == Location::before ? Frame{.before = kSumBytes, .after = 0}
                                       : Frame{.before = 0, .after = kSumBytes};
}

Result<void> ChecksumCodec::check_frame(std::span<const std::byte> framed) const {
  if (framed.size() < kSumBytes)
    return corrupt("the checksum has 4 bytes, but only " + std::to_string(framed.size()) + " are there");
  const std::size_t covered = framed.size() - kSumBytes;
  const bool before = location_ == Location::before;
  const auto stored = load_little<std::uint32_t>(framed.data() + (before ? 0 : covered));
  const std::uint32_t computed = sum_(framed.subspan(before ? kSumBytes : 0, covered));
  if (stored != computed)
    return corrupt("checksum mismatch over " + std::to_string(covered) + " bytes: stored " + hex(stored) +
                   ", computed " + hex(computed));
  return {};
}

void ChecksumCodec::fill_frame(std::span<std::byte> framed) const noexcept {
  const std::size_t covered = framed.size() - kSumBytes;
  const bool before = location_ == Location::before;
  store_little(framed.data() + (before ? 0 : covered), sum_(framed.subspan(before ? kSumBytes : 0, covered)));
}

Result<std::size_t> ChecksumCodec::encode(std::span<const std::byte> from, std::span<std::byte> to) const {
  const auto framed = to.first(from.size() + kSumBytes);
  if (!from.empty()) std::memcpy(framed.data() + frame()->before, from.data(), from.size());
  fill_frame(framed);
  return framed.size();
}

Result<std::optional<std::size_t>> ChecksumCodec::decode(std::span<const std::byte> from,
                                                         std::span<std::byte> to) const {
  SHERD_TRY(check_frame(from));
  const auto covered = from.subspan(frame()->before, from.size() - kSumBytes);
  if (covered.size() > to.size()) return std::optional<std::size_t>{};
  if (!covered.empty()) std::memcpy(to.data(), covered.data(), covered.size());
  return std::optional{covered.size()};
}

Result<std::unique_ptr<BytesCodec>> make_located_checksum(const CodecSpec& spec, ChecksumCodec::Sum sum,
                                                          ChecksumCodec::Location absent) {
  using Location = ChecksumCodec::Location;
  SHERD_TRY(configuration, Configuration::open(spec));
  const Json* given = configuration.find("location");
  std::string location = absent == Location::before ? "start" : "end";
  if (given != nullptr && !given->is_null()) {
    SHERD_TRY(stated, configuration.text("location"));
    location = std::move(stated);
  }
  SHERD_TRY(configuration.done());
  if (location != "start" && location != "end")
    return configuration_error("location", spec.name + ": 'location' must be \"start\" or \"end\"");
  return std::make_unique<ChecksumCodec>(std::move(sum), location == "start" ? Location::before : Location::after);
}

}  // namespace sherd
