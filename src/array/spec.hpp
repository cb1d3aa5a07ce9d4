// Everything the engine needs to know of an array, independent of the format of its metadata.
// Formats lower their documents to this; nothing here reads or writes a store.
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
  bool clipped = false;  ///< the last ones end where the array does, which keeps its shape
  friend bool operator==(const RegularGrid&, const RegularGrid&) = default;
};
/// Edge lengths, one list a dimension, run-length coded: (length, count). A dimension with `regular` set repeats
/// that one length for as long as the array is.
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
/// drafts of Zarr v3); rank 0: `c`, `0`, and `c0` or, where `bare`, `c`. Or `0-64_64-128_0-9` (ranges), begin
/// and end of each dimension that has an offset.
struct KeyEncoding {
  enum class Kind : std::uint8_t { standard, v2, joined, ranges } kind = Kind::standard;
  char separator = '/';
  bool bare = false;
  std::vector<std::int64_t> offsets = {};
  std::vector<std::size_t> order = {};  ///< the array's dimension of each part of a key; others have one chunk
  friend bool operator==(const KeyEncoding&, const KeyEncoding&) = default;
};

struct ArraySpec {
  Shape shape;
  DType dtype;
  Scalar fill_value;
  std::variant<RegularGrid, RectilinearGrid> grid;
  KeyEncoding keys;  ///< of chunks that have no ids
  std::optional<IdSharding> ids;
  std::optional<std::string> chunk_prefix;  ///< of keys, where the document says it and not the path
  std::vector<CodecSpec> codecs;
  std::vector<std::optional<std::string>> dimension_names;  ///< empty where not given
  Json attributes;                                          ///< an object, or null where not given
  Json format_options;                                      ///< of a new array: CreateOptions::format_options
  std::optional<Error> no_access;    ///< why its chunks cannot be read, where all else of it is known
  std::optional<Error> no_change;    ///< why they cannot be changed, though they can be read
  std::vector<std::string> remarks;  ///< what was read though the format forbids it; `check` warns of it

  /// Whether a chunk of the one has the same name and the same bytes in the other; attributes may differ,
  /// and shapes unless the grid is clipped.
  [[nodiscard]] bool stores_like(const ArraySpec& other) const;
};

}  // namespace sherd
