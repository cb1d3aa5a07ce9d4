// Writing netCDF datasets: in the form of NCZarr that every reader understands, in Zarr v2 or, with the same metadata,
// in Zarr v3. Existing datasets are changed in the form that they have.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sherd/netcdf.hpp"

namespace sherd::netcdf {

/// The lengths of shards of variables, in Zarr v3. Lengths given by a variable's name take precedence over those by
/// dimension; a dimension that is not named has the length of a chunk.
struct ShardLengths {
  std::vector<std::pair<std::string, Shape>> variables = {};  ///< by names or paths; empty: one shard
  /// By names; 0: the whole dimension. Lengths are rounded up to whole chunks.
  std::vector<std::pair<std::string, std::uint64_t>> dimensions = {};
  bool automatic = false;  ///< for all other variables: chosen by size (docs/chunking.md)
  [[nodiscard]] bool empty() const noexcept { return variables.empty() && dimensions.empty() && !automatic; }
};

/// A new dataset.
struct NewDataset {
  std::string path = {};         ///< of its root group, inside the store
  std::string format = "zarr2";  ///< of the nodes: "zarr2" or "zarr3"
  Mode mode = {};                ///< in addition to what the URL says
  std::vector<Attribute> attributes = {};
  ShardLengths shards = {};  ///< of variables without their own; Zarr v3 only
  bool overwrite = false;    ///< replace an existing node, which is otherwise a `conflict`
  bool consolidated = true;  ///< sync() writes consolidated metadata
  Config config = {};
};

/// A new variable. Defaults are those of netCDF: no compression, little-endian, fill values of the type.
struct NewVariable {
  std::string name = {};
  Type type = Type::int32;
  std::vector<std::string> dimensions = {};  ///< names, each that of the nearest group; or paths such as "/g1/x"
  std::vector<Attribute> attributes = {};    ///< `_FillValue` must have the variable's type
  Shape chunks = {};                         ///< empty: chosen by size
  bool contiguous = false;                   ///< store one chunk; without `chunks`, and only with Mode::compat_seed
  Shape shards = {};                         ///< Zarr v3 only; empty: none
  std::optional<int> deflate_level = {};     ///< 0 … 9
  bool shuffle = false;
  bool fletcher32 = false;
  std::optional<std::vector<Json>> codecs = {};  ///< as in CreateOptions; not with the three members above
  bool big_endian = false;
  bool no_fill = false;  ///< no fill value: elements that are never written are undefined
  /// Zarr v3 only: the value of elements that were never written, if there is no `_FillValue`; default: default_fill().
  std::optional<Values> array_fill = {};
  /// Bytes of a string in NCZarr of Zarr v2; default: `_nczarr_maxstrlen`, `_nczarr_default_maxstrlen` of the root, or
  /// 128.
  std::optional<std::uint64_t> string_length = {};
};

/// Defines and writes a dataset. Thread-safe: several threads may write. Definitions are stored by the next write() or
/// sync(); lengths of dimensions that have grown are stored only by sync(). Everything stored before a successful
/// sync() survives the end of the process.
class SHERD_API Writer {
 public:
  /// An internal representation; see src/netcdf.
  struct State;
  explicit Writer(std::shared_ptr<State> state) : state_(std::move(state)) {}

  /// The name of a netCDF file, such as x.nc, is invalid_argument unless it has a fragment: copy() writes files.
  static Result<Writer> create(std::string_view url, const NewDataset& options = {});
  static Result<Writer> create(std::shared_ptr<Store> store, const NewDataset& options = {});
  /// Opens an existing dataset. It keeps its form: that of Sherd, of netcdf-c 4.9.1 or later, or pure Zarr. Datasets of
  /// earlier versions of netcdf-c are `unsupported`. sync() updates consolidated metadata if they exist. If another
  /// process changes the dimensions or members of a group meanwhile, what this writer defines, renames or extends there
  /// is a `conflict`, and nothing that was stored is lost: open the dataset again.
  static Result<Writer> open(std::string_view url, const OpenOptions& options = {});
  static Result<Writer> open(std::shared_ptr<Store> store, const OpenOptions& options = {});

  [[nodiscard]] std::string_view format() const noexcept;  ///< of the nodes: "zarr2" or "zarr3"
  [[nodiscard]] const Mode& mode() const noexcept;         ///< of the URL and the options
  /// The dataset as found by open(); nullopt after create().
  [[nodiscard]] const std::optional<Dataset>& opened() const noexcept;

  /// Groups are named by their paths, "/" or "/g1/g2"; the parent group must exist.
  Result<void> define_group(std::string_view path, std::vector<Attribute> attributes = {});
  /// An unlimited dimension grows when a variable is written beyond its length.
  Result<void> define_dimension(std::string_view group, const std::string& name, std::uint64_t length,
                                bool unlimited = false);
  Result<void> define_variable(std::string_view group, NewVariable variable);
  /// Sets an attribute of the group or variable at a path, replacing one with the same name.
  Result<void> set_attribute(std::string_view path, Attribute attribute);
  /// Renames the dimension at a path, "x" or "/g1/x", in its group and in all variables that have it, and stores the
  /// change. A variable named like the dimension keeps its name; rename it too. Until the call ends, and after a kill,
  /// readers find both names, and each variable has one of them. `conflict` if the group has a dimension
  /// `to` or, in pure Zarr, if a variable of a group would have two dimensions `to`; `unsupported` there if no variable
  /// of the group has the dimension.
  Result<void> rename_dimension(std::string_view path, const std::string& to);
  /// Renames a variable or group within its group, and its Zarr path, and stores the change. Other writers and open
  /// arrays of the dataset must be opened again. `conflict` if the group has a member called `to`.
  Result<void> rename_variable(std::string_view path, const std::string& to);
  Result<void> rename_group(std::string_view path, const std::string& to);
  /// Renames an attribute of the group or variable at a path, and stores the change.
  Result<void> rename_attribute(std::string_view path, std::string_view from, const std::string& to);
  /// One sentence for each definition that readers of pure Zarr find in another form or not at all, since it has no
  /// metadata for it: types of attributes, characters, unlimited dimensions, and dimensions without a variable. Empty
  /// in other modes.
  [[nodiscard]] std::vector<std::string> losses() const;
  /// The present lengths of a variable's dimensions.
  [[nodiscard]] Result<Shape> shape(std::string_view variable) const;
  /// Writes the elements of a box; `values` must have the variable's type. A text that is longer than the variable's
  /// strings (`_nczarr_maxstrlen`) is invalid_argument.
  Result<void> write(std::string_view variable, const Box& box, const Values& values);
  /// Writes the elements of a box from memory in C order and native byte order; not for strings.
  Result<void> write(std::string_view variable, const Box& box, std::span<const std::byte> elements);
  /// Stores all definitions, on several threads, as the first write() would do otherwise.
  Result<void> store_definitions();
  /// Stores all definitions, attributes and lengths, and the consolidated metadata.
  Result<void> sync();
  /// Erases everything that is stored of the dataset, even if calls are being interrupted. The writer cannot be used
  /// afterwards.
  Result<void> discard();

 private:
  std::shared_ptr<State> state_;
};

}  // namespace sherd::netcdf
