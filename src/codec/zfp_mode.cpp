#include "codec/zfp_mode.hpp"

#ifdef SHERD_ZFP

#include <cmath>
#include <limits>

#include "base/try.hpp"

namespace sherd {
namespace {

Result<double> positive_member(Configuration& configuration, std::string_view key, double low) {
  const Json* value = configuration.find(key);
  const auto number = value != nullptr ? value->as_double() : std::nullopt;
  if (number && std::isfinite(*number) && *number >= low) return *number;
  return configuration_error(
      key, "zfp: '" + std::string(key) + "' must be a number" + (low > 0 ? " above 0" : ", 0 or more"));
}

constexpr IntegerBounds kPrecision{1, ZFP_MAX_PREC};

}  // namespace

Result<ZfpMode> parse_zfp_mode(Configuration& configuration) {
  ZfpMode mode;
  SHERD_TRY(name, configuration.text("mode"));
  if (name == "reversible") return mode;
  if (name == "fixed_rate") {
    mode.kind = ZfpMode::Kind::fixed_rate;
    SHERD_TRY(rate, positive_member(configuration, "rate", std::numeric_limits<double>::min()));
    mode.number = rate;
  } else if (name == "fixed_accuracy") {
    mode.kind = ZfpMode::Kind::fixed_accuracy;
    SHERD_TRY(tolerance, positive_member(configuration, "tolerance", 0));
    mode.number = tolerance;
  } else if (name == "fixed_precision") {
    mode.kind = ZfpMode::Kind::fixed_precision;
    SHERD_TRY(precision, configuration.integer("precision", kPrecision));
    mode.parameters.maxprec = static_cast<unsigned>(precision);
  } else if (name == "expert") {
    mode.kind = ZfpMode::Kind::expert;
    SHERD_TRY(minbits, configuration.integer("minbits", {0, ZFP_MAX_BITS}));
    SHERD_TRY(maxbits, configuration.integer("maxbits", {1, std::numeric_limits<std::uint32_t>::max()}));
    SHERD_TRY(maxprec, configuration.integer("maxprec", kPrecision));
    SHERD_TRY(minexp, configuration.integer("minexp", {std::numeric_limits<std::int32_t>::min() / 2,
                                                       std::numeric_limits<std::int32_t>::max() / 2}));
    mode.parameters = {static_cast<unsigned>(minbits), static_cast<unsigned>(maxbits), static_cast<unsigned>(maxprec),
                       static_cast<int>(minexp)};
  } else {
    return configuration_error("mode",
                               "zfp: 'mode' must be reversible, expert, fixed_rate, fixed_precision or "
                               "fixed_accuracy, not '" +
                                   name + "'");
  }
  return mode;
}

Result<ZfpMode> parse_zfpy_mode(Configuration& configuration) {
  ZfpMode mode;
  SHERD_TRY(number, configuration.integer("mode", {1, 5}, 4));
  configuration.find("compression_kwargs");
  const char* own = number == 2 ? "rate" : number == 3 ? "precision" : number == 4 ? "tolerance" : nullptr;
  for (const char* key : {"rate", "precision", "tolerance"}) {
    const Json* value = configuration.find(key);
    const auto given = value != nullptr ? value->as_double() : std::optional(-1.0);
    if (!given || !std::isfinite(*given))
      return configuration_error(key, "zfpy: '" + std::string(key) + "' must be a number");
    if (own != key || *given < 0) continue;
    mode.number = *given;
    if (number == 4) {
      mode.kind = ZfpMode::Kind::fixed_accuracy;
    } else if (number == 3) {
      mode.kind = ZfpMode::Kind::fixed_precision;
      SHERD_TRY(precision, configuration.integer(key, kPrecision));
      mode.parameters.maxprec = static_cast<unsigned>(precision);
    } else {
      mode.kind = ZfpMode::Kind::fixed_rate;
    }
  }
  return mode;
}

}  // namespace sherd

#endif
