#include "api/whole.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/registry.hpp"
#include "base/buffer.hpp"
#include "base/call.hpp"
#include "base/pool.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "io/files.hpp"
#include "node/document.hpp"
#include "sherd/group.hpp"
#include "store/archive_of.hpp"
#include "store/key.hpp"
#include "store/read_into.hpp"

namespace sherd {
namespace {

/// The version of OME-NGFF that the group of Zarr v3 at the root of a store has; empty if it has none.
std::string ome_version(const std::shared_ptr<Store>& store) {
  const auto group = open_group(store);
  if (!group || group->format() != "zarr3") return {};
  const Json attributes = group->attributes();
  const Json* const ome = attributes.find("ome");
  const Json* const version = ome != nullptr ? ome->find("version") : nullptr;
  return version != nullptr && version->is_string() ? version->text() : std::string();
}

/// The archive of a store in an .ozx file; otherwise nullptr.
ArchiveStore* ozx_of(Store& store) {
  ArchiveStore* const archive = archive_around(store);
  constexpr std::string_view kSuffix[] = {".ozx"};
  return archive != nullptr && has_suffix(archive->name(), kSuffix) ? archive : nullptr;
}

}  // namespace

bool is_zarr3_document(std::string_view key) {
  return find_format("zarr3")->keys("").is_document(std::string(split_key(key).name));
}

void begin_whole(Store& store) {
  if (ArchiveStore* const archive = ozx_of(store)) archive->set_first(is_zarr3_document);
}

Result<void> finish_whole(const std::shared_ptr<Store>& store) {
  if (ArchiveStore* const archive = ozx_of(*store)) {
    const auto whole = whole_archive(store);
    const std::string version = whole ? ome_version(whole) : std::string();
    const Json order{Json::Object{{"centralDirectory", Json::Object{{"jsonFirst", true}}}}};
    const Json comment{Json::Object{{"ome", Json::Object{{"version", version}, {"zipFile", order}}}}};
    if (!version.empty()) SHERD_TRY(archive->set_comment(comment.dump()));
  }
  return in_store(store->finish(), store->url());
}

namespace {

/// Whether the comment of an .ozx file, or what it says of OME-NGFF, says so.
bool says_documents_are_first(const Json* ome) {
  for (const char* const member : {"zipFile", "centralDirectory", "jsonFirst"})
    ome = ome != nullptr && ome->is_object() ? ome->find(member) : nullptr;
  return ome != nullptr && ome->as_bool().value_or(false);
}

using Warn = std::function<void(std::string code, std::string key, std::string message)>;

/// What RFC-9 requires and recommends, except the order of members.
void check_ozx(const ArchiveStore& archive, const std::string& version, const Json* comment, const Warn& warn) {
  const Json* const said = comment != nullptr && comment->is_object() ? comment->find("version") : nullptr;
  if (version.empty())
    warn("archive_not_ome", "",
         "an .ozx file has a group of OME-NGFF 0.5 or later in Zarr v3 at its root, and this one has not");
  else if (said == nullptr || !said->is_string())
    warn("archive_comment", "",
         "the archive lacks the comment that OME-NGFF recommends for .ozx files: it was changed, or written otherwise");
  else if (said->text() != version)
    warn("archive_comment", "",
         "the archive's comment says OME-NGFF " + said->text() + ", and the group at its root " + version);
  if (const auto compressed = archive.compressed(); compressed.count != 0)
    warn("archive_compressed", compressed.example,
         "is compressed, as " + std::to_string(compressed.count) +
             " members of the archive are: no part of them can be read without the whole");
}

}  // namespace

Result<void> check_archive(const std::shared_ptr<Store>& store, CheckReport& report) {
  const ArchiveStore* const archive = archive_of(*store);
  if (archive == nullptr) return {};
  const Warn warn = [&](std::string code, std::string key, std::string message) {
    report.faults.push_back({Fault::Severity::warning, std::move(code), std::move(key), {}, {}, std::move(message)});
  };
  if (const auto duplicates = archive->duplicates(); duplicates.count != 0)
    warn("archive_duplicate", duplicates.example,
         "occurs more than once in the zip archive, in which " + std::to_string(duplicates.count) +
             " members are superseded by later ones of the same name");
  if (const auto too_long = archive->too_long(); too_long.count != 0)
    warn("archive_name", too_long.example,
         "begins the name of a member of the zip archive that is longer than keys may be (255 bytes between slashes, "
         "4096 in all), so the member is not shown, as " +
             std::to_string(too_long.count) + " are");
  const auto comment = Json::parse(archive->comment());
  const Json* const ome = comment && comment->is_object() ? comment->find("ome") : nullptr;
  const std::string version = ome_version(store);
  const bool is_ozx = ozx_of(*store) != nullptr;
  if (is_ozx) check_ozx(*archive, version, ome, warn);
  const bool promised = says_documents_are_first(ome);
  if (!promised && (!is_ozx || version.empty())) return {};
  SHERD_TRY(order, archive->has_first(is_zarr3_document));
  if (promised && !order.in_directory)
    warn("archive_order", "",
         "the archive's comment says that its directory begins with all documents, breadth first, which it does not");
  else if (is_ozx && !order.in_file)
    warn("archive_order", "",
         std::string("the ") + (order.in_directory ? "archive" : "archive's directory") +
             " does not begin with all documents, breadth first, as OME-NGFF recommends for .ozx files");
  return {};
}

namespace {

constexpr std::uint64_t kWindow = std::uint64_t{1} << 20;

Result<void> read_member(Store& store, const std::string& key, Budget& budget) {
  SHERD_TRY(source, store.open(key));
  if (source == nullptr) return {};  // erased meanwhile
  SHERD_TRY(size, source->size());
  const auto share = budget.take(size);  // a compressed member is decoded as a whole
  Scratch bytes;
  for (std::uint64_t offset = 0; offset < size; offset += kWindow) {
    SHERD_TRY(check_interrupted());
    SHERD_TRY(read_into(*source, {offset, std::min(kWindow, size - offset)}, *bytes));  // compares
  }
  return {};
}

}  // namespace

Result<void> check_members(Store& store, const std::string& prefix, const Config& config, CheckReport& report) {
  if (!is_in_archive(store)) return {};
  constexpr std::size_t kBatch = 1024;
  std::set<std::string> reported;
  for (const Fault& fault : report.faults)
    if (fault.severity == Fault::Severity::error) reported.insert(fault.key);
  std::vector<std::string> keys;
  std::map<std::string, Error> found;
  std::mutex mutex;
  Budget budget(config.memory_budget);
  const auto check = [&](std::size_t i) -> Result<void> {
    const auto read = read_member(store, keys[i], budget);
    if (read || !is_stored_fault(read.error())) return read;
    const std::lock_guard guard(mutex);
    found.emplace(keys[i], read.error());
    return {};
  };
  const auto check_batch = [&] {
    auto checked = parallel_for(keys.size(), config, check);
    keys.clear();
    return checked;
  };
  SHERD_TRY(all, store.visit(prefix, ListDepth::all, [&](const ListEntry& entry) -> Result<bool> {
    std::string key = prefix + std::string(entry.name);
    if (!reported.contains(key)) keys.push_back(std::move(key));
    if (keys.size() == kBatch) SHERD_TRY(check_batch());
    return true;
  }));
  (void)all;
  SHERD_TRY(check_batch());
  for (const auto& [key, error] : found) {
    const bool is_damaged = error.code() == ErrorCode::corrupt;
    report.faults.push_back({is_damaged ? Fault::Severity::error : Fault::Severity::warning,
                             "archive_member",
                             key,
                             {},
                             {},
                             error.message()});
  }
  return {};
}

}  // namespace sherd
