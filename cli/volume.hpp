// The options of a new volume of Neuroglancer's, beside those of any array.
#pragma once

#include <optional>
#include <string>

#include "cli/parser.hpp"
#include "sherd/array.hpp"
#include "sherd/precomputed.hpp"

namespace sherd::cli {

struct VolumeOptions {
  std::string type, encoding;
  std::optional<std::string> resolution, voxel_offset, sharding, key;

  void add_to(Arguments& arguments);
  [[nodiscard]] bool is_given() const noexcept;
  /// Of one scale, whose shape is x,y,z or x,y,z,channel; what of `create` a volume cannot have is invalid_argument.
  [[nodiscard]] Result<neuroglancer::VolumeInfo> info(const CreateOptions& create) const;

 private:
  [[nodiscard]] Result<Json> scale(const Shape& shape, const Shape& chunks, const DType& dtype) const;
};

}  // namespace sherd::cli
