#include "api/open_hints.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>

#include "base/url.hpp"
#include "io/files.hpp"
#include "neuroglancer/codecs.hpp"
#include "neuroglancer/collection.hpp"
#include "node/consolidated.hpp"
#include "node/new_node.hpp"
#include "node/path.hpp"
#include "node/stores_above.hpp"
#include "os/calls.hpp"
#include "os/directory.hpp"
#include "os/fd.hpp"
#include "store/archive_of.hpp"
#include "store/key.hpp"
#include "store/reply.hpp"

namespace sherd {
namespace {

constexpr std::string_view kElsewhereNetcdf = "; ncdump, nccopy and xarray read it with '#mode=bytes' after its URL";
struct FileKind {
  std::string_view bytes;  ///< its first
  std::string_view name, advice;
  std::string_view suffix = {};                   ///< if set, only files with this suffix have this kind
  std::string_view elsewhere = kElsewhereNetcdf;  ///< the advice for one that is not in the local file system
};

using namespace std::string_view_literals;
constexpr std::string_view kNetcdf = "; make a dataset of it with 'sherd nccopy FILE URL'";
// The first that matches is used.
constexpr FileKind kFileKinds[] = {
    {"\x89HDF\r\n\x1a\n"sv, "a netCDF-4 file", kNetcdf, ".nc"},
    {"\x89HDF\r\n\x1a\n"sv, "an HDF5 file",
     "; read it with h5py and store its datasets with sherd.create_array(URL, data=dataset)"},
    {"CDF\x01"sv, "a netCDF file", kNetcdf},
    {"CDF\x02"sv, "a netCDF file", kNetcdf},
    {"CDF\x05"sv, "a netCDF file", kNetcdf},
    {"PK\x03\x04"sv, "a ZIP file",
     "; write '|zip:' after its path to open it as a store, or copy it with 'sherd copy FILE URL'", "",
     "; write '|zip:' after its URL to open it as a store"},
};

/// The kind of a file with these first bytes; nullptr if it is none of them.
const FileKind* kind_of(std::string_view bytes, std::string_view name) {
  const auto* const kind = std::ranges::find_if(
      kFileKinds, [&](const FileKind& each) { return bytes.starts_with(each.bytes) && name.ends_with(each.suffix); });
  return kind == std::end(kFileKinds) ? nullptr : kind;
}

/// `unsupported` if the file is of such a kind.
std::optional<Error> hint_at_kind(const std::string& path) {
  const FileKind* const kind = kind_of(first_bytes(path), path);
  if (kind == nullptr) return std::nullopt;
  return unsupported(path + " is " + std::string(kind->name) + std::string(kind->advice));
}

/// The first node in a directory that is none.
std::string hint_at_contents(const std::filesystem::path& directory, const std::vector<const Format*>& formats) {
  constexpr std::size_t kMaxEntries = 1000;
  std::string node;
  std::size_t seen = 0;
  os::Directory entries(AT_FDCWD, directory.c_str());
  for (const dirent64* each = entries.next(); each != nullptr && seen < kMaxEntries; each = entries.next(), ++seen) {
    const std::string name = each->d_name;
    const auto has = [&](const std::string& key) { return os::exists((directory / name / key).c_str()); };
    for (const Format* format : formats)
      if ((node.empty() || name < node) && std::ranges::any_of(format->keys("").documents, has)) node = name;
  }
  return node.empty() ? std::string() : "; it contains " + node + ": open " + (directory / node).string();
}

/// The first node in a directory of an archive.
std::string hint_at_members(const NodeLocation& location, const std::vector<const Format*>& formats) {
  if (!is_in_archive(*location.store)) return {};
  std::string node;
  const auto is_document = [&](const std::string& key) {
    const auto opened = location.store->open(key);
    return opened && *opened != nullptr;
  };
  (void)location.store->visit(
      prefix_of(location.path), ListDepth::children, [&](const ListEntry& entry) -> Result<bool> {
        for (const Format* format : formats)
          if (entry.is_prefix &&
              std::ranges::any_of(format->keys(join_path(location.path, entry.name)).documents, is_document))
            node = entry.name;
        return node.empty();
      });
  if (node.empty()) return {};
  return "; it contains " + node + ": open " + url_below(location.store->url(), join_path(location.path, node));
}

/// The error if there is a node of a format that was not requested.
std::optional<Error> other_format(const NodeLocation& location, const std::filesystem::path& directory,
                                  const std::vector<const Format*>& formats) {
  for (const Format* format : location.tables.formats)
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

/// The name of the archive that contains the store; nullopt if that archive exists, or there is none around the store.
std::optional<std::string> missing_archive(std::shared_ptr<Store> store) {
  store = whole_archive(std::move(store));
  if (!store || archive_of(*store)->exists()) return std::nullopt;
  return store->url().substr(0, store->url().rfind("|zip:"));
}

/// The directory of a location in a store of files.
std::optional<std::filesystem::path> directory_of(const NodeLocation& location) {
  const auto path = path_of_store(location.store->url());
  if (!path) return std::nullopt;
  return location.path.empty() ? std::filesystem::path(*path) : std::filesystem::path(*path) / location.path;
}

/// Says that a copy to this path is not complete.
std::string hint_at_unfinished(const NodeLocation& location) {
  const auto copy = find_unfinished(location, {});
  if (copy && *copy == Unfinished::of_another)
    return "; a copy to this path is unfinished: the command that began it continues it with --resume";
  return {};
}

/// Says that a copy to this path is not complete, in this store or in one inside or around it.
std::string hint_at_copies(NodeLocation location) {
  if (location.store->read_only()) return {};  // there are no copies
  if (location.format == nullptr)              // any: where a copy is made depends on the store
    location.format = std::shared_ptr<const Format>(std::shared_ptr<const Format>(), location.tables.formats.front());
  std::string hint = hint_at_unfinished(location);
  if (!location.store->traits().locks) return hint;  // the claim is inside the node
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

Error unknown_file(const std::string& path) {
  std::string names;
  for (const FileFormat* format : file_formats()) names += (names.empty() ? "" : ", ") + std::string(format->name);
  return invalid_argument(
      "'" + path +
      "' is not a directory; tried\n  a zip archive: it does not begin as one, or have its suffix "
      "(.zip, .ozx)\n  netCDF, HDF5: it does not begin as these\n  a file to import: it has no suffix of " +
      names);
}

/// The documents by which nodes are recognized, a line for each format.
std::string tried_documents(const NodeLocation& location, const std::vector<const Format*>& formats) {
  std::string lines = "; tried";
  for (const Format* format : formats) {
    std::string keys;
    for (const std::string& key : format->keys(location.path).documents) keys += (keys.empty() ? "" : ", ") + key;
    lines += "\n  " + std::string(format->name()) + ": " + keys;
  }
  return lines;
}

/// Other forms that the name of a missing path has, which do not have a meaning there.
std::string tried_forms(const std::string& path) {
  std::string lines;
  if (path.find('|') != path.npos)
    lines += "\n  a pipeline: what comes before '|' does not exist, or no layer or format (zip:, zarr3:) after it";
  if (path.find("::") != path.npos)
    lines += "\n  a chain: what comes after '::' does not exist, or no layer (zip) before it";
  if (path.find('#') != path.npos) lines += "\n  a fragment: no mode= comes after '#'";
  return lines;
}

Error missing_directory(const std::string& path, const std::string& hint) {
  return not_found("directory does not exist: " + path + hint + tried_path(path) +
                   "\n  a zip archive: no part of the path is one, or has its suffix (.zip, .ozx)");
}

}  // namespace

std::string tried_path(const std::string& path) {
  std::error_code failed;
  std::filesystem::path missing = std::filesystem::absolute(path, failed);
  if (!missing.has_filename()) missing = missing.parent_path();
  while (missing.has_parent_path() && missing.has_relative_path() && !os::exists(missing.parent_path().c_str()))
    missing = missing.parent_path();
  const std::string above = missing.parent_path().string();
  const bool is_directory = os::is_directory(above.c_str());
  return "; tried\n  a path: " + above +
         (is_directory ? " has no '" + missing.filename().string() + "'" : std::string(" is not a directory")) +
         tried_forms(path);
}

std::string first_bytes(const std::string& path) {
  std::array<char, 8> head{};
  const os::Fd file(os::openat(AT_FDCWD, path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file) (void)os::pread_all(file.get(), std::as_writable_bytes(std::span(head)), 0);
  return {head.data(), head.size()};
}

std::optional<Error> hint_at_file(const std::string& path, FormatTable formats) {
  for (std::filesystem::path part = path; part.has_relative_path(); part = part.parent_path()) {
    struct stat status{};
    if (os::fstatat(AT_FDCWD, part.c_str(), status) != 0) continue;
    if (!S_ISREG(status.st_mode)) break;
    for (const Format* format : formats)
      if (format->keys("").is_document(part.filename().string()))
        return invalid_argument(part.string() + " is a metadata document; open its directory, " +
                                part.parent_path().string());
    if (auto kind = hint_at_kind(part.string())) return kind;
    for (const FileFormat* format : file_formats())
      if (has_suffix(part.string(), format->suffixes))
        return unsupported(part.string() +
                           " is a file, not a directory; make an array of it with 'sherd import FILE URL'");
    return unknown_file(part.string());
  }
  return std::nullopt;
}

std::optional<Error> hint_at_source(const std::string& source) {
  struct stat status{};
  if (os::fstatat(AT_FDCWD, source.c_str(), status) == 0)
    return S_ISREG(status.st_mode) ? hint_at_kind(source) : std::nullopt;
  if (errno != ENOENT || source.find_first_of("*?[%") != std::string::npos) return std::nullopt;
  return file_error("cannot open", source, errno);
}

std::optional<Error> hint_at_object(const Store& store) {
  if (path_of_store(store.url())) return std::nullopt;
  const auto above = store.parent();
  if (!above || !*above) return std::nullopt;
  const auto start = read_one(*(*above)->store, {.key = (*above)->name, .length = 8});
  if (!start || start->source == nullptr) return std::nullopt;
  const std::string_view bytes(reinterpret_cast<const char*>(start->bytes.data()), start->bytes.size());
  const FileKind* const kind = kind_of(bytes, (*above)->name);
  if (kind == nullptr) return std::nullopt;
  return unsupported(store.url() + " is " + std::string(kind->name) + std::string(kind->elsewhere));
}

std::optional<Error> missing_store(const std::shared_ptr<Store>& store) {
  const auto archive = missing_archive(store);
  const auto path = path_of_store(archive ? *archive : store->url());
  if (archive) return not_found("zip archive does not exist: " + (path ? *path + tried_path(*path) : *archive));
  if (!path || os::exists(path->c_str()) || (errno != ENOENT && errno != ENOTDIR)) return std::nullopt;
  return missing_directory(*path, {});
}

Error nothing_found(const NodeLocation& location, const std::vector<const Format*>& formats) {
  const auto directory = directory_of(location);
  const std::string where = directory ? directory->string() : url_below(location.store->url(), location.path);
  if (missing_archive(location.store)) return *missing_store(location.store);
  if (directory && !os::exists(directory->c_str()) && (errno == ENOENT || errno == ENOTDIR)) {
    if (auto file = hint_at_file(where, location.tables.formats)) return *std::move(file);
    return missing_directory(where, hint_at_copies(location));
  }
  if (directory)
    if (auto other = other_format(location, *directory, formats))
      return in_store(*std::move(other), location.store->url());
  if (location.path.empty())
    if (auto object = hint_at_object(*location.store)) return *std::move(object);
  std::string hint = directory ? hint_at_contents(*directory, formats) : hint_at_members(location, formats);
  hint += hint_at_objects(location);
  hint += hint_at_copies(location);
  const std::string what = directory
                               ? "directory exists, but contains no array or group (in " + location.store->url() + ")"
                               : "no array or group at " + where;
  return not_found(what + hint + tried_documents(location, formats))
      .in_key(formats.front()->likeliest_key(location.path));
}

}  // namespace sherd
