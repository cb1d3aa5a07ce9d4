// What a collection of Neuroglancer's objects is, for people and for programs; and what a volume's info says in
// addition to what an array does.
#pragma once

#include <string>
#include <vector>

#include "neuroglancer/collection.hpp"
#include "sherd/group.hpp"
#include "sherd/json.hpp"

namespace sherd::cli {

using neuroglancer::CollectionPart;

/// An index of a collection, and what is counted of it: nothing where `counted` is false.
struct PartCount {
  CollectionPart part;
  bool counted = false;
  std::uint64_t objects = 0;
  bool complete = true;  ///< false: there are at least so many
};
/// Counts as many as are counted soon.
Result<std::vector<PartCount>> count_parts(const neuroglancer::Collection::State& collection, bool counted);

/// The members of `info --json` but for `stored`.
[[nodiscard]] Json describe(const neuroglancer::Collection::State& collection, const std::vector<PartCount>& parts);
[[nodiscard]] std::vector<std::vector<std::string>> describe_rows(const neuroglancer::Collection::State& collection,
                                                                  const std::vector<PartCount>& parts);

/// The scales of a volume, as its info has them, and what else it leads to; null for any other group.
[[nodiscard]] Json scales_of(const Group& group);
[[nodiscard]] std::vector<std::vector<std::string>> scale_rows(const Group& group);
/// The sharding of a scale, and in words why it has no shape of shards, where it has none; null for any other array.
[[nodiscard]] Json sharding_of(const Array& array);
[[nodiscard]] std::string sharding_text(const Json& sharding);
[[nodiscard]] std::string why_no_shards(const Array& array);

}  // namespace sherd::cli
