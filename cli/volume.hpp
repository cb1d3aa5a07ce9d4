// The options of a new volume of Neuroglancer's, in addition to those of any array.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/parser.hpp"
#include "sherd/array.hpp"
#include "sherd/precomputed.hpp"
#include "sherd/tools.hpp"

namespace sherd::cli {

inline constexpr std::string_view kVolumeFormat = "precomputed";

/// What --sharding says: "auto", null for "none", or parameters.
[[nodiscard]] Result<Json> parse_sharding(const std::string& text);

struct VolumeOptions {
  std::string type, encoding;
  std::optional<std::string> resolution, voxel_offset, sharding, key;

  /// `made_by`: the options that make one.
  void add_to(Arguments& arguments, const std::string& made_by);
  [[nodiscard]] bool is_given() const noexcept;
  /// To a new array: what an array that is also laid out as a volume needs of them. invalid_argument where they are
  /// given for one that is not a volume.
  Result<void> apply(CreateOptions& create) const;
  /// To an import into a volume, or into an array. The resolution is not among them.
  Result<void> apply(ImportOptions& options) const;
  /// Of one scale, whose shape is x,y,z or x,y,z,channel; what of `create` a volume cannot have is invalid_argument.
  [[nodiscard]] Result<neuroglancer::VolumeInfo> info(const CreateOptions& create) const;

 private:
  [[nodiscard]] Result<Json> counterpart_volume() const;
  [[nodiscard]] Result<Json> scale(const Shape& shape, const Shape& chunks, const DType& dtype) const;
};

}  // namespace sherd::cli
