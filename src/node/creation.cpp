// Creates nodes. The order of requests matters: everything is checked before anything is written; missing parents are
// written first; the document that makes a node visible is stored only if there is none, so that one of two creators
// gets `conflict`, and further documents follow it.
#include "node/creation.hpp"

#include <algorithm>
#include <functional>
#include <future>
#include <iterator>
#include <utility>

#include "base/call.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "node/claim.hpp"
#include "node/consolidated.hpp"
#include "node/document.hpp"
#include "node/erase.hpp"
#include "node/foreign_objects.hpp"
#include "node/path.hpp"
#include "node/presence.hpp"
#include "store/key.hpp"
#include "store/listing.hpp"
#include "store/prefetched.hpp"

namespace sherd {
namespace {

Result<void> check_names(const NodeLocation& location) {
  std::string_view rest = location.path;
  while (!rest.empty()) {
    const std::size_t end = rest.find('/');
    SHERD_TRY(location.format->check_name(rest.substr(0, end)));
    rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
  }
  return {};
}

/// Whether there is a group at `location`; `conflict` if there is an array.
Result<bool> is_group(const NodeLocation& location) {
  SHERD_TRY(node, location.format->open(*location.store, location.path, location.config.limits));
  if (node && node->type == NodeType::array)
    return conflict("this is an array, and an array has no members")
        .in_key(location.format->document_key(location.path, NodeType::array));
  return node && !node->implicit;
}

/// Whether there are objects other than documents where those of a node would be. A prefix does not say so: some
/// servers list the directories of erased objects.
Result<bool> has_contents(const NodeLocation& location) {
  const NodeKeys keys = location.format->keys(location.path);
  for (const std::string& prefix : keys.contents) {
    SHERD_TRY(only_documents,
              location.store->visit(prefix, ListDepth::all, [&](const ListEntry& entry) -> Result<bool> {
                return is_ours(entry.name) || keys.is_document(prefix + std::string(entry.name));
              }));
    if (!only_documents) return true;
  }
  return false;
}

/// Whether the objects that a new node would erase at `location` are all that a node of another format has there.
bool covers(const NodeLocation& location, const Format& other) {
  const std::vector<std::string> own = location.format->contents(location.path);
  return std::ranges::all_of(other.contents(location.path), [&](const std::string& prefix) {
    return std::ranges::any_of(own, [&](const std::string& each) { return prefix.starts_with(each); });
  });
}

using IsRefused = std::function<bool(const Format& format, const NodeDocument& node)>;

/// The location of the document of a node of any known format at `location`, existing or possible. `conflict` if there
/// are other objects, or a node of another format that is refused.
Result<std::optional<std::string>> find_document(const NodeLocation& location, const IsRefused& refused) {
  std::optional<std::string> document;
  SHERD_TRY(any_format(location, [&](const NodeLocation& there) -> Result<bool> {
    const Format& format = *there.format;
    const bool is_other = format.name() != location.format->name();
    const std::string likeliest = format.likeliest_key(there.path);
    const auto occupied_by = [&](const std::string& what, const std::string& key) {
      return conflict(what + " exists here, so that a node of the format " + std::string(location.format->name()) +
                      " cannot be created here or below; choose another path")
          .in_key(key);
    };
    const auto node = format.open(*location.store, location.path, location.config.limits);
    if (!node && !is_stored_fault(node.error())) return node.error();
    if (node && !*node) {
      SHERD_TRY(objects, is_other ? holds_objects(there) : false);
      return objects ? Result<bool>(occupied_by("a collection of objects", likeliest)) : false;
    }
    if (node ? (*node)->implicit : !is_own_fault(there, node.error())) return false;
    if (node && is_other && refused(format, **node))
      return occupied_by("a node of the format " + std::string(format.name()),
                         format.document_key(there.path, (*node)->type));
    if (!document) document = likeliest;
    return false;
  }));
  return document;
}

/// Whether a new node below `group` requires creating this group; `conflict` if that is not possible.
Result<bool> must_create_group(const NodeLocation& group, bool is_there) {
  const bool has_members = group.format->arrays_have_documents();
  if (is_there && has_members) return false;
  if (is_there)
    return conflict("this is a volume, and its only members are its scales")
        .in_key(group.format->document_key(group.path, NodeType::group));
  SHERD_TRY(find_document(
      group, [&](const Format&, const NodeDocument& node) { return has_members || node.type == NodeType::array; }));
  return has_members;
}

/// The paths above a new node where groups must be created, outermost first.
Result<std::vector<std::string>> missing_groups(NodeLocation location) {
  std::vector<std::string> missing, groups = ancestors(location.path);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    SHERD_TRY(is_there, is_group(at_path(location, groups[i])));
    if (!is_there && missing.empty()) {
      std::vector<std::string> keys;
      for (std::size_t k = i; k < groups.size(); ++k)
        std::ranges::move(document_keys(location.tables.formats, groups[k]), std::back_inserter(keys));
      SHERD_TRY(read, prefetched_store(*live_store(location.store), keys));
      location.store = std::move(read);
    }
    SHERD_TRY(is_missing, must_create_group(at_path(location, groups[i]), is_there));
    if (is_missing) missing.push_back(std::move(groups[i]));
  }
  return missing;
}

/// What exists at the location of a new node.
struct Site {
  std::vector<std::string> missing_groups;
  bool occupied = false;  ///< by a node, which may be erased
  bool foreign = false;   ///< objects without a node, which may be erased
};

Result<Site> inspect_node(const NodeLocation& location, bool overwrite) {
  SHERD_TRY(require_writable(location));
  if (!location.store->traits().can_list) return cannot_list(*location.store);
  SHERD_TRY(check_names(location));
  Site site;
  SHERD_TRY(missing, missing_groups(location));
  site.missing_groups = std::move(missing);
  SHERD_TRY(document, find_document(location, [&](const Format& other, const NodeDocument&) {
              return !covers(location, other);
            }));
  site.occupied = document.has_value();
  if (document && !overwrite)
    return conflict("a node exists here already; overwrite it or choose another path").in_key(*document);
  if (document) SHERD_TRY(refuse_foreign_objects(location));
  return site;
}

/// `has_contents`: whether has_contents() is true at `location`.
Result<Site> inspect(const NodeLocation& location, ClearOptions options,
                     const std::function<Result<bool>()>& has_contents) {
  SHERD_TRY(site, inspect_node(location, options.overwrite));
  if (site.occupied || (options.members && !options.overwrite)) return site;
  SHERD_TRY(any, options.members ? true : has_contents());
  if (!any) return site;
  SHERD_TRY(claim, claim_of(location));
  if (options.members && !claim) return site;
  site.foreign = true;
  if (options.foreign) return site;
  if (!claim && !options.overwrite) {
    SHERD_TRY(refuse_overlapping(location));
    return conflict("there are objects at this path that belong to no node; remove them or choose another path")
        .in_key(location.format->likeliest_key(location.path));
  }
  SHERD_TRY(refuse_foreign_objects(location));
  return site;
}

/// Held while a node is created if its format has several documents; otherwise nullptr. No single one of them shows
/// that another creator was first.
Result<std::unique_ptr<StoreLock>> lock_documents(const NodeLocation& location, const Json& document,
                                                  bool has_counterpart = false) {
  const bool is_one = location.format->documents(location.path, document).size() == 1 &&
                      location.format->keys(location.path).visible().size() == 1 && !has_counterpart;
  if (is_one) return std::unique_ptr<StoreLock>();
  return lock_node(location);
}

/// `conflict` if a document other than this one makes a node visible at `location`.
Result<void> refuse_other_type(const NodeLocation& location, const std::string& own) {
  for (const std::string& key : location.format->keys(location.path).visible()) {
    if (key == own) continue;
    SHERD_TRY(visible, stored_generation(*location.store, key));
    if (visible) return conflict("another process has created a node here").in_key(key);
  }
  return {};
}

/// Stores the document that makes the node visible if there is none, and then the others. Returns their versions, that
/// one last. If one of the others cannot be stored, the first is erased again.
Result<std::vector<DocumentVersion>> create_documents(const NodeLocation& location, const Json& document) {
  Store& store = *location.store;
  const std::vector<Document> documents = location.format->documents(location.path, document);
  SHERD_TRY(check_texts(documents, location.config.limits));
  const Document& visible = documents.back();
  if (store.traits().locks) SHERD_TRY(refuse_other_type(location, visible.key));
  SHERD_TRY(first, write_document(store, visible, Condition::absent()));
  std::vector<DocumentVersion> versions;
  for (const Document& each : std::span(documents).first(documents.size() - 1)) {
    auto written = write_document(store, each, {});
    if (!written) {
      const bool compares = store.traits().conditional_erase;
      (void)store.erase(visible.key, compares ? Condition::matches(first.generation) : Condition{});
      return std::move(written).error();
    }
    versions.push_back(*std::move(written));
  }
  versions.push_back(std::move(first));
  return versions;
}

/// Creates a group unless another process does.
Result<void> make_parent(const NodeLocation& parent, const Json& document) {
  SHERD_TRY(lock, lock_documents(parent, document));
  const auto written = create_documents(parent, document);
  if (written.has_value()) {
    SHERD_TRY(parent.tables.changed(parent, MemberChange::made, nullptr));
    return {};
  }
  if (written.error().code() != ErrorCode::conflict) return written.error();
  SHERD_TRY(is_there, is_group(parent));
  return is_there ? Result<void>() : written.error();
}

Result<void> make_parents(const NodeLocation& location, const std::vector<std::string>& missing) {
  for (const std::string& path : missing) {
    const NodeLocation parent = at_path(location, path);
    SHERD_TRY(document, location.format->group_document(Json()));
    SHERD_TRY(make_parent(parent, document));
  }
  return {};
}

/// The store with what is read to find out what exists at `location` and around it, read together.
Result<std::shared_ptr<Store>> prefetched(const NodeLocation& location) {
  std::vector<std::string> keys = document_keys(location.tables.formats, location.path);
  std::ranges::move(claim_keys(location), std::back_inserter(keys));
  const Format* const own = location.format.get();
  std::ranges::move(document_keys({&own, 1}, location.path), std::back_inserter(keys));
  for (const std::string& path : ancestors(location.path))
    std::ranges::move(document_keys({&own, 1}, path), std::back_inserter(keys));
  std::ranges::sort(keys);
  keys.erase(std::ranges::unique(keys).begin(), keys.end());
  return prefetched_store(*location.store, keys);
}

/// inspect(), after which `location` is a snapshot of what it has read. Where requests have latency, its documents are
/// read while its contents are listed.
Result<Site> look(NodeLocation& location, ClearOptions options) {
  const NodeLocation live = location;
  const StoreTraits traits = live.store->traits();
  const bool lists = traits.parallel_requests > 1 && traits.can_list && !options.members;
  const auto list = [&live] { return has_contents(live); };
  auto contents = lists ? begin_beside(list) : std::async(std::launch::deferred, list);
  SHERD_TRY(read, prefetched(live));
  location.store = std::move(read);
  return inspect(location, options, [&] { return contents.get(); });
}

/// The metadata of the group around a node, if there is one and it can be read.
Result<std::optional<Json>> group_around(const NodeLocation& node) {
  if (node.path.empty()) return std::optional<Json>();
  auto group = node.format->open(*node.store, std::string(parent_path(node.path)), node.config.limits);
  if (!group && is_stored_fault(group.error())) return std::optional<Json>();
  SHERD_TRY(found, std::move(group));
  return found ? std::optional(std::move(found->document)) : std::optional<Json>();
}

/// Stores a new node, and lists it in the groups around it. `group` is the metadata of the nearest one, if known.
Result<void> store_node(const NodeLocation& location, NodeDocument& node, const Json* group) {
  SHERD_TRY(versions, create_documents(location, node.document));
  node.versions = std::move(versions);
  SHERD_TRY(write_counterpart(location, node));
  SHERD_TRY(seen, with_groups_above(location));
  SHERD_TRY(listed, location.tables.changed(seen, MemberChange::made, group));
  if (!listed) return renew_consolidated(seen);
  SHERD_TRY(now, location.format->open(*location.store, location.path, location.config.limits));
  if (now) node = *std::move(now);
  return renew_consolidated(location);
}

}  // namespace

Result<void> create_node(NodeLocation& location, NodeDocument& node, ClearOptions options) {
  NodeLocation looking = location;
  SHERD_TRY(site, look(looking, options));
  SHERD_TRY(refuse_claim(looking, claim_key(looking)));
  SHERD_TRY(refuse_claimed_around(looking));
  SHERD_TRY(group, group_around(looking));
  SHERD_TRY(check_links(location, node));
  SHERD_TRY(enter(location));
  SHERD_TRY(make_parents(location, site.missing_groups));
  const bool must_clear = site.occupied || site.foreign;
  SHERD_TRY(lock,
            must_clear ? lock_node(location) : lock_documents(location, node.document, node.counterpart.has_value()));
  if (lock == nullptr) SHERD_TRY(lock_if_being_made(location, lock));
  std::optional<Claim> claim;
  if (must_clear) {
    SHERD_TRY(taken, make_room(location, options, Claim::Existing::is_conflict));
    claim = std::move(taken);
  }
  auto stored = store_node(location, node, group ? &*group : nullptr);
  // What existed here is gone, whether or not the new node is stored.
  const auto ended = claim ? claim->end() : Result<void>();
  SHERD_TRY(std::move(stored));
  SHERD_TRY(ended);
  return claim || lock == nullptr ? Result<void>() : erase_staging(location);
}

Result<void> enter(NodeLocation& location) {
  const auto* entry = capability<EntryPoint>(*location.format);
  if (entry == nullptr) return {};
  SHERD_TRY(format, entry->create(*location.store, location.config.limits));
  if (format == nullptr) return other_hierarchy(*location.format);
  location.format = std::move(format);
  return {};
}

Result<bool> check_clearable(const NodeLocation& location, ClearOptions options) {
  NodeLocation looking = location;
  SHERD_TRY(site, look(looking, options));
  return site.occupied || site.foreign;
}

Result<bool> prepare_location(const NodeLocation& location, ClearOptions options) {
  NodeLocation looking = location;
  SHERD_TRY(site, look(looking, options));
  SHERD_TRY(make_parents(location, site.missing_groups));
  return site.occupied || site.foreign;
}

Result<Claim> make_room(const NodeLocation& location, ClearOptions options, Claim::Existing existing) {
  SHERD_TRY(claim, Claim::take(location, "", existing));
  const auto prepare = [&]() -> Result<bool> {
    SHERD_TRY(refuse_claimed_around(location));
    SHERD_TRY(occupied, prepare_location(location, options));
    if (occupied) SHERD_TRY(wait_for_writers(location));
    return occupied;
  };
  auto occupied = prepare();
  if (!occupied.has_value()) {
    claim.undo();
    return std::move(occupied).error();
  }
  if (*occupied) SHERD_TRY(clear_location(location));
  return claim;
}

}  // namespace sherd
