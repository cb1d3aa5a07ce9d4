// numcodecs.base64: the bytes as text of the standard alphabet, with padding.
#include <cstring>
#include <memory>

#include "base/base64.hpp"
#include "base/checked.hpp"
#include "base/try.hpp"
#include "codec/configuration.hpp"

namespace sherd {
namespace {

class Base64Codec final : public BytesCodec {
 public:
  [[nodiscard]] std::optional<std::uint64_t> encoded_size(std::uint64_t decoded) const override {
    return checked_mul(decoded / 3 + (decoded % 3 != 0), std::uint64_t{4});
  }
  [[nodiscard]] std::uint64_t max_encoded_size(std::uint64_t decoded) const override {
    return encoded_size(decoded).value_or(~std::uint64_t{0});
  }
  [[nodiscard]] std::uint64_t max_ratio() const noexcept override { return 1; }

  Result<std::size_t> encode(std::span<const std::byte> from, std::span<std::byte> to) const override {
    const std::string text = encode_base64({reinterpret_cast<const char*>(from.data()), from.size()});
    if (!text.empty()) std::memcpy(to.data(), text.data(), text.size());
    return text.size();
  }

  Result<std::optional<std::size_t>> decode(std::span<const std::byte> from, std::span<std::byte> to) const override {
    const auto bytes = decode_base64({reinterpret_cast<const char*>(from.data()), from.size()});
    if (!bytes) return corrupt("base64: the " + std::to_string(from.size()) + " bytes are not base64 text");
    if (bytes->size() > to.size()) return std::optional<std::size_t>();
    if (!bytes->empty()) std::memcpy(to.data(), bytes->data(), bytes->size());
    return std::optional(bytes->size());
  }
};

Result<std::unique_ptr<BytesCodec>> make_base64(const CodecSpec& spec, const CodecContext&) {
  SHERD_TRY(configuration, Configuration::open(spec));
  SHERD_TRY(configuration.done());
  return std::unique_ptr<BytesCodec>(std::make_unique<Base64Codec>());
}

}  // namespace

extern constinit const CodecEntry base64_codec{
    .name = "numcodecs.base64", .aliases = {"base64"}, .bytes_codec = make_base64, .short_form = short_without_members};

}  // namespace sherd
