// The options of a new Neuroglancer volume, in addition to those of any array.
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

  /// `made_by`: the options that create a volume.
  void add_to(Arguments& arguments, const std::string& made_by);
  [[nodiscard]] bool is_given() const noexcept;
  /// Applies them to a new array that is also laid out as a volume. invalid_argument if any are given and the array is
  /// not a volume.
  Result<void> apply(CreateOptions& create) const;
  /// Applies them to an import into a volume or an array. The resolution is not included.
  Result<void> apply(ImportOptions& options) const;
  /// The info of one scale of shape x,y,z or x,y,z,channel; invalid_argument if `create` asks for anything else.
  [[nodiscard]] Result<neuroglancer::VolumeInfo> info(const CreateOptions& create) const;

 private:
  [[nodiscard]] Result<Json> counterpart_volume() const;
  [[nodiscard]] Result<Json> scale(const Shape& shape, const Shape& chunks, const DType& dtype) const;
};

}  // namespace sherd::cli
