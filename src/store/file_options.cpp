// Reads the values of storage options.
#include "store/file_options.hpp"

#include <string>
#include <utility>

#include "base/try.hpp"

namespace sherd {
namespace {

/// Sets `to` to the value of an option, if it is given: the first of two words, or the second.
template <class T>
Result<void> choose(const Config& config, const char* option, const std::pair<std::string_view, T> (&words)[2], T& to) {
  const auto given = config.storage_options.find(option);
  if (given == config.storage_options.end()) return {};
  for (const auto& [word, value] : words) {
    if (given->second != word) continue;
    to = value;
    return {};
  }
  return invalid_argument("must be " + std::string(words[0].first) + " or " + std::string(words[1].first) + ", not '" +
                          given->second + "'")
      .in_member(std::string("storage_options.") + option);
}

constexpr std::pair<std::string_view, bool> kSwitch[2] = {{"true", true}, {"false", false}};
constexpr std::pair<std::string_view, Locking> kLocking[2] = {{"auto", Locking::automatic}, {"none", Locking::none}};

}  // namespace

Result<Config> with_file_options(Config config) {
  SHERD_TRY(choose(config, "durable", kSwitch, config.durable));
  SHERD_TRY(choose(config, "follow_symlinks", kSwitch, config.follow_symlinks));
  SHERD_TRY(choose(config, "lock", kLocking, config.lock));
  return config;
}

Result<bool> is_standalone(const Config& config) {
  bool standalone = false;
  SHERD_TRY(choose(config, "standalone", kSwitch, standalone));
  return standalone;
}

}  // namespace sherd
