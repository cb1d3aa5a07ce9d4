// A dataset in memory, shown by the handles of include/sherd/netcdf.hpp. It is immutable once it is built.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "netcdf/lazy_array.hpp"
#include "netcdf/notes.hpp"
#include "node/node_location.hpp"
#include "sherd/netcdf.hpp"

namespace sherd::netcdf {

/// The source of a variable's elements if it is not a Zarr array. May be used from any thread.
class ElementSource {
 public:
  ElementSource() = default;
  ElementSource(const ElementSource&) = delete;
  ElementSource& operator=(const ElementSource&) = delete;
  virtual ~ElementSource() = default;
  /// Reads the elements of a box inside the variable, in C order and native byte order; not for strings.
  [[nodiscard]] virtual Result<void> read(const Box& box, std::span<std::byte> to) const = 0;
  /// `nulls` receives the positions of strings that are null pointers; these are empty in the result.
  [[nodiscard]] virtual Result<std::vector<std::string>> read_strings(const Box& box,
                                                                      std::vector<std::uint64_t>& nulls) const = 0;
};

struct Variable::State {
  std::string name;
  std::string group;  ///< its path
  Type type = Type::int32;
  std::vector<Dimension> dimensions;
  std::vector<Attribute> attributes;
  mutable Storage storage;  ///< what it says about codecs is set at the first use
  bool scalar = false;
  bool reinterpreted = false;  ///< its elements are stored differently than its metadata say
  LazyArray array;
  std::shared_ptr<const ElementSource> elements = {};  ///< set if there is no array
  mutable std::once_flag described = {};
};

struct Group::State {
  std::string name;
  std::string path = "/";
  const State* parent = nullptr;
  std::vector<Dimension> dimensions;
  std::vector<std::uint64_t> recorded;  ///< the lengths in the metadata of the first of these dimensions
  std::optional<GroupNote> note;        ///< as stored; nullopt if the group has none
  std::vector<Attribute> attributes;
  Json stored_attributes = Json(Json::Object{});
  std::vector<std::unique_ptr<Variable::State>> variables;
  std::vector<Array> other_arrays;
  std::vector<std::unique_ptr<State>> groups;
};

struct Dataset::State {
  std::string url;
  std::string format;
  std::string kind = "netCDF-4";
  std::optional<NodeLocation> location;  ///< nullopt for a netCDF file
  Mode mode;
  Generation generation = Generation::pure;
  std::string properties;
  bool consolidated = false;
  std::optional<std::array<int, 3>> release;  ///< of netcdf-c that wrote it
  Warnings warnings;
  std::vector<Unread> unread;
  Group::State root;
};

/// Groups nested deeper are left out with a warning, and are not written.
inline constexpr std::size_t kMaxGroupDepth = 128;
inline constexpr std::uint64_t kLongestDimension = std::uint64_t{1} << 62U;

/// The path of a member: "/" and "g" give "/g".
[[nodiscard]] inline std::string member_path(const std::string& group, std::string_view name) {
  return group == "/" ? "/" + std::string(name) : group + "/" + std::string(name);
}

}  // namespace sherd::netcdf
