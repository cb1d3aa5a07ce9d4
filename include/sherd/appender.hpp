// Streams: slices that are appended to an array along one axis, and stored in the background.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "sherd/dtype.hpp"
#include "sherd/export.hpp"
#include "sherd/result.hpp"
#include "sherd/view.hpp"

namespace sherd {

/// How a stream stores slices, as numbered by ZEP 2 (docs/writing.md). Below, a shard is a stored object: a chunk, in
/// an array without shards.
enum class Technique : std::uint8_t {
  automatic = 0,     ///< `whole_shards` if shards have length 1 along the axis, otherwise `append`
  whole_shards = 1,  ///< requires shards of length 1 along the axis: each slice consists of whole shards
  /// A flush inside a shard is a partial write, as Config::update says; dead bytes are limited by Config::max_unused.
  append = 2,
  /// For shards of uncompressed chunks whose fill value is zero: the first flush inside a shard stores the whole index,
  /// and zeros without using space where the file system has holes; slices are then overwritten where they are. In
  /// stores that do not change objects in place it is like `append`.
  preallocated = 3,
  /// Chunks are stored in the order of their arrival; dead bytes stay until a shard is full, which is then rewritten
  /// without them.
  arrival = 4,
};

struct AppenderOptions {
  std::size_t axis = 0;                        ///< of Array::appender()
  Technique technique = Technique::automatic;  ///< coordinates of a group are always stored by `automatic`
  /// The bytes of slices that may wait to be stored, of all arrays together. At least one row of chunks of each;
  /// rounded down to whole rows of shards, or of chunks if two rows of shards do not fit. 0: three rows of shards, at
  /// least 64 MiB and at most Config::memory_budget. Half of the bytes for elements of variable length are for their
  /// contents; a slice with longer contents waits until the queue is empty.
  std::uint64_t queue_bytes = 0;
  unsigned threads = 0;  ///< for encoding and storing; 0: Config::threads
  /// Also flush whenever a row of shards is full: in a group, of the array with the largest slices. If false, arrays
  /// grow by flush() and close() only.
  bool auto_flush = true;
};

/// An array of Group::appender(): its path below the group, and the axis along which slices are appended.
struct AppendedArray {
  std::string path;
  std::size_t axis = 0;
};

/// Appends slices to an array, or as many slices to each of several arrays of a group. append() copies slices into a
/// queue, and threads of the appender store them: rows of whole shards as soon as they are complete, others when
/// flush() or close() is called or the queue is full. A slice has the shape of its array without the axis.
///
/// A flush stores elements first and then the shape that contains them, each durably if Config::durable is set. So at
/// any moment the array consists of the slices of complete flushes, for every reader, also after the process was
/// killed. Such a stream is continued by opening another appender. An appender that was killed or has failed may leave
/// elements beyond the end; the next one replaces them, but Array::resize() to a larger shape shows them.
///
/// A flush of several arrays stores the elements of all, then the shapes one after the other, and consolidated metadata
/// last. Coordinates (one-dimensional arrays that have the name of their dimension) come after all other arrays, so
/// none is longer than the data. If a stream is killed or fails between two shapes, arrays have two lengths; the
/// elements of the longer one are stored in all of them. So a group's appender begins by extending shorter arrays to
/// the longest. In a dataset of NCZarr, a flush also records the length of the unlimited dimension and extends other
/// variables along it.
///
/// While an appender is open, others cannot change the array's shape or erase it: they wait for its lock, and a second
/// appender is a `conflict`. A store without locks cannot prevent this: there a stream ends with `conflict` at the
/// first flush that finds another shape than the one that it stored last, and slices that two appenders stored at the
/// same time may be those of either.
///
/// The first failure ends the stream with the last complete flush; later slices are lost, and every further call
/// returns that error.
///
/// Thread-safe, except for moving and destroying. Slices of one append() stay together. In a child of fork(), an
/// appender of the parent must not be used; destroying it there has no effect.
class SHERD_API Appender {
 public:
  static constexpr double kForever = std::numeric_limits<double>::infinity();

  Appender(Appender&&) noexcept;
  Appender& operator=(Appender&&) noexcept;
  /// Like close(), but its error is lost. After a close() that was interrupted, slices in the queue are dropped.
  ~Appender();

  /// Copies slices into the queue; the memory may be reused when this returns. `slices` has the array's type and either
  /// the shape of one slice, or the array's shape with any length along the axis. Waits while the queue is full.
  /// `unavailable` after `timeout` seconds (0: without waiting), or if the call is interrupted; the slices before were
  /// then accepted, and the message says how many.
  Result<void> append(const ConstAnyView& slices, double timeout = kForever);
  /// Copies slices of each array of a group into the queue: in the order of Group::appender(), as many of each.
  Result<void> append(const std::vector<ConstAnyView>& slices, double timeout = kForever);
  template <class T>
  Result<void> append(const StridedView<T>& slices, double timeout = kForever) {
    return append(StridedView<const T>(slices.data(), slices.shape(), slices.strides()).untyped(), timeout);
  }
  /// Copies slices in dense C order into the queue.
  template <class T>
  Result<void> append(std::span<T> elements, double timeout = kForever) {
    auto view = dense(reinterpret_cast<const std::byte*>(elements.data()), DType::of<std::remove_const_t<T>>(),
                      elements.size());
    if (!view) return std::move(view).error();
    return append(*view, timeout);
  }

  /// Stores all slices that were accepted before this call, and the shape that contains them. The array's handle then
  /// has that shape. If it is interrupted (`unavailable`), they are still being stored.
  Result<void> flush();
  /// Stores all accepted slices and ends the appender. Returns the error that ended the stream, if any, also if an
  /// earlier call returned it. If it is interrupted (`unavailable`), slices are still being stored; call it again.
  /// After the end, it returns the same again.
  Result<void> close();

  struct Stats {
    std::uint64_t appended = 0;      ///< slices accepted by this appender
    std::uint64_t stored = 0;        ///< of them, slices inside the stored shape
    std::uint64_t length = 0;        ///< of the arrays along the axis, as stored
    std::uint64_t queued_bytes = 0;  ///< of slices in the queue
    std::uint64_t queue_bytes = 0;   ///< the most that the queue holds
    std::uint64_t flushes = 0;       ///< how often the shape was stored
    double waited = 0;               ///< seconds that append() has waited because the queue was full
  };
  [[nodiscard]] Stats stats() const;
  /// The most memory in bytes that the appender needs: the queue, encoding, and the indexes of the shards in progress.
  /// A slice whose contents are longer than the queue, and the stored contents of a chunk that is continued, come in
  /// addition for elements of variable length.
  [[nodiscard]] std::uint64_t estimate_memory() const;

 private:
  friend class Array;
  friend class Group;
  struct State;
  explicit Appender(std::unique_ptr<State> state);
  [[nodiscard]] Result<ConstAnyView> dense(const std::byte* data, DType dtype, std::size_t elements) const;
  void end() noexcept;

  std::unique_ptr<State> state_;
};

}  // namespace sherd
