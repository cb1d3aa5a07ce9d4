// Objects in memory: bytes to read from, and a writer that collects bytes.
#pragma once

#include <cstring>
#include <mutex>
#include <string>
#include <utility>

#include "base/buffer.hpp"
#include "base/checked.hpp"
#include "sherd/store.hpp"

namespace sherd {

/// Bytes that the caller keeps alive, as a source.
class SpanSource final : public ByteSource {
 public:
  SpanSource(std::string name, std::span<const std::byte> bytes) : name_(std::move(name)), bytes_(bytes) {}

  [[nodiscard]] const std::string& name() const noexcept override { return name_; }
  Result<std::uint64_t> size() override { return std::uint64_t{bytes_.size()}; }
  Result<Generation> generation() override { return Generation{}; }
  Result<void> read(std::span<const RangeRead> ranges) override {
    for (const auto& [offset, into] : ranges) {
      const auto end = checked_add(offset, into.size());
      if (!end || *end > bytes_.size())
        return corrupt("ends at byte " + std::to_string(bytes_.size()) + ", but more bytes are expected");
      if (!into.empty()) std::memcpy(into.data(), bytes_.data() + offset, into.size());
    }
    return {};
  }
  [[nodiscard]] std::optional<std::span<const std::byte>> view() const noexcept override { return bytes_; }

 private:
  std::string name_;
  std::span<const std::byte> bytes_;
};

/// Collects an object in a Buffer.
class BufferWriter final : public ObjectWriter {
 public:
  explicit BufferWriter(Buffer& to) : to_(to) { to_.truncate(0); }

  Result<void> write(std::uint64_t offset, std::span<const std::byte> bytes) override {
    const std::lock_guard hold(mutex_);
    const std::uint64_t end = offset + bytes.size();
    const std::size_t before = to_.size();
    if (end > before)
      if (auto grown = to_.grow(end); !grown) return grown;
    if (offset > before) std::memset(to_.data() + before, 0, offset - before);
    if (!bytes.empty()) std::memcpy(to_.data() + offset, bytes.data(), bytes.size());
    return {};
  }
  Result<void> commit(const Condition&) override { return {}; }

 private:
  std::mutex mutex_;
  Buffer& to_;
};

}  // namespace sherd
