// Units of length and time, with the names used by files, people and OME-NGFF.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sherd {

struct Unit {
  enum class Kind : std::uint8_t { length, time } kind;
  std::string_view name;  ///< as OME-NGFF spells it: "micrometer"
  std::string_view sign;  ///< as the attribute `units` spells it: "um"
  double size;            ///< in nanometres or in seconds
};

/// By name, sign or another spelling, such as "µm" or "micron"; nullptr if the text is not a unit.
[[nodiscard]] const Unit* find_unit(std::string_view text) noexcept;
/// The size of a unit of length in nanometres, or of a unit of time in seconds; nullopt if the text is not a unit.
[[nodiscard]] std::optional<double> nanometres(std::string_view unit) noexcept;
[[nodiscard]] std::optional<double> seconds(std::string_view unit) noexcept;

}  // namespace sherd
