#include "cli/option_errors.hpp"

#include <algorithm>

namespace sherd::cli {
namespace {

struct Member {
  std::string_view name, option;
};
/// Members whose names differ from those of their options.
constexpr Member kMembers[] = {{"chunk_grid", "--shards"}, {"chunk_grid", "--chunks"}, {"chunk_sizes", "--chunks"},
                               {"codecs", "--codec"},      {"data_type", "--dtype"},   {"num_channels", "--shape"},
                               {"shards", "--chunks"},     {"size", "--shape"}};

/// Removes `prefix` and the index after it from the start of a member's path.
bool skip(std::string_view& path, std::string_view prefix) {
  if (!path.starts_with(prefix)) return false;
  const std::string_view rest = path.substr(prefix.size());
  if (!rest.starts_with('[')) return false;
  path = rest.substr(std::min(rest.find(']'), rest.size() - 1) + 1);
  return true;
}

std::string option_of(std::string_view root, const IsGiven& is_given) {
  std::string same = "--" + std::string(root);
  std::ranges::replace(same, '_', '-');
  if (is_given(same)) return same;
  for (const Member& member : kMembers)
    if (member.name == root && is_given(std::string(member.option))) return std::string(member.option);
  return {};
}

}  // namespace

Error in_option(const Error& error, std::string_view option) {
  return {error.code(), std::string(option) + ": " + error.text()};
}

Error name_option(const Error& error, const IsGiven& is_given) {
  using enum ErrorCode;
  const bool is_request = error.code() == invalid_argument || error.code() == unsupported || error.code() == not_found;
  std::string_view path = error.member();
  // The key of the error may be the source's, which does not describe its dimensions; the option does.
  if (is_request && path == "axes" && !is_given("--axes")) return {error.code(), "--axes: " + error.message()};
  if (path == "skip_damaged") return {error.code(), "--skip-damaged: " + error.message()};
  if (!is_request || path.empty() || !error.key().empty()) return error;
  if (skip(path, "scales") || path.starts_with("volume."))
    path.remove_prefix(std::min(path.find('.') + 1, path.size()));
  const std::string_view root = path.substr(0, path.find_first_of(".["));
  const std::string option = option_of(root, is_given);
  if (option.empty()) return error;
  // The position in the codec chain means little to a user who passed a list of options.
  if (!skip(path, root)) path.remove_prefix(root.size());
  while (skip(path, ".configuration.codecs")) {
  }
  constexpr std::string_view kGrid = ".configuration.chunk_shapes";
  if (path.starts_with(kGrid)) path.remove_prefix(kGrid.size());
  if (path.starts_with('.')) path.remove_prefix(1);
  const std::string rest = path.empty() || path == "name" ? "" : std::string(path) + ": ";
  return {error.code(), option + ": " + rest + error.message()};
}

Error name_overwrite(const Error& error, bool has_option) {
  constexpr std::string_view advice = "; overwrite it";
  std::string message = error.message();
  const std::size_t at = message.find(advice);
  if (error.code() != ErrorCode::conflict || at == message.npos) return error;
  const std::string_view rest = std::string_view(message).substr(at + advice.size());
  if (has_option)
    message.insert(at + advice.size(), " with --overwrite");
  else
    message.replace(at, advice.size() + (rest.starts_with(" or") ? 3 : 0), ";");
  return Error(error.code(), std::move(message)).in_key(error.key()).in_member(error.member());
}

}  // namespace sherd::cli
