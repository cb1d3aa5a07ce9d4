// The two indexes of a shard whose chunks can be found by slot and by id.
#pragma once

#include <memory>
#include <vector>

#include "shard/layout.hpp"

namespace sherd {

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
