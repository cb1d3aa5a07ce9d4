// Reading a codec's configuration: typed members with bounds, and the refusal of unknown members.
// Every error names its member as `configuration.<key>`; the chain puts the codec's position before it.
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

/// The members of one configuration. Read every member that the codec knows, then call done(). The spec outlives it.
class Configuration {
 public:
  /// invalid_argument where the configuration is neither absent nor an object.
  static Result<Configuration> open(const CodecSpec& spec);
  /// The same; what is read though no specification has it so goes to the context's remarks.
  static Result<Configuration> open(const CodecSpec& spec, const CodecContext& context);

  /// The member, or nullptr where it is absent; from now on it counts as known.
  const Json* find(std::string_view key);
  /// A member of one type; `absent` is its default, and without that a missing member is
  /// invalid_argument, as are wrong types and values out of bounds.
  Result<std::int64_t> integer(std::string_view key, IntegerBounds bounds, std::optional<std::int64_t> absent = {});
  /// An integer that may also be its decimal digits in a string, as netcdf-c 4.9 writes its filters' parameters:
  /// {"id": "zlib", "level": "5"}.
  Result<std::int64_t> integer_or_text(std::string_view key, IntegerBounds bounds,
                                       std::optional<std::int64_t> absent = {});
  Result<bool> boolean(std::string_view key, std::optional<bool> absent = {});
  Result<std::string> text(std::string_view key, std::optional<std::string_view> absent = {});
  /// Refuses with `unsupported` the first member that was never asked for.
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

/// The integer after the colon of a short form such as "zstd:3"; `absent` where there is none.
Result<std::int64_t> short_integer(std::string_view argument, IntegerBounds bounds, std::int64_t absent);
/// The size of an element for codecs that look at bytes by it; 1 where elements have no size of their own.
[[nodiscard]] inline std::uint64_t element_bytes(const DType& dtype) noexcept {
  return dtype.is_variable() ? 1 : dtype.size();
}
/// For short forms without an argument.
Result<void> no_argument(std::string_view argument);

}  // namespace sherd
