// One version of an object. Some of its bytes are already in memory.
#pragma once

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/forwarding.hpp"

namespace sherd {

/// Ranges that hold() has brought cost no request; all others are read from the source. Threads may read together, but
/// not while hold() is called.
class HeldSource final : public ForwardingSource {
 public:
  /// `size` is the source's.
  HeldSource(std::shared_ptr<ByteSource> source, std::uint64_t size)
      : ForwardingSource(std::move(source)), size_(size) {}

  /// Keeps the bytes of a reply, which is of this source.
  void hold(ReadReply part) { parts_.push_back(std::move(part)); }
  /// The bytes of a range, if one part has them all.
  [[nodiscard]] std::optional<std::span<const std::byte>> find(std::uint64_t offset, std::uint64_t length) const {
    for (const ReadReply& part : parts_) {
      if (offset < part.offset || offset - part.offset > part.bytes.size()) continue;
      if (length <= part.bytes.size() - (offset - part.offset)) return part.bytes.subspan(offset - part.offset, length);
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<std::span<const std::byte>> view() const noexcept override { return find(0, size_); }
  Result<void> read(std::span<const RangeRead> ranges) override {
    std::vector<RangeRead> missing;
    for (const RangeRead& range : ranges) {
      const auto held = find(range.offset, range.into.size());
      if (!held)
        missing.push_back(range);
      else if (!held->empty())
        std::memcpy(range.into.data(), held->data(), held->size());
    }
    return missing.empty() ? Result<void>{} : source_->read(missing);
  }

 private:
  std::uint64_t size_;
  std::vector<ReadReply> parts_;
};

}  // namespace sherd
