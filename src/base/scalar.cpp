// One element of any type as JSON: the fill-value encodings of Zarr v3 and of the registered data types. Reading
// accepts the forms of known writers (base64 as well as lists of bytes); writing is canonical. scalar_number.cpp has
// the numbers, scalar_dtype.cpp the types.
#include "base/scalar.hpp"

#include <algorithm>
#include <cstring>

#include "base/base64.hpp"
#include "base/endian.hpp"
#include "base/float_format.hpp"
#include "base/scalar_number.hpp"
#include "base/try.hpp"

namespace sherd {

namespace {

using Kind = DType::Kind;

Result<void> parse_into(const Json& json, const DType& dtype, std::byte* to);

Error wrong_type(const DType& dtype, std::string_view wanted) {
  return invalid_argument("a value of " + dtype.name() + " is " + std::string(wanted));
}

std::string at_index(std::size_t i) { return "[" + std::to_string(i) + "]"; }

Result<void> parse_boolean(const Json& json, const DType& dtype, std::byte* to) {
  const auto value = json.as_bool();
  if (!value) return wrong_type(dtype, "true or false");
  *to = std::byte{*value};
  return {};
}

Result<void> parse_complex(const Json& json, const DType& dtype, std::byte* to) {
  if (!json.is_array() || json.size() != 2) return wrong_type(dtype, "a list of two numbers, [real, imaginary]");
  for (std::size_t i = 0; i < 2; ++i)
    SHERD_TRY(parse_float(json.elements()[i], *part_of_complex(dtype.kind()), to + i * dtype.size() / 2)
                  .in_member(at_index(i)));
  return {};
}

// A list of bytes, or base64.
Result<std::string> parse_bytes(const Json& json, const DType& dtype) {
  if (json.is_string()) {
    auto bytes = decode_base64(json.text());
    if (!bytes) return wrong_type(dtype, "a list of integers from 0 to 255, or text in base64");
    return *std::move(bytes);
  }
  if (!json.is_array()) return wrong_type(dtype, "a list of integers from 0 to 255");
  std::string bytes;
  bytes.reserve(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    const auto value = json.elements()[i].as_uint();
    if (!value || *value > 255) return wrong_type(dtype, "a list of integers from 0 to 255").in_member(at_index(i));
    bytes += static_cast<char>(*value);
  }
  return bytes;
}

Result<void> parse_raw(const Json& json, const DType& dtype, std::byte* to) {
  SHERD_TRY(bytes, parse_bytes(json, dtype));
  const bool padded = dtype.kind() == Kind::null_terminated_bytes && bytes.size() < dtype.size();
  if (bytes.size() != dtype.size() && !padded)
    return invalid_argument("a value of " + dtype.name() + " has " + std::to_string(dtype.size()) + " bytes, not " +
                            std::to_string(bytes.size()));
  std::memcpy(to, bytes.data(), bytes.size());
  return {};
}

Result<void> parse_utf32(const Json& json, const DType& dtype, std::byte* to) {
  if (!json.is_string()) return wrong_type(dtype, "a string");
  const auto is_tail = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
  const std::string& text = json.text();
  const auto count = text.size() - static_cast<std::size_t>(std::count_if(text.begin(), text.end(), is_tail));
  if (count > dtype.size() / 4)
    return invalid_argument("the string has " + std::to_string(count) + " code points; " + dtype.name() + " of " +
                            std::to_string(dtype.size()) + " bytes holds " + std::to_string(dtype.size() / 4));
  for (std::size_t i = 0; i < text.size(); to += 4) {
    const auto first = static_cast<unsigned char>(text[i++]);
    std::uint32_t code = first < 0x80   ? first
                         : first < 0xE0 ? first & 0x1Fu
                         : first < 0xF0 ? first & 0x0Fu
                                        : first & 0x07u;
    for (; i < text.size() && is_tail(text[i]); ++i) code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3Fu);
    std::memcpy(to, &code, 4);
  }
  return {};
}

void to_native(const DType& dtype, std::byte* element) {
  for (const DTypeField& field : dtype.fields()) {
    to_native(field.dtype, element);
    element += field.dtype.size();
  }
  if (dtype.word_size() > 1) swap_words({element, dtype.size()}, dtype.word_size());
}

// Packed little-endian bytes, used by `structured` before `struct` required an object.
Result<void> parse_packed(const Json& json, const DType& dtype, std::byte* to) {
  SHERD_TRY(bytes, parse_bytes(json, dtype));
  if (bytes.size() != dtype.size())
    return invalid_argument("a packed struct of this type has " + std::to_string(dtype.size()) + " bytes, not " +
                            std::to_string(bytes.size()));
  std::memcpy(to, bytes.data(), bytes.size());
  if (std::endian::native == std::endian::big) to_native(dtype, to);
  return {};
}

Result<void> parse_struct(const Json& json, const DType& dtype, std::byte* to) {
  if (json.is_string()) return parse_packed(json, dtype, to);
  if (!json.is_object()) return wrong_type(dtype, "an object with a value for every field");
  std::vector<const Json::Member*> members;
  members.reserve(json.size());
  for (const Json::Member& member : json.members()) members.push_back(&member);
  std::sort(members.begin(), members.end(), [](const auto* a, const auto* b) { return a->first < b->first; });
  for (const DTypeField& field : dtype.fields()) {
    const auto found =
        std::lower_bound(members.begin(), members.end(), field.name,
                         [](const auto* member, const std::string& name) { return member->first < name; });
    if (found == members.end() || (*found)->first != field.name)
      return invalid_argument("missing; the value of a struct must have every field").in_member(field.name);
    SHERD_TRY(parse_into((*found)->second, field.dtype, to).in_member(field.name));
    to += field.dtype.size();
  }
  if (members.size() != dtype.fields().size())
    return invalid_argument("a struct of " + std::to_string(dtype.fields().size()) + " fields has a value with " +
                            std::to_string(members.size()));
  return {};
}

// null, or a list of one value.
Result<void> parse_optional(const Json& json, const DType& dtype, std::byte* to) {
  if (json.is_null()) return {};
  if (!json.is_array() || json.size() != 1) return wrong_type(dtype, "null or a list of one value");
  const DType& value = dtype.fields().front().dtype;
  SHERD_TRY(parse_into(json.elements()[0], value, to).in_member(at_index(0)));
  to[value.size()] = std::byte{1};
  return {};
}

// For fixed-size types; `to` is filled with zeros.
Result<void> parse_into(const Json& json, const DType& dtype, std::byte* to) {
  if (float_format(dtype.kind())) return parse_float(json, dtype.kind(), to);
  if (part_of_complex(dtype.kind())) return parse_complex(json, dtype, to);
  switch (dtype.kind()) {
    case Kind::boolean:
      return parse_boolean(json, dtype, to);
    case Kind::raw:
    case Kind::null_terminated_bytes:
      return parse_raw(json, dtype, to);
    case Kind::utf32:
      return parse_utf32(json, dtype, to);
    case Kind::structure:
      return parse_struct(json, dtype, to);
    case Kind::optional:
      return parse_optional(json, dtype, to);
    default:
      return parse_integer(json, dtype, to);
  }
}

Json print_raw(std::span<const std::byte> element) {
  Json::Array bytes;
  bytes.reserve(element.size());
  for (const std::byte byte : element) bytes.emplace_back(std::to_integer<int>(byte));
  return bytes;
}

// Values that are not code points (elements come from stored bytes) are printed as U+FFFD.
Json print_utf32(std::span<const std::byte> element) {
  std::size_t count = element.size() / 4;
  const auto code_at = [&](std::size_t i) {
    std::uint32_t code;
    std::memcpy(&code, element.data() + i * 4, 4);
    return code > 0x10FFFF || (code >= 0xD800 && code < 0xE000) ? 0xFFFDu : code;
  };
  while (count > 0 && code_at(count - 1) == 0) --count;
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t code = code_at(i);
    const int tails = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    constexpr unsigned kLead[] = {0x00, 0xC0, 0xE0, 0xF0};
    text += static_cast<char>(kLead[tails] | code >> (6 * tails));
    for (int tail = tails - 1; tail >= 0; --tail) text += static_cast<char>(0x80 | (code >> (6 * tail) & 0x3F));
  }
  return text;
}

Json print_struct(std::span<const std::byte> element, const DType& dtype) {
  Json::Object members;
  std::size_t offset = 0;
  for (const DTypeField& field : dtype.fields()) {
    members.emplace_back(field.name, print_scalar(element.subspan(offset, field.dtype.size()), field.dtype));
    offset += field.dtype.size();
  }
  return members;
}

/// Base64 without trailing zeros, as zarr-python writes it.
Json print_null_terminated(std::span<const std::byte> element) {
  std::string_view text(reinterpret_cast<const char*>(element.data()), element.size());
  text.remove_suffix(text.size() - (text.find_last_not_of('\0') + 1));
  return encode_base64(text);
}

VarBytes var_bytes(const std::byte* element) {
  VarBytes value;
  std::memcpy(&value, element, sizeof value);
  return value;
}

}  // namespace

Scalar::Scalar(std::string text) : text_(std::make_shared<const std::string>(std::move(text))) {
  const VarBytes value{text_->data(), text_->size()};
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  bytes_ = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
}

Scalar default_scalar(const DType& dtype) {
  return dtype.is_variable() ? Scalar(std::string()) : Scalar(std::vector<std::byte>(dtype.size()));
}

Result<Scalar> parse_scalar(const Json& json, const DType& dtype) {
  if (json.is_null() && dtype.kind() != Kind::optional) {
    const bool brief = dtype.size() <= 16;
    return invalid_argument("null is not a value of " + dtype.name() + "; write one" +
                            (brief ? ", such as " + print_scalar(default_scalar(dtype).bytes(), dtype).dump() : ""));
  }
  if (dtype.kind() == Kind::string) {
    if (!json.is_string()) return wrong_type(dtype, "a string");
    return Scalar(json.text());
  }
  if (dtype.kind() == Kind::bytes) {
    SHERD_TRY(bytes, parse_bytes(json, dtype));
    return Scalar(std::move(bytes));
  }
  std::vector<std::byte> element(dtype.size());
  SHERD_TRY(parse_into(json, dtype, element.data()));
  return Scalar(std::move(element));
}

Json print_scalar(std::span<const std::byte> element, const DType& dtype) {
  const std::byte* const from = element.data();
  if (float_format(dtype.kind())) return print_float(from, dtype.kind());
  if (const auto part = part_of_complex(dtype.kind()))
    return Json::Array{print_float(from, *part), print_float(from + dtype.size() / 2, *part)};
  switch (dtype.kind()) {
    case Kind::boolean:
      return *from != std::byte{0};
    case Kind::raw:
      return print_raw(element);
    case Kind::string:
      return var_bytes(from).view();
    case Kind::bytes:
      return encode_base64(var_bytes(from).view());  // the only form that both zarr-python and zarrs read
    case Kind::null_terminated_bytes:
      return print_null_terminated(element);
    case Kind::utf32:
      return print_utf32(element);
    case Kind::structure:
      return print_struct(element, dtype);
    case Kind::optional: {
      const DType& value = dtype.fields().front().dtype;
      if (element.back() == std::byte{0}) return nullptr;
      return Json(Json::Array{print_scalar(element.first(value.size()), value)});
    }
    default:
      return print_integer(from, dtype);
  }
}

bool equal_elements(const DType& dtype, const std::byte* a, const std::byte* b) noexcept {
  if (dtype.is_variable()) return var_bytes(a).view() == var_bytes(b).view();
  return std::memcmp(a, b, dtype.size()) == 0;
}

}  // namespace sherd
