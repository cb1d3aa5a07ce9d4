// Knows that a stored value is measured by what an encoding of the largest chunk may take before any of it is read, and
// by that chunk while it is decoded.
#include "neuroglancer/decoded_source.hpp"

#include <optional>
#include <span>
#include <utility>

#include "base/buffer.hpp"
#include "base/try.hpp"
#include "store/span.hpp"

namespace sherd::neuroglancer {
namespace {

class DecodedSource final : public ByteSource {
 public:
  DecodedSource(std::string key, Buffer bytes, Generation generation)
      : bytes_(std::move(bytes)), span_(std::move(key), bytes_.span()), generation_(std::move(generation)) {}

  [[nodiscard]] const std::string& name() const noexcept override { return span_.name(); }
  Result<std::uint64_t> size() override { return span_.size(); }
  Result<Generation> generation() override { return generation_; }
  [[nodiscard]] std::optional<std::span<const std::byte>> view() const noexcept override { return span_.view(); }
  Result<void> read(std::span<const RangeRead> ranges) override { return span_.read(ranges); }

 private:
  Buffer bytes_;
  SpanSource span_;
  Generation generation_;
};

}  // namespace

Result<std::shared_ptr<ByteSource>> open_decoded(std::string key, EncodedValue value, const CodecChain& codecs,
                                                 std::uint64_t most_bytes) {
  const std::uint64_t most = codecs.max_encoded_size({most_bytes});
  if (value.where.length > most)
    return corrupt("holds " + std::to_string(value.where.length) +
                   " bytes; no encoding of a chunk of this array takes more than " + std::to_string(most));
  Scratch stored;
  SHERD_TRY(stored->resize(value.where.length));
  const RangeRead range{value.where.offset, stored->span()};
  SHERD_TRY(value.in.read({&range, 1}));
  Buffer bytes;
  auto done = codecs.decode_bytes(stored->span(), most_bytes, bytes);
  if (!done && done.error().code() == ErrorCode::unsupported)
    return corrupt("decodes to more than " + std::to_string(most_bytes) +
                   " bytes, which no encoding of a chunk of this array takes");
  SHERD_TRY(std::move(done));
  return std::shared_ptr<ByteSource>(
      std::make_shared<DecodedSource>(std::move(key), std::move(bytes), std::move(value.generation)));
}

}  // namespace sherd::neuroglancer
