// The table of file formats, searched by name or suffix.
#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "base/try.hpp"
#include "io/files.hpp"

namespace sherd {
namespace {

constexpr std::array<const FileFormat*, 6> kFormats = {&kNiftiFiles, &kNpyFiles, &kRawFiles,
                                                       &kPngFiles,   &kPgmFiles, &kTiffFiles};

}  // namespace

std::span<const FileFormat* const> file_formats() noexcept { return kFormats; }

bool has_suffix(std::string_view path, std::span<const std::string_view> suffixes) noexcept {
  return std::any_of(suffixes.begin(), suffixes.end(), [&](std::string_view suffix) {
    return path.size() > suffix.size() && equals_in_any_case(path.substr(path.size() - suffix.size()), suffix);
  });
}

Result<const FileFormat*> find_file_format(std::string_view name, const std::string& path) {
  std::string known;
  for (const FileFormat* format : kFormats) {
    if (name.empty() ? has_suffix(path, format->suffixes) : name == format->name) return format;
    known += (known.empty() ? "" : ", ") + std::string(format->name);
  }
  if (name.empty())
    return invalid_argument(
               "the suffix is not that of a known file format; name the format (import --from, export --to): " + known +
               (path.ends_with(".zarr") ? "; arrays and groups are copied by 'sherd copy'" : ""))
        .in_key(path);
  return invalid_argument("unknown file format '" + std::string(name) + "'; known are: " + known);
}

}  // namespace sherd
