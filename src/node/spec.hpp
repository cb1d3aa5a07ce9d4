// Everything that the engine needs to know about an array, independent of its metadata format. Formats lower their
// documents to this. Nothing here reads or writes a store.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/scalar.hpp"
#include "codec/codec.hpp"
#include "shard/layout.hpp"
#include "sherd/box.hpp"
#include "sherd/json.hpp"

namespace sherd {

/// All chunks have one shape.
struct RegularGrid {
  Shape chunk_shape;
  bool clipped = false;  ///< the last chunks end where the array does; its shape is fixed
  friend bool operator==(const RegularGrid&, const RegularGrid&) = default;
};
/// One list of edge lengths per dimension, run-length coded: (length, count). A dimension with `regular` set repeats
/// that length up to the end of the array.
struct RectilinearGrid {
  struct Axis {
    std::optional<std::uint64_t> regular;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> runs;
    friend bool operator==(const Axis&, const Axis&) = default;
  };
  std::vector<Axis> axes;
  friend bool operator==(const RectilinearGrid&, const RectilinearGrid&) = default;
};

/// How chunk coordinates become keys: `c/1/2`, `c.1.2` (default), `1.2`, `1/2` (v2) or `c1/2`, `c1.2` (joined, as in
/// drafts of Zarr v3). For rank 0: `c`, `0`, and `c0` or, if `bare`, `c`. Or `0-64_64-128_0-9` (ranges): begin and end
/// in each dimension that has an offset.
struct KeyEncoding {
  enum class Kind : std::uint8_t { standard, v2, joined, ranges } kind = Kind::standard;
  char separator = '/';
  bool bare = false;
  std::vector<std::int64_t> offsets = {};
  std::vector<std::size_t> order = {};  ///< the array's dimension for each part of a key; others have one chunk
  friend bool operator==(const KeyEncoding&, const KeyEncoding&) = default;
};

struct ArraySpec {
  Shape shape;
  DType dtype;
  Scalar fill_value;
  std::variant<RegularGrid, RectilinearGrid> grid;
  KeyEncoding keys;  ///< of chunks without ids
  std::optional<IdSharding> ids;
  std::optional<std::string> chunk_prefix;  ///< of keys, if given by the document and not by the path
  std::vector<CodecSpec> codecs;
  std::vector<std::optional<std::string>> dimension_names;  ///< empty if not given
  Json attributes;                                          ///< an object, or null if not given
  Json format_options;                                      ///< of a new array: CreateOptions::format_options
  std::optional<Error> no_access;    ///< why its chunks cannot be read, if everything else is known
  std::optional<Error> no_change;    ///< why they can be read but not changed
  std::vector<std::string> remarks;  ///< read although the format forbids it; `check` warns of it

  /// Whether a chunk of one array has the same name and the same bytes in the other. Attributes may differ, and so may
  /// shapes unless the grid is clipped.
  [[nodiscard]] bool stores_like(const ArraySpec& other) const;
};

}  // namespace sherd
