// Writing datasets of netCDF: the form of NCZarr that every reader reads, in Zarr v2, or the same over Zarr v3.
// Existing datasets are changed in the form that they have.
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

/// How long the shards of variables are, over Zarr v3. Of several that fit a variable, those by its name count first,
/// then those by dimension; a dimension that is not named has the length of a chunk.
struct ShardLengths {
  std::vector<std::pair<std::string, Shape>> variables = {};  ///< by names or paths; empty: one shard
  /// By names; 0: the whole dimension. They are rounded up to whole chunks.
  std::vector<std::pair<std::string, std::uint64_t>> dimensions = {};
  bool automatic = false;  ///< of all other variables: chosen by size (docs/chunking.md)
  [[nodiscard]] bool empty() const noexcept { return variables.empty() && dimensions.empty() && !automatic; }
};

/// A new dataset.
struct NewDataset {
  std::string path = {};         ///< of its root group, inside the store
  std::string format = "zarr2";  ///< of the nodes: "zarr2" or "zarr3"
  Mode mode = {};                ///< in addition to what the URL says
  std::vector<Attribute> attributes = {};
  ShardLengths shards = {};  ///< of variables that have none of their own; Zarr v3 only
  bool overwrite = false;    ///< replace an existing node; without it that is `conflict`
  bool consolidated = true;  ///< sync() writes consolidated metadata
  Config config = {};
};

/// A new variable. What is not set is as netCDF has it: no compression, little-endian, fill values of the type.
struct NewVariable {
  std::string name = {};
  Type type = Type::int32;
  std::vector<std::string> dimensions = {};  ///< by name, each that of the nearest group; or "/g1/x"
  std::vector<Attribute> attributes = {};    ///< `_FillValue` has the type of the variable
  Shape chunks = {};                         ///< empty: chosen by size
  bool contiguous = false;                   ///< without `chunks`, and with Mode::compat_seed: one chunk
  Shape shards = {};                         ///< Zarr v3 only; empty: none
  std::optional<int> deflate_level = {};     ///< 0 … 9
  bool shuffle = false;
  bool fletcher32 = false;
  std::optional<std::vector<Json>> codecs = {};  ///< as in CreateOptions; excludes the three before
  bool big_endian = false;
  bool no_fill = false;
  /// Zarr v3 only: what elements that were never written read as if there is no `_FillValue`; default: default_fill().
  std::optional<Values> array_fill = {};
  /// Of strings in Zarr v2, in bytes; default: `_nczarr_maxstrlen`, `_nczarr_default_maxstrlen` of the root, or 128.
  std::optional<std::uint64_t> string_length = {};
};

/// Defines and writes a dataset. Thread-safe: several threads may write. Definitions are stored by the next write() or
/// sync(); only sync() stores the lengths of dimensions that have grown. What is stored before a sync() that succeeds
/// survives the end of the process.
class SHERD_API Writer {
 public:
  /// An internal representation; see src/netcdf.
  struct State;
  explicit Writer(std::shared_ptr<State> state) : state_(std::move(state)) {}

  static Result<Writer> create(std::string_view url, const NewDataset& options = {});
  static Result<Writer> create(std::shared_ptr<Store> store, const NewDataset& options = {});
  /// Opens an existing dataset. It keeps its form: that of Sherd or of netcdf-c from 4.9.1 on, or pure Zarr; datasets
  /// of netcdf-c before 4.9.1 are `unsupported`. Consolidated metadata are renewed by sync() if there are any. Another
  /// process must not change the same groups or lengths meanwhile.
  static Result<Writer> open(std::string_view url, const OpenOptions& options = {});
  static Result<Writer> open(std::shared_ptr<Store> store, const OpenOptions& options = {});

  [[nodiscard]] std::string_view format() const noexcept;  ///< of the nodes: "zarr2" or "zarr3"
  /// The dataset as open() found it; nullopt after create().
  [[nodiscard]] const std::optional<Dataset>& opened() const noexcept;

  /// Groups are named by their paths, "/" or "/g1/g2"; the groups above must exist.
  Result<void> define_group(std::string_view path, std::vector<Attribute> attributes = {});
  /// An unlimited dimension grows when a variable is written beyond its length.
  Result<void> define_dimension(std::string_view group, const std::string& name, std::uint64_t length,
                                bool unlimited = false);
  Result<void> define_variable(std::string_view group, NewVariable variable);
  /// Sets an attribute of the group or variable at a path; one of the same name is replaced.
  Result<void> set_attribute(std::string_view path, Attribute attribute);
  /// Renames the dimension at a path, "x" or "/g1/x", in its group and in all variables that have it, and stores that.
  /// A variable with the dimension's name keeps its own; rename it too. Until the call has ended, and after a kill,
  /// readers find both names; the same call finishes an interrupted one. `conflict` if the group has a dimension called
  /// `to`, or in pure Zarr if variables of a group would have two of that name; `unsupported` there if no variable of
  /// the group has it.
  Result<void> rename_dimension(std::string_view path, const std::string& to);
  /// Moves a variable or group within its group, and stores that; the path is that of Zarr, too. Other writers and
  /// arrays of the dataset that are open have to be opened again. `conflict` if the group has a member called `to`.
  Result<void> rename_variable(std::string_view path, const std::string& to);
  Result<void> rename_group(std::string_view path, const std::string& to);
  /// Renames an attribute of the group or variable at a path, and stores that.
  Result<void> rename_attribute(std::string_view path, std::string_view from, const std::string& to);
  /// The lengths of a variable's dimensions, as they are now.
  [[nodiscard]] Result<Shape> shape(std::string_view variable) const;
  /// Writes the elements of a box, which are of the variable's type. A text that is longer than the variable's strings
  /// (`_nczarr_maxstrlen`) is invalid_argument.
  Result<void> write(std::string_view variable, const Box& box, const Values& values);
  /// The same from memory of the caller, in C order and the machine's byte order; not for strings.
  Result<void> write(std::string_view variable, const Box& box, std::span<const std::byte> elements);
  /// Stores what is defined, on several threads, as the first write() would on its own.
  Result<void> store_definitions();
  /// Stores all definitions, attributes and lengths, and the consolidated metadata.
  Result<void> sync();
  /// Erases everything that is stored of the dataset, even if calls are being interrupted. The writer cannot be used
  /// after that.
  Result<void> discard();

 private:
  std::shared_ptr<State> state_;
};

}  // namespace sherd::netcdf
