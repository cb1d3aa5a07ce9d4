// numcodecs' shuffle codec: a transposition of the matrix of elements and their bytes.
#include <memory>

#include "base/try.hpp"
#include "codec/configuration.hpp"
#include "codec/planes.hpp"

namespace sherd {
namespace {

class ShuffleCodec final : public BytesCodec {
 public:
  explicit ShuffleCodec(std::size_t element_size) : element_size_(element_size) {}

  std::optional<std::uint64_t> encoded_size(std::uint64_t decoded) const override { return decoded; }
  std::uint64_t max_encoded_size(std::uint64_t decoded) const override { return decoded; }
  std::uint64_t max_ratio() const noexcept override { return 1; }

  Result<std::size_t> encode(std::span<const std::byte> from, std::span<std::byte> to) const override {
    if (from.size() % element_size_ != 0) return invalid_argument(uneven(from.size()));
    to_planes(from, to.first(from.size()), element_size_);
    return from.size();
  }

  Result<std::optional<std::size_t>> decode(std::span<const std::byte> from, std::span<std::byte> to) const override {
    if (from.size() % element_size_ != 0) return corrupt(uneven(from.size()));
    if (from.size() > to.size()) return std::optional<std::size_t>();
    from_planes(from, to.first(from.size()), element_size_);
    return std::optional(from.size());
  }

 private:
  [[nodiscard]] std::string uneven(std::size_t size) const {
    return "shuffle: " + std::to_string(size) + " bytes are not a multiple of elementsize " +
           std::to_string(element_size_);
  }

  std::size_t element_size_;
};

Result<std::unique_ptr<BytesCodec>> make_shuffle(const CodecSpec& spec, const CodecContext& context) {
  SHERD_TRY(configuration, Configuration::open(spec, context));
  // netcdf-c writes 0, or "0", for the size of the array's elements.
  const Json* given = configuration.find("elementsize");
  std::int64_t size = static_cast<std::int64_t>(element_bytes(context.in.dtype));
  if (given != nullptr && !given->is_null()) {
    SHERD_TRY(stated, configuration.integer_or_text("elementsize", {0, INT32_MAX}));
    if (stated != 0) {
      size = stated;
    } else if (context.remarks != nullptr) {
      context.remarks->push_back(
          "shuffle: 'elementsize' is 0, by which netcdf-c means the size of an element; other readers do not shuffle "
          "then");
    }
  }
  SHERD_TRY(configuration.done());
  return std::unique_ptr<BytesCodec>(std::make_unique<ShuffleCodec>(static_cast<std::size_t>(size)));
}

Result<Json> short_shuffle(std::string_view argument, const DType& dtype) {
  SHERD_TRY(size, short_integer(argument, {1, INT32_MAX}, static_cast<std::int64_t>(element_bytes(dtype))));
  return Json(Json::Object{{"elementsize", size}});
}

}  // namespace

extern constinit const CodecEntry shuffle_codec{
    .name = "numcodecs.shuffle", .aliases = {"shuffle"}, .bytes_codec = make_shuffle, .short_form = short_shuffle};

}  // namespace sherd
