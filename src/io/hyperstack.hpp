// What a TIFF file's metadata say about its pages: the channel, slice and time of each, the spacing of elements, and
// the names of channels. ImageJ stores this in its description, OME-TIFF in OME-XML. Both are untrusted: memory is
// never allocated for more planes than the file has pages and samples.
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

/// Another file of the image, whose pages are numbered after those of the files before it.
struct OtherFile {
  std::string name;
  std::uint64_t first = 0, pages = 0;
};

/// The TIFF tags of a file.
struct PageFacts {
  std::uint64_t pages = 0;  ///< of all files
  std::uint64_t width = 0, height = 0;
  std::uint64_t samples = 1;  ///< per pixel
  bool is_rgb = false;
  double x_resolution = 0, y_resolution = 0;  ///< pixels per unit; 0: unknown
  bool has_resolution_unit = false;           ///< the unit is the inch or the centimetre
  std::string name;                           ///< of the file, without its directory
  std::string uuid = {};                      ///< of the file in OME-XML; empty: none
  std::vector<OtherFile> others = {};         ///< of an OME-TIFF image in several files
};

/// The spacing of elements along an axis; `size` is 0 if unknown.
struct AxisStep {
  double size = 0;
  std::string unit = {};  ///< as spelled in the attribute `units`; empty: unknown
  double origin = 0;      ///< of the first element, in the same unit
};

/// The plane of one channel, slice and time.
struct PlaneSource {
  std::uint64_t page = 0;
  std::uint64_t sample = 0;  ///< the sample of each pixel, if samples are channels
};

/// The pages of a file in OME-NGFF order: t, c, z. Axes of length 1 are left out.
struct Hyperstack {
  std::vector<std::string> axes = {};     ///< before y and x, slowest first
  Shape lengths = {};                     ///< one per axis
  std::vector<std::uint64_t> pages = {};  ///< in C order of t, c (without samples) and z
  std::uint64_t slices = 1;               ///< the length of z
  std::uint64_t samples = 1;              ///< of a pixel that are channels; 1: they are not channels, or there is one
  std::map<char, AxisStep> steps = {};    ///< of x, y, z and t
  Json channels = {};                     ///< an object per channel: label, color, window; null: unknown
  Json labels = {};                       ///< a text per plane; null: none
  std::string name = {};                  ///< of the image; empty: none
  std::string left_out = {};              ///< the other contents of the file; empty: none

  [[nodiscard]] std::uint64_t planes() const { return pages.size() * samples; }
  /// For a plane in C order of `lengths`.
  [[nodiscard]] PlaneSource source(std::uint64_t plane) const {
    const std::uint64_t slice = plane % slices, channel = plane / slices;
    return {pages[channel / samples * slices + slice], channel % samples};
  }
};

/// With more channels, only their number is recorded.
inline constexpr std::uint64_t kMaxDescribedChannels = 4096;

/// Lengths of the axes t, c and z.
struct StackLengths {
  std::uint64_t t = 1, c = 1, z = 1;
  [[nodiscard]] std::optional<std::uint64_t> count() const;
};
/// Sets axes, lengths and slices.
void set_lengths(Hyperstack& stack, const StackLengths& lengths);
/// A text for JSON: non-ASCII bytes that are not UTF-8 become ?.
[[nodiscard]] std::string metadata_text(std::string_view text);
/// A unit as spelled in the attribute `units`; empty for pixels and for no unit.
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
  /// The number of pages for these lengths, with this many samples per pixel; nullopt if it exceeds 64 bits.
  [[nodiscard]] std::optional<std::uint64_t> pages(std::uint64_t samples) const;
};
/// `corrupt` if the file's number of pages differs from the description.
Result<Hyperstack> imagej_hyperstack(const ImagejDescription& description, const PageFacts& facts);
/// The tags IJMetadata and IJMetadataByteCounts: labels of planes, display ranges and colours. Damaged parts are left
/// out.
struct ImagejTags {
  std::span<const std::byte> data;
  std::span<const std::uint32_t> counts;
};
void add_imagej_tags(Hyperstack& stack, const ImagejTags& tags);

// ---- OME-XML ----

[[nodiscard]] bool is_ome_xml(std::string_view text);
/// The files of an image, next to each other.
struct OmeFiles {
  std::string uuid;                 ///< of the file with this XML; empty: none
  std::string metadata;             ///< the file that has the XML instead of this one; empty: none
  std::vector<std::string> others;  ///< names of the other files that have planes
};
/// `facts` are those of the file that is imported.
Result<OmeFiles> ome_files(std::string_view text, const PageFacts& facts, const Limits& limits);
/// The first image that has planes in this file. `corrupt` if the XML is malformed or contradicts the pages.
Result<Hyperstack> ome_hyperstack(std::string_view text, const PageFacts& facts, const Limits& limits);

}  // namespace sherd
