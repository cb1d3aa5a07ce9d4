// Arrays: create, open, resize and append; read and write any region. A handle is cheap to copy, and every copy may be
// used from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sherd/appender.hpp"
#include "sherd/box.hpp"
#include "sherd/dtype.hpp"
#include "sherd/json.hpp"
#include "sherd/options.hpp"
#include "sherd/result.hpp"
#include "sherd/store.hpp"
#include "sherd/view.hpp"

namespace sherd {

/// Where the index of a shard is in its object.
enum class IndexLocation : std::uint8_t { start, end };

class Array;

/// The properties of a new array. Only shape and dtype are required.
struct CreateOptions {
  Shape shape = {};
  DType dtype = {};
  Shape chunks = {};         ///< the inner chunk; empty: chosen by size (docs/chunking.md)
  Shape shards = {};         ///< the stored object; empty: none
  bool auto_shards = false;  ///< choose `shards` by size
  /// The codecs of the (inner) chunks: strings such as "zstd:3" or JSON objects {"name", "configuration"}.
  /// Default: little-endian bytes and zstd level 3 with checksum (vlen-utf8 or vlen-bytes for variable-length types);
  /// other formats have other defaults. If no array->bytes codec is given, the default one is added.
  std::optional<std::vector<Json>> codecs = {};
  /// The whole codec chain, in the same form; no codec is added to it. Cannot be combined with codecs, shards,
  /// index_location or index_codecs.
  std::optional<Json> raw_codecs = {};
  /// For formats whose metadata stores these separately from the codecs (Zarr v2), unless a codec sets them: store
  /// numbers big-endian; make the first dimension of a chunk vary fastest. Other formats ignore both.
  bool big_endian = false;
  bool fortran_order = false;
  IndexLocation index_location = IndexLocation::end;
  std::optional<std::vector<Json>> index_codecs = {};  ///< default: little-endian bytes and crc32c
  std::optional<Json> fill_value = {};                 ///< as in metadata; default: zero, false, "" …
  /// The grid of the stored objects, as in metadata. Cannot be combined with shards. If `chunks` is also set, the
  /// objects are shards made of such chunks.
  std::optional<Json> chunk_grid = {};
  std::optional<Json> chunk_key_encoding = {};  ///< default: {"name": "default"}
  std::optional<std::vector<std::optional<std::string>>> dimension_names = {};
  std::optional<Json> attributes = {};      ///< an object
  std::string format = {};                  ///< such as "zarr3"; empty: that of the hierarchy, or zarr3
  std::optional<Json> format_options = {};  ///< an object with format-specific options (docs/format)
  /// With config.layout = zarr_neuroglancer, an object: `type` of the volume's info, and `key`, `resolution`,
  /// `voxel_offset` and `sharding` of its scale (defaults: docs/format/dual-format.md).
  std::optional<Json> volume = {};
  bool overwrite = false;  ///< replace an existing node; foreign objects are still a `conflict`
  Config config = {};
  /// Called to write the first elements. The array is created elsewhere in the store and moved to its path afterwards;
  /// only then is a node that it replaces removed. After a failure nothing has changed.
  std::function<Result<void>(const Array&)> contents = {};
};

/// Owns the variable-length elements of a read, to which VarBytes point.
class SHERD_API VarBytesArena {
 public:
  VarBytesArena();
  ~VarBytesArena();
  VarBytesArena(VarBytesArena&&) noexcept;
  VarBytesArena& operator=(VarBytesArena&&) noexcept;
  /// Takes ownership of a block of memory (thread-safe).
  void keep(std::shared_ptr<const void> block);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A handle to an array; copies refer to the same array. Thread-safe. A child of fork() may use it only if no other
/// thread was inside a call on it or its store at that moment: those threads do not exist in the child, so the locks
/// they held are never released. Otherwise the child must open the array again, with a store of its own. In either case
/// the child gets a new thread pool.
class SHERD_API Array {
 public:
  /// An internal representation; see src/array.
  struct State;
  explicit Array(std::shared_ptr<State> state);

  [[nodiscard]] Shape shape() const;
  [[nodiscard]] const DType& dtype() const noexcept;
  [[nodiscard]] std::size_t ndim() const noexcept;
  /// The (inner) chunk shape; empty if a rectilinear grid has chunks of several shapes.
  [[nodiscard]] const Shape& chunks() const noexcept;
  /// The shape of a stored object; empty if a rectilinear grid has objects of several shapes; nullopt if the array is
  /// not sharded.
  [[nodiscard]] std::optional<Shape> shards() const;
  /// The lengths of the stored objects along an axis, as runs of (length, count). The last length is clipped at the end
  /// of the array, so the lengths add up to the array's.
  [[nodiscard]] std::vector<std::pair<std::uint64_t, std::uint64_t>> edges(std::size_t axis) const;
  /// The bytes of one element; a VarBytes for variable-length types. Valid as long as the handle.
  [[nodiscard]] std::span<const std::byte> fill_value() const noexcept;
  [[nodiscard]] std::vector<std::optional<std::string>> dimension_names() const;  ///< empty if not given
  [[nodiscard]] Json attributes() const;
  /// The codecs, spelled as in Zarr v3 for every format.
  [[nodiscard]] Json codecs() const;
  /// The metadata document as stored.
  [[nodiscard]] Json metadata() const;
  /// The path inside the store, without leading and trailing `/`; empty for the root.
  [[nodiscard]] const std::string& path() const noexcept;
  [[nodiscard]] const std::shared_ptr<Store>& store() const noexcept;
  [[nodiscard]] std::string url() const;                   ///< store and path, for messages
  [[nodiscard]] std::string_view format() const noexcept;  ///< such as "zarr3"
  [[nodiscard]] bool read_only() const noexcept;
  [[nodiscard]] const Config& config() const noexcept;
  /// This array with other run-time settings. Its caches start empty; limits stay as they were at opening.
  [[nodiscard]] Array with_config(Config config) const;

  /// Reads the selected elements into `into`, whose shape is selection.shape() (dimensions of length 1 may be omitted).
  /// Missing chunks read as the fill value. `arena` is required for variable-length types and owns the elements.
  Result<void> read(const Selection& selection, const AnyView& into, VarBytesArena* arena = nullptr) const;
  /// Reads into dense C order; into.size() must equal the number of selected elements.
  template <class T>
  Result<void> read(const Selection& selection, std::span<T> into) const {
    auto view = dense(selection, into);
    if (!view) return std::move(view).error();
    return read(selection, *view);
  }
  template <class T>
  Result<void> read(const Selection& selection, const StridedView<T>& into) const {
    return read(selection, into.untyped());
  }

  /// One of several regions that are read together: its elements and their destination.
  struct Region {
    Selection selection;
    AnyView into;
  };
  /// Reads many regions with one plan: each index is read once, each chunk is read and decoded once even if several
  /// regions need it, and neighbouring chunks are read together. Regions may overlap in the array, but not in memory.
  /// All of them see the same shape of the array. If a region does not fit the array or its view, `invalid_argument`
  /// gives its number, and nothing is read.
  Result<void> read(std::span<const Region> regions, VarBytesArena* arena = nullptr) const;

  /// Writes the selected elements. A chunk is not read if the selection covers it, nor is a shard if the selection
  /// covers all of its inner chunks inside the array. Concurrent writers of one object, in any process, do not lose
  /// each other's elements. If another handle has resized the array, this handle gets the new shape, which bounds the
  /// selection. `conflict` if the array was erased, or replaced by one with different chunks.
  Result<void> write(const Selection& selection, const ConstAnyView& from) const;
  template <class T>
  Result<void> write(const Selection& selection, std::span<T> from) const {
    auto view = dense(selection, std::span<const T>(from));
    if (!view) return std::move(view).error();
    return write(selection, *view);
  }
  template <class T>
  Result<void> write(const Selection& selection, const StridedView<T>& from) const {
    return write(selection, StridedView<const T>(from.data(), from.shape(), from.strides()).untyped());
  }
  /// Sets every selected element to `value`, which has dtype().size() bytes.
  Result<void> fill(const Selection& selection, std::span<const std::byte> value) const;

  /// Changes the shape; the metadata changes atomically. Elements that are cut off are erased, also in remaining chunks
  /// and shards, so an array that grows again has fill values there. (Other tools do not erase them.) If erasing fails
  /// or is interrupted, the shape does not change, but some of the elements may already be fill values.
  Result<void> resize(const Shape& shape);
  /// Store::finish() of the store.
  Result<void> finish();
  /// Grows the array along `axis` by from.shape[axis] and writes there; returns the origin of the written box. If the
  /// write fails, the array shrinks back, unless another writer has appended behind it in the meantime.
  Result<Shape> append(const ConstAnyView& from, std::size_t axis = 0);
  /// Begins a stream of slices along an axis. `conflict` if another appender of the array is open.
  [[nodiscard]] Result<Appender> appender(const AppenderOptions& options = {}) const;
  /// Reads the metadata again: the shape and the attributes that other handles have stored since. One request if
  /// nothing has changed. `conflict` if the array was erased, or replaced by one with different chunks.
  Result<void> refresh() const;
  /// Replaces all attributes in one atomic write.
  Result<void> set_attributes(const Json& attributes);
  /// Removes the attributes named in `remove` and sets the members of `set`, where null is an ordinary value, in one
  /// atomic write. Other attributes keep their stored values. Returns the number of attributes removed.
  Result<std::uint64_t> update_attributes(const Json& set, std::span<const std::string> remove = {});

  /// The number of stored inner chunks (or chunks). Lists objects and reads indexes; missing chunks cost nothing.
  [[nodiscard]] Result<std::uint64_t> nchunks_initialized() const;
  /// The number of objects that store chunks, and their bytes.
  struct Stored {
    std::uint64_t objects = 0, bytes = 0;
  };
  [[nodiscard]] Result<Stored> stored() const;

  [[nodiscard]] const State& state() const noexcept { return *state_; }

 private:
  template <class T>
  Result<BasicAnyView<std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>>> dense(
      const Selection& selection, std::span<T> elements) const {
    using Byte = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
    Shape shape = selection.shape();
    if (element_count(shape) != elements.size())
      return invalid_argument("the selection has shape " + to_string(shape) + ", the span " +
                              std::to_string(elements.size()) + " elements");
    return BasicAnyView<Byte>::dense(reinterpret_cast<Byte*>(elements.data()), DType::of<std::remove_const_t<T>>(),
                                     std::move(shape));
  }
  std::shared_ptr<State> state_;
};

}  // namespace sherd
