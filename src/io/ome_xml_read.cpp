// OME-TIFF: the OME-XML in the description of the first page (https://docs.openmicroscopy.org/ome-model). It gives the
// lengths of the axes and the file and directory (IFD) of each plane. If there are several images, the first one with
// planes in this file is used, with the position of its first plane. The XML is untrusted: IFDs and planes are bounded
// by the pages of the files, and files are next to each other.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <pugixml.hpp>
#include <set>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "io/hyperstack.hpp"
#include "io/image.hpp"
#include "ome/units.hpp"

namespace sherd {
namespace {

// The name of an element without its namespace prefix.
std::string_view local_name(pugi::xml_node node) {
  const std::string_view name = node.name();
  const auto colon = name.find(':');
  return colon == name.npos ? name : name.substr(colon + 1);
}

pugi::xml_node child(pugi::xml_node node, std::string_view name) {
  for (const pugi::xml_node each : node.children())
    if (local_name(each) == name) return each;
  return {};
}

Error wrong(const std::string& message) {
  return corrupt("tiff: its OME-XML " + message + "; name the dimensions of the pages with 'axes' to ignore it");
}

// A whole number, or `absent` if the attribute is missing.
Result<std::uint64_t> number(pugi::xml_node node, const char* attribute, std::optional<std::uint64_t> absent) {
  const std::string_view text = node.attribute(attribute).value();
  if (text.empty() && absent) return *absent;
  if (const auto value = parse_number<std::uint64_t>(text)) return *value;
  return wrong(std::string(local_name(node)) + "." + attribute + " is '" + metadata_text(text.substr(0, 40)) +
               "', not a whole number");
}

AxisStep step(pugi::xml_node pixels, const std::string& attribute, const char* unit) {
  const std::string_view text = pixels.attribute(attribute.c_str()).value();
  double size = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), size);
  if (parsed.ec != std::errc{} || !std::isfinite(size) || size <= 0) return {};
  const pugi::xml_attribute given = pixels.attribute((attribute + "Unit").c_str());
  const std::string_view name = given ? given.value() : unit;
  AxisStep step{size, metadata_unit(name)};
  // "pixel" and "reference frame" are not lengths.
  return step.unit.empty() ? AxisStep{} : step;
}

// The position of a plane along one axis, in the unit of the axis; 0 if unknown.
double position(pugi::xml_node plane, const std::string& attribute, const AxisStep& step) {
  const std::string_view text = plane.attribute(attribute.c_str()).value();
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  // Without a unit it is a "reference frame", known only to the microscope.
  const auto unit = nanometres(metadata_unit(plane.attribute((attribute + "Unit").c_str()).value()));
  const auto own = nanometres(step.unit);
  if (parsed.ec != std::errc{} || !std::isfinite(value) || step.size <= 0 || !unit || !own) return 0;
  return *unit == *own ? value : tidy(value * (*unit / *own));
}

bool is_first(pugi::xml_node plane) {
  for (const char* index : {"TheZ", "TheC", "TheT"})
    if (std::string_view(plane.attribute(index).value()) != "0") return false;
  return local_name(plane) == "Plane";
}

// A signed number with the bytes red, green, blue and alpha.
std::optional<std::string> color(pugi::xml_node channel) {
  const std::string_view text = channel.attribute("Color").value();
  std::int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || parsed.ec != std::errc{}) return std::nullopt;
  char digits[16];
  std::snprintf(digits, sizeof digits, "%06X",
                static_cast<unsigned>(static_cast<std::uint64_t>(value) >> 8 & 0xffffff));
  return digits;
}

// Whether a name can be that of a file in the same directory.
bool is_file_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find_first_of(std::string_view("/\\\0", 3)) == name.npos;
}

class OmeImage {
 public:
  OmeImage(pugi::xml_node root, const PageFacts& facts) : root_(root), facts_(facts) {}

  /// The names of the other files with planes of the image.
  Result<std::vector<std::string>> other_files() && {
    SHERD_TRY(find_pixels());
    std::set<std::string> names;
    std::vector<std::string> ordered;
    for (const pugi::xml_node data : pixels_.children()) {
      const pugi::xml_node uuid = local_name(data) == "TiffData" ? child(data, "UUID") : pugi::xml_node();
      if (!uuid || is_this_file(uuid)) continue;
      const std::string name = uuid.attribute("FileName").value();
      if (!is_file_name(name)) return wrong("has planes in a file without a valid name, '" + metadata_text(name) + "'");
      if (names.insert(name).second) ordered.push_back(name);
    }
    return ordered;
  }

  Result<Hyperstack> read() && {
    SHERD_TRY(find_pixels());
    SHERD_TRY(read_sizes());
    SHERD_TRY(read_planes());
    Hyperstack stack;
    stack.samples = facts_.samples;
    stack.pages.reserve(pages_.size());
    for (std::uint64_t t = 0; t < lengths_.t; ++t)
      for (std::uint64_t c = 0; c < lengths_.c; ++c)
        for (std::uint64_t z = 0; z < lengths_.z; ++z) {
          const auto& page = pages_[plane_of(t, c, z)];
          if (!page)
            return wrong("leaves out the plane of t=" + std::to_string(t) + ", c=" + std::to_string(c) +
                         ", z=" + std::to_string(z));
          stack.pages.push_back(*page);
        }
    set_lengths(stack, {lengths_.t, lengths_.c * stack.samples, lengths_.z});
    add_steps(stack);
    add_channels(stack);
    stack.name = metadata_text(name_);
    if (images_ > 1)
      stack.left_out = "it holds " + std::to_string(images_) + " images (OME-XML), only the first " +
                       (chosen_ == 1 ? "is imported" : "with planes in this file is imported");
    return stack;
  }

 private:
  Result<void> find_pixels() {
    for (const pugi::xml_node image : root_.children()) {
      if (local_name(image) != "Image") continue;
      const pugi::xml_node pixels = child(image, "Pixels");
      const bool is_better = !has_planes_ && (images_ == 0 || has_planes_here(pixels));
      ++images_;
      if (!is_better) continue;
      has_planes_ = has_planes_here(pixels);
      chosen_ = images_;
      pixels_ = pixels;
      name_ = image.attribute("Name").value();
    }
    if (!pixels_) return wrong("describes no image");
    return {};
  }

  // Without any TiffData, or without names of files, planes are in this file.
  [[nodiscard]] bool has_planes_here(pugi::xml_node pixels) const {
    bool any = false;
    for (const pugi::xml_node data : pixels.children()) {
      if (local_name(data) != "TiffData") continue;
      any = true;
      const pugi::xml_node uuid = child(data, "UUID");
      if (!uuid || is_this_file(uuid)) return true;
    }
    return !any;
  }

  Result<void> read_sizes() {
    SHERD_TRY(width, number(pixels_, "SizeX", {}));
    SHERD_TRY(height, number(pixels_, "SizeY", {}));
    SHERD_TRY(channels, number(pixels_, "SizeC", {}));
    SHERD_TRY(slices, number(pixels_, "SizeZ", {}));
    SHERD_TRY(times, number(pixels_, "SizeT", {}));
    if (width != facts_.width || height != facts_.height)
      return wrong("says " + std::to_string(width) + "x" + std::to_string(height) + " pixels, the page has " +
                   std::to_string(facts_.width) + "x" + std::to_string(facts_.height));
    if (channels % facts_.samples != 0)
      return wrong("says " + std::to_string(channels) + " channels, pixels have " + std::to_string(facts_.samples) +
                   " samples");
    lengths_ = {times, channels / facts_.samples, slices};
    const auto planes = lengths_.count();
    if (!planes || *planes == 0 || *planes > facts_.pages)
      return wrong("says SizeT " + std::to_string(times) + ", SizeC " + std::to_string(channels) + ", SizeZ " +
                   std::to_string(slices) + (facts_.others.empty() ? ", the file has " : ", its files have ") +
                   std::to_string(facts_.pages) + " pages");
    order_ = pixels_.attribute("DimensionOrder").value();
    std::string sorted = order_.substr(std::min<std::size_t>(2, order_.size()));
    std::ranges::sort(sorted);
    if (!order_.starts_with("XY") || sorted != "CTZ")
      return wrong("has the DimensionOrder '" + metadata_text(order_.substr(0, 40)) +
                   "', which is not an order of XY and Z, C, T");
    return {};
  }

  [[nodiscard]] std::uint64_t length_of(char axis) const {
    return axis == 'C' ? lengths_.c : axis == 'Z' ? lengths_.z : lengths_.t;
  }

  // The number of a plane in the file's order.
  [[nodiscard]] std::uint64_t plane_of(std::uint64_t t, std::uint64_t c, std::uint64_t z) const {
    std::uint64_t plane = 0;
    for (std::size_t i = order_.size(); i-- > 2;)
      plane = plane * length_of(order_[i]) + (order_[i] == 'C' ? c : order_[i] == 'Z' ? z : t);
    return plane;
  }

  Result<void> read_planes() {
    pages_.resize(*lengths_.count());
    bool any = false;
    for (const pugi::xml_node data : pixels_.children()) {
      if (local_name(data) != "TiffData") continue;
      any = true;
      SHERD_TRY(read_tiff_data(data));
    }
    // Without any, planes are the pages in order.
    for (std::uint64_t i = 0; !any && i < pages_.size(); ++i) pages_[i] = i;
    return {};
  }

  Result<void> read_tiff_data(pugi::xml_node data) {
    OtherFile file{facts_.name, 0, facts_.others.empty() ? facts_.pages : facts_.others.front().first};
    if (const pugi::xml_node uuid = child(data, "UUID"); uuid && !is_this_file(uuid)) {
      const auto other = std::ranges::find(facts_.others, uuid.attribute("FileName").value(), &OtherFile::name);
      if (other == facts_.others.end()) return wrong("has planes in a file that it names in another way");
      file = *other;
    }
    SHERD_TRY(page, number(data, "IFD", 0));
    SHERD_TRY(t, number(data, "FirstT", 0));
    SHERD_TRY(c, number(data, "FirstC", 0));
    SHERD_TRY(z, number(data, "FirstZ", 0));
    const std::string bounds =
        ", beyond the image or the " + std::to_string(file.pages) + " pages of '" + file.name + "'";
    if (t >= lengths_.t || c >= lengths_.c || z >= lengths_.z || page >= file.pages)
      return wrong("maps IFD " + std::to_string(page) + " to the plane of t=" + std::to_string(t) +
                   ", c=" + std::to_string(c) + ", z=" + std::to_string(z) + bounds);
    const std::uint64_t plane = plane_of(t, c, z);
    const std::uint64_t all = std::min(file.pages - page, pages_.size() - plane);
    SHERD_TRY(count, number(data, "PlaneCount", data.attribute("IFD") ? 1 : all));
    if (count > all)
      return wrong("maps " + std::to_string(count) + " planes to IFD " + std::to_string(page) + " and after" + bounds);
    for (std::uint64_t i = 0; i < count; ++i) {
      auto& at = pages_[plane + i];
      if (at) return wrong("maps two pages to one plane");
      at = file.first + page + i;
    }
    return {};
  }

  // Files may have been renamed, so either the identifier or the name is sufficient.
  [[nodiscard]] bool is_this_file(pugi::xml_node uuid) const {
    return (!facts_.uuid.empty() && facts_.uuid == uuid.child_value()) ||
           uuid.attribute("FileName").value() == facts_.name;
  }

  void add_steps(Hyperstack& stack) const {
    stack.steps['x'] = step(pixels_, "PhysicalSizeX", "um");
    stack.steps['y'] = step(pixels_, "PhysicalSizeY", "um");
    stack.steps['z'] = step(pixels_, "PhysicalSizeZ", "um");
    stack.steps['t'] = step(pixels_, "TimeIncrement", "s");
    const auto planes = pixels_.children();
    const auto first = std::find_if(planes.begin(), planes.end(), is_first);
    if (first == planes.end()) return;
    stack.steps['x'].origin = position(*first, "PositionX", stack.steps['x']);
    stack.steps['y'].origin = position(*first, "PositionY", stack.steps['y']);
    stack.steps['z'].origin = position(*first, "PositionZ", stack.steps['z']);
  }

  void add_channels(Hyperstack& stack) const {
    const std::uint64_t samples = facts_.samples;
    if (lengths_.c * samples > kMaxDescribedChannels) return;
    std::vector<Json::Object> known(lengths_.c * samples);
    std::size_t first = 0;
    for (const pugi::xml_node channel : pixels_.children()) {
      if (local_name(channel) != "Channel" || first + samples > known.size()) continue;
      const std::string_view name = channel.attribute("Name").value();
      const auto given = color(channel);
      for (std::size_t s = 0; s < samples; ++s) {
        if (!name.empty()) known[first + s].emplace_back("label", metadata_text(name));
        if (samples == 1 && given) known[first].emplace_back("color", *given);
      }
      first += samples;
    }
    if (facts_.is_rgb && samples >= 3)
      for (std::size_t c = 0; c < known.size(); ++c)
        if (c % samples < 3)
          known[c].emplace_back("color", c % samples == 0 ? "FF0000" : c % samples == 1 ? "00FF00" : "0000FF");
    if (std::ranges::all_of(known, &Json::Object::empty)) return;
    stack.channels = Json(Json::Array(known.begin(), known.end()));
  }

  pugi::xml_node root_, pixels_;
  const PageFacts& facts_;
  std::size_t images_ = 0;
  std::size_t chosen_ = 0;   ///< the number of the chosen image, from 1
  bool has_planes_ = false;  ///< whether the chosen image has some in this file
  std::string_view name_;
  StackLengths lengths_;
  std::string order_;                                ///< fastest first
  std::vector<std::optional<std::uint64_t>> pages_;  ///< for each plane, in the file's order
};

}  // namespace

// Other programs' XML is not ours to judge.
bool is_ome_xml(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  text = trimmed(text);
  return text.starts_with('<') && (text.find("<OME") != text.npos || text.find(":OME ") != text.npos);
}

namespace {

Result<pugi::xml_node> parse_ome(std::string_view text, const Limits& limits, pugi::xml_document& document) {
  if (text.size() > limits.metadata_bytes)
    return unsupported("tiff: its OME-XML has " + std::to_string(text.size()) +
                       " bytes, more than the limit 'metadata_bytes' of " + std::to_string(limits.metadata_bytes));
  const auto parsed = document.load_buffer(text.data(), text.size(),
                                           pugi::parse_minimal | pugi::parse_escapes | pugi::parse_wconv_attribute);
  if (!parsed) return wrong("is malformed at byte " + std::to_string(parsed.offset) + ": " + parsed.description());
  const pugi::xml_node root = child(document, "OME");
  if (!root) return wrong("has no element OME");
  return root;
}

}  // namespace

Result<OmeFiles> ome_files(std::string_view text, const PageFacts& facts, const Limits& limits) {
  pugi::xml_document document;
  SHERD_TRY(root, parse_ome(text, limits, document));
  OmeFiles files{root.attribute("UUID").value(), {}, {}};
  PageFacts own = facts;
  if (own.uuid.empty()) own.uuid = files.uuid;
  if (const pugi::xml_node elsewhere = child(root, "BinaryOnly")) {
    files.metadata = elsewhere.attribute("MetadataFile").value();
    if (is_file_name(files.metadata)) return files;
    return wrong("names a metadata file without a valid name, '" + metadata_text(files.metadata) + "'");
  }
  SHERD_TRY(others, OmeImage(root, own).other_files());
  files.others = std::move(others);
  return files;
}

Result<Hyperstack> ome_hyperstack(std::string_view text, const PageFacts& facts, const Limits& limits) {
  pugi::xml_document document;
  SHERD_TRY(root, parse_ome(text, limits, document));
  return OmeImage(root, facts).read();
}

}  // namespace sherd
