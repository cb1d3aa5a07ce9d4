// The limits by name, for the command line, its environment, and Python's dict. One table has all names; the error for
// an unknown name lists the known ones.
#include "sherd/options.hpp"

#include <algorithm>
#include <string>

namespace sherd {

namespace {

struct NamedLimit {
  std::string_view name;
  std::uint64_t Limits::* value;
};

constexpr NamedLimit kLimits[] = {
    {"shard_nesting", &Limits::shard_nesting}, {"json_depth", &Limits::json_depth},
    {"json_values", &Limits::json_values},     {"metadata_bytes", &Limits::metadata_bytes},
    {"index_bytes", &Limits::index_bytes},     {"chunk_bytes", &Limits::chunk_bytes},
    {"element_bytes", &Limits::element_bytes}, {"dimensions", &Limits::dimensions},
    {"decode_ratio", &Limits::decode_ratio},
};

/// Effectively unlimited, but two limits can still be added.
constexpr std::uint64_t kLargest = std::uint64_t{1} << 60U;

}  // namespace

Result<void> Limits::set(std::string_view name, std::uint64_t value) {
  std::string known;
  for (const NamedLimit& limit : kLimits) {
    if (limit.name == name) {
      this->*limit.value = std::min(value, kLargest);
      return {};
    }
    known += known.empty() ? "" : ", ";
    known += limit.name;
  }
  return invalid_argument("unknown limit '" + std::string(name) + "'; the limits are " + known);
}

std::vector<std::pair<std::string_view, std::uint64_t>> Limits::entries() const {
  std::vector<std::pair<std::string_view, std::uint64_t>> all;
  for (const NamedLimit& limit : kLimits) all.emplace_back(limit.name, this->*limit.value);
  return all;
}

}  // namespace sherd
