// Frames that arrive one after the other, from standard input or a file: raw, .npy, PGM and PPM, pages of a TIFF file.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "sherd/box.hpp"
#include "sherd/dtype.hpp"
#include "sherd/options.hpp"
#include "sherd/result.hpp"

namespace sherd::cli {

/// The frames that an array accepts: its slices.
struct FrameType {
  DType dtype;
  Shape shape;
  std::uint64_t bytes = 0;  ///< of one frame
};

class Frames {
 public:
  virtual ~Frames() = default;
  /// Waits for a frame and reads as many as are there and fit into `into`; each has C order and native byte order.
  /// Returns their number, 0 at the end. `corrupt` if the input ends inside a frame; the frames before were returned.
  virtual Result<std::uint64_t> next(std::span<std::byte> into) = 0;
};

/// Opens `input`, "-" for standard input. `format` is raw, npy, pgm or tiff; empty: by the first bytes. A TIFF file on
/// standard input is stored in a temporary file first. invalid_argument if the frames are not of this type.
Result<std::unique_ptr<Frames>> open_frames(const std::string& input, const std::string& format, FrameType type,
                                            const Config& config);

}  // namespace sherd::cli
