// An object that was decoded when it was opened.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/buffer.hpp"
#include "base/try.hpp"
#include "codec/chain.hpp"
#include "store/span.hpp"

namespace sherd::neuroglancer {

class DecodedSource final : public ByteSource {
 public:
  DecodedSource(std::string key, Buffer bytes, Generation generation)
      : bytes_(std::move(bytes)), span_(std::move(key), bytes_.span()), generation_(std::move(generation)) {}

  [[nodiscard]] const std::string& name() const noexcept override { return span_.name(); }
  Result<std::uint64_t> size() override { return span_.size(); }
  Result<Generation> generation() override { return generation_; }
  [[nodiscard]] std::optional<std::span<const std::byte>> view() const noexcept override { return span_.view(); }
  Result<void> read(std::span<const RangeRead> ranges, const std::function<void(std::size_t)>& done) override {
    return span_.read(ranges, done);
  }

 private:
  Buffer bytes_;
  SpanSource span_;
  Generation generation_;
};

/// What compresses chunks of an array undone; `corrupt` where it gives more than `most_bytes`.
Result<Buffer> decoded_value(const CodecChain& codecs, std::span<const std::byte> stored, std::uint64_t most_bytes);

}  // namespace sherd::neuroglancer
