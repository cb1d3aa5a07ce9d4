// Finds an index in a shard whose own index cannot be read: an older one, or the second copy that an update of a shard
// with its index at the beginning leaves at the end. Nothing but its checksum marks the bytes of an index.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "shard/index.hpp"
#include "sherd/store.hpp"

namespace sherd {

/// Whether the last four bytes of such an encoded index are the CRC-32C of those before them.
[[nodiscard]] Result<bool> has_crc32c(const IndexFormat& format, const Shape& grid);

/// Bytes of an object that may be those of an index.
struct IndexSearch {
  ByteSource& source;
  std::uint64_t size = 0;         ///< of the object
  std::uint64_t index_bytes = 0;  ///< of the encoded index, more than four
};

/// Called with the position at which bytes with a correct checksum end; whether they are the index of a shard that ends
/// there.
using AcceptIndex = std::function<Result<bool>(std::uint64_t end)>;

/// The last position, up to the end of the object, at which an accepted index ends; nullopt if there is none. Reads the
/// object once, from its end on, and holds a few megabytes of it in addition to an index.
Result<std::optional<std::uint64_t>> find_last_index(const IndexSearch& search, const AcceptIndex& accept);

/// An object with other bytes at its beginning. Both must outlive this.
class WithHead final : public ByteSource {
 public:
  WithHead(ByteSource& source, std::span<const std::byte> head) : source_(source), head_(head) {}

  [[nodiscard]] const std::string& name() const noexcept override { return source_.name(); }
  Result<std::uint64_t> size() override { return source_.size(); }
  Result<Generation> generation() override { return Generation{}; }
  Result<void> read(std::span<const RangeRead> ranges) override;

 private:
  ByteSource& source_;
  std::span<const std::byte> head_;
};

}  // namespace sherd
