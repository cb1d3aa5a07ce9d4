// Writes OME-XML of the schema 2016-06: one image with its sizes, physical pixel sizes, channels, the position of its
// first plane, and the statement that the file's pages are in the order of the planes.
#include "io/ome_xml_write.hpp"

#include <algorithm>
#include <pugixml.hpp>
#include <sstream>

#include "io/image.hpp"
#include "ome/units.hpp"

namespace sherd {
namespace {

const char* pixel_type(const DType& dtype) {
  switch (dtype.kind()) {
    using enum DType::Kind;
    case boolean:  // written as bytes of 0 and 1
    case uint8:
      return "uint8";
    case int8:
      return "int8";
    case int16:
      return "int16";
    case uint16:
      return "uint16";
    case int32:
      return "int32";
    case uint32:
      return "uint32";
    case float32:
      return "float";
    case float64:
      return "double";
    case complex64:
      return "complex";
    case complex128:
      return "double-complex";
    default:
      return nullptr;
  }
}

// A unit as spelled in the schema; nullptr if it is not a unit of that kind.
const char* schema_unit(const std::string& text, Unit::Kind kind) {
  const Unit* unit = find_unit(text);
  if (unit == nullptr || unit->kind != kind) return nullptr;
  if (unit->sign == "um") return "µm";
  if (unit->sign == "us") return "µs";
  return unit->sign == "angstrom" ? "Å" : unit->sign.data();
}

struct PageAxis {
  char letter;
  std::uint64_t length;
};

// The dimensions that number the pages, fastest first; nullopt if one has a name that OME does not know. Without names
// they are z, t and c.
std::optional<std::vector<PageAxis>> page_axes(const FileArray& array, std::size_t count, bool samples) {
  std::string left = samples ? "ZT" : "ZTC";
  std::vector<PageAxis> pages;
  for (std::size_t d = count; d > 0; --d) {
    const std::string name = d <= array.axes.size() ? array.axes[d - 1].name : "";
    const char wanted = name.empty() && !left.empty() ? left.front() : name.size() == 1 ? name[0] : '?';
    const char letter = static_cast<char>(wanted >= 'a' && wanted <= 'z' ? wanted - 'a' + 'A' : wanted);
    const auto at = left.find(letter);
    if (at == std::string::npos) return std::nullopt;
    left.erase(at, 1);
    pages.push_back({letter, array.shape[d - 1]});
  }
  return pages;
}

void set_physical_sizes(pugi::xml_node pixels, const FileArray& array) {
  for (const ImageAxis& axis : array.axes) {
    if (!axis.spacing || !(*axis.spacing > 0)) continue;
    const std::string value = Json(*axis.spacing).dump();
    if (axis.is_spatial()) {
      const std::string name = "PhysicalSize" + std::string(1, static_cast<char>(axis.name[0] - 'a' + 'A'));
      pixels.append_attribute(name.c_str()) = value.c_str();
      const char* unit = schema_unit(axis.unit, Unit::Kind::length);
      pixels.append_attribute((name + "Unit").c_str()) = unit != nullptr ? unit : "pixel";
    } else if (const char* unit = schema_unit(axis.unit, Unit::Kind::time); axis.name == "t" && unit != nullptr) {
      pixels.append_attribute("TimeIncrement") = value.c_str();
      pixels.append_attribute("TimeIncrementUnit") = unit;
    }
  }
}

// The position of the first plane; those of the others follow from the physical sizes.
void add_position(pugi::xml_node pixels, const FileArray& array) {
  pugi::xml_node plane;
  for (const ImageAxis& axis : array.axes) {
    const char* unit = schema_unit(axis.unit, Unit::Kind::length);
    if (!axis.is_spatial() || axis.origin == 0 || unit == nullptr) continue;
    if (!plane) {
      plane = pixels.append_child("Plane");
      for (const char* index : {"TheZ", "TheC", "TheT"}) plane.append_attribute(index) = "0";
    }
    const std::string name = "Position" + std::string(1, static_cast<char>(axis.name[0] - 'a' + 'A'));
    plane.append_attribute(name.c_str()) = Json(tidy(axis.origin)).dump().c_str();
    plane.append_attribute((name + "Unit").c_str()) = unit;
  }
}

void add_channels(pugi::xml_node pixels, const FileArray& array, std::uint64_t count, std::uint64_t samples) {
  for (std::uint64_t i = 0; i < count; ++i) {
    pugi::xml_node channel = pixels.append_child("Channel");
    channel.append_attribute("ID") = ("Channel:0:" + std::to_string(i)).c_str();
    if (samples == 1 && i < array.channels.size()) {
      const ImageChannel& known = array.channels[i];
      if (!known.name.empty()) channel.append_attribute("Name") = known.name.c_str();
      // A signed number with the bytes red, green, blue, alpha.
      if (known.colour) channel.append_attribute("Color") = static_cast<std::int32_t>(*known.colour << 8 | 0xff);
    }
    channel.append_attribute("SamplesPerPixel") = std::to_string(samples).c_str();
  }
}

}  // namespace

std::optional<std::string> ome_xml(const FileArray& array, const Planes& planes) {
  const std::uint64_t samples = planes.image.channels;
  const std::size_t in_plane = array.shape.size() - planes.leading;
  const char* type = pixel_type(array.dtype);
  const auto pages = page_axes(array, planes.leading, in_plane == 3);
  if (type == nullptr || !pages) return std::nullopt;
  std::uint64_t channels = 1;
  std::string order = in_plane == 3 ? "XYC" : "XY";
  for (const PageAxis& page : *pages) order += page.letter;
  for (const char letter : {'Z', 'C', 'T'})
    if (order.find(letter) == std::string::npos) order += letter;

  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  declaration.append_attribute("version") = "1.0";
  declaration.append_attribute("encoding") = "UTF-8";
  pugi::xml_node ome = document.append_child("OME");
  ome.append_attribute("xmlns") = "http://www.openmicroscopy.org/Schemas/OME/2016-06";
  ome.append_attribute("xmlns:xsi") = "http://www.w3.org/2001/XMLSchema-instance";
  ome.append_attribute("xsi:schemaLocation") =
      "http://www.openmicroscopy.org/Schemas/OME/2016-06 http://www.openmicroscopy.org/Schemas/OME/2016-06/ome.xsd";
  pugi::xml_node image = ome.append_child("Image");
  image.append_attribute("ID") = "Image:0";
  if (const Json* name = array.attributes.find("image_name"); name != nullptr && name->is_string())
    image.append_attribute("Name") = name->text().c_str();
  pugi::xml_node pixels = image.append_child("Pixels");
  pixels.append_attribute("ID") = "Pixels:0";
  pixels.append_attribute("DimensionOrder") = order.c_str();
  pixels.append_attribute("Type") = type;
  pixels.append_attribute("SizeX") = std::to_string(planes.image.width).c_str();
  pixels.append_attribute("SizeY") = std::to_string(planes.image.height).c_str();
  for (const char letter : {'Z', 'C', 'T'}) {
    const auto page = std::ranges::find(*pages, letter, &PageAxis::letter);
    const std::uint64_t length = page != pages->end() ? page->length : 1;
    if (letter == 'C') channels = length;
    const std::uint64_t size = letter == 'C' ? length * samples : length;
    pixels.append_attribute((std::string("Size") + letter).c_str()) = std::to_string(size).c_str();
  }
  set_physical_sizes(pixels, array);
  add_channels(pixels, array, channels, samples);
  pugi::xml_node data = pixels.append_child("TiffData");
  data.append_attribute("IFD") = "0";
  data.append_attribute("PlaneCount") = std::to_string(planes.count).c_str();
  add_position(pixels, array);
  std::ostringstream text;
  document.save(text, "", pugi::format_raw, pugi::encoding_utf8);
  return text.str();
}

}  // namespace sherd
