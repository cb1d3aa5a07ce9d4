// NumPy's .npy files, versions 1 to 3, as NEP 1 and numpy.lib.format describe them: a magic, a Python dictionary
// literal with descr, fortran_order and shape, then the elements.
// Object arrays are pickles, which can run code; they are refused. `S` becomes raw bytes and `V` too.
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>

#include "base/endian.hpp"
#include "base/float_format.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "base/utf8.hpp"
#include "format/numpy_type.hpp"
#include "io/files.hpp"

namespace sherd {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr unsigned kDeepest = 16;

// The Python literals of a header, consumed from the front of `text`.
class Literal {
 public:
  explicit Literal(std::string_view text) : text_(text), whole_(text.size()) {}

  void skip_space() {
    while (!text_.empty() && is_json_space(text_.front())) text_.remove_prefix(1);
  }
  bool take(std::string_view token) {
    skip_space();
    if (!text_.starts_with(token)) return false;
    text_.remove_prefix(token.size());
    return true;
  }
  Result<void> expect(std::string_view token) {
    if (take(token)) return {};
    return wrong("'" + std::string(token) + "' is expected");
  }
  [[nodiscard]] bool at(char c) {
    skip_space();
    return !text_.empty() && text_[0] == c;
  }
  [[nodiscard]] bool at_string() { return at('\'') || at('"'); }
  [[nodiscard]] bool empty() {
    skip_space();
    return text_.empty();
  }
  Result<std::string> string();
  Result<std::uint64_t> number();
  Result<Shape> shape();
  Error wrong(const std::string& what) const {
    return corrupt("npy header: " + what + " at character " + std::to_string(whole_ - text_.size()));
  }

 private:
  std::string_view text_;
  std::size_t whole_;
};

Result<std::string> Literal::string() {
  skip_space();
  if (!at_string()) return wrong("a string is expected");
  const char quote = text_[0];
  text_.remove_prefix(1);
  std::string value;
  while (!text_.empty() && text_[0] != quote) {
    if (text_[0] != '\\') {
      value += text_[0];
      text_.remove_prefix(1);
      continue;
    }
    if (text_.size() < 2) break;
    const char kind = text_[1];
    const std::size_t digits = kind == 'x' ? 2 : kind == 'u' ? 4 : 0;
    if (digits == 0 && kind != '\\' && kind != '\'' && kind != '"') return wrong("unknown escape");
    std::uint32_t code = static_cast<unsigned char>(kind);
    if (digits != 0) {
      const auto hex = text_.substr(2, digits);
      const auto parsed = std::from_chars(hex.data(), hex.data() + hex.size(), code, 16);
      if (hex.size() != digits || parsed.ptr != hex.data() + digits) return wrong("damaged escape");
    }
    append_utf8(code, value);
    text_.remove_prefix(2 + digits);
  }
  if (text_.empty()) return wrong("a string does not end");
  text_.remove_prefix(1);
  return value;
}

Result<std::uint64_t> Literal::number() {
  skip_space();
  std::uint64_t value = 0;
  const auto parsed = std::from_chars(text_.data(), text_.data() + text_.size(), value);
  if (parsed.ec != std::errc{} || value > (std::uint64_t{1} << 62)) return wrong("a length is expected");
  text_.remove_prefix(static_cast<std::size_t>(parsed.ptr - text_.data()));
  take("L");  // Python 2 wrote long integers like this
  return value;
}

Result<Shape> Literal::shape() {
  SHERD_TRY(expect("("));
  Shape shape;
  while (!take(")")) {
    SHERD_TRY(length, number());
    shape.push_back(length);
    if (shape.size() > 64) return wrong("more than 64 dimensions");
    if (!take(",") && !at(')')) return wrong("',' or ')' is expected");
  }
  return shape;
}

struct NpyType {
  DType dtype;
  std::vector<WordSwap> swaps;
};

bool is_foreign_order(char order) {
  return order == '>' ? std::endian::native == std::endian::little
                      : order == '<' && std::endian::native == std::endian::big;
}

// "8[25s]" of M8 and m8: unit and scale factor.
Result<DType> parse_time(char kind, std::string_view rest) {
  const auto make = kind == 'M' ? DType::datetime64 : DType::timedelta64;
  if (rest == "8") return make("generic", 1);
  if (!rest.starts_with("8[") || !rest.ends_with("]")) return corrupt("npy header: damaged time type");
  rest = rest.substr(2, rest.size() - 3);
  std::int32_t scale = 1;
  const auto parsed = std::from_chars(rest.data(), rest.data() + rest.size(), scale);
  if (parsed.ec == std::errc{}) rest.remove_prefix(static_cast<std::size_t>(parsed.ptr - rest.data()));
  return make(rest, scale);
}

std::optional<DType> number_dtype(std::string_view code) {
  constexpr std::pair<std::string_view, const DType*> kCodes[] = {
      {"b1", &DType::bool_},     {"i1", &DType::int8},       {"i2", &DType::int16},   {"i4", &DType::int32},
      {"i8", &DType::int64},     {"u1", &DType::uint8},      {"u2", &DType::uint16},  {"u4", &DType::uint32},
      {"u8", &DType::uint64},    {"f2", &DType::float16},    {"f4", &DType::float32}, {"f8", &DType::float64},
      {"c8", &DType::complex64}, {"c16", &DType::complex128}};
  for (const auto& [name, dtype] : kCodes)
    if (name == code) return *dtype;
  return std::nullopt;
}

Result<DType> parse_code(std::string_view code) {
  if (const auto known = number_dtype(code)) return *known;
  if (code.starts_with("O"))
    return unsupported("npy: object arrays hold Python pickles; save a fixed-size type instead");
  if (code.starts_with("M") || code.starts_with("m")) return parse_time(code[0], code.substr(1));
  std::uint64_t length = 0;
  const std::string_view digits = code.empty() ? code : code.substr(1);
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), length);
  const bool whole = parsed.ec == std::errc{} && parsed.ptr == digits.data() + digits.size();
  if (!whole || length > (std::uint64_t{1} << 32) || std::string_view("USVa").find(code[0]) == std::string_view::npos)
    return unsupported("npy: the type '" + std::string(code) + "' is not supported");
  if (code[0] == 'U') return DType::fixed_length_utf32(4 * length);
  return code[0] == 'V' ? DType::raw(8 * length) : DType::null_terminated_bytes(length);
}

Result<NpyType> parse_element(Literal& text, unsigned depth);

// [('name', descr), ('name', descr), …]
Result<NpyType> parse_fields(Literal& text, unsigned depth) {
  if (depth > kDeepest) return unsupported("npy: structs are nested deeper than 16, the maximum");
  std::vector<DTypeField> fields;
  std::vector<WordSwap> swaps;
  std::uint64_t offset = 0;
  while (!text.take("]")) {
    SHERD_TRY(text.expect("("));
    if (text.at('(')) return unsupported("npy: fields with titles are not supported");
    SHERD_TRY(name, text.string());
    SHERD_TRY(text.expect(","));
    SHERD_TRY(inner, parse_element(text, depth + 1));
    if (text.take(",") && !text.at(')')) return unsupported("npy: field '" + name + "' is an array itself");
    SHERD_TRY(text.expect(")"));
    if (name.empty()) return unsupported("npy: the struct has padding between its fields; save it packed");
    for (WordSwap& swap : inner.swaps) swaps.push_back({swap.offset + offset, swap.bytes, swap.word});
    offset += inner.dtype.size();
    fields.push_back({std::move(name), std::move(inner.dtype)});
    if (!text.take(",") && !text.at(']')) return text.wrong("',' or ']' is expected");
  }
  SHERD_TRY(dtype, DType::structure(std::move(fields)));
  return NpyType{std::move(dtype), std::move(swaps)};
}

Result<NpyType> parse_element(Literal& text, unsigned depth) {
  if (text.take("[")) return parse_fields(text, depth);
  SHERD_TRY(descr, text.string());
  const bool marked = !descr.empty() && std::string_view("<>|=").find(descr[0]) != std::string_view::npos;
  SHERD_TRY(dtype, parse_code(std::string_view(descr).substr(marked ? 1 : 0)));
  NpyType element{std::move(dtype), {}};
  if (marked && is_foreign_order(descr[0])) element.swaps = word_swaps(element.dtype);
  return element;
}

Result<NpyHeader> parse_dictionary(std::string_view source) {
  Literal text(source);
  std::optional<NpyType> element;
  std::optional<Shape> shape;
  std::optional<bool> fortran;
  SHERD_TRY(text.expect("{"));
  while (!text.take("}")) {
    SHERD_TRY(key, text.string());
    SHERD_TRY(text.expect(":"));
    if (key == "descr") {
      SHERD_TRY(parsed, parse_element(text, 0));
      element = std::move(parsed);
    } else if (key == "shape") {
      SHERD_TRY(parsed, text.shape());
      shape = std::move(parsed);
    } else if (key == "fortran_order") {
      fortran = text.take("True");
      if (!*fortran) SHERD_TRY(text.expect("False"));
    } else {
      return text.wrong("unknown key '" + key + "'");
    }
    if (!text.take(",") && !text.at('}')) return text.wrong("',' or '}' is expected");
  }
  if (!text.empty()) return text.wrong("unexpected text after the dictionary");
  if (!element || !shape || !fortran) return corrupt("npy header: one of descr, fortran_order, shape is missing");
  NpyHeader header;
  header.array.shape = std::move(*shape);
  header.array.dtype = std::move(element->dtype);
  header.array.fortran = *fortran && header.array.shape.size() > 1;
  if (header.array.fortran) header.array.shape = Shape(header.array.shape.rbegin(), header.array.shape.rend());
  header.layout.swaps = std::move(element->swaps);
  return header;
}

Result<std::unique_ptr<ArrayFileReader>> open_npy(const std::string& path, const ImportOptions& options) {
  SHERD_TRY(file, InputFile::open(path));
  const Limits& limits = options.create.config.limits;
  SHERD_TRY(header,
            read_npy_header(
                [&](std::uint64_t offset, std::span<std::byte> into) { return file->read_at(offset, into); }, limits)
                .in_key(path));
  SHERD_TRY(array_bytes(header.array.shape, header.array.dtype, limits).in_key(path));
  return flat_reader(std::move(file), std::move(header.array), std::move(header.layout)).in_key(path);
}

// ---- writing ----

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + "'";
}

Result<std::string> print_descr(const DType& dtype) {
  constexpr bool kBig = std::endian::native == std::endian::big;
  if (is_opaque_to_numpy(dtype.kind()))
    return quoted((dtype.size() == 1 ? "|V" : kBig ? ">V" : "<V") + std::to_string(dtype.size()));
  if (dtype.kind() == DType::Kind::structure) {
    std::string fields;
    for (const DTypeField& field : dtype.fields()) {
      SHERD_TRY(inner, print_descr(field.dtype));
      fields += (fields.empty() ? "(" : ", (") + quoted(field.name) + ", " + inner + ")";
    }
    return "[" + fields + "]";
  }
  const auto name = print_numpy_type({.dtype = dtype, .big_endian = kBig});
  if (name && !dtype.is_variable()) return quoted(name->text());
  return unsupported("npy can store '" + dtype.name() + "' only as pickled objects, which are not supported");
}

Result<std::unique_ptr<ArrayFileWriter>> create_npy(const std::string& path, const FileArray& array, WriteMode mode) {
  SHERD_TRY(header, npy_header(array.dtype, array.shape).in_key(path));
  return flat_writer(path, mode, std::move(header), array.dtype.size());
}

constexpr std::string_view kNpySuffixes[] = {".npy"};

}  // namespace

Result<NpyHeader> read_npy_header(const std::function<Result<void>(std::uint64_t, std::span<std::byte>)>& read,
                                  const Limits& limits) {
  std::array<std::byte, 12> start{};
  SHERD_TRY(read(0, std::span(start).first(10)));
  if (std::string_view(reinterpret_cast<const char*>(start.data()), kMagic.size()) != kMagic)
    return corrupt("is not an npy file: it does not begin with \\x93NUMPY");
  const auto version = std::to_integer<unsigned>(start[6]);
  if (version < 1 || version > 3)
    return unsupported("npy version " + std::to_string(version) + " is not supported; 1 to 3 are");
  if (version > 1) SHERD_TRY(read(10, std::span(start).subspan(10)));
  const std::uint64_t at = version == 1 ? 10 : 12;
  const std::uint64_t size =
      version == 1 ? load_little<std::uint16_t>(&start[8]) : load_little<std::uint32_t>(&start[8]);
  if (size > limits.metadata_bytes)
    return unsupported("the npy header has " + std::to_string(size) +
                       " bytes, more than the limit 'metadata_bytes' of " + std::to_string(limits.metadata_bytes));
  Buffer text;
  SHERD_TRY(text.resize(size));
  SHERD_TRY(read(at, text.span()));
  SHERD_TRY(header, parse_dictionary({reinterpret_cast<const char*>(text.data()), text.size()}));
  header.layout.offset = at + size;
  return header;
}

Result<std::string> npy_header(const DType& dtype, const Shape& shape) {
  SHERD_TRY(descr, print_descr(dtype));
  std::string text = "{'descr': " + descr + ", 'fortran_order': False, 'shape': " + to_string(shape) + ", }";
  const bool ascii = text.find_first_of('\0') == std::string::npos &&
                     std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  // The elements begin at a multiple of 64; a newline ends the header.
  const bool small = ascii && text.size() + 64 < 65536;
  const std::size_t before = small ? 10 : 12;
  text.append(63 - (before + text.size()) % 64, ' ');
  text += '\n';
  std::string header(kMagic);
  (header += static_cast<char>(small ? 1 : ascii ? 2 : 3)) += '\0';
  for (std::size_t i = 0; i < before - 8; ++i) header += static_cast<char>(text.size() >> (8 * i) & 0xff);
  return header + text;
}

constinit const FileFormat kNpyFiles{"npy", kNpySuffixes, open_npy, create_npy};

}  // namespace sherd
