// A level is a prefix of the remaining annotations, which are in random order: the longest prefix with which no cell
// has more than `limit`. So all cells of a level are sampled equally, as readers expect. The next level's cells have
// half the length along those dimensions where they are longest; the last level has all the rest.
#include "neuroglancer/annotation_levels.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "base/call.hpp"
#include "base/try.hpp"
#include "shard/morton.hpp"

namespace sherd::neuroglancer {
namespace {

constexpr std::size_t kMostLevels = 20;
constexpr unsigned kMostBits = 60;  // of a cell's number
/// Cells are not made smaller if annotations would be in more cells than this on average.
constexpr double kMostCells = 64;
constexpr double kManyCells = 1 << 20;
constexpr std::uint64_t kPollEvery = std::uint64_t{1} << 16;

class Levels {
 public:
  Levels(const ShuffledAnnotations& annotations, const SpatialRequest& request)
      : annotations_(annotations), request_(request), rank_(request.info.dimensions.size()) {}

  Result<std::vector<SpatialLevel>> plan() {
    CellGrid grid{request_.info.lower_bound, std::vector<double>(rank_), Shape(rank_, 1)};
    for (std::size_t d = 0; d < rank_; ++d) grid.size[d] = request_.info.upper_bound[d] - request_.info.lower_bound[d];
    SHERD_TRY(find_spread());
    std::vector<SpatialLevel> levels;
    for (std::uint64_t begin = 0; levels.empty() || begin < annotations_.size();) {
      SHERD_TRY(members, members_of(grid, begin));
      std::uint64_t end = first_too_many(members).value_or(annotations_.size());
      const auto next = end < annotations_.size() && levels.size() + 1 < kMostLevels ? halved(grid) : std::nullopt;
      if (end < annotations_.size()) {
        const bool finer = next.has_value();
        SHERD_TRY(worthwhile, finer ? is_worthwhile(*next, end) : Result<bool>(false));
        if (!worthwhile) end = annotations_.size();
      }
      std::erase_if(members, [&](const Membership& each) { return each.at >= end; });
      members.shrink_to_fit();
      const std::uint64_t limit = std::max(request_.limit, largest(members));
      levels.push_back({grid, limit, std::move(members)});
      begin = end;
      if (next) grid = *next;
    }
    return levels;
  }

 private:
  [[nodiscard]] Result<void> poll(std::uint64_t at) const {
    return at % kPollEvery == 0 ? check_interrupted(request_.config.interrupted) : Result<void>();
  }

  // Along which dimensions smaller cells separate annotations.
  Result<void> find_spread() {
    spread_.assign(rank_, false);
    Bounds all{std::vector<double>(rank_, INFINITY), std::vector<double>(rank_, -INFINITY)};
    for (std::uint64_t at = 0; at < annotations_.size(); ++at) {
      SHERD_TRY(poll(at));
      const Bounds one = Bounds::of(request_.info.type, annotations_.vectors(at), rank_);
      for (std::size_t d = 0; d < rank_; ++d) {
        all.low[d] = std::min(all.low[d], one.low[d]);
        all.high[d] = std::max(all.high[d], one.high[d]);
        spread_[d] = spread_[d] || all.low[d] < all.high[d];
      }
    }
    return {};
  }

  Result<std::vector<Membership>> members_of(const CellGrid& grid, std::uint64_t begin) const {
    SHERD_TRY(morton, CompressedMorton::of(grid.cells));
    CellFinder finder(request_.info.type, grid);
    std::vector<Membership> members;
    members.reserve(annotations_.size() - begin);
    for (std::uint64_t at = begin; at < annotations_.size(); ++at) {
      SHERD_TRY(poll(at));
      finder.find(annotations_.vectors(at), [&](const Shape& cell) { members.push_back({morton.encode(cell), at}); });
    }
    std::ranges::sort(members);
    return members;
  }

  // The first annotation that exceeds the limit of a cell.
  [[nodiscard]] std::optional<std::uint64_t> first_too_many(const std::vector<Membership>& members) const {
    std::optional<std::uint64_t> first;
    for (std::size_t i = request_.limit; i < members.size(); ++i)
      if (members[i].owner == members[i - request_.limit].owner)
        first = std::min(first.value_or(members[i].at), members[i].at);
    return first;
  }

  static std::uint64_t largest(const std::vector<Membership>& members) {
    std::uint64_t largest = 0, count = 0;
    for (std::size_t i = 0; i < members.size(); ++i) {
      count = i != 0 && members[i].owner == members[i - 1].owner ? count + 1 : 1;
      largest = std::max(largest, count);
    }
    return largest;
  }

  // Lengths are compared among dimensions with the same unit.
  [[nodiscard]] std::optional<CellGrid> halved(const CellGrid& grid) const {
    const auto& dimensions = request_.info.dimensions;
    std::map<std::string_view, double> longest;
    for (std::size_t d = 0; d < rank_; ++d)
      if (spread_[d]) {
        double& length = longest[dimensions[d].unit];
        length = std::max(length, grid.size[d] * std::abs(dimensions[d].scale));
      }
    CellGrid next = grid;
    for (std::size_t d = 0; d < rank_; ++d)
      if (spread_[d] && 2 * grid.size[d] * std::abs(dimensions[d].scale) > longest[dimensions[d].unit]) {
        next.size[d] /= 2;
        next.cells[d] *= 2;
      }
    const auto morton = CompressedMorton::of(next.cells);
    if (next.cells == grid.cells || !morton || morton->bits() > kMostBits) return std::nullopt;
    return next;
  }

  [[nodiscard]] Result<bool> is_worthwhile(const CellGrid& grid, std::uint64_t begin) const {
    CellFinder finder(request_.info.type, grid);
    const double most = std::max(kManyCells, kMostCells * static_cast<double>(annotations_.size() - begin));
    double cells = 0;
    for (std::uint64_t at = begin; at < annotations_.size() && cells <= most; ++at) {
      SHERD_TRY(poll(at));
      cells += finder.most(annotations_.vectors(at));
    }
    return cells <= most;
  }

  const ShuffledAnnotations& annotations_;
  const SpatialRequest& request_;
  const std::size_t rank_;
  std::vector<bool> spread_;
};

}  // namespace

Result<std::vector<SpatialLevel>> plan_levels(const ShuffledAnnotations& annotations, const SpatialRequest& request) {
  return Levels(annotations, request).plan();
}

}  // namespace sherd::neuroglancer
