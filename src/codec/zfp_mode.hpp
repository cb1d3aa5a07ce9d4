// The modes of zfp, in the configurations of the codecs `zfp` and `numcodecs.zfpy`.
#pragma once

#ifdef SHERD_ZFP

#include <zfp.h>

#include <cstdint>

#include "codec/configuration.hpp"

namespace sherd {

/// libzfp's parameters: bits per block of 4^d numbers, bit planes, and the lowest bit plane. Every mode is a
/// combination of them.
struct ZfpParameters {
  unsigned minbits = ZFP_MIN_BITS, maxbits = ZFP_MAX_BITS, maxprec = ZFP_MAX_PREC;
  int minexp = ZFP_MIN_EXP;

  [[nodiscard]] bool reversible() const noexcept { return minexp < ZFP_MIN_EXP; }
};

struct ZfpMode {
  enum class Kind : std::uint8_t { reversible, expert, fixed_rate, fixed_precision, fixed_accuracy };
  Kind kind = Kind::reversible;
  double number = 0;         ///< the rate in bits per number, or the tolerance
  ZfpParameters parameters;  ///< of expert; maxprec of fixed_precision
};

Result<ZfpMode> parse_zfp_mode(Configuration& configuration);
/// numcodecs' numbers of the modes. It also stores derived values (`compression_kwargs`) and the parameters of the
/// other modes, as -1; a mode with -1 as its own parameter is the reversible one.
Result<ZfpMode> parse_zfpy_mode(Configuration& configuration);

}  // namespace sherd

#endif
