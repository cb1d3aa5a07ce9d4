// Describes a collection of Neuroglancer objects, as text and as JSON; also what a volume's info document contains in
// addition to an array's metadata.
#pragma once

#include <string>
#include <vector>

#include "neuroglancer/collection.hpp"
#include "sherd/group.hpp"
#include "sherd/json.hpp"

namespace sherd::cli {

using neuroglancer::CollectionPart;

/// An index of a collection, and its counts, which are only valid if `counted` is true.
struct PartCount {
  CollectionPart part;
  bool counted = false;
  std::uint64_t objects = 0;
  bool complete = true;  ///< false: `objects` is only a lower bound
};
/// Counts as many objects as it can in a short time.
Result<std::vector<PartCount>> count_parts(const neuroglancer::Collection::State& collection, bool counted);

/// The members of `info --json` except `stored`.
[[nodiscard]] Json describe(const neuroglancer::Collection::State& collection, const std::vector<PartCount>& parts);
[[nodiscard]] std::vector<std::vector<std::string>> describe_rows(const neuroglancer::Collection::State& collection,
                                                                  const std::vector<PartCount>& parts);

/// The scales of a volume as in its info document, and the collections it links to; null for any other group.
[[nodiscard]] Json scales_of(const Group& group);
[[nodiscard]] std::vector<std::vector<std::string>> scale_rows(const Group& group);
/// The sharding of a scale and, if it has no shard shape, the reason in words; null for any other array.
[[nodiscard]] Json sharding_of(const Array& array);
[[nodiscard]] std::string sharding_text(const Json& sharding);
[[nodiscard]] std::string why_no_shards(const Array& array);

}  // namespace sherd::cli
