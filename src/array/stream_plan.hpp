// What a stream of slices needs to know of its array: lengths along the axis, the size of its queue, settings, memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "sherd/array.hpp"

namespace sherd {

/// The lengths of a stream along its axis, and the size of its queue.
struct StreamPlan {
  std::size_t axis = 0;
  Shape shape;                    ///< of the array at the start
  std::uint64_t slice_bytes = 0;  ///< of one slice
  std::uint64_t chunk = 1;        ///< slices in a row of (inner) chunks
  std::uint64_t object = 1;       ///< slices in a row of stored objects
  std::uint64_t capacity = 0;     ///< slices in the queue

  [[nodiscard]] Shape with_length(std::uint64_t length) const {
    Shape result = shape;
    result[axis] = length;
    return result;
  }
  /// The strides of slices in the queue.
  [[nodiscard]] std::vector<std::int64_t> strides(std::size_t element_size) const {
    auto result = dense_strides(with_length(1), static_cast<std::int64_t>(element_size));
    result[axis] = static_cast<std::int64_t>(slice_bytes);
    return result;
  }
};

/// invalid_argument or `unsupported` if the options do not fit the array.
Result<StreamPlan> plan_stream(const Array& array, const AppenderOptions& options);
/// The settings of the thread that stores slices, until `cancelled`, which must outlive their use.
[[nodiscard]] Config streaming_config(const Array& array, const AppenderOptions& options,
                                      const std::atomic<bool>& cancelled);
/// The same for the write that fills a shard that is stored in part.
[[nodiscard]] Config completing_config(Config config, Technique technique);
/// The most memory in bytes for the queue and for storing slices with the settings of this array.
[[nodiscard]] std::uint64_t streaming_bytes(const Array& array, const StreamPlan& plan);

[[nodiscard]] constexpr std::uint64_t floor_to(std::uint64_t value, std::uint64_t unit) noexcept {
  return value - value % unit;
}

}  // namespace sherd
