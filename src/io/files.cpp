// The table of file formats, searched by name or suffix.
#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "io/files.hpp"
#include "os/calls.hpp"
#include "store/store_url.hpp"

namespace sherd {
namespace {

constexpr std::array<const FileFormat*, 6> kFormats = {&kNiftiFiles, &kNpyFiles, &kRawFiles,
                                                       &kPngFiles,   &kPgmFiles, &kTiffFiles};

Result<std::string> path_of_file(const std::string& name, std::string_view advice) {
  if (!is_url(name) || os::exists(name.c_str())) return name;
  if (scheme_of(name) == "file") return file_path(name);
  return unsupported("'" + shown_name(name) + "' is a URL, and " + std::string(advice));
}

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

Result<std::string> path_to_import(const std::string& name) {
  return path_of_file(name,
                      "only local files are imported: download it, or pipe it into 'sherd import - DST --from FORMAT'; "
                      "arrays and groups are copied by 'sherd copy'");
}

Result<std::string> path_to_export(const std::string& name) {
  return path_of_file(name,
                      "files are written to local paths: upload the file afterwards; arrays are copied to URLs by "
                      "'sherd copy'");
}

}  // namespace sherd
