// numcodecs.jenkins_lookup3: the bytes, then Bob Jenkins' lookup3 hash of them as four little-endian bytes, as in
// HDF5's metadata (H5_checksum_lookup3). numcodecs can hash a `prefix` first, but not write it into a document; only
// null is accepted for it.
#include <bit>
#include <limits>

#include "base/endian.hpp"
#include "base/try.hpp"
#include "codec/checksum.hpp"
#include "codec/configuration.hpp"

namespace sherd {
namespace {

struct State {
  std::uint32_t a, b, c;

  void mix() noexcept {
    a = (a - c) ^ std::rotl(c, 4), c += b;
    b = (b - a) ^ std::rotl(a, 6), a += c;
    c = (c - b) ^ std::rotl(b, 8), b += a;
    a = (a - c) ^ std::rotl(c, 16), c += b;
    b = (b - a) ^ std::rotl(a, 19), a += c;
    c = (c - b) ^ std::rotl(b, 4), b += a;
  }
  void finish() noexcept {
    c = (c ^ b) - std::rotl(b, 14);
    a = (a ^ c) - std::rotl(c, 11);
    b = (b ^ a) - std::rotl(a, 25);
    c = (c ^ b) - std::rotl(b, 16);
    a = (a ^ c) - std::rotl(c, 4);
    b = (b ^ a) - std::rotl(a, 14);
    c = (c ^ b) - std::rotl(b, 24);
  }
  void add(const std::byte* bytes) noexcept {
    a += load_little<std::uint32_t>(bytes);
    b += load_little<std::uint32_t>(bytes + 4);
    c += load_little<std::uint32_t>(bytes + 8);
  }
};

constexpr std::size_t kBlock = 12;

std::uint32_t lookup3(std::span<const std::byte> bytes, std::uint32_t seed) noexcept {
  const std::uint32_t start = 0xdeadbeef + static_cast<std::uint32_t>(bytes.size()) + seed;
  State state{start, start, start};
  for (; bytes.size() > kBlock; bytes = bytes.subspan(kBlock)) {
    state.add(bytes.data());
    state.mix();
  }
  if (bytes.empty()) return state.c;
  std::byte last[kBlock] = {};
  std::memcpy(last, bytes.data(), bytes.size());
  state.add(last);
  state.finish();
  return state.c;
}

Result<std::unique_ptr<BytesCodec>> make_jenkins_lookup3(const CodecSpec& spec, const CodecContext&) {
  SHERD_TRY(configuration, Configuration::open(spec));
  SHERD_TRY(seed, configuration.integer("initval", {0, std::numeric_limits<std::uint32_t>::max()}, 0));
  const Json* prefix = configuration.find("prefix");
  SHERD_TRY(configuration.done());
  if (prefix != nullptr && !prefix->is_null())
    return unsupported("jenkins_lookup3: a 'prefix' is not supported").in_member("configuration.prefix");
  const auto sum = [seed = static_cast<std::uint32_t>(seed)](std::span<const std::byte> bytes) {
    return lookup3(bytes, seed);
  };
  return std::make_unique<ChecksumCodec>(sum, ChecksumCodec::Location::after);
}

}  // namespace

extern constinit const CodecEntry jenkins_lookup3_codec{.name = "numcodecs.jenkins_lookup3",
                                                        .aliases = {"jenkins_lookup3"},
                                                        .bytes_codec = make_jenkins_lookup3,
                                                        .short_form = short_without_members};

}  // namespace sherd
