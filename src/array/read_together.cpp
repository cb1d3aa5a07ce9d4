// Reading where requests have latency: the chunks of a call in windows that fit the budget.
#include <algorithm>
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
  explicit ReadTogether(const CellsRead& call) : call_(call) {}

  Result<void> run() {
    for (std::uint64_t next = 0; next < call_.cells.size();) {
      next = fill_window(next);
      std::mutex mutex;  // guards `again`
      std::vector<std::size_t> again;
      const auto settle = [&](std::size_t i, Result<void> outcome) -> Result<void> {
        if (outcome) return call_.count(pieces_[i]), Result<void>{};
        const ErrorCode code = outcome.error().code();
        if (code != ErrorCode::conflict && code != ErrorCode::corrupt) return std::move(outcome).in_key(cells_[i].key);
        const std::lock_guard hold(mutex);
        again.push_back(i);
        return {};
      };
      SHERD_TRY(call_.reader.from_store(*call_.state.place.store, first_reads_, pieces_, settle));
      for (const std::size_t i : again) {
        SHERD_TRY(read_cell(call_, {cells_[i], pieces_[i]}));
        call_.count(pieces_[i]);
      }
    }
    return {};
  }

 private:
  // Takes cells from the first on until their first reads fill half of the budget; returns the one after them.
  std::uint64_t fill_window(std::uint64_t first) {
    constexpr std::uint64_t kMostCells = 4096;
    const std::uint64_t last = first + std::min(kMostCells, call_.cells.size() - first);
    first_reads_.clear();
    pieces_.clear();
    cells_.clear();
    std::uint64_t left = call_.config.memory_budget / 2;
    for (std::uint64_t next = first; next < last; ++next) {
      auto [at, piece] = call_.cell(next);
      ReadRequest first_read = call_.reader.first_read(at.key, piece, at.valid);
      if (first_read.length > left && next > first) return next;
      left -= std::min(first_read.length, left);
      first_reads_.push_back(std::move(first_read));
      pieces_.push_back(std::move(piece));
      cells_.push_back(std::move(at));
    }
    return last;
  }

  const CellsRead& call_;
  // Of the window, an entry for each cell.
  std::vector<ReadRequest> first_reads_;
  std::vector<Piece> pieces_;
  std::vector<CellAccess> cells_;
};

}  // namespace

/// A store that waits asks the call of its thread whether to go on, and a loop is what makes one.
Result<void> read_together(const CellsRead& call) {
  return parallel_for(1, call.config, [&](std::size_t) { return ReadTogether(call).run(); });
}

}  // namespace sherd
