#include "api/whole.hpp"

#include <string>

#include "api/registry.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "node/document_keys.hpp"
#include "sherd/group.hpp"
#include "store/zip.hpp"

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

}  // namespace

Result<void> finish_whole(const std::shared_ptr<Store>& store) {
  ZipArchiveStore* const archive = zip_archive_of(*store);
  if (archive != nullptr && store->url().ends_with(".ozx|zip:")) {
    const std::string version = ome_version(store);
    const Json order{Json::Object{{"centralDirectory", Json::Object{{"jsonFirst", true}}}}};
    const Json comment{Json::Object{{"ome", Json::Object{{"version", version}, {"zipFile", order}}}}};
    if (!version.empty())
      SHERD_TRY(archive->set_comment(comment.dump(),
                                     [](std::string_view key) { return is_document_of(tables().formats, key); }));
  }
  return in_store(store->finish(), store->url());
}

}  // namespace sherd
