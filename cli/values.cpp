// Parses and prints values on the command line: binary units, comma-separated shapes, JSON given directly or as @FILE.
// Makes text from untrusted names safe for a terminal.
#include "cli/values.hpp"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "base/float_format.hpp"
#include "base/scalar.hpp"
#include "base/scalar_dtype.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "base/utf8.hpp"
#include "format/numpy_type.hpp"
#include "io/files.hpp"

namespace sherd::cli {
namespace {

Result<std::string> read_text(const std::string& path) {
  SHERD_TRY(file, InputFile::open(path));
  const std::uint64_t limit = Limits{}.metadata_bytes;
  if (file->size_bound() > limit)
    return std::move(unsupported("has " + print_bytes(file->size_bound()) + ", more than the " + print_bytes(limit) +
                                 " that a document may have"))
        .in_key(path);
  std::string text(file->size_bound(), '\0');
  SHERD_TRY(file->read_at(0, {reinterpret_cast<std::byte*>(text.data()), text.size()}).in_key(path));
  return text;
}

/// "xff".
std::string hex_escape(char c) {
  constexpr std::string_view kHex = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  return {'x', kHex[byte >> 4], kHex[byte & 15]};
}

}  // namespace

Result<Shape> parse_shape(std::string_view text) {
  Shape shape;
  if (text.empty() || text == "()") return shape;
  for (const std::string_view part : split(text, ',')) {
    std::uint64_t length = 0;
    const auto parsed = std::from_chars(part.data(), part.data() + part.size(), length);
    if (parsed.ec != std::errc{} || parsed.ptr != part.data() + part.size() || length >> 63 != 0)
      return invalid_argument("'" + std::string(text) + "' is not a shape; write it as 512,512");
    shape.push_back(length);
  }
  return shape;
}

Result<std::vector<double>> parse_positive(const std::string& text, std::size_t count) {
  std::string json;  // has a digit before the decimal point
  for (const char c : text)
    json.append(c == '.' && (json.empty() || json.back() < '0' || json.back() > '9') ? "0" : "").push_back(c);
  const auto list = Json::parse("[" + json + "]");
  std::vector<double> numbers;
  for (std::size_t i = 0; list && i < list->size(); ++i) {
    const auto value = list->elements()[i].as_double();
    if (!value || !(*value > 0) || !std::isfinite(*value))
      return invalid_argument("'" + text + "' must contain only positive numbers");
    numbers.push_back(*value);
  }
  if (count != 0 && numbers.size() != count)
    return invalid_argument("'" + text + "' is not " + std::to_string(count) + " numbers; write x,y,z, as in 8,8,40");
  if (!numbers.empty()) return numbers;
  return invalid_argument("'" + text + "' is not a list of numbers; write it as 8,8,40");
}

Result<std::array<std::int64_t, 3>> parse_voxel(const std::string& text) {
  std::array<std::int64_t, 3> voxel{};
  const auto parts = split(text, ',');
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::string_view part = parts[i];
    part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
    const auto parsed = std::from_chars(part.data(), part.data() + part.size(), voxel[std::min<std::size_t>(i, 2)]);
    if (parts.size() != 3 || parsed.ec != std::errc{} || parsed.ptr != part.data() + part.size())
      return invalid_argument("'" + text + "' is not three whole numbers; write x,y,z, as in 0,0,200");
  }
  return voxel;
}

Result<std::vector<std::string>> names_in(std::string_view list, char separator, std::string_view option) {
  std::vector<std::string> names;
  for (const std::string_view part : split(list, separator))
    if (!part.empty()) names.emplace_back(part);
  if (!names.empty()) return names;
  return invalid_argument(std::string(option) + ": '" + std::string(list) + "' contains no name");
}

std::vector<std::optional<std::string>> parse_names(std::string_view text) {
  std::vector<std::optional<std::string>> names;
  if (text.empty()) return names;
  for (const std::string_view part : split(text, ','))
    names.push_back(part.empty() ? std::nullopt : std::optional<std::string>(part));
  return names;
}

namespace {

/// Types that NumPy names without a size, and its one-letter codes, as on 64-bit Linux.
constexpr std::pair<std::string_view, std::string_view> kNumpyNames[] = {{"?", "bool"},
                                                                         {"bool_", "bool"},
                                                                         {"byte", "int8"},
                                                                         {"b", "int8"},
                                                                         {"ubyte", "uint8"},
                                                                         {"B", "uint8"},
                                                                         {"short", "int16"},
                                                                         {"h", "int16"},
                                                                         {"ushort", "uint16"},
                                                                         {"H", "uint16"},
                                                                         {"intc", "int32"},
                                                                         {"i", "int32"},
                                                                         {"uintc", "uint32"},
                                                                         {"I", "uint32"},
                                                                         {"int", "int64"},
                                                                         {"int_", "int64"},
                                                                         {"long", "int64"},
                                                                         {"l", "int64"},
                                                                         {"longlong", "int64"},
                                                                         {"q", "int64"},
                                                                         {"uint", "uint64"},
                                                                         {"ulong", "uint64"},
                                                                         {"L", "uint64"},
                                                                         {"ulonglong", "uint64"},
                                                                         {"Q", "uint64"},
                                                                         {"half", "float16"},
                                                                         {"e", "float16"},
                                                                         {"single", "float32"},
                                                                         {"f", "float32"},
                                                                         {"float", "float64"},
                                                                         {"double", "float64"},
                                                                         {"d", "float64"},
                                                                         {"csingle", "complex64"},
                                                                         {"F", "complex64"},
                                                                         {"complex", "complex128"},
                                                                         {"cdouble", "complex128"},
                                                                         {"D", "complex128"}};

/// NumPy's spellings, with or without a byte order: "f4", "<u2", "=i4", "double", "<M8[ns]". `unknown` for anything
/// else.
Result<FileType> parse_numpy_name(std::string text, Error unknown) {
  for (const auto& [name, type] : kNumpyNames)
    if (name == text) return FileType{DType::parse(type).value(), std::nullopt};
  if (text.starts_with('=')) text.front() = std::endian::native == std::endian::big ? '>' : '<';
  const auto other = [](std::string_view name) -> Result<NumpyType> { return unknown_numpy_type(name); };
  auto type = parse_numpy_type(text, other);
  const bool has_order = type && (text.front() == '<' || text.front() == '>');
  if (!type) type = parse_numpy_type("<" + text, other);
  if (!type || type->dtype.is_variable()) return unknown;
  return FileType{type->dtype, has_order ? std::optional(type->big_endian) : std::nullopt};
}

}  // namespace

Result<FileType> parse_file_dtype(const std::string& text) {
  if (!text.starts_with('{')) {
    auto named = parse_dtype_name(text, ErrorCode::invalid_argument);
    return named ? FileType{*std::move(named), std::nullopt} : parse_numpy_name(text, std::move(named).error());
  }
  SHERD_TRY(json, parse_json_argument(text));
  SHERD_TRY(dtype, parse_dtype(json, ErrorCode::invalid_argument));
  return FileType{std::move(dtype), std::nullopt};
}

Result<DType> parse_dtype_argument(const std::string& text) {
  SHERD_TRY(type, parse_file_dtype(text));
  if (type.big_endian != true) return std::move(type.dtype);
  return invalid_argument(
      "'" + text + "' includes a byte order; use " + type.dtype.name() +
      R"(, and set the byte order with --codec '{"name": "bytes", "configuration": {"endian": "big"}}')");
}

Result<void> check_file_dtype(const DType& in_file, const DType& of_array) {
  const bool opaque = is_opaque_to_numpy(of_array.kind()) && in_file.kind() == DType::Kind::raw;
  if (in_file == of_array || (opaque && in_file.size() == of_array.size())) return {};
  return invalid_argument("holds " + print_dtype(in_file).dump() + ", the array " + print_dtype(of_array).dump());
}

Shape without_ones(Shape shape) {
  std::erase(shape, std::uint64_t{1});
  return shape;
}

Result<Json> parse_json_argument(const std::string& text) {
  const auto as_request = [](const Error& error) {
    if (error.code() != ErrorCode::corrupt) return error;
    return Error(invalid_argument("not JSON: " + error.message())).in_member(error.member());
  };
  if (!text.starts_with('@')) {
    auto json = Json::parse(text);
    if (!json) return as_request(json.error());
    return json;
  }
  const std::string path = text.substr(1);
  SHERD_TRY(content, read_text(path));
  auto json = Json::parse(content);
  if (!json) return as_request(json.error()).in_key(path);
  return json;
}

Json parse_value_argument(const std::string& text) {
  auto json = Json::parse(text);
  return json ? *std::move(json) : Json(text);
}

namespace {

/// Converts a codec in numcodecs' form, {"id": "zlib", "level": 1}, to that of Zarr v3; keeps any other form.
Json with_name(Json codec) {
  const Json* id = codec.is_object() && codec.find("name") == nullptr ? codec.find("id") : nullptr;
  if (id == nullptr || !id->is_string()) return codec;
  const std::string name = "numcodecs." + id->text();
  codec.erase("id");
  return Json::Object{{"name", name}, {"configuration", std::move(codec)}};
}

}  // namespace

Result<std::vector<Json>> parse_codecs(const std::vector<std::string>& texts) {
  std::vector<Json> codecs;
  for (const std::string& text : texts) {
    if (!text.starts_with('{') && !text.starts_with('[') && !text.starts_with('@')) {
      codecs.emplace_back(text);
      continue;
    }
    SHERD_TRY(json, parse_json_argument(text));
    if (!json.is_array()) json = Json::Array{std::move(json)};
    for (Json& codec : json.elements()) codecs.push_back(with_name(std::move(codec)));
  }
  return codecs;
}

std::string print_count(std::uint64_t count, std::string_view thing) {
  return std::to_string(count) + " " + std::string(thing) + (count == 1 ? "" : "s");
}

std::string escape_invalid_utf8(std::string_view text, std::string_view backslash) {
  std::string valid;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text.substr(i));
    if (length == 0)
      (valid += backslash) += hex_escape(text[i]);
    else
      valid += text.substr(i, length);
    i += std::max<std::size_t>(length, 1);
  }
  return valid;
}

std::string json_text(const Json& json, int indent) { return escape_invalid_utf8(json.dump(indent), R"(\\)"); }

std::string printable(std::string_view unsafe) {
  const std::string text = escape_invalid_utf8(unsafe);
  std::string safe;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    // In UTF-8, the bytes 0xc2 0x80 … 0xc2 0x9f are control characters too.
    const bool second = i > 0 && text[i - 1] == '\xc2' && c >= 0x80 && c < 0xa0;
    if (c >= 0x20 && c != 0x7f && !second) {
      safe += text[i];
      continue;
    }
    if (second) safe.pop_back();
    (safe += '\\') += hex_escape(text[i]);
  }
  return safe;
}

std::string shortened(std::string text, std::size_t width) {
  if (text.size() <= width) return text;
  std::size_t end = width - 1;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  text.resize(end);
  return text + "…";
}

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string text;
  for (const std::string& word : words) text.append(text.empty() ? "" : between).append(word);
  return text;
}

std::string last_component(std::string_view url) {
  while (url.size() > 1 && url.ends_with('/')) url.remove_suffix(1);
  const auto slash = url.rfind('/');
  return std::string(slash == std::string_view::npos || slash + 1 == url.size() ? url : url.substr(slash + 1));
}

std::string print_table(const std::vector<std::vector<std::string>>& rows) {
  const auto width = [](const std::string& cell) {
    std::size_t columns = 0;
    for (const char c : cell) columns += (static_cast<unsigned char>(c) & 0xc0) != 0x80 ? 1 : 0;
    return columns;
  };
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i + 1 < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line.append(widths[i] - width(row[i]) + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

}  // namespace sherd::cli
