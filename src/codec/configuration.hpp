// Reads a codec's configuration: typed members with bounds; unknown members are refused. Every error names its member
// as `configuration.<key>`; the chain prepends the codec's position.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codec/codec.hpp"

namespace sherd {

/// The integers low … high.
struct IntegerBounds {
  std::int64_t low = 0;
  std::int64_t high = 0;
};

/// The members of one configuration. Read every known member, then call done(). The spec must outlive it.
class Configuration {
 public:
  /// invalid_argument if the configuration is present and not an object.
  static Result<Configuration> open(const CodecSpec& spec);
  /// open() that adds to the context's remarks the values that are accepted although no specification has them.
  static Result<Configuration> open(const CodecSpec& spec, const CodecContext& context);

  /// The member, or nullptr if it is absent; it counts as known afterwards.
  const Json* find(std::string_view key);
  /// A member of one type; `absent` is its default. Without a default, a missing member is invalid_argument, as are
  /// wrong types and values out of bounds.
  Result<std::int64_t> integer(std::string_view key, IntegerBounds bounds, std::optional<std::int64_t> absent = {});
  /// An integer that may also be a string of its decimal digits, as in the filter parameters of netcdf-c 4.9: {"id":
  /// "zlib", "level": "5"}.
  Result<std::int64_t> integer_or_text(std::string_view key, IntegerBounds bounds,
                                       std::optional<std::int64_t> absent = {});
  Result<bool> boolean(std::string_view key, std::optional<bool> absent = {});
  Result<std::string> text(std::string_view key, std::optional<std::string_view> absent = {});
  /// `unsupported` for the first member that was never asked for.
  [[nodiscard]] Result<void> done() const;

 private:
  Configuration(const Json& object, std::string_view codec) : object_(&object), codec_(codec) {}
  [[nodiscard]] Error wrong(std::string_view key, std::string_view expected) const;

  const Json* object_;
  std::string_view codec_;
  std::vector<std::string_view> known_;
  std::vector<std::string>* remarks_ = nullptr;
};

/// An error about one member: "configuration.<key>".
[[nodiscard]] Error configuration_error(std::string_view key, std::string message);

/// The integer after the colon of a short form such as "zstd:3"; `absent` if there is none.
Result<std::int64_t> short_integer(std::string_view argument, IntegerBounds bounds, std::int64_t absent);
/// The element size for codecs that use it to process bytes; 1 if elements have no fixed size.
[[nodiscard]] inline std::uint64_t element_bytes(const DType& dtype) noexcept {
  return dtype.is_variable() ? 1 : dtype.size();
}
/// For short forms without an argument.
Result<void> no_argument(std::string_view argument);
/// The short form of a codec that needs no member: an empty object.
Result<Json> short_without_members(std::string_view argument, const DType& dtype);

}  // namespace sherd
