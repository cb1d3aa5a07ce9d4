// JSON for metadata documents: key order and the text of numbers and strings are kept, duplicate keys are refused,
// depth and size are limited, and errors give the byte offset.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sherd/export.hpp"
#include "sherd/result.hpp"

namespace sherd {

/// One JSON value. Compares by content (objects regardless of key order, numbers by their text).
class SHERD_API Json {
 public:
  enum class Type : std::uint8_t { null, boolean, number, string, array, object };
  using Member = std::pair<std::string, Json>;
  using Array = std::vector<Json>;
  using Object = std::vector<Member>;  ///< in the order of the text

  Json() = default;              ///< null
  Json(std::nullptr_t) {}        // NOLINT(google-explicit-constructor)
  Json(bool value);              // NOLINT(google-explicit-constructor)
  Json(int value);               // NOLINT(google-explicit-constructor)
  Json(std::int64_t value);      // NOLINT(google-explicit-constructor)
  Json(std::uint64_t value);     // NOLINT(google-explicit-constructor)
  Json(double value);            ///< shortest text that reads back; null if not finite  NOLINT
  Json(std::string value);       // NOLINT(google-explicit-constructor)
  Json(std::string_view value);  // NOLINT(google-explicit-constructor)
  Json(const char* value);       // NOLINT(google-explicit-constructor)
  Json(Array value);             // NOLINT(google-explicit-constructor)
  Json(Object value);            // NOLINT(google-explicit-constructor)
  /// An array of numbers, from a Shape.
  static Json numbers(const std::vector<std::uint64_t>& values);
  /// A number given by its text, which must be a JSON number (otherwise null).
  static Json number(std::string text);

  /// Parses UTF-8 text. A byte order mark, NaN, trailing bytes, duplicate keys and lone surrogates are `corrupt`. A
  /// depth above `max_depth` (at most 4096) or more values than `max_values` are `unsupported`. Values are counted
  /// before any is made, and each container allocates only the memory of its values.
  static Result<Json> parse(std::string_view text, std::uint64_t max_depth = 128,
                            std::uint64_t max_values = std::uint64_t{4} << 20);
  /// The text. Parsed values keep their spelling, except for the space between them and unnecessary escapes in keys.
  /// With indent > 0, each member of an object and each element of an array is on its own line, as in documents of
  /// zarr-python.
  [[nodiscard]] std::string dump(int indent = 0) const;

  [[nodiscard]] Type type() const noexcept {
    return std::holds_alternative<Escaped>(value_) ? Type::string : static_cast<Type>(value_.index());
  }
  [[nodiscard]] bool is_null() const noexcept { return type() == Type::null; }
  [[nodiscard]] bool is_bool() const noexcept { return type() == Type::boolean; }
  [[nodiscard]] bool is_number() const noexcept { return type() == Type::number; }
  [[nodiscard]] bool is_string() const noexcept { return type() == Type::string; }
  [[nodiscard]] bool is_array() const noexcept { return type() == Type::array; }
  [[nodiscard]] bool is_object() const noexcept { return type() == Type::object; }

  [[nodiscard]] std::optional<bool> as_bool() const noexcept;
  /// Only for numbers without fraction and exponent that fit the type.
  [[nodiscard]] std::optional<std::int64_t> as_int() const noexcept;
  [[nodiscard]] std::optional<std::uint64_t> as_uint() const noexcept;
  /// Any number, rounded half to even; overflow is an infinity.
  [[nodiscard]] std::optional<double> as_double() const noexcept;
  /// The text of a string or the digits of a number; empty for other types.
  [[nodiscard]] const std::string& text() const noexcept;

  /// The elements of an array (empty for other types) and the members of an object (empty for other types).
  [[nodiscard]] const Array& elements() const noexcept;
  [[nodiscard]] const Object& members() const noexcept;
  [[nodiscard]] std::span<Json> elements() noexcept;
  [[nodiscard]] std::span<Member> members() noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return is_object() ? members().size() : elements().size(); }

  /// The member's value, or nullptr.
  [[nodiscard]] const Json* find(std::string_view key) const noexcept;
  Json* find(std::string_view key) noexcept;
  /// Sets a member, at its old position or at the end; turns null into an object. Compares with every member, as find()
  /// does; to build an object with very many members, use an Object.
  Json& set(std::string_view key, Json value);
  bool erase(std::string_view key);
  /// Adds an element; turns null into an array.
  void push_back(Json value);

  friend SHERD_API bool operator==(const Json& a, const Json& b) noexcept;

 private:
  class Parser;
  class Printer;
  struct Number {
    std::string text;
  };
  /// A string whose source text differs from dump()'s: its value, and the source text including quotes.
  struct Spelling {
    std::string text, written;
  };
  using Escaped = std::shared_ptr<const Spelling>;  ///< rare, so kept no larger than the others
  explicit Json(Number value) : value_(std::move(value)) {}
  explicit Json(Escaped value) : value_(std::move(value)) {}

  std::variant<std::monostate, bool, Number, std::string, Array, Object, Escaped> value_;  ///< in the order of Type
};

}  // namespace sherd
