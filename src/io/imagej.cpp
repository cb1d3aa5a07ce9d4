// ImageJ's hyperstacks: lines "name=value" in the description of the first page, and two private tags with labels of
// planes, display ranges and lookup tables (ij.io.FileSaver, ij.io.TiffEncoder and ij.io.TiffDecoder of ImageJ).
#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "base/utf8.hpp"
#include "io/hyperstack.hpp"
#include "ome/units.hpp"

namespace sherd {
namespace {

// An invalid count is 1, as in ImageJ.
std::uint64_t count_of(std::string_view text) {
  std::uint64_t count = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), count);
  return parsed.ec == std::errc{} && count > 0 ? count : 1;
}

double length_of(std::string_view text) {
  double length = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), length);
  return parsed.ec == std::errc{} && std::isfinite(length) ? std::abs(length) : 0;
}

// The size of a pixel, given the number of pixels per unit; libtiff has resolutions as floats.
double step_of(double resolution) {
  char text[32];
  std::snprintf(text, sizeof text, "%.7g", 1 / resolution);
  return std::strtod(text, nullptr);
}

using Lines = std::map<std::string_view, std::string_view>;

Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (const auto equals = line.find('='); equals != line.npos)
      lines.emplace(trimmed(line.substr(0, equals)), trimmed(line.substr(equals + 1)));
  }
  return lines;
}

// If the resolution has no unit, it is in pixels per `unit`; otherwise the TIFF tags are sufficient.
std::map<char, AxisStep> steps_of(const Lines& lines, const PageFacts& facts) {
  const auto find = [&](std::string_view name) {
    const auto found = lines.find(name);
    return found == lines.end() ? std::string_view() : found->second;
  };
  const std::string unit = metadata_unit(find("unit"));
  const auto unit_of = [&](std::string_view name) { return find(name).empty() ? unit : metadata_unit(find(name)); };
  std::map<char, AxisStep> steps;
  const double slices = length_of(find("spacing"));
  if (slices > 0) steps['z'] = {slices, unit_of("zunit")};
  if (!facts.has_resolution_unit && (slices > 0 || !unit.empty())) {
    if (facts.x_resolution > 0) steps['x'] = {step_of(facts.x_resolution), unit};
    if (facts.y_resolution > 0) steps['y'] = {step_of(facts.y_resolution), unit_of("yunit")};
  }
  if (const double interval = length_of(find("finterval")); interval > 0) {
    const std::string time = metadata_unit(find("tunit"));
    steps['t'] = {interval, time.empty() ? "s" : time};
  }
  return steps;
}

// The step in pages along each axis.
struct PageSteps {
  std::uint64_t t = 0, c = 0, z = 0;
};

PageSteps page_steps(const std::string& order, const StackLengths& lengths) {
  PageSteps steps;
  std::uint64_t step = 1;
  for (const char axis : order) {
    (axis == 'c' ? steps.c : axis == 'z' ? steps.z : steps.t) = step;
    step *= axis == 'c' ? lengths.c : axis == 'z' ? lengths.z : lengths.t;
  }
  return steps;
}

bool is_order(std::string order) {
  std::ranges::sort(order);
  return order == "ctz";
}

// ---- IJMetadata ----

class TagReader {
 public:
  explicit TagReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  void set_big_endian(bool big) { big_ = big; }
  std::uint64_t word(std::size_t at, std::size_t size) const {
    return load_word(bytes_.subspan(at, size), big_ ? std::endian::big : std::endian::little);
  }
  // UTF-16; a lone surrogate becomes U+FFFD.
  std::string text(std::size_t at, std::size_t size) const {
    std::string text;
    for (std::size_t i = 0; i + 2 <= size; i += 2) {
      std::uint64_t code = word(at + i, 2);
      if (code >= 0xd800 && code < 0xdc00 && i + 4 <= size && word(at + i + 2, 2) >> 10 == 0xdc00 >> 10) {
        code = 0x10000 + ((code - 0xd800) << 10) + (word(at + i + 2, 2) - 0xdc00);
        i += 2;
      } else if (code >= 0xd800 && code < 0xe000) {
        code = 0xfffd;
      }
      append_utf8(static_cast<std::uint32_t>(code), text);
    }
    return text;
  }

 private:
  std::span<const std::byte> bytes_;
  bool big_ = false;
};

struct TagEntry {
  std::uint64_t type;  ///< four letters, the first one highest
  std::size_t at, size;
};

constexpr std::uint64_t kLabels = 0x6c61626c, kRanges = 0x72616e67, kTables = 0x6c757473;

// The entries of the tag; none if its header does not match the tag's size.
std::vector<TagEntry> entries_of(const ImagejTags& tags, TagReader& reader) {
  constexpr std::uint64_t kMagic = 0x494a494a;  // "IJIJ"
  if (tags.counts.empty() || tags.counts[0] < 12 || tags.counts[0] > 804 || tags.data.size() < tags.counts[0])
    return {};
  reader.set_big_endian(true);
  if (reader.word(0, 4) != kMagic) reader.set_big_endian(false);
  if (reader.word(0, 4) != kMagic) return {};
  std::vector<TagEntry> entries;
  std::size_t at = tags.counts[0], number = 1;
  for (std::size_t header = 4; header + 8 <= tags.counts[0]; header += 8)
    for (std::uint64_t left = reader.word(header + 4, 4); left > 0; --left, ++number) {
      if (number >= tags.counts.size() || tags.counts[number] > tags.data.size() - at) return {};
      entries.push_back({reader.word(header, 4), at, tags.counts[number]});
      at += tags.counts[number];
    }
  return entries;
}

// Labels that are the same at all times and slices of a channel are its name; others belong to planes.
void add_labels(Hyperstack& stack, const std::vector<std::string>& labels, std::vector<Json::Object>& channels) {
  std::vector<std::string> names(channels.size());
  bool are_names = channels.size() > 1;
  stack.labels = Json(Json::Array{});
  for (std::size_t i = 0; i < stack.pages.size(); ++i) {
    const std::string& label = labels[stack.pages[i]];
    std::string& name = names[i / stack.slices % channels.size()];
    if (i < stack.slices * channels.size() && i % stack.slices == 0) name = label;
    are_names = are_names && name == label && !label.empty();
    stack.labels.push_back(metadata_text(label));
  }
  if (!are_names) return;
  stack.labels = {};
  for (std::size_t c = 0; c < channels.size(); ++c) channels[c].emplace_back("label", metadata_text(names[c]));
}

std::string color_of(std::span<const std::byte> table) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string color;
  for (const std::size_t at : {std::size_t{255}, std::size_t{511}, std::size_t{767}}) {
    const auto value = std::to_integer<unsigned>(table[at]);
    color += kDigits[value >> 4];
    color += kDigits[value & 15];
  }
  return color;
}

}  // namespace

std::optional<std::uint64_t> StackLengths::count() const {
  const auto planes = checked_mul(t, c);
  return planes ? checked_mul(*planes, z) : std::nullopt;
}

void set_lengths(Hyperstack& stack, const StackLengths& lengths) {
  for (const auto& [name, length] : {std::pair("t", lengths.t), std::pair("c", lengths.c), std::pair("z", lengths.z)}) {
    if (length == 1) continue;
    stack.axes.emplace_back(name);
    stack.lengths.push_back(length);
  }
  stack.slices = lengths.z;
}

std::string metadata_text(std::string_view text) {
  std::string valid(text);
  if (is_utf8(text)) return valid;
  for (char& c : valid)
    if (static_cast<unsigned char>(c) >= 0x80) c = '?';
  return valid;
}

std::string metadata_unit(std::string_view text) {
  if (text.empty() || text == "pixel" || text == "pixels" || text == "voxel" || text == "reference frame") return {};
  if (const Unit* unit = find_unit(text)) return std::string(unit->sign);
  return metadata_text(text);
}

bool ImagejDescription::is_one(std::string_view text) {
  return text.starts_with("ImageJ=") || text.starts_with("SCIFIO=");
}

ImagejDescription ImagejDescription::parse(std::string_view text, const PageFacts& facts) {
  const Lines lines = lines_of(text);
  const auto count = [&](std::string_view name) {
    const auto found = lines.find(name);
    return found == lines.end() ? 1 : count_of(found->second);
  };
  ImagejDescription description;
  description.images = count("images");
  description.lengths = {count("frames"), count("channels"), count("slices")};
  description.steps = steps_of(lines, facts);
  if (const auto order = lines.find("order"); order != lines.end() && is_order(std::string(order->second)))
    description.order = std::string(order->second);
  return description;
}

std::optional<std::uint64_t> ImagejDescription::pages(std::uint64_t samples) const {
  StackLengths pages = lengths;
  if (samples > 1 && pages.c == samples) pages.c = 1;
  const auto count = pages.count();
  return count == 1 ? images : count;
}

Result<Hyperstack> imagej_hyperstack(const ImagejDescription& description, const PageFacts& facts) {
  Hyperstack stack;
  stack.steps = description.steps;
  StackLengths lengths = description.lengths;
  // Bio-Formats counts the samples of a pixel as channels.
  const bool samples_are_channels =
      facts.samples > 1 && lengths.c == facts.samples && StackLengths{lengths.t, 1, lengths.z}.count() == facts.pages;
  if (samples_are_channels) lengths.c = 1;
  // Pages that the description does not number are slices.
  if (lengths.count() == 1) lengths.z = facts.pages;
  if (lengths.count() != facts.pages)
    return corrupt("tiff: ImageJ's description says " + std::to_string(lengths.c) + " channels, " +
                   std::to_string(lengths.z) + " slices and " + std::to_string(lengths.t) + " frames, the file has " +
                   std::to_string(facts.pages) +
                   " pages; name the dimensions of the pages with 'axes' to ignore the description");
  const PageSteps steps = page_steps(description.order, lengths);
  // Colours remain the last dimension, as in other images, unless the description has channels.
  if (description.lengths.c > 1) stack.samples = facts.samples;
  stack.pages.reserve(facts.pages);
  for (std::uint64_t t = 0; t < lengths.t; ++t)
    for (std::uint64_t c = 0; c < lengths.c; ++c)
      for (std::uint64_t z = 0; z < lengths.z; ++z) stack.pages.push_back(t * steps.t + c * steps.c + z * steps.z);
  lengths.c *= stack.samples;
  set_lengths(stack, lengths);
  return stack;
}

void add_imagej_tags(Hyperstack& stack, const ImagejTags& tags) {
  TagReader reader(tags.data);
  const auto entries = entries_of(tags, reader);
  std::vector<std::string> labels, colors;
  std::vector<double> ranges;
  for (const TagEntry& entry : entries) {
    if (entry.type == kLabels) labels.push_back(reader.text(entry.at, entry.size));
    if (entry.type == kTables && entry.size == 768) colors.push_back(color_of(tags.data.subspan(entry.at, entry.size)));
    for (std::size_t i = 0; entry.type == kRanges && i + 8 <= entry.size; i += 8)
      ranges.push_back(std::bit_cast<double>(reader.word(entry.at + i, 8)));
  }
  const auto axis = std::ranges::find(stack.axes, "c");
  const std::size_t channels = axis == stack.axes.end() ? 1 : stack.lengths[axis - stack.axes.begin()];
  if (channels > kMaxDescribedChannels) return;
  std::vector<Json::Object> known(channels);
  if (labels.size() == stack.pages.size() && stack.samples == 1) add_labels(stack, labels, known);
  for (std::size_t c = 0; c < channels && colors.size() == channels; ++c) known[c].emplace_back("color", colors[c]);
  for (std::size_t c = 0; c < channels && ranges.size() == 2 * channels; ++c)
    if (std::isfinite(ranges[2 * c]) && std::isfinite(ranges[2 * c + 1]))
      known[c].emplace_back("window", Json::Object{{"start", ranges[2 * c]}, {"end", ranges[2 * c + 1]}});
  if (std::ranges::all_of(known, &Json::Object::empty)) return;
  stack.channels = Json(Json::Array(known.begin(), known.end()));
}

}  // namespace sherd
