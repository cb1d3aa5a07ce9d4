// The options for coarser resolutions, shared by copy and import.
#pragma once

#include <optional>
#include <string>

#include "cli/command.hpp"
#include "sherd/tools.hpp"

namespace sherd::cli {

struct PyramidOptions {
  std::optional<std::string> pyramid, factors;
  bool ignore_zero = false;

  void add_to(Arguments& arguments);
  /// Nullopt if none are requested. An invalid_argument error names the option.
  [[nodiscard]] Result<std::optional<Pyramid>> get() const;
};

}  // namespace sherd::cli
