// Before a stored value is read, its size is compared with the maximum for an encoding of the largest chunk; while it
// is decoded, with the size of that chunk.
#include "neuroglancer/decoded_source.hpp"

#include <optional>
#include <span>
#include <utility>

#include "base/buffer.hpp"
#include "base/try.hpp"
#include "store/read_into.hpp"
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
                                                 std::uint64_t max_bytes) {
  const std::uint64_t most = codecs.max_encoded_size({max_bytes});
  if (value.where.length > most)
    return corrupt("holds " + std::to_string(value.where.length) +
                   " bytes; an encoded chunk of this array has at most " + std::to_string(most));
  Scratch stored;
  SHERD_TRY(read_into(value.in, value.where, *stored));
  Buffer bytes;
  auto done = codecs.decode_bytes(stored->span(), max_bytes, bytes);
  if (!done && done.error().code() == ErrorCode::unsupported)
    return corrupt("decodes to more than " + std::to_string(max_bytes) +
                   " bytes, more than any encoded chunk of this array");
  SHERD_TRY(std::move(done));
  return std::shared_ptr<ByteSource>(
      std::make_shared<DecodedSource>(std::move(key), std::move(bytes), std::move(value.generation)));
}

}  // namespace sherd::neuroglancer
