// Determines which objects below a node belong to it or to a member. One rule decides for every key: Sherd's own files
// belong to it; for other keys, the nodes around the key are visited from the top, until one owns the key (it is a
// document of the node, or named like one of its chunks) or has no members. Anything else was put there by a program
// that did not expect that overwriting the node would erase it too. If a document cannot be read, it is unknown what
// belongs to the node, so nothing else does.
#include "node/foreign_objects.hpp"

#include <algorithm>
#include <functional>

#include "base/call.hpp"
#include "base/try.hpp"
#include "node/claim.hpp"
#include "node/document.hpp"
#include "node/document_keys.hpp"
#include "node/grid.hpp"
#include "node/path.hpp"
#include "node/presence.hpp"
#include "node/storage_kind.hpp"
#include "store/key.hpp"
#include "store/listing.hpp"
#include "store/prefetched.hpp"

namespace sherd {

namespace {

/// Whether a key, or a name below a prefix, is one that a node itself owns, rather than a member.
using Owns = std::function<bool(std::string_view name)>;

Owns below(std::string prefix, Owns names) {
  return [prefix = std::move(prefix), names = std::move(names)](std::string_view key) {
    return key.starts_with(prefix) && names(key.substr(prefix.size()));
  };
}

Owns documents_of(const NodeLocation& location) {
  const auto* entry = location.path.empty() ? capability<EntryPoint>(*location.format) : nullptr;
  return [keys = location.format->keys(location.path), entry](std::string_view key) {
    return keys.is_document(key) || (entry != nullptr && key == entry->key());
  };
}

Owns names_chunk(const NodeLocation& location) {
  return [format = location.format](std::string_view name) { return format->names_chunk(name); };
}

Owns names_member(const NodeLocation& location) {
  return [format = location.format](std::string_view name) { return member_of(*format, name).has_value(); };
}

// For a group whose document describes its arrays. To refuse foreign objects, those among the objects of collections
// are refused here, and only collections count to which it refers.
Result<std::vector<Owns>> owners_in_volume(const NodeLocation& location, const NodeDocument& volume, bool refuses) {
  const Format& format = *location.format;
  const std::string prefix = format.chunk_prefix(location.path);
  std::vector<Owns> owners{below(prefix, names_member(location))};
  SHERD_TRY(members, format.members(*location.store, location.path, location.config.limits, {}));
  for (const auto& [name, type] : members) {
    SHERD_TRY(array, format.open(*location.store, join_path(location.path, name), location.config.limits));
    if (array) owners.push_back(below(*array->array->chunk_prefix, names_chunk(location)));
  }
  const auto add_collection = [&](const std::string& path) {
    owners.push_back(below(prefix_of(path), [](std::string_view) { return true; }));
  };
  for (const auto& [member, path] : references_of(format, volume.document)) {
    const auto collection = path_below(location.path, path);
    if (!collection || !path_from(location.path, *collection)) continue;
    SHERD_TRY(foreign, refuses ? foreign_object_among(at_path(location, *collection)) : std::optional<std::string>());
    if (foreign) return foreign_object_error(*foreign);
    add_collection(*collection);
  }
  SHERD_TRY(listing, refuses ? Listing() : location.store->list_dir(prefix));
  for (const std::string& name : listing.prefixes) {
    const std::string path = join_path(location.path, name);
    SHERD_TRY(is_collection, holds_objects(at_path(location, path)));
    if (is_collection) add_collection(path);
  }
  return owners;
}

Result<std::vector<Owns>> owners_of(const NodeLocation& location, const NodeDocument& node, bool refuses) {
  if (node.type == NodeType::group && !location.format->arrays_have_documents())
    return owners_in_volume(location, node, refuses);
  const NodeKeys keys = location.format->keys(location.path);
  std::vector<Owns> owners{documents_of(location)};
  owners.push_back(
      below(keys.chunks, [tables = location.tables](std::string_view name) { return tables.is_model_document(name); }));
  if (node.array)
    owners.push_back(below(keys.chunks, [grid = ChunkGrid(*node.array)](std::string_view name) {
      return grid.parse_key(name).has_value();
    }));
  else
    for (const std::string& prefix : keys.contents)
      if (prefix != keys.chunks) owners.push_back(below(prefix, names_member(location)));
  return owners;
}

/// A path below which a key may be.
struct Step {
  std::string path = {};
  std::vector<Owns> owners = {};
  bool has_members = false;  ///< nodes with documents of their own may be below
  bool is_readable = true;
};

// Only for an array whose document contains something unsupported, such as a codec, is it known what it is.
Step unreadable_step(const NodeLocation& location, const Error& error) {
  const NodeKeys keys = location.format->keys(location.path);
  Step step{.path = location.path, .owners = {documents_of(location)}, .is_readable = false};
  if (error.code() == ErrorCode::unsupported && !error.member().empty() && error.key() == keys.array &&
      keys.array != keys.group)
    step.owners.push_back(below(keys.chunks, names_chunk(location)));
  return step;
}

Result<Step> step_at(const NodeLocation& location, bool refuses) {
  const auto node = location.format->open(*location.store, location.path, location.config.limits);
  if (!node && !is_stored_fault(node.error())) return node.error();
  if (!node && is_own_fault(location, node.error())) return unreadable_step(location, node.error());
  Step step{location.path};
  if (!node || !*node) return step;
  step.has_members = (*node)->type == NodeType::group && location.format->arrays_have_documents();
  SHERD_TRY(owners, owners_of(location, **node, refuses));
  step.owners = std::move(owners);
  if (step.has_members) return step;
  SHERD_TRY(other, find_counterpart(location, **node));
  if (!other || other->format == nullptr) return step;
  const auto counterpart = other->format->open(*other->store, other->path, location.config.limits);
  if (!counterpart && !is_stored_fault(counterpart.error())) return counterpart.error();
  if (!counterpart || !*counterpart) return step;  // its objects are foreign objects
  SHERD_TRY(more, owners_of(*other, **counterpart, refuses));
  std::ranges::move(more, std::back_inserter(step.owners));
  return step;
}

/// The number of keys whose documents are in memory at a time.
constexpr std::size_t kExaminedTogether = 128;

/// Visits the nodes around keys, from the top. Keeps those around the last key, which are mostly those of the next.
class Walk {
 public:
  Walk(const NodeLocation& top, bool refuses)
      : top_(top), contents_(top.format->contents(top.path)), refuses_(refuses), documents_(top.store) {
    top_.writable = false;
  }
  /// Where the top has no members.
  Walk(const NodeLocation& top, std::vector<Owns> owners) : Walk(top, true) {
    steps_.push_back({top.path, std::move(owners)});
  }

  /// Calls found(key, innermost step) for the foreign objects that would be erased with a node at `erased`.
  using Found = std::function<Result<void>(const std::string& key, const Step& step)>;
  Result<void> for_foreign(const NodeLocation& erased, const Found& found) {
    for (const std::string& prefix : erased.format->contents(erased.path)) SHERD_TRY(for_foreign_below(prefix, found));
    return {};
  }

 private:
  /// Examines some keys together, so that the documents among them are read together.
  Result<void> for_foreign_below(const std::string& prefix, const Found& found) {
    std::vector<std::string> names;
    SHERD_TRY(top_.store->visit(prefix, ListDepth::all, [&](const ListEntry& entry) -> Result<bool> {
      names.emplace_back(entry.name);
      if (names.size() == kExaminedTogether) SHERD_TRY(examine(prefix, std::exchange(names, {}), found));
      return true;
    }));
    return examine(prefix, names, found);
  }

  /// The keys of all documents of the nodes that have a document among these names. They are read in advance only if
  /// requests have latency.
  [[nodiscard]] std::vector<std::string> documents_among(const std::string& prefix,
                                                         const std::vector<std::string>& names) const {
    std::vector<std::string> documents;
    if (top_.store->traits().parallel_requests <= 1) return documents;
    const Format* const format = top_.format.get();
    for (const std::string& name : names) {
      const std::string key = prefix + name;
      if (!is_document_of({&format, 1}, key)) continue;
      const std::vector<std::string> all = document_keys({&format, 1}, std::string(parent_path(key)));
      if (std::ranges::find(all, key) != all.end()) documents.insert(documents.end(), all.begin(), all.end());
    }
    std::ranges::sort(documents);
    documents.erase(std::ranges::unique(documents).begin(), documents.end());
    return documents;
  }

  Result<void> examine(const std::string& prefix, const std::vector<std::string>& names, const Found& found) {
    SHERD_TRY(read, prefetched_store(*top_.store, documents_among(prefix, names)));
    documents_ = std::move(read);
    for (const std::string& name : names) {
      SHERD_TRY(check_interrupted(top_.config.interrupted));
      const std::string key = prefix + name;
      const bool is_inside = has_ours_below(name);
      if (is_inside && refuses_) SHERD_TRY(refuse_claim(top_, key));
      if (is_inside || is_ours(name) || is_backup(name)) continue;
      SHERD_TRY(step, step_without(key));
      if (step != nullptr) SHERD_TRY(found(key, *step));
    }
    return {};
  }

  /// The innermost step towards a key that nothing owns; nullptr if something does.
  Result<const Step*> step_without(std::string_view key) {
    const auto prefix = std::ranges::find_if(contents_, [&](const auto& each) { return key.starts_with(each); });
    std::string_view rest = prefix == contents_.end() ? std::string_view() : key.substr(prefix->size());
    std::string path = top_.path;
    for (std::size_t depth = 0;; ++depth) {
      SHERD_TRY(step, step_to(depth, path));
      const std::size_t end = rest.find('/');
      if (std::ranges::any_of(step->owners, [&](const Owns& owns) { return owns(key); }))
        return static_cast<const Step*>(nullptr);
      if (!step->has_members || end == rest.npos) return step;
      path = join_path(path, rest.substr(0, end));
      rest.remove_prefix(end + 1);
    }
  }

  Result<const Step*> step_to(std::size_t depth, const std::string& path) {
    if (depth == steps_.size() || steps_[depth].path != path) {
      NodeLocation there = at_path(top_, path);
      there.store = documents_;
      SHERD_TRY(step, step_at(there, refuses_));
      steps_.resize(depth);
      steps_.push_back(std::move(step));
    }
    return &steps_[depth];
  }

  NodeLocation top_;
  std::vector<std::string> contents_;
  bool refuses_;
  std::shared_ptr<Store> documents_;  ///< the store, or a snapshot of the documents among the keys
  std::vector<Step> steps_;
};

// What remains of nodes, of any format and at any path, that were being made or erased.
Owns leftovers(const NodeLocation& location) {
  return [documents = DocumentKeys(location), formats = location.tables.formats](std::string_view key) {
    if (documents.has(key)) return true;
    for (;;) {
      if (std::ranges::any_of(formats, [&](const Format* each) { return each->names_chunk(key); })) return true;
      const std::size_t end = key.find('/');
      if (end == key.npos) return false;
      key.remove_prefix(end + 1);
    }
  };
}

/// Finds the node that would be erased at `location`: readable in its format rather than in another.
Result<Walk> walk_at(const NodeLocation& location) {
  SHERD_TRY(claim, claim_of(location));
  if (claim && claim->has_all_objects())
    return Walk(location, std::vector<Owns>{[](std::string_view) { return true; }});
  enum class Found : std::uint8_t { none, implicit, unreadable, other, own } found = Found::none;
  NodeLocation top = location;
  SHERD_TRY(any_format(location, [&](const NodeLocation& there) -> Result<bool> {
    const auto node = there.format->open(*there.store, there.path, there.config.limits);
    if (!node && !is_stored_fault(node.error())) return node.error();
    Found here = there.format == location.format ? Found::own : Found::other;
    if (!node)
      here = is_own_fault(there, node.error()) ? Found::unreadable : Found::none;
    else if (!*node || (*node)->implicit)
      here = *node ? Found::implicit : Found::none;
    if (here > found) found = here, top = there;
    return found == Found::own;
  }));
  if (found > Found::implicit) return Walk(top, true);
  if (claim) return Walk(location, {leftovers(location)});
  if (found == Found::implicit) return Walk(top, true);
  const Owns chunks = below(location.format->chunk_prefix(location.path), names_chunk(location));
  return Walk(location, {documents_of(location), chunks});
}

}  // namespace

Error foreign_object_error(const std::string& key) {
  return conflict("is not part of the node; remove it first, or choose another path").in_key(key);
}

Result<ForeignObjects> foreign_objects(const NodeLocation& location) {
  ForeignObjects objects;
  auto walked =
      Walk(location, false).for_foreign(location, [&](const std::string& key, const Step& step) -> Result<void> {
        if (step.is_readable && objects.count++ == 0) objects.first = key;
        return {};
      });
  if (!walked && !is_unlisted(walked.error())) return std::move(walked).error();
  return objects;
}

Result<void> refuse_foreign_objects(const NodeLocation& location) {
  // Claims are below the path, where the contents of some formats are not.
  const bool has_claims = location.format->contents(location.path) == std::vector{prefix_of(location.path)};
  if (!has_claims) SHERD_TRY(refuse_overlapping(location));
  SHERD_TRY(walk, walk_at(location));
  return walk.for_foreign(location, [&](const std::string& key, const Step& step) -> Result<void> {
    SHERD_TRY(refuse_overlapping(location));  // what is being made belongs to no node yet
    if (step.is_readable) return foreign_object_error(key);
    return conflict(
               "may belong to another program: the node's document cannot be read, so its members are not known; "
               "remove the object first")
        .in_key(key);
  });
}

}  // namespace sherd
