// Recognizes files of other programs by their first bytes.
#include "api/recognized.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>

#include "api/registry.hpp"
#include "array/hierarchy.hpp"
#include "base/url.hpp"
#include "neuroglancer/codecs.hpp"
#include "neuroglancer/collection.hpp"
#include "os/calls.hpp"
#include "os/fd.hpp"

namespace sherd {
namespace {

constexpr std::string_view kImport = "; make an array of it with 'sherd import FILE URL'";
struct FileKind {
  std::size_t offset;
  std::string_view bytes;
  std::string_view name, advice;
};

using namespace std::string_view_literals;
constexpr FileKind kFileKinds[] = {
    {0, "\x89HDF\r\n\x1a\n"sv, "an HDF5 file",
     "; read it with h5py and store its datasets with sherd.create_array(URL, data=dataset)"},
    {0, "II*\0"sv, "a TIFF file", kImport},
    {0, "MM\0*"sv, "a TIFF file", kImport},
    {0, "II+\0"sv, "a TIFF file", kImport},
    {0, "MM\0+"sv, "a TIFF file", kImport},
    {344, "n+1\0"sv, "a NIfTI file", kImport},
    {4, "n+2\0\r\n\x1a\n"sv, "a NIfTI file", kImport},
    {0, "\x93NUMPY"sv, "an .npy file", kImport},
    {0, "\x89PNG\r\n\x1a\n"sv, "a PNG file", kImport},
    {0, "PK\x03\x04"sv, "a ZIP file", "; unpack it and open the directory"},
};
constexpr std::size_t kHeadBytes = 348;

std::optional<Error> recognized_head(const std::string& path) {
  std::array<char, kHeadBytes> head{};
  const os::Fd file(os::openat(AT_FDCWD, path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  const ssize_t got = file ? os::pread_all(file.get(), std::as_writable_bytes(std::span(head)), 0) : 0;
  const std::string_view bytes(head.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  for (const FileKind& kind : kFileKinds)
    if (bytes.size() >= kind.offset + kind.bytes.size() && bytes.substr(kind.offset, kind.bytes.size()) == kind.bytes)
      return unsupported(path + " is " + std::string(kind.name) + std::string(kind.advice));
  if (!bytes.starts_with("\x1f\x8b")) return std::nullopt;
  if (path.ends_with(".nii.gz")) return unsupported(path + " is a NIfTI file" + std::string(kImport));
  return unsupported(path + " is a gzip file; decompress it first");
}

/// Objects are not arrays, and are opened in another way.
std::string hint_at_objects(const NodeLocation& location) {
  const auto found = neuroglancer::Collection::State::find(
      {.store = location.store, .path = location.path, .codecs = precomputed_codecs(), .config = location.config});
  if (!found || !*found) return {};
  return "; there are " + std::string(neuroglancer::kind_name((**found)->info)) +
         ", which are opened as a collection of objects";
}

/// The directory of a location in a store of files.
std::optional<std::filesystem::path> directory_of(const NodeLocation& location) {
  const auto path = path_of_store(location.store->url());
  if (!path) return std::nullopt;
  return location.path.empty() ? std::filesystem::path(*path) : std::filesystem::path(*path) / location.path;
}

}  // namespace

std::optional<Error> recognized_file(const std::string& path) {
  for (std::filesystem::path part = path; part.has_relative_path(); part = part.parent_path()) {
    struct stat status{};
    if (os::fstatat(AT_FDCWD, part.c_str(), status) != 0) continue;
    if (S_ISREG(status.st_mode)) return recognized_head(part.string());
    break;
  }
  return std::nullopt;
}

Error nothing_found(const NodeLocation& location, const std::vector<const Format*>& formats) {
  const auto directory = directory_of(location);
  const std::string where = directory ? directory->string() : url_below(location.store->url(), location.path);
  if (directory && !os::exists(directory->c_str()) && (errno == ENOENT || errno == ENOTDIR)) {
    if (auto file = recognized_file(where)) return *std::move(file);
    return not_found("directory does not exist: " + where);
  }
  std::string looked_for;
  for (const Format* format : formats) {
    std::string keys;
    for (const std::string& key : format->keys(location.path).documents) keys += (keys.empty() ? "" : ", ") + key;
    looked_for += (looked_for.empty() ? "" : ", ") + keys + " (" + std::string(format->name()) + ")";
  }
  const std::string what = directory ? "directory exists, but contains no array or group: " : "no array or group at ";
  return not_found(what + where + "; looked for " + looked_for + hint_at_objects(location))
      .in_key(formats.front()->likeliest_key(location.path));
}

}  // namespace sherd
