// PLY: a text header that names elements and their properties, then the elements, as text or as binary words of either
// byte order. Positions are the properties x, y, z of `vertex`; a face is the list `vertex_indices` (or `vertex_index`)
// of `face`. Everything else is skipped by its size.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>

#include "base/endian.hpp"
#include "base/try.hpp"
#include "io/text_lines.hpp"
#include "sherd/object_files.hpp"

namespace sherd {
namespace {

using neuroglancer::Bytes;
using neuroglancer::Mesh;

enum class Number : std::uint8_t { int8, uint8, int16, uint16, int32, uint32, float32, float64 };

struct NumberName {
  std::string_view name;
  Number type;
};
constexpr NumberName kNumberNames[] = {
    {"char", Number::int8},   {"uchar", Number::uint8},   {"short", Number::int16},     {"ushort", Number::uint16},
    {"int", Number::int32},   {"uint", Number::uint32},   {"float", Number::float32},   {"double", Number::float64},
    {"int8", Number::int8},   {"uint8", Number::uint8},   {"int16", Number::int16},     {"uint16", Number::uint16},
    {"int32", Number::int32}, {"uint32", Number::uint32}, {"float32", Number::float32}, {"float64", Number::float64}};

constexpr std::size_t size_of(Number type) noexcept {
  constexpr std::array<std::uint8_t, 8> sizes{1, 1, 2, 2, 4, 4, 4, 8};
  return sizes[static_cast<std::size_t>(type)];
}

struct Property {
  std::string name;
  Number type = Number::float32;
  std::optional<Number> count = {};  ///< of a list
};
struct Element {
  std::string name;
  std::uint64_t count = 0;
  std::vector<Property> properties = {};
};
enum class Encoding : std::uint8_t { ascii, little, big };
struct PlyHeader {
  Encoding encoding = Encoding::ascii;
  std::vector<Element> elements;
};

class HeaderReader {
 public:
  explicit HeaderReader(TextLines& lines) : lines_(lines) {}

  Result<PlyHeader> read() && {
    if (!lines_.next() || lines_.word() != "ply")
      return corrupt("not a PLY file: it does not begin with the line 'ply'");
    while (lines_.next()) {
      const std::string_view keyword = lines_.word();
      if (keyword == "end_header") {
        if (!encoding_) return lines_.error("the header has no line 'format'");
        return std::move(header_);
      }
      if (keyword == "format") SHERD_TRY(read_format());
      if (keyword == "element") SHERD_TRY(read_element());
      if (keyword == "property") SHERD_TRY(read_property());
    }
    return corrupt("the header does not end: there is no line 'end_header'");
  }

 private:
  Result<void> read_format() {
    const std::string_view name = lines_.word(), version = lines_.word();
    if (name == "ascii")
      header_.encoding = Encoding::ascii;
    else if (name == "binary_little_endian")
      header_.encoding = Encoding::little;
    else if (name == "binary_big_endian")
      header_.encoding = Encoding::big;
    else
      return lines_.error(TextLines::quoted(name) + " is not ascii, binary_little_endian or binary_big_endian");
    if (version != "1.0") return unsupported("PLY version " + TextLines::quoted(version) + " is not supported; 1.0 is");
    encoding_ = true;
    return {};
  }

  Result<void> read_element() {
    const std::string name(lines_.word());
    SHERD_TRY(count, lines_.integer("a number of elements"));
    if (count < 0) return lines_.error("a number of elements is negative");
    header_.elements.push_back({name, static_cast<std::uint64_t>(count)});
    return {};
  }

  Result<Number> number() {
    const std::string_view name = lines_.word();
    const auto found = std::ranges::find(kNumberNames, name, &NumberName::name);
    if (found == std::end(kNumberNames)) return lines_.error(TextLines::quoted(name) + " is not a type of numbers");
    return found->type;
  }

  Result<void> read_property() {
    if (header_.elements.empty()) return lines_.error("a property comes before the first element");
    Property property;
    TextLines ahead = lines_;
    if (ahead.word() == "list") {
      (void)lines_.word();
      SHERD_TRY(count, number());
      if (count >= Number::float32) return lines_.error("the length of a list must be an integer");
      property.count = count;
    }
    SHERD_TRY(type, number());
    property.type = type;
    property.name = std::string(lines_.word());
    header_.elements.back().properties.push_back(std::move(property));
    return {};
  }

  TextLines& lines_;
  PlyHeader header_;
  bool encoding_ = false;
};

// The numbers after the header, in sequence.
class PlyValues {
 public:
  PlyValues(Encoding encoding, TextLines lines, std::size_t offset)
      : encoding_(encoding), lines_(lines), binary_(lines.rest()), offset_(offset) {}

  /// Begins a new element: in text, a non-empty line.
  Result<void> begin() {
    if (encoding_ != Encoding::ascii) return {};
    for (;;) {
      if (!lines_.next()) return corrupt("the file ends after line " + std::to_string(lines_.number()));
      TextLines ahead = lines_;
      if (!ahead.word().empty()) return {};
    }
  }
  Result<double> read(Number type) {
    if (encoding_ == Encoding::ascii) return lines_.real("a number");
    const std::size_t size = size_of(type);
    if (size > binary_.size()) return ends();
    std::array<std::byte, 8> word{};
    std::memcpy(word.data(), binary_.data(), size);
    binary_.remove_prefix(size);
    offset_ += size;
    if (encoding_ == Encoding::big) std::reverse(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(size));
    return value_of(type, word.data());
  }
  Result<void> skip(Number type, std::uint64_t count) {
    if (encoding_ == Encoding::ascii) {
      for (std::uint64_t i = 0; i < count; ++i)
        if (lines_.word().empty()) return lines_.error("the line ends before its last number");
      return {};
    }
    if (count > binary_.size() / size_of(type)) return ends();
    binary_.remove_prefix(count * size_of(type));
    offset_ += count * size_of(type);
    return {};
  }
  [[nodiscard]] Error error(const std::string& what) const {
    return encoding_ == Encoding::ascii ? lines_.error(what) : corrupt("byte " + std::to_string(offset_) + ": " + what);
  }
  /// The number of bytes, without the line being read.
  [[nodiscard]] std::uint64_t left() const {
    return encoding_ == Encoding::ascii ? lines_.rest().size() : binary_.size();
  }

 private:
  static double value_of(Number type, const std::byte* word) {
    switch (type) {
      case Number::int8:
        return static_cast<std::int8_t>(load_little<std::uint8_t>(word));
      case Number::uint8:
        return load_little<std::uint8_t>(word);
      case Number::int16:
        return static_cast<std::int16_t>(load_little<std::uint16_t>(word));
      case Number::uint16:
        return load_little<std::uint16_t>(word);
      case Number::int32:
        return static_cast<std::int32_t>(load_little<std::uint32_t>(word));
      case Number::uint32:
        return load_little<std::uint32_t>(word);
      case Number::float32:
        return std::bit_cast<float>(load_little<std::uint32_t>(word));
      case Number::float64:
        break;
    }
    return std::bit_cast<double>(load_little<std::uint64_t>(word));
  }
  [[nodiscard]] Error ends() const {
    return corrupt("the file ends at byte " + std::to_string(offset_ + binary_.size()));
  }

  Encoding encoding_;
  TextLines lines_;
  std::string_view binary_;
  std::size_t offset_;
};

class MeshReader {
 public:
  MeshReader(const PlyHeader& header, PlyValues values) : header_(header), values_(std::move(values)) {}

  Result<Mesh> read() && {
    bool vertices = false;
    for (const Element& element : header_.elements) {
      if (element.count != 0 && element.properties.empty())
        return corrupt("the element '" + element.name + "' has no properties");
      // Each property of an element has at least one byte.
      if (element.count != 0 && element.count > values_.left() / element.properties.size())
        return corrupt("the header declares " + std::to_string(element.count) + " of '" + element.name +
                       "', but only " + std::to_string(values_.left()) + " bytes are left");
      vertices = vertices || element.name == "vertex";
      if (element.name == "vertex") SHERD_TRY(find_axes(element));
      if (element.name == "vertex") mesh_.vertices.reserve(element.count);
      for (std::uint64_t i = 0; i < element.count; ++i) SHERD_TRY(read_element(element));
    }
    if (!vertices) return corrupt("there is no element 'vertex'");
    for (std::size_t i = 0; i < mesh_.triangles.size(); ++i)
      for (const std::uint32_t vertex : mesh_.triangles[i])
        if (vertex >= mesh_.vertices.size())
          return corrupt("triangle " + std::to_string(i) + " names vertex " + std::to_string(vertex) +
                         ", but there are " + std::to_string(mesh_.vertices.size()));
    return std::move(mesh_);
  }

 private:
  static Result<void> find_axes(const Element& element) {
    for (const std::string_view axis : {"x", "y", "z"}) {
      const auto found = std::ranges::find(element.properties, axis, &Property::name);
      if (found == element.properties.end() || found->count)
        return corrupt("the vertices have no property '" + std::string(axis) + "'");
    }
    return {};
  }

  Result<void> read_element(const Element& element) {
    const bool is_vertex = element.name == "vertex", is_face = element.name == "face";
    SHERD_TRY(values_.begin());
    if (is_vertex) mesh_.vertices.emplace_back();
    for (const Property& property : element.properties) {
      if (is_face && property.count && (property.name == "vertex_indices" || property.name == "vertex_index")) {
        SHERD_TRY(read_face(property));
      } else if (property.count) {
        SHERD_TRY(count, read_count(*property.count));
        SHERD_TRY(values_.skip(property.type, count));
      } else {
        const std::size_t axis = property.name.size() == 1 ? std::string_view("xyz").find(property.name) : 3;
        SHERD_TRY(value, values_.read(property.type));
        if (!is_vertex || axis >= 3) continue;
        if (!(std::abs(value) <= std::numeric_limits<float>::max()))
          return values_.error("a coordinate is not finite in float32");
        mesh_.vertices.back()[axis] = static_cast<float>(value);
      }
    }
    return {};
  }

  Result<std::uint64_t> read_count(Number type) {
    SHERD_TRY(count, values_.read(type));
    if (count < 0 || count != std::trunc(count) || count > 0xFFFFFFFFU)
      return values_.error("the length of a list is not a whole number from 0 to 2^32-1");
    return static_cast<std::uint64_t>(count);
  }

  Result<void> read_face(const Property& property) {
    SHERD_TRY(count, read_count(*property.count));
    std::uint32_t first = 0, previous = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      SHERD_TRY(number, values_.read(property.type));
      if (number < 0 || number != std::trunc(number) || number > 0xFFFFFFFFU)
        return values_.error("a face names a vertex that is not a whole number from 0 to 2^32-1");
      const auto vertex = static_cast<std::uint32_t>(number);
      if (i == 0) first = vertex;
      if (i >= 2) mesh_.triangles.push_back({first, previous, vertex});
      previous = vertex;
    }
    return {};
  }

  const PlyHeader& header_;
  PlyValues values_;
  Mesh mesh_;
};

}  // namespace

Result<Mesh> parse_ply(Bytes bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  TextLines lines(text);
  SHERD_TRY(header, HeaderReader(lines).read());
  return MeshReader(header, PlyValues(header.encoding, lines, text.size() - lines.rest().size())).read();
}

Result<std::string> print_ply(const Mesh& mesh) {
  SHERD_TRY(mesh.print());  // checks its vertex numbers
  std::string text = "ply\nformat binary_little_endian 1.0\nelement vertex " + std::to_string(mesh.vertices.size()) +
                     "\nproperty float x\nproperty float y\nproperty float z\nelement face " +
                     std::to_string(mesh.triangles.size()) + "\nproperty list uchar uint vertex_indices\nend_header\n";
  const auto append = [&](std::uint32_t word) {
    char bytes[sizeof word];
    store_little(reinterpret_cast<std::byte*>(bytes), word);
    text.append(bytes, sizeof bytes);
  };
  for (const auto& vertex : mesh.vertices)
    for (const float at : vertex) append(std::bit_cast<std::uint32_t>(at));
  for (const auto& triangle : mesh.triangles) {
    text += '\x03';
    for (const std::uint32_t vertex : triangle) append(vertex);
  }
  return text;
}

}  // namespace sherd
