#include "netcdf/rc_file.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "base/try.hpp"
#include "os/calls.hpp"

namespace sherd::netcdf {
namespace {

constexpr std::uint64_t kRcBytes = std::uint64_t{1} << 20;
constexpr std::string_view kFileNames[] = {".ncrc", ".daprc", ".dodsrc"};

std::string authority_of(const StoreUrl& url) { return lowered(url.host) + (url.port.empty() ? "" : ":" + url.port); }

}  // namespace

void RcFile::add(std::string_view text) {
  for (std::string_view line : split(text, '\n')) {
    line = trimmed(line);
    Entry entry;
    if (const auto end = line.find(']'); line.starts_with('[') && end != line.npos) {
      std::string_view url = trimmed(line.substr(1, end - 1));
      if (const auto scheme = url.find("://"); scheme != url.npos) url.remove_prefix(scheme + 3);
      const auto slash = std::min(url.find('/'), url.size());
      entry.authority = lowered(url.substr(0, slash));
      entry.path = url.substr(slash);
      line = trimmed(line.substr(end + 1));
    }
    const auto equals = line.find('=');
    entry.key = lowered(trimmed(line.substr(0, equals)));
    if (equals == line.npos || !entry.key.starts_with("aws.")) continue;
    entry.value = trimmed(line.substr(equals + 1));
    entries_.push_back(std::move(entry));
  }
}

std::optional<std::string> RcFile::find(std::string_view key, const StoreUrl& url) const {
  const std::string name = lowered(key), authority = authority_of(url);
  const Entry* found = nullptr;
  for (const Entry& entry : entries_) {
    const bool is_general = entry.authority.empty();
    const bool applies = is_general || (entry.authority == authority && url.path.starts_with(entry.path));
    const bool is_less_special = found != nullptr && is_general && !found->authority.empty();
    if (entry.key == name && applies && !is_less_special) found = &entry;
  }
  return found == nullptr || found->value.empty() ? std::nullopt : std::optional(found->value);
}

Result<RcFile> read_rc_files(const remote::Environment& environment) {
  RcFile files;
  if (environment("NCRCENV_IGNORE")) return files;
  std::vector<std::string> paths;
  if (const auto path = environment("NCRCENV_RC")) {
    paths.push_back(*path);
  } else {
    const auto home = environment("NCRCENV_HOME");
    for (const std::string_view name : kFileNames)
      paths.push_back(home ? *home + '/' + std::string(name)
                           : remote::expand_home("~/" + std::string(name), environment));
    paths.insert(paths.end(), std::begin(kFileNames), std::end(kFileNames));
  }
  for (const std::string& path : paths) {
    if (!os::exists(path.c_str())) continue;
    SHERD_TRY(text, remote::read_small_file(path, kRcBytes));
    files.add(text);
  }
  return files;
}

}  // namespace sherd::netcdf
