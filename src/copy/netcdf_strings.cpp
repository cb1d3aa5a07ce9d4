// The sizes of the strings of a variable, which determine the memory of a copy. Strings of netCDF files and of Zarr v3
// have any length, so that they have to be read before boxes can be planned.
#include <algorithm>
#include <mutex>

#include "base/checked.hpp"
#include "base/pool.hpp"
#include "base/try.hpp"
#include "copy/heap_trimmer.hpp"
#include "copy/netcdf_copy.hpp"

namespace sherd::netcdf {

namespace {

/// The largest number of strings in a box of several chunks.
constexpr std::uint64_t kFewStrings = 1024;

std::uint64_t added(std::uint64_t a, std::uint64_t b) { return checked_add(a, b).value_or(~std::uint64_t{0}); }

/// Collects sizes from several threads.
class Measure {
 public:
  Measure(const Variable& source, const Config& config)
      : source_(source), budget_(config.memory_budget / 2), trimmer_(config.memory_budget / kTrimsPerBudget) {}

  Result<void> add(const Box& box) {
    const std::uint64_t count = element_count(box.shape).value_or(~std::uint64_t{0});
    if (count == 0) return {};
    const Budget::Share share = budget_.take(checked_mul(count, memory()).value_or(~std::uint64_t{0}));
    std::uint64_t longest = 0, all = 0;
    {
      SHERD_TRY(values, source_.read(box));
      for (const std::string& text : std::get<std::vector<std::string>>(values)) {
        longest = std::max<std::uint64_t>(longest, text.size());
        all += text.size();
      }
    }
    trimmer_.encoded(added(all, all));
    const std::scoped_lock lock(mutex_);
    sizes_.longest = std::max(sizes_.longest, longest);
    sizes_.mean = std::max(sizes_.mean, ceil_div(all, count));
    return {};
  }

  [[nodiscard]] StringSizes sizes() {
    const std::scoped_lock lock(mutex_);
    return sizes_;
  }
  /// Of a string, as far as it is known now.
  [[nodiscard]] std::uint64_t memory() {
    if (const auto known = known_sizes(source_)) return known->memory();
    return sizes().memory();
  }

 private:
  const Variable& source_;
  Budget budget_;
  HeapTrimmer trimmer_;
  std::mutex mutex_;
  StringSizes sizes_;
};

}  // namespace

std::uint64_t StringSizes::memory() const {
  constexpr std::uint64_t kObject = 2 * sizeof(std::string) + 64;  // approximately, with what the allocator adds
  return added(kObject, added(mean, stored()));
}

std::optional<StringSizes> known_sizes(const Variable& source) {
  if (!source.has_array() || source.array().dtype().is_variable()) return std::nullopt;
  const std::uint64_t size = source.array().dtype().size();
  return StringSizes{.longest = size, .mean = size, .fixed = 0};
}

Result<StringSizes> measured_sizes(const Variable& source, const Config& config) {
  Measure measure(source, config);
  const Shape shape = source.shape(), &chunks = source.storage().chunks;
  if (element_count(shape) == 0) return StringSizes();
  Box first{Shape(shape.size(), 0), Shape(shape.size(), 1)};
  for (std::size_t d = 0; d < chunks.size(); ++d) first.shape[d] = std::clamp<std::uint64_t>(chunks[d], 1, shape[d]);
  SHERD_TRY(measure.add(first));
  const std::uint64_t most = std::max<std::uint64_t>(config.memory_budget / 2, 1), each = measure.memory();
  const std::uint64_t few = checked_mul(kFewStrings, each).value_or(kEnough);
  const BoxPlan plan{shape, chunks, first.shape, each};
  SHERD_TRY(boxes, boxes_of(shape, box_shape(plan, most, std::min({kEnough, most / kWaiting, few}))));
  SHERD_TRY(parallel_for(boxes.count, with_requests(config, kWaiting),
                         [&](std::size_t i) { return measure.add(boxes.at(i)); }));
  return measure.sizes();
}

}  // namespace sherd::netcdf
