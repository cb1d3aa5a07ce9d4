// What the metadata of a TIFF file say of its pages: which channel, slice and time each one is, how far apart elements
// are, and what channels are called. ImageJ says it in its description, OME-TIFF in OME-XML. Both come from outside:
// nothing is allocated for more planes than the file has pages and samples.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sherd/box.hpp"
#include "sherd/json.hpp"
#include "sherd/options.hpp"
#include "sherd/result.hpp"

namespace sherd {

/// What the TIFF tags of a file say.
struct PageFacts {
  std::uint64_t pages = 0;
  std::uint64_t width = 0, height = 0;
  std::uint64_t samples = 1;  ///< of a pixel
  bool is_rgb = false;
  double x_resolution = 0, y_resolution = 0;  ///< pixels per unit; 0: unknown
  bool has_resolution_unit = false;           ///< the unit is the inch or the centimetre
  std::string name;                           ///< of the file, without its directory
};

/// From one element to the next along an axis; `size` is 0 where it is not known.
struct AxisStep {
  double size = 0;
  std::string unit = {};  ///< as the attribute `units` spells it; empty: unknown
  double origin = 0;      ///< of the first element, in the same unit
};

/// The plane of one channel, slice and time.
struct PlaneSource {
  std::uint64_t page = 0;
  std::uint64_t sample = 0;  ///< which sample of each pixel, where samples are channels
};

/// The pages of a file in the order of OME-NGFF: t, c, z. Axes of length 1 are left out.
struct Hyperstack {
  std::vector<std::string> axes = {};     ///< before y and x, slowest first
  Shape lengths = {};                     ///< one per axis
  std::vector<std::uint64_t> pages = {};  ///< in C order of t, c (without samples) and z
  std::uint64_t slices = 1;               ///< the length of z
  std::uint64_t samples = 1;              ///< of a pixel that are channels; 1: they are not, or there is one
  std::map<char, AxisStep> steps = {};    ///< of x, y, z and t
  Json channels = {};                     ///< an object per channel: label, color, window; null: nothing is known
  Json labels = {};                       ///< a text per plane; null: none
  std::string name = {};                  ///< of the image; empty: none
  std::string left_out = {};              ///< what else the file contains; empty: nothing

  [[nodiscard]] std::uint64_t planes() const { return pages.size() * samples; }
  /// Of a plane in C order of `lengths`.
  [[nodiscard]] PlaneSource source(std::uint64_t plane) const {
    const std::uint64_t slice = plane % slices, channel = plane / slices;
    return {pages[channel / samples * slices + slice], channel % samples};
  }
};

/// Of more channels nothing is recorded but their number.
inline constexpr std::uint64_t kMaxDescribedChannels = 4096;

/// Lengths of the axes t, c and z.
struct StackLengths {
  std::uint64_t t = 1, c = 1, z = 1;
  [[nodiscard]] std::optional<std::uint64_t> count() const;
};
/// Sets axes, lengths and slices.
void set_lengths(Hyperstack& stack, const StackLengths& lengths);
/// A text for JSON: bytes outside ASCII become ? where they are not UTF-8.
[[nodiscard]] std::string metadata_text(std::string_view text);
/// A unit as the attribute `units` spells it; empty for pixels and none.
[[nodiscard]] std::string metadata_unit(std::string_view text);

// ---- ImageJ ----

/// The lines of ImageJ's description (ij.io.FileSaver).
struct ImagejDescription {
  std::uint64_t images = 1;
  StackLengths lengths = {};
  std::string order = "czt";  ///< fastest first
  std::map<char, AxisStep> steps = {};

  [[nodiscard]] static bool is_one(std::string_view text);
  static ImagejDescription parse(std::string_view text, const PageFacts& facts);
  /// How many pages hold that, where a pixel has so many samples; nullopt beyond 2^64.
  [[nodiscard]] std::optional<std::uint64_t> pages(std::uint64_t samples) const;
};
/// `corrupt` if the file has another number of pages than the description.
Result<Hyperstack> imagej_hyperstack(const ImagejDescription& description, const PageFacts& facts);
/// The tags IJMetadata and IJMetadataByteCounts: labels of planes, display ranges and colours. What is damaged there
/// is left out.
struct ImagejTags {
  std::span<const std::byte> data;
  std::span<const std::uint32_t> counts;
};
void add_imagej_tags(Hyperstack& stack, const ImagejTags& tags);

// ---- OME-XML ----

[[nodiscard]] bool is_ome_xml(std::string_view text);
/// The first image. `corrupt` where the XML is malformed or says other than the pages, `unsupported` where the image
/// has planes in other files.
Result<Hyperstack> ome_hyperstack(std::string_view text, const PageFacts& facts, const Limits& limits);

}  // namespace sherd
