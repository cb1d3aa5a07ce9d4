#include "copy/options.hpp"

#include <algorithm>

namespace sherd {

Error in_source(Error error, const std::string& key, const CopyOptions& options) {
  const std::pair<std::string_view, bool> set[] = {
      {"axes", !options.axes.empty()},
      {"chunks", options.chunks.has_value()},
      {"codecs", options.codecs.has_value()},
      {"dtype", options.dtype.has_value()},
      {"encoding", !options.encoding.empty()},
      {"index_location", options.index_location.has_value()},
      {"pyramid", options.pyramid.has_value()},
      {"select", options.select.has_value()},
      {"resolution", options.resolution.has_value()},
      {"sharding", options.sharding.has_value()},
      {"shards", options.shards.has_value() || options.auto_shards || options.chunks.has_value() ||
                     !options.format.empty()},  // some formats have none
      {"voxel_offset", options.voxel_offset.has_value()},
  };
  const std::string_view member = error.member();
  const std::string_view root = member.substr(0, member.find_first_of(".["));
  const bool is_request = error.code() == ErrorCode::invalid_argument || error.code() == ErrorCode::unsupported;
  const bool is_set =
      std::ranges::any_of(set, [&](const auto& option) { return option.first == root && option.second; });
  if (is_request && is_set && error.key().empty()) return error;
  return std::move(error).in_key(key);
}

Error of_request(const Error& error) { return Error(error.code(), error.message()).in_member(error.member()); }

}  // namespace sherd
