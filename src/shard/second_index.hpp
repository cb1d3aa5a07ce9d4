// The two indexes of a shard whose chunks can be found by slot and by id.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "shard/index.hpp"
#include "shard/uint64.hpp"

namespace sherd {

/// A second index in the same shard: its chunks by id, for readers that do not know the first one. The shard is a box
/// of the volume's chunks, or extends beyond the volume.
struct SecondIndex {
  IdIndex index;
  Shape shape;                          ///< of the volume
  Shape chunk_shape;                    ///< of the volume
  std::vector<std::size_t> dimensions;  ///< the shard's dimension for each of the volume's; may lack those of length 1
  std::uint64_t element_bytes = 0;      ///< if chunks are stored raw, otherwise 0
  std::uint64_t trailer = 0;            ///< bytes at the end of a chunk that only the first index includes

  /// A slot of the first index, and the second index's data for the same chunk.
  struct Slot {
    std::uint64_t slot = 0;
    std::uint64_t id = 0;
    std::uint64_t bytes = 0;  ///< if chunks are stored raw: the size of the part inside the volume
  };
  /// The slots inside the volume, by minishard and then by id; `unsupported` above limits.index_bytes.
  [[nodiscard]] Result<std::vector<Slot>> slots(const Shape& grid, std::uint64_t first_id, const Limits& limits) const;
  /// The chunk's bytes according to the second index; `corrupt` if the first index has too few.
  [[nodiscard]] Result<Extent> extent(const Slot& slot, Extent of_first) const;
  /// The entry that the second index should have, given the first; nullopt if the first has no chunk.
  [[nodiscard]] Result<std::optional<Extent>> expected(const Slot& slot, const ShardIndex& first) const;
  /// For messages.
  [[nodiscard]] static std::string disagreement(const Slot& slot, const std::optional<Extent>& first,
                                                const std::optional<Extent>& second);
};

/// The array of the second index at the beginning, its lists after the chunks, and then the first index.
class SecondIndexCoding final : public IndexCoding {
 public:
  /// `first` is at the end; references must outlive the coding.
  SecondIndexCoding(std::unique_ptr<IndexCoding> first, const SecondIndex& second, std::vector<SecondIndex::Slot> slots,
                    const Limits& limits);

  [[nodiscard]] std::uint64_t slots() const noexcept override { return first_->slots(); }
  [[nodiscard]] Result<std::uint64_t> head_bytes() const override { return second().head_bytes(); }
  [[nodiscard]] Result<std::vector<Part>> encode(const ShardIndex& index, std::uint64_t end) const override;

 private:
  [[nodiscard]] Uint64IndexCoding second() const { return {second_.index.format, ids_, limits_}; }

  std::unique_ptr<IndexCoding> first_;
  const SecondIndex& second_;
  const std::vector<SecondIndex::Slot> slots_;
  std::vector<std::uint64_t> ids_;  // of these
  const Limits& limits_;
};

}  // namespace sherd
