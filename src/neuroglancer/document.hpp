// Info documents: typed members, errors that name them, and unknown members, which are kept.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/try.hpp"
#include "sherd/json.hpp"
#include "sherd/neuroglancer.hpp"
#include "store/key.hpp"

namespace sherd::neuroglancer {

/// The members of one object. A member counts as known once it is asked for; others() returns the rest. Must not
/// outlive the object.
class ObjectMembers {
 public:
  /// invalid_argument if `json` is not an object; with `type`, `unsupported` if its "@type" is different.
  static Result<ObjectMembers> open(const Json& json, std::string_view type = {});

  /// nullptr if the member is absent or null.
  const Json* find(std::string_view key);
  /// Without `absent`, a missing member is invalid_argument, as are members of another type.
  Result<std::string> text(std::string_view key, std::optional<std::string_view> absent = {});
  Result<double> number(std::string_view key);
  Result<std::uint64_t> integer(std::string_view key, std::uint64_t low, std::uint64_t high);
  /// x, y, z, each at least `low`.
  Result<Triple> triple(std::string_view key, std::uint64_t low);
  /// Exactly `count` numbers, if given.
  Result<std::vector<double>> numbers(std::string_view key, std::optional<std::size_t> count = {});
  Result<std::vector<std::string>> texts(std::string_view key);
  /// The identity if it is absent.
  Result<Transform> transform();
  /// An object, or null if it is absent.
  Result<Json> sharding();
  /// Reads the members that documents of meshes and skeletons share: `sharding`, `segment_properties`, others(). Call
  /// it last.
  template <class Info>
  Result<void> rest(Info& info) {
    SHERD_TRY(how, sharding());
    info.sharding = std::move(how);
    SHERD_TRY(properties, text("segment_properties", ""));
    info.segment_properties = std::move(properties);
    info.other = others();
    return {};
  }
  /// Calls `parse` for each element of an array. A missing array is invalid_argument unless it is `optional`.
  Result<void> each(std::string_view key, bool optional, const std::function<Result<void>(const Json&)>& parse);

  /// The members never asked for, in their order; null if there are none.
  [[nodiscard]] Json others() const;

 private:
  explicit ObjectMembers(const Json& object) : object_(&object) {}

  const Json* object_;
  std::vector<std::string> known_;
};

/// The key relative to a store's root, without `.`, `..` and doubled `/`, so that keys can be compared; a key outside
/// the store is unchanged.
[[nodiscard]] std::string plain_path(const std::string& key);

/// The directory named by `key`, a member of the info document at `path`. unsupported if it is outside the store or
/// cannot be a directory of any store.
[[nodiscard]] Result<std::string> directory_of(const std::string& path, const std::string& key);

[[nodiscard]] Error member_error(std::string_view key, std::string message);

/// A finite number, for coordinates, scales and bounds.
Result<double> finite(const Json& value);
/// x, y, z, each at least `low`.
Result<Triple> parse_triple(const Json& value, std::uint64_t low);

/// Prints whole numbers without a fraction, as JSON writers of other languages do.
Json number_json(double value);
Json numbers_json(std::span<const double> values);
/// The default name of a scale, as in other writers: 8_8_40.
std::string key_of_resolution(std::span<const double> nanometres);
Json texts_json(const std::vector<std::string>& values);
/// Sets a member unless the value is null or an empty string.
void set_present(Json& document, std::string_view key, Json value);
/// Adds the members that others() returned. invalid_argument if a known member is among them.
Result<Json> with_others(Json document, const Json& others);
/// A whole info document with the members of `others`; fails unless Info itself can read the result.
template <class Info>
Result<Json> checked_print(Json document, const Json& others) {
  SHERD_TRY(whole, with_others(std::move(document), others));
  SHERD_TRY(Info::parse(whole));
  return whole;
}

}  // namespace sherd::neuroglancer
