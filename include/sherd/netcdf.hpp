// The netCDF data model over Zarr: groups, shared dimensions, typed attributes and variables of datasets written by
// netcdf-c (any generation of NCZarr), xarray or zarr-python, in Zarr v2 or v3.
// A handle is cheap to copy, and every copy may be used from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sherd/array.hpp"
#include "sherd/box.hpp"
#include "sherd/options.hpp"
#include "sherd/result.hpp"
#include "sherd/store.hpp"
#include "sherd/view.hpp"

namespace sherd::netcdf {

/// The atomic types; the numbers are those of netCDF.
enum class Type : std::uint8_t {
  int8 = 1,
  character,  ///< one byte of text
  int16,
  int32,
  float32,
  float64,
  uint8,
  uint16,
  uint32,
  int64,
  uint64,
  string,  ///< of any length
};
/// The name in CDL: "byte", "char", "short", …
SHERD_API std::string_view to_string(Type type) noexcept;
/// nullopt if CDL has no atomic type with this name.
SHERD_API std::optional<Type> type_called(std::string_view name) noexcept;

/// Values of one type, in the order of Type: the value of an attribute, or elements of a variable in C order. Values of
/// type `character` form one text.
using Values = std::variant<std::vector<std::int8_t>, std::string, std::vector<std::int16_t>, std::vector<std::int32_t>,
                            std::vector<float>, std::vector<double>, std::vector<std::uint8_t>,
                            std::vector<std::uint16_t>, std::vector<std::uint32_t>, std::vector<std::int64_t>,
                            std::vector<std::uint64_t>, std::vector<std::string>>;
[[nodiscard]] inline Type type_of(const Values& values) noexcept { return static_cast<Type>(values.index() + 1); }
[[nodiscard]] SHERD_API std::size_t size_of(const Values& values) noexcept;
/// The value of elements that were never written, unless the variable has `_FillValue`.
[[nodiscard]] SHERD_API Values default_fill(Type type);

struct Attribute {
  std::string name;
  Values values;
  std::vector<std::uint64_t> nulls = {};  ///< strings that are null pointers in a netCDF-4 file; empty in `values`
  friend bool operator==(const Attribute&, const Attribute&) = default;
};

/// A dimension, visible in its group and all groups below.
struct Dimension {
  std::string name;
  std::string group;  ///< the path of its group, "/" or "/g1/g2"
  std::uint64_t length = 0;
  bool unlimited = false;
  bool anonymous = false;  ///< generated for a length that no metadata names
  /// The name with its path: "/x", "/g1/x".
  [[nodiscard]] SHERD_API std::string full_name() const;
  friend bool operator==(const Dimension&, const Dimension&) = default;
};

/// An HDF5 filter by its registered number, as in netCDF-4 files: 1 is deflate, 2 shuffle, 3 fletcher32.
struct Filter {
  std::uint32_t id = 0;
  std::vector<std::uint32_t> parameters = {};
  friend bool operator==(const Filter&, const Filter&) = default;
};

/// How the chunks of a variable are stored.
struct Storage {
  Shape chunks;  ///< empty for scalars, and in files for variables without chunks
  std::optional<Shape> shards = {};
  bool big_endian = false;
  bool no_fill = false;  ///< elements that were never written are undefined
  std::optional<int> deflate_level = {};
  bool shuffle = false;
  bool fletcher32 = false;
  Json codecs = {};                  ///< as in Zarr v3 metadata; null in netCDF files
  std::vector<Filter> filters = {};  ///< of netCDF files, in their order, including those of the members above
};

/// Which kind of metadata a dataset was read from.
enum class Generation : std::uint8_t {
  pure,  ///< no NCZarr metadata: dimensions and types are inferred
  v1,    ///< netcdf-c 4.8.0: separate objects, such as `.nczgroup`
  v2a,   ///< 4.8.1 and 4.9.0: keys in upper case
  v2b,   ///< 4.9.1 and 4.9.2: keys in `.zgroup`, `.zarray` and `.zattrs`
  v2c,   ///< 4.9.3 and later: attributes only
};
SHERD_API std::string_view to_string(Generation generation) noexcept;

/// How a dataset is addressed and interpreted. A URL's fragment sets the same: "data.zarr#mode=zarr&compat=seed".
struct Mode {
  bool pure = false;         ///< mode=zarr: no NCZarr metadata are used or written
  bool noxarray = false;     ///< no `_ARRAY_DIMENSIONS`
  bool compat_seed = false;  ///< compat=seed: literally what netcdf-c's documentation says (docs/format/nczarr.md)
  friend bool operator==(const Mode&, const Mode&) = default;
};

struct OpenOptions {
  std::string path = {};  ///< of the dataset's root group, inside the store
  Mode mode = {};         ///< in addition to what the URL says
  Config config = {};
  /// Use consolidated metadata if they exist. false: read the documents of all nodes. Writers always do.
  bool consolidated = true;
  std::string format = {};  ///< of the nodes: "zarr2" or "zarr3"; empty: detected
};

/// A variable or group that exists, or should exist, but cannot be read.
struct Unread {
  std::string path;  ///< "/v", "/g1/v"
  Error error;
  bool may_be_group = true;  ///< false if it is known to be a variable
};

class Group;

/// A variable: an array with dimensions, a netCDF type and typed attributes.
class SHERD_API Variable {
 public:
  /// An internal representation; see src/netcdf.
  struct State;
  explicit Variable(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  [[nodiscard]] const std::string& name() const noexcept;
  /// The name with the path of its group: "/temperature", "/g1/salinity".
  [[nodiscard]] std::string full_name() const;
  [[nodiscard]] Type type() const noexcept;
  [[nodiscard]] const std::vector<Dimension>& dimensions() const noexcept;
  /// The lengths of the dimensions; empty for a scalar.
  [[nodiscard]] Shape shape() const;
  [[nodiscard]] const std::vector<Attribute>& attributes() const noexcept;
  /// nullptr if the attribute does not exist.
  [[nodiscard]] const Values* attribute(std::string_view name) const noexcept;
  [[nodiscard]] const Storage& storage() const;
  /// Whether the variable is a Zarr array. Variables of netCDF files are not.
  [[nodiscard]] bool has_array() const noexcept;
  /// The Zarr array, which must exist (has_array()). Its shape can differ from shape(): a scalar has one element, and
  /// an unlimited dimension may have grown.
  [[nodiscard]] const Array& array() const;

  /// The elements of a box, in C order; for a scalar the empty box. Elements that were never written are fill values.
  [[nodiscard]] Result<Values> read(const Box& box) const;
  [[nodiscard]] Result<Values> read() const;
  /// Also returns in `nulls` which strings are null pointers in a netCDF-4 file (`NIL` in CDL); their values are empty.
  [[nodiscard]] Result<Values> read(const Box& box, std::vector<std::uint64_t>& nulls) const;
  /// Reads into memory of the caller, which must have exactly the size of the box's elements; not for strings.
  Result<void> read(const Box& box, std::span<std::byte> into) const;

 private:
  std::shared_ptr<const State> state_;
};

/// A group of dimensions, variables and groups, each in order of creation where it is known.
class SHERD_API Group {
 public:
  /// An internal representation; see src/netcdf.
  struct State;
  explicit Group(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  [[nodiscard]] const std::string& name() const noexcept;  ///< empty for the root
  [[nodiscard]] const std::string& path() const noexcept;  ///< "/" or "/g1/g2"
  [[nodiscard]] const std::vector<Dimension>& dimensions() const noexcept;
  [[nodiscard]] const std::vector<Attribute>& attributes() const noexcept;
  [[nodiscard]] const Values* attribute(std::string_view name) const noexcept;
  /// An object with the attributes as stored, including the reserved ones.
  [[nodiscard]] const Json& stored_attributes() const noexcept;
  [[nodiscard]] std::vector<Variable> variables() const;
  /// Arrays that are not in variables(), because netCDF has no type for their elements, such as complex numbers.
  [[nodiscard]] const std::vector<Array>& other_arrays() const noexcept;
  [[nodiscard]] std::vector<Group> groups() const;
  /// By a path relative to this group: "v", "g1/v", "/g1/v".
  [[nodiscard]] std::optional<Variable> variable(std::string_view path) const;
  [[nodiscard]] std::optional<Group> group(std::string_view path) const;
  /// The dimension with this name that is visible here: in this group or, failing that, the nearest group above.
  [[nodiscard]] std::optional<Dimension> dimension(std::string_view name) const;

 private:
  std::shared_ptr<const State> state_;
};

/// A dataset as it was when it was opened.
class SHERD_API Dataset {
 public:
  /// An internal representation; see src/netcdf.
  struct State;
  explicit Dataset(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  /// Opens the dataset at a path or URL with its fragment (docs/format/nczarr.md), or in a store. Parts that cannot be
  /// read, such as a variable of a type that netCDF does not have, are left out and reported in warnings(). not_found
  /// if there is no node of Zarr v2 or v3. A path may also name a netCDF file, classic or netCDF-4; this requires
  /// libnetcdf, and is `unsupported` without it.
  static Result<Dataset> open(std::string_view url, const OpenOptions& options = {});
  static Result<Dataset> open(std::shared_ptr<Store> store, const OpenOptions& options = {});

  [[nodiscard]] Group root() const;
  [[nodiscard]] Generation generation() const noexcept;
  [[nodiscard]] std::string url() const;
  [[nodiscard]] std::string_view format() const noexcept;  ///< of the nodes: "zarr2" or "zarr3"; of a file: "netcdf"
  /// As printed by `ncdump -k`: "netCDF-4" for all datasets in Zarr; for files also "classic", "64-bit offset", "cdf5"
  /// and "netCDF-4 classic model".
  [[nodiscard]] std::string_view kind() const noexcept;
  /// The value of the attribute `_NCProperties`; empty if it does not exist.
  [[nodiscard]] const std::string& properties() const noexcept;
  /// One sentence for each part that was left out, or read despite an error.
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept;
  /// Variables and groups that were left out because their metadata are damaged, missing or not supported. Those of
  /// types that netCDF does not have are not among them.
  [[nodiscard]] const std::vector<Unread>& unread() const noexcept;

 private:
  std::shared_ptr<const State> state_;
};

/// The options of ncdump.
struct DumpOptions {
  std::string name = {};                    ///< of the dataset; empty: derived from the URL
  bool header_only = false;                 ///< -h
  bool coordinates_only = false;            ///< -c: data of coordinate variables only
  std::vector<std::string> variables = {};  ///< -v: data of these only
  std::vector<std::string> groups = {};     ///< -g: data of these groups only
  bool special_attributes = false;          ///< -s
  bool times = false;                       ///< -t: times as dates
  bool iso_times = false;                   ///< -i: times as dates with 'T' between date and time
  bool row_comments = false;                ///< -b: the indices of a row before it
  bool value_comments = false;              ///< -f: the indices of each value after it
  bool fortran = false;                     ///< indices in comments are those of Fortran
  std::uint64_t line_length = 80;           ///< -l
  std::optional<int> float_digits = {};     ///< -p
  std::optional<int> double_digits = {};    ///< -p
};
using TextSink = std::function<Result<void>(std::string_view text)>;
/// Prints the dataset as CDL, byte for byte what ncdump of netcdf-c 4.9.0 prints for the same dataset in a netCDF-4
/// file. Rows are read and printed in blocks of bounded size.
SHERD_API Result<void> dump(const Dataset& dataset, const DumpOptions& options, const TextSink& to);
/// The header in NcML, as printed by `ncdump -x`, with the digits of the options; `location` is the name of the file in
/// it. Only for files of the classic model.
SHERD_API Result<std::string> ncml(const Dataset& dataset, const DumpOptions& options, std::string_view location);

}  // namespace sherd::netcdf
