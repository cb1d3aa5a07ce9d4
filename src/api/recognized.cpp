// Recognizes files of other programs by their first bytes.
#include "api/recognized.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>

#include "api/location.hpp"
#include "api/registry.hpp"
#include "base/url.hpp"
#include "io/files.hpp"
#include "neuroglancer/codecs.hpp"
#include "neuroglancer/collection.hpp"
#include "node/consolidated.hpp"
#include "node/new_node.hpp"
#include "node/path.hpp"
#include "os/calls.hpp"
#include "os/directory.hpp"
#include "os/fd.hpp"

namespace sherd {
namespace {

constexpr std::string_view kImport = "; make an array of it with 'sherd import FILE URL'";
constexpr std::string_view kUnpack = "; unpack it and open the directory";
constexpr std::string_view kConvert =
    "; convert it to TIFF or PNG, and make an array of that with 'sherd import FILE URL'";
constexpr std::string_view kMicroscope =
    "; bioformats2raw makes an OME-Zarr of it, which is opened, and bfconvert an OME-TIFF for 'sherd import'";
constexpr std::string_view kNetcdf = "; make a dataset of it with 'sherd nccopy FILE URL'";
struct FileKind {
  std::size_t offset;
  std::string_view bytes;
  std::string_view name, advice;
  std::string_view suffix = {};  ///< if set, only files with this suffix have this kind
};

using namespace std::string_view_literals;
// The first that matches is used.
constexpr FileKind kFileKinds[] = {
    {0, "\x89HDF\r\n\x1a\n"sv, "a netCDF-4 file", kNetcdf, ".nc"},
    {0, "\x89HDF\r\n\x1a\n"sv, "an HDF5 file",
     "; read it with h5py and store its datasets with sherd.create_array(URL, data=dataset)"},
    {0, "CDF\x01"sv, "a netCDF file", kNetcdf},
    {0, "CDF\x02"sv, "a netCDF file", kNetcdf},
    {0, "CDF\x05"sv, "a netCDF file", kNetcdf},
    {0, "II*\0"sv, "a TIFF file", kImport},
    {0, "MM\0*"sv, "a TIFF file", kImport},
    {0, "II+\0"sv, "a TIFF file", kImport},
    {0, "MM\0+"sv, "a TIFF file", kImport},
    {344, "n+1\0"sv, "a NIfTI file", kImport},
    {4, "n+2\0\r\n\x1a\n"sv, "a NIfTI file", kImport},
    {0, "\x93NUMPY"sv, "an .npy file", kImport},
    {0, "\x89PNG\r\n\x1a\n"sv, "a PNG file", kImport},
    {0, "P5"sv, "a PGM file", kImport, ".pgm"},
    {0, "P6"sv, "a PPM file", kImport, ".ppm"},
    {0, "\xff\xd8\xff"sv, "a JPEG file", kConvert},
    {0, "\0\0\0\x0cjP  "sv, "a JPEG 2000 file", kConvert},
    {0, "GIF8"sv, "a GIF file", kConvert},
    {208, "MAP "sv, "an MRC file", "; read it with mrcfile and store it with sherd.save(URL, data)"},
    {0, "NRRD000"sv, "an NRRD file", "; convert it to NIfTI, and make an array of that with 'sherd import FILE URL'"},
    {128, "DICM"sv, "a DICOM file", "; dcm2niix makes a NIfTI file of it and its neighbours for 'sherd import'"},
    {0, "ZISRAWFILE"sv, "a CZI file", kMicroscope},
    {0, "\xda\xce\xbe\x0a"sv, "an ND2 file", kMicroscope},
    {0, "\x70\0\0\0"sv, "a LIF file", kMicroscope, ".lif"},
    {0, "PK\x03\x04"sv, "an .npz file", "; store the arrays of numpy.load(FILE) with sherd.save(URL, data)", ".npz"},
    {0, "PK\x03\x04"sv, "a ZIP file", kUnpack},
    {257, "ustar"sv, "a tar file", kUnpack},
    {0, "\x28\xb5\x2f\xfd"sv, "a zstd file", "; decompress it first"},
    {0, "BZh"sv, "a bzip2 file", "; decompress it first"},
    {0,
     "\xfd"
     "7zXZ\0"sv,
     "an xz file", "; decompress it first"},
    {0, "\x1f\x8b"sv, "a NIfTI file", kImport, ".nii.gz"},
    {0, "\x1f\x8b"sv, "a gzip file", "; decompress it first"},
};
constexpr std::size_t kHeadBytes = 4096;

/// For a metadata document given instead of its directory, or references to chunks of other files.
std::optional<Error> recognized_text(const std::filesystem::path& path, std::string_view bytes) {
  const std::string name = path.filename().string();
  for (const Format* format : tables().formats)
    if (format->keys("").is_document(name))
      return invalid_argument(path.string() + " is a metadata document; open its directory, " +
                              path.parent_path().string());
  const bool is_object = bytes.starts_with('{');
  const auto has = [&](std::string_view member) { return bytes.find(member) != std::string_view::npos; };
  if (is_object && (has("\"refs\"") || has("\".zgroup\"")))
    return unsupported(path.string() +
                       " is a file of references to chunks of other files (kerchunk); open it with fsspec " +
                       "and zarr-python, and store a copy with sherd.from_array(URL, data=array)");
  return std::nullopt;
}

/// With `to_import`, only files that cannot be imported.
std::optional<Error> recognized_head(const std::filesystem::path& path, bool to_import = false) {
  std::array<char, kHeadBytes> head{};
  const os::Fd file(os::openat(AT_FDCWD, path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  const ssize_t got = file ? os::pread_all(file.get(), std::as_writable_bytes(std::span(head)), 0) : 0;
  const std::string_view bytes(head.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  for (const FileKind& kind : kFileKinds)
    if (bytes.size() >= kind.offset + kind.bytes.size() && bytes.substr(kind.offset, kind.bytes.size()) == kind.bytes &&
        path.string().ends_with(kind.suffix) && !(to_import && kind.advice == kImport))
      return unsupported(path.string() + " is " + std::string(kind.name) + std::string(kind.advice));
  return to_import ? std::nullopt : recognized_text(path, bytes);
}

/// The contents of a directory without a node, and what to do about them.
std::string hint_at_contents(const std::filesystem::path& directory, const std::vector<const Format*>& formats) {
  constexpr std::size_t kMaxEntries = 1000;
  std::string node, images;
  std::size_t seen = 0;
  os::Directory entries(AT_FDCWD, directory.c_str());
  for (const dirent64* each = entries.next(); each != nullptr && seen < kMaxEntries; each = entries.next(), ++seen) {
    const std::string name = each->d_name;
    if (name == "attributes.json")
      return "; it is N5: read it with tensorstore or z5py, and store it with sherd.save(URL, data)";
    const auto has = [&](const std::string& key) { return os::exists((directory / name / key).c_str()); };
    for (const Format* format : formats)
      if ((node.empty() || name < node) && std::ranges::any_of(format->keys("").documents, has)) node = name;
    for (const FileFormat* format : file_formats())
      if (format->order == FileOrder::planes && has_suffix(name, format->suffixes) &&
          !os::is_directory((directory / name).c_str()))
        images = format->name;
    if (name.ends_with(".dcm")) images = "dicom";
  }
  if (!node.empty()) return "; it contains " + node + ": open " + (directory / node).string();
  if (images == "dicom") return "; it contains DICOM files: dcm2niix makes NIfTI files of them for 'sherd import'";
  if (!images.empty())
    return "; it contains " + images + " files: make an array of them with 'sherd import DIRECTORY URL'";
  return {};
}

/// The error if there is a node of a format that was not requested.
std::optional<Error> other_format(const NodeLocation& location, const std::filesystem::path& directory,
                                  const std::vector<const Format*>& formats) {
  for (const Format* format : tables().formats)
    if (std::ranges::find(formats, format) == formats.end())
      for (const std::string& key : format->keys("").documents)
        if (os::exists((directory / key).c_str())) {
          const std::string name(format->name());
          return not_found("its format is " + name + ", and another one was asked for; ask for " + name +
                           " or for none (--store-format, format=)")
              .in_key(join_path(location.path, key));
        }
  return std::nullopt;
}

/// Objects are not arrays, and are opened in another way.
std::string hint_at_objects(const NodeLocation& location) {
  const auto found = neuroglancer::Collection::State::find(
      {.store = location.store, .path = location.path, .codecs = precomputed_codecs(), .config = location.config});
  if (!found || !*found) return {};
  return "; it is a collection of " + std::string(neuroglancer::kind_name((**found)->info)) +
         ": see 'sherd info', 'sherd ls' and sherd.neuroglancer.Collection";
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
    if (S_ISREG(status.st_mode)) return recognized_head(part);
    break;
  }
  return std::nullopt;
}

std::optional<Error> no_file_to_import(const std::string& source) {
  struct stat status{};
  if (os::fstatat(AT_FDCWD, source.c_str(), status) == 0)
    return S_ISREG(status.st_mode) ? recognized_head(source, true) : std::nullopt;
  if (errno != ENOENT || source.find_first_of("*?[%") != std::string::npos) return std::nullopt;
  return file_error("cannot open", source, errno);
}

namespace {

/// Says that a copy to this path is not complete.
std::string hint_at_unfinished(const NodeLocation& location) {
  const auto copy = UnfinishedNode::find(location, {});
  if (copy && copy->is_other())
    return "; a copy to this path is unfinished: the command that began it continues it with --resume";
  return {};
}

/// The same in this store, or in one inside or around it.
std::string hint_at_copies(const NodeLocation& location) {
  std::string hint = hint_at_unfinished(location);
  for (const std::string& root : ancestors(location.path)) {
    if (!hint.empty()) return hint;
    if (root.empty()) continue;
    NodeLocation inside = at_path(location, location.path.substr(root.size() + 1));
    inside.store = prefixed_store(location.store, root + "/");
    hint = hint_at_unfinished(inside);
  }
  if (!hint.empty()) return hint;
  (void)for_each_above(*location.store,
                       [&](const std::shared_ptr<Store>& outer, const std::string& above) -> Result<bool> {
                         NodeLocation there = at_path(location, join_path(above, location.path));
                         there.store = outer;
                         hint = hint_at_unfinished(there);
                         return !hint.empty();
                       });
  return hint;
}

}  // namespace

Error nothing_found(const NodeLocation& location, const std::vector<const Format*>& formats) {
  const auto directory = directory_of(location);
  const std::string where = directory ? directory->string() : url_below(location.store->url(), location.path);
  if (directory && !os::exists(directory->c_str()) && (errno == ENOENT || errno == ENOTDIR)) {
    if (auto file = recognized_file(where)) return *std::move(file);
    return not_found("directory does not exist: " + where + hint_at_copies(location));
  }
  std::string looked_for;
  for (const Format* format : formats) {
    std::string keys;
    for (const std::string& key : format->keys(location.path).documents) keys += (keys.empty() ? "" : ", ") + key;
    looked_for += (looked_for.empty() ? "" : ", ") + keys + " (" + std::string(format->name()) + ")";
  }
  if (directory)
    if (auto other = other_format(location, *directory, formats))
      return in_store(*std::move(other), location.store->url());
  std::string hint = directory ? hint_at_contents(*directory, formats) : std::string();
  hint += hint_at_objects(location);
  hint += hint_at_copies(location);
  if (hint.empty()) hint = "; looked for " + looked_for;
  const std::string what =
      directory ? "directory exists, but contains no array or group" : "no array or group at " + where;
  return in_store(not_found(what + hint).in_key(formats.front()->likeliest_key(location.path)), location.store->url());
}

}  // namespace sherd
