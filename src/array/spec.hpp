// Everything the engine needs to know of an array, whatever format its metadata came in.
// Formats lower their documents to this; nothing here reads or writes a store.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/scalar.hpp"
#include "codec/codec.hpp"
#include "sherd/box.hpp"
#include "sherd/json.hpp"

namespace sherd {

/// All chunks have one shape.
struct RegularGrid {
  Shape chunk_shape;
};
/// Edge lengths, one list a dimension, run-length coded: (length, count). A dimension with `regular` set repeats
/// that one length for as long as the array is.
struct RectilinearGrid {
  struct Axis {
    std::optional<std::uint64_t> regular;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> runs;
  };
  std::vector<Axis> axes;
};

/// How chunk coordinates become keys: `c/1/2`, `c.1.2` (default) or `1.2`, `1/2` (v2); rank 0: `c` and `0`.
struct KeyEncoding {
  enum class Kind : std::uint8_t { standard, v2 } kind = Kind::standard;
  char separator = '/';
};

struct ArraySpec {
  Shape shape;
  DType dtype;
  Scalar fill_value;
  std::variant<RegularGrid, RectilinearGrid> grid;
  KeyEncoding keys;
  std::vector<CodecSpec> codecs;
  std::vector<std::optional<std::string>> dimension_names;  ///< empty where not given
  Json attributes;                                          ///< an object, or null where not given
};

}  // namespace sherd
