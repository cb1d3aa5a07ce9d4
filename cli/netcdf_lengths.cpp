#include "cli/netcdf_lengths.hpp"

#include "base/text.hpp"
#include "base/try.hpp"
#include "cli/option_errors.hpp"

namespace sherd::cli {

Result<std::uint64_t> number_of(std::string_view text, std::string_view option) {
  if (const auto value = parse_number<std::uint64_t>(text)) return *value;
  return invalid_argument(std::string(option) + ": '" + std::string(text) + "' is not a whole number");
}

Result<void> add_lengths(const std::string& text, std::string_view option, netcdf::ShardLengths& to) {
  if (const std::size_t colon = text.rfind(':'); colon != text.npos) {
    Shape lengths;
    const std::string listed = text.substr(colon + 1);
    if (!listed.empty() && listed != "contiguous" && listed != "compact") {
      for (const std::string_view part : split(listed, ',')) {
        SHERD_TRY(length, number_of(part, option));
        lengths.push_back(length);
      }
    }
    to.variables.emplace_back(text.substr(0, colon), std::move(lengths));
    return {};
  }
  for (const std::string_view part : split(text, ',')) {
    const std::size_t slash = part.rfind('/');
    if (slash == part.npos || slash == 0)
      return invalid_argument(std::string(option) + ": '" + std::string(part) +
                              "' is neither dimension/length nor variable:lengths; write time/10,lat/ " +
                              "or temp:10,100,100");
    std::uint64_t length = 0;
    if (slash + 1 < part.size()) {
      SHERD_TRY(given, number_of(part.substr(slash + 1), option));
      if (given == 0)
        return invalid_argument(std::string(option) + ": '" + std::string(part) + "': the length must be positive");
      length = given;
    }
    to.dimensions.emplace_back(part.substr(0, slash), length);
  }
  return {};
}

Result<netcdf::ShardLengths> shard_lengths(const std::vector<std::string>& texts) {
  netcdf::ShardLengths lengths;
  for (const std::string& text : texts) {
    if (text == "auto")
      lengths.automatic = true;
    else
      SHERD_TRY(add_lengths(text, "--shards", lengths));
  }
  return lengths;
}

}  // namespace sherd::cli
