// Reading where requests have latency: the chunks of a call in windows that fit the budget.
#include <mutex>

#include "array/chunk_reader.hpp"
#include "array/core.hpp"
#include "base/try.hpp"

namespace sherd {
namespace {

// The cells of a call, where requests have latency: as many at a time as fit the budget. What another writer has
// changed meanwhile, or may have, is read by itself once more, which finds out.
class ReadTogether {
 public:
  explicit ReadTogether(const CellsRead& call) : call_(call), shape_(call.state.shape()) {}

  Result<void> run() {
    for (std::uint64_t first = 0, last = 0; first < call_.cells.size(); first = last) {
      last = fill_window(first, call_.config.memory_budget / 2);
      std::mutex mutex;  // guards `again`
      std::vector<std::size_t> again;
      const auto settle = [&](std::size_t i, Result<void> outcome) -> Result<void> {
        if (outcome) {
          call_.done.fetch_add(window_[i].piece.part.element_count() * call_.state.dtype.size(),
                               std::memory_order_relaxed);
          return {};
        }
        const ErrorCode code = outcome.error().code();
        if (code != ErrorCode::conflict && code != ErrorCode::corrupt) return std::move(outcome).in_key(window_[i].key);
        const std::lock_guard hold(mutex);
        again.push_back(i);
        return {};
      };
      SHERD_TRY(call_.reader.from_store(*call_.state.place.store, window_, settle));
      for (const std::size_t i : again) {
        const ChunkReader::StoredPiece& each = window_[i];
        SHERD_TRY(read_cell(call_.state, call_.reader, access_[i], each.piece.part, call_.target));
        call_.done.fetch_add(each.piece.part.element_count() * call_.state.dtype.size(), std::memory_order_relaxed);
      }
    }
    return {};
  }

 private:
  // Returns the first cell of the next window.
  std::uint64_t fill_window(std::uint64_t first, std::uint64_t most_bytes) {
    constexpr std::uint64_t kMostCells = 4096;
    window_.clear();
    access_.clear();
    std::uint64_t bytes = 0;
    std::uint64_t next = first;
    for (; next < call_.cells.size() && next - first < kMostCells; ++next) {
      Shape cell;
      Region part;
      call_.cells.get(next, cell, part);
      CellAccess at = access(call_.state, cell, shape_);
      window_.push_back({at.key, {call_.state.layout, at.shape, std::move(part), call_.target, at.first_id}, at.valid});
      access_.push_back(std::move(at));
      bytes += std::min(call_.reader.first_bytes(window_.back()), most_bytes);
      if (bytes > most_bytes && next > first) break;
    }
    if (next < call_.cells.size() && window_.size() > next - first) window_.pop_back();
    return next;
  }

  const CellsRead& call_;
  const Shape shape_;
  std::vector<ChunkReader::StoredPiece> window_;
  std::vector<CellAccess> access_;
};

}  // namespace

/// A store that waits asks the call of its thread whether to go on, and a loop is what makes one.
Result<void> read_together(const CellsRead& call) {
  return parallel_for(1, call.config, [&](std::size_t) { return ReadTogether(call).run(); });
}

}  // namespace sherd
