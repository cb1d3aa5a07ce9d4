// What a stream of slices needs to know of its arrays: lengths along the axis, sizes of queues, settings, memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "sherd/array.hpp"

namespace sherd {

/// The lengths of an array of a stream along its axis, and the size of its queue.
struct StreamPlan {
  std::size_t axis = 0;
  Shape shape;                    ///< of the array at the start
  bool is_variable = false;       ///< its elements have variable length
  std::uint64_t slice_bytes = 0;  ///< of one slice, without what such elements point to
  std::uint64_t chunk = 1;        ///< slices in a row of (inner) chunks
  std::uint64_t object = 1;       ///< slices in a row of stored objects
  std::uint64_t capacity = 0;     ///< slices in the queue

  /// The bytes of the queue for each slice: as much again for what elements point to.
  [[nodiscard]] std::uint64_t place_bytes() const noexcept { return is_variable ? 2 * slice_bytes : slice_bytes; }
  [[nodiscard]] std::uint64_t queue_bytes() const noexcept { return capacity * place_bytes(); }
  [[nodiscard]] std::uint64_t varlen_bytes() const noexcept { return queue_bytes() - capacity * slice_bytes; }
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

/// An array of a stream.
struct StreamMember {
  Array array;
  std::size_t axis = 0;
  Technique technique = Technique::automatic;
  bool is_coordinate = false;
};

/// The plans of arrays that are appended to together. invalid_argument or `unsupported` if the options do not fit one.
Result<std::vector<StreamPlan>> plan_streams(std::span<const StreamMember> arrays, std::uint64_t queue_bytes);
/// The settings of the thread that stores slices, until `cancelled`, which must outlive their use.
[[nodiscard]] Config streaming_config(const StreamMember& streamed, unsigned threads,
                                      const std::atomic<bool>& cancelled);
/// The settings of the write that fills a shard that is stored in part.
[[nodiscard]] Config completing_config(Config config, Technique technique);
/// The most memory in bytes for encoding and storing slices with the settings of this array, and for the indexes of a
/// row of shards.
[[nodiscard]] std::uint64_t encoding_bytes(const Array& array, const StreamPlan& plan);
[[nodiscard]] std::uint64_t index_bytes(const Array& array, const StreamPlan& plan);

[[nodiscard]] constexpr std::uint64_t floor_to(std::uint64_t value, std::uint64_t unit) noexcept {
  return value - value % unit;
}

}  // namespace sherd
