#include "api/whole.hpp"

#include <string>

#include "api/registry.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "sherd/group.hpp"
#include "store/archive_of.hpp"
#include "store/key.hpp"

namespace sherd {
namespace {

/// The version of OME-NGFF that the group at the root of a store has; empty if it has none.
std::string ome_version(const std::shared_ptr<Store>& store) {
  const auto group = open_group(store);
  if (!group) return {};
  const Json attributes = group->attributes();
  const Json* const ome = attributes.find("ome");
  const Json* const version = ome != nullptr ? ome->find("version") : nullptr;
  return version != nullptr && version->is_string() ? version->text() : std::string();
}

/// The archive of an .ozx file; otherwise nullptr.
ArchiveStore* ozx_of(Store& store) {
  ArchiveStore* const archive = archive_of(store);
  return archive != nullptr && archive->name().ends_with(".ozx") ? archive : nullptr;
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
    const std::string version = ome_version(store);
    const Json order{Json::Object{{"centralDirectory", Json::Object{{"jsonFirst", true}}}}};
    const Json comment{Json::Object{{"ome", Json::Object{{"version", version}, {"zipFile", order}}}}};
    if (!version.empty()) SHERD_TRY(archive->set_comment(comment.dump()));
  }
  return in_store(store->finish(), store->url());
}

}  // namespace sherd
