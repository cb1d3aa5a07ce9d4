// Walks a hierarchy and lists what is stored: every document is read and lowered, every key must belong to a node,
// every object is passed to ObjectCheck. Absent objects are never requested, and a fault ends only the check of the
// part that it affects: below a group with a damaged document the members are still checked.
#include "check/check.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <set>

#include "array/nodes.hpp"
#include "base/call.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "check/documents.hpp"
#include "check/listing.hpp"
#include "check/members.hpp"
#include "check/object.hpp"
#include "check/ome.hpp"
#include "check/repair.hpp"
#include "codec/chain.hpp"
#include "format/hidden_group.hpp"
#include "neuroglancer/codecs.hpp"
#include "neuroglancer/document.hpp"
#include "neuroglancer/dual_format.hpp"
#include "neuroglancer/names.hpp"
#include "node/claim.hpp"
#include "node/consolidated.hpp"
#include "node/document.hpp"
#include "node/path.hpp"
#include "node/storage_kind.hpp"
#include "store/key.hpp"
#include "store/listing.hpp"
#include "store/retry.hpp"

namespace sherd {
namespace {

constexpr std::size_t kObjectsAtOnce = 256;  // objects in progress

class TreeCheck {
 public:
  TreeCheck(const NodeLocation& root, const CheckOptions& options)
      : root_(root),
        options_(options),
        store_(*root.store),
        format_(*root.format),
        budget_(root.config.memory_budget),
        lists_(format_) {}

  Result<CheckReport> run() {
    std::vector<Member> members{{root_.path, true, nullptr}};
    while (!members.empty()) {
      const Member next = std::move(members.back());
      members.pop_back();
      SHERD_TRY(check_interrupted(root_.config.interrupted));
      SHERD_TRY(node(next, members));
    }
    for (Listing& listing : listings_) {
      for (const auto& [path, document] : listing.unseen)
        listing.findings.error("consolidated_stale", {},
                               "consolidated metadata names '" + path + "', which does not exist");
      merge(listing.findings);
    }
    lists_.end(report_);
    if (root_.config.progress) root_.config.progress({checked_bytes_, listed_bytes_});
    return std::move(report_);
  }

 private:
  /// The consolidated metadata of a group, compared with the nodes below it as they are found.
  struct Listing {
    Listing(Listing* outer, std::string below, std::string key)
        : around(outer), prefix(std::move(below)), findings(std::move(key)) {}

    Listing* around;                     ///< of the next enclosing group that has any
    std::string prefix;                  ///< of paths below the group
    std::map<std::string, Json> unseen;  ///< entries whose nodes have not been found yet
    Findings findings;
  };
  /// A path at which a node is expected or, below something that is not a group or is damaged, only possible.
  struct Member {
    std::string path;
    bool expected;
    Listing* listing;  ///< of the innermost enclosing group that has one
  };
  struct Stored {
    Shape cell;
    std::string key;
    std::uint64_t size;
    Generation generation;  ///< as listed, or empty
  };
  /// The kind of node that a document describes, even if it is damaged.
  enum class Kind : std::uint8_t { array, group, unknown, none };

  /// The key of the document that was read, or could not be read.
  [[nodiscard]] std::string document_key(const std::string& path,
                                         const Result<std::optional<NodeDocument>>& document) const {
    if (!document && !document.error().key().empty()) return document.error().key();
    return document && *document ? format_.document_key(path, (*document)->type) : format_.likeliest_key(path);
  }

  Result<void> node(const Member& member, std::vector<Member>& found) {
    const std::string& path = member.path;
    auto document = retry_limited(root_.config, [&] { return format_.open(store_, path, root_.config.limits); });
    Findings findings(document_key(path, document));
    Kind kind = Kind::unknown;
    Listing* listing = member.listing;
    std::optional<Array> array;
    Json group_document;
    if (!document) {
      SHERD_TRY(unreadable_document(document.error(), findings));
    } else if (!*document) {
      kind = Kind::none;
      if (member.expected) SHERD_TRY(nodeless(path));
    } else {
      kind = (*document)->type == NodeType::group ? Kind::group : Kind::array;
      const bool own = kind == Kind::group || !is_volume();
      if (own && !(*document)->implicit) report_.documents += std::max<std::size_t>((*document)->versions.size(), 1);
      if (kind == Kind::group) {
        group_document = (*document)->document;
        SHERD_TRY(hidden, hidden_group(at_path(root_, path), group_document));
        if (hidden) findings.warning("hidden_group", {}, *hidden);
        SHERD_TRY(check_image_group(at_path(root_, path), **document, [this](Findings& each) { merge(each); }));
      }
      check_documents(at_path(root_, path), **document, [this](Findings& each) { merge(each); });
      compare(member, (*document)->document);
      lists_.met(path, &**document);
      if (kind == Kind::group) lists_.begin(path, group_document);
      if (const auto& spec = (*document)->array; spec && lacks_byte_order(spec->codecs, root_.codecs(), spec->dtype))
        findings.warning(
            "byte_order_missing", {},
            "the codec 'bytes' has no 'endian'; a struct is read as little-endian then, which other readers "
            "may see otherwise");
      if (kind == Kind::group)
        listing = add_listing(member, (*document)->document);
      else
        SHERD_TRY(open_array(path, *std::move(*document), array, findings));
    }
    merge(findings);
    if (kind == Kind::group) SHERD_TRY(references(format_, path, group_document));
    if (kind == Kind::unknown) forget(member);
    if (kind == Kind::array) return array ? contents(*array) : Result<void>{};
    if (kind == Kind::group && is_volume()) SHERD_TRY(known_members({path, true, listing}, found));
    if (kind == Kind::group && has_counterpart(path, **document)) return {};
    return members({path, kind == Kind::group, listing}, found);
  }

  // One document may affect several nodes: the info of a volume is that of each directory below it.
  Result<void> unreadable_document(const Error& error, Findings& to) {
    if (!damaged_.insert(to.key()).second) return {};
    ++report_.documents;
    return to.failed(error, document_code(error), {});
  }

  // Collections of objects to which a group's document refers; they are not members.
  Result<void> references(const Format& format, const std::string& path, const Json& document) {
    for (const auto& [member, key] : references_of(format, document)) {
      if (const auto leads = path_below(path, key)) referred_.insert(*leads);
      SHERD_TRY(check_reference(objects_at(path), {member, key}, options_.data, report_));
    }
    return {};
  }

  // Collections to which the volume of a dual-format array refers; its faults are reported with the array's.
  Result<void> references_of_counterpart(const NodeLocation& location, const NodeDocument& node) {
    const auto counterpart = find_volume_counterpart(location, node);
    if (!counterpart || !*counterpart) return {};
    const Format& format = *(*counterpart)->location.format;
    const auto volume = format.open(store_, (*counterpart)->location.path, root_.config.limits);
    return volume && *volume ? references(format, (*counterpart)->location.path, (*volume)->document) : Result<void>();
  }

  [[nodiscard]] neuroglancer::Collection::State::Location objects_at(const std::string& path) const {
    return {.store = root_.store, .path = path, .codecs = precomputed_codecs(), .config = root_.config};
  }

  // Whether a path is, or contains, something that a document describes.
  [[nodiscard]] bool is_referred_to(const std::string& path) const {
    const auto next = referred_.lower_bound(path);
    return next != referred_.end() && (*next == path || next->starts_with(path + "/"));
  }

  Result<void> open_array(const std::string& path, NodeDocument document, std::optional<Array>& array,
                          Findings& findings) {
    NodeLocation location = root_;
    location.path = path;
    location.writable = has_counterpart(path, document);  // only then are both formats checked; nothing is written
    if (location.writable) SHERD_TRY(references_of_counterpart(location, document));
    auto made = make_array(location, document);
    if (!made && location.writable) {
      Findings counterpart(made.error().key().empty() ? format_.likeliest_key(path) : made.error().key());
      SHERD_TRY(counterpart.failed(std::move(made).error(), "counterpart_document", {}));
      merge(counterpart);
      location.writable = false;
      made = make_array(std::move(location), std::move(document));
    }
    if (made) {
      const NodeDocument present = made->state().document();
      for (const std::string& remark : present.array->remarks) findings.warning("document_odd", {}, remark);
      warn_of_codecs(made->state().layout, findings);
      if (present.array->no_change) findings.warning("document_odd", {}, present.array->no_change->text());
      auto access = made->state().check_access();
      if (!access) return findings.failed(std::move(access).error(), "document_unsupported", {});
      array = *std::move(made);
      return {};
    }
    const Error error = stored_error(std::move(made).error());
    return findings.failed(error, document_code(error), {});
  }

  // A path without a document but with objects: a collection, a claimed node, or foreign objects. No document of a
  // volume refers to annotations.
  Result<void> nodeless(const std::string& path) {
    SHERD_TRY(is_collection, check_collection(objects_at(path), options_.data, report_));
    SHERD_TRY(claim, claim_of(at_path(root_, path)));
    if (is_collection || claim) return {};
    for (const std::string& prefix : format_.contents(path))
      SHERD_TRY(foreign_objects_below(
          prefix, "there are objects that belong to no node: there is no " + format_.likeliest_key(path)));
    return {};
  }

  [[nodiscard]] bool is_volume() const { return !format_.arrays_have_documents(); }

  // One finding if anything is below a prefix that igneous does not keep there.
  Result<void> foreign_objects_below(const std::string& prefix, const std::string& message) {
    const auto nothing = store_.visit(prefix, ListDepth::all, [&](const ListEntry& entry) {
      const std::string_view above = parent_path(std::string_view(prefix).substr(0, prefix.size() - 1));
      const std::string name = prefix.substr(prefix_of(above).size()) + std::string(entry.name);
      return is_volume() && neuroglancer::is_beside_scales(name);
    });
    if (!nothing.has_value()) return add_unlisted(nothing.error(), prefix, report_);
    return *nothing ? Result<void>{} : report_foreign(prefix, message);
  }

  [[nodiscard]] bool has_counterpart(const std::string& path, const NodeDocument& document) const {
    const auto counterpart = find_counterpart(at_path(root_, path), document);
    return counterpart && counterpart->has_value();
  }

  // Arrays described by the group's own document, and the location of their chunks.
  Result<void> known_members(const Member& group, std::vector<Member>& found) {
    SHERD_TRY(members, format_.members(store_, group.path, root_.config.limits, {}));
    for (const auto& member : members) {
      found.push_back({join_path(group.path, member.first), true, group.listing});
      const auto node = format_.open(store_, found.back().path, root_.config.limits);
      if (!node || !*node || !(*node)->array || !(*node)->array->chunk_prefix) continue;
      std::string_view directory = *(*node)->array->chunk_prefix;
      if (directory.ends_with('/')) directory.remove_suffix(1);
      referred_.emplace(directory);
    }
    return {};
  }

  // Checks everything below `group`, which need not be a group: then less is expected.
  Result<void> members(const Member& group, std::vector<Member>& found) {
    const NodeKeys keys = format_.keys(group.path);
    const bool mixed = referred_.contains(group.path);  // with an array's chunks, which are checked with the array
    std::set<std::string> names;
    for (const std::string& prefix : keys.contents) {
      const auto listing = store_.list_dir(prefix);
      if (!listing) {
        expect_nothing_below(group);
        SHERD_TRY(add_unlisted(listing.error(), prefix, report_));
        continue;
      }
      for (const std::string& name : listing->prefixes) {
        if (is_referred_to(prefix + name)) continue;
        if (format_.check_name(name))
          names.insert(name);
        else if (group.expected && !is_ours(name))
          SHERD_TRY(report_foreign(prefix + name + "/", "there are objects that belong to no node"));
      }
      for (const auto& object : listing->objects) {
        const auto member = member_of(format_, object.name);
        if (member && !member->empty())
          names.insert(*member);
        else if (group.expected && !mixed && !member && !keys.is_document(prefix + object.name) &&
                 !is_ours(object.name) && !root_.tables.is_model_document(object.name))
          SHERD_TRY(report_foreign(prefix + object.name, "neither a document nor a chunk"));
      }
    }
    for (auto name = names.rbegin(); name != names.rend(); ++name)
      found.push_back({join_path(group.path, *name), group.expected, group.listing});
    return {};
  }

  Result<void> report_foreign(const std::string& key, const std::string& message) {
    Findings findings(key);
    if (is_backup(key)) {
      findings.warning("backup", {}, "is what a repair has replaced; remove it when it is no longer needed");
      merge(findings);
      return {};
    }
    const auto opened = key.ends_with('/') ? Result<std::shared_ptr<ByteSource>>(nullptr) : store_.open(key);
    if (!opened && opened.error().code() == ErrorCode::io) {  // for example a link to a former location of chunks
      SHERD_TRY(findings.failed(opened.error(), "unreadable", {}));
    } else {
      const std::string other = other_format_of(root_, key);
      findings.warning("foreign_object", {},
                       other.empty() ? message
                                     : "a document of the format " + other + ", where the node is opened as " +
                                           std::string(format_.name()));
    }
    merge(findings);
    return {};
  }

  Listing* add_listing(const Member& group, const Json& document) {
    auto documents = consolidated_entries(format_, document);
    if (!documents) return group.listing;
    const auto& consolidation = *capability<Consolidation>(format_);
    const std::string_view own = consolidation.entries_document();
    const std::string key =
        own.empty() ? format_.document_key(group.path, NodeType::group) : prefix_of(group.path) + std::string(own);
    Listing& listing = listings_.emplace_back(group.listing, prefix_of(group.path), key);
    if (const auto copy = consolidation.own_copy(document); copy && !same_node(format_, *copy, document))
      listing.findings.warning("consolidated_stale", {},
                               "the copy of the group's own metadata differs from its documents; consolidate again");
    for (auto& [path, json] : *documents) listing.unseen.insert_or_assign(std::move(path), std::move(json));
    return &listing;
  }

  // Other readers trust consolidated metadata.
  void compare(const Member& member, const Json& document) {
    for (Listing* listing = member.listing; listing != nullptr; listing = listing->around) {
      const std::string path = member.path.substr(listing->prefix.size());
      const auto entry = listing->unseen.find(path);
      if (entry != listing->unseen.end()) {
        if (!same_node(format_, entry->second, document))
          listing->findings.warning(
              "consolidated_stale", {},
              "consolidated metadata of '" + path + "' differs from its document; consolidate again");
        listing->unseen.erase(entry);
      } else if (member.expected) {
        listing->findings.warning("consolidated_stale", {},
                                  "consolidated metadata leaves out '" + path + "'; consolidate again");
      }
    }
  }

  // A damaged document is a separate fault.
  void forget(const Member& member) {
    lists_.met(member.path, nullptr);
    for (Listing* listing = member.listing; listing != nullptr; listing = listing->around)
      listing->unseen.erase(member.path.substr(listing->prefix.size()));
  }

  // What is below a group that cannot be listed is unknown, not missing.
  void expect_nothing_below(const Member& group) {
    lists_.forget(group.path);
    for (Listing* listing = group.listing; listing != nullptr; listing = listing->around)
      std::erase_if(listing->unseen, [&](const auto& entry) {
        return (listing->prefix + entry.first).starts_with(prefix_of(group.path));
      });
  }

  // Checks what is below an array: chunks.
  Result<void> contents(const Array& array) {
    const Array::State& state = array.state();
    for (const std::string& prefix : format_.contents(state.location.path))
      if (prefix != state.prefix) SHERD_TRY(foreign_objects_below(prefix, "there are objects that belong to no node"));
    SHERD_TRY(chunks(state));
    const Array::State& written = written_array(state);
    if (counterpart_keys(written) == nullptr) return {};
    return check_dual_format(written, root_.config, options_.repair, [this](Findings& findings) { merge(findings); });
  }

  // The store of its objects. For chunks that are values of a store of ids, these are the shards.
  [[nodiscard]] Store& store_of(const Array::State& state) const {
    return neuroglancer::hashed_ids(state) != nullptr ? store_ : *state.location.store;
  }

  Result<void> chunks(const Array::State& state) {
    const Shape count = state.grid.count(state.shape());
    const NodeKeys keys = format_.keys(state.location.path);
    std::vector<Stored> batch;
    Result<void> outcome;
    const auto take = [&](const std::string& key, const std::optional<Shape>& cell, std::uint64_t size,
                          const Generation& generation) {
      if (!cell && may_be_of_another_shape(state, key))
        return true;
      else if (!cell)
        outcome = report_foreign(key, "neither a document nor a chunk of this array");
      else if (outside(*cell, count))
        outcome = outside_chunk(key, state.shape());
      else
        batch.push_back({*cell, key, size, generation});
      if (outcome && batch.size() == kObjectsAtOnce) outcome = objects(state, batch);
      return outcome.has_value();
    };
    const auto cell_of = [&](const std::string& key) {
      return stored_cell(state, std::string_view(key).substr(state.prefix.size()));
    };
    const StoredVisit visit{
        .object =
            [&](const std::string& key, std::uint64_t size, const Generation& generation) {
              if (!outcome) return false;
              const bool is_document = keys.is_document(key) || key == keys.array;  // which may be its group's
              const std::string_view name = std::string_view(key).substr(state.prefix.size());
              if (is_document || is_ours(name) || root_.tables.is_model_document(name)) return true;
              if (is_volume() && neuroglancer::is_beside_chunks(name)) return true;
              return is_of_counterpart(state, key) || take(key, cell_of(key), size, generation);
            },
        // A directory at the key of a chunk is neither a chunk nor a missing one: reading it is an error.
        .directory =
            [&](const std::string& path, bool beside_object) {
              if (!outcome || referred_.contains(path)) return false;
              const auto cell = cell_of(path);
              if (cell && !beside_object && !outside(*cell, count)) take(path, cell, 0, {});
              return true;
            }};
    const auto listed = for_all_stored(store_of(state), state.prefix, visit);
    if (outcome) outcome = objects(state, batch);
    if (!outcome) return outcome;
    return listed ? Result<void>() : add_unlisted(listed.error(), state.prefix, report_);
  }

  // A scale may have chunks of several shapes; the array is stored in chunks of the first shape.
  [[nodiscard]] bool may_be_of_another_shape(const Array::State& state, const std::string& key) const {
    const NodeDocument document = state.document();
    return document.array->no_change && format_.names_chunk(std::string_view(key).substr(state.prefix.size()));
  }

  // Whether it belongs to the volume counterpart of this array.
  static bool is_of_counterpart(const Array::State& state, const std::string& key) {
    const CounterpartKeys* keys = counterpart_keys(state);
    if (keys == nullptr) return false;
    return keys->parse(key) || key == keys->location.format->document_key(keys->location.path, NodeType::array);
  }

  // For a hashed shard: a cell without dimensions.
  static std::optional<Shape> stored_cell(const Array::State& state, std::string_view name) {
    const neuroglancer::IdObjects* ids = neuroglancer::hashed_ids(state);
    if (ids == nullptr) return state.grid.parse_key(name);
    return neuroglancer::shard_number(ids->values().format.sharding, name) ? std::optional(Shape()) : std::nullopt;
  }

  static bool outside(const Shape& cell, const Shape& count) {
    for (std::size_t d = 0; d < cell.size(); ++d)
      if (cell[d] >= count[d]) return true;
    return false;
  }

  Result<void> outside_chunk(const std::string& key, const Shape& shape) {
    Findings findings(key);
    findings.warning("chunk_outside", {},
                     "a chunk outside the array's shape " + to_string(shape) + ", where it is never read");
    merge(findings);
    return {};
  }

  Result<void> objects(const Array::State& state, std::vector<Stored>& batch) {
    for (const auto& each : batch) listed_bytes_ += each.size;
    Store& store = store_of(state);
    const Config config =
        with_requests(with_progress(root_.config, checked_bytes_, listed_bytes_), store.traits().parallel_requests);
    const ObjectCheck check(state, options_.data, config, budget_);
    const ObjectRepair repair(state, store, check, options_.repair);
    std::vector<std::unique_ptr<Findings>> findings(batch.size());
    SHERD_TRY(parallel_for(batch.size(), config, [&](std::size_t i) -> Result<void> {
      const Stored& each = batch[i];
      SHERD_TRY(found, repair.run(each.cell, each.key, listed_source(store, each.key, each.size, each.generation)));
      findings[i] = std::move(found);
      checked_bytes_.fetch_add(batch[i].size, std::memory_order_relaxed);
      return {};
    }));
    for (const auto& each : findings) merge(*each);
    batch.clear();
    return {};
  }

  void merge(Findings& findings) { add_findings(report_, findings); }

  const NodeLocation& root_;
  const CheckOptions& options_;
  Store& store_;
  const Format& format_;
  Budget budget_;
  CheckReport report_;
  MemberLists lists_;
  std::deque<Listing> listings_;
  std::set<std::string> referred_;  // paths of collections of objects and of the chunks of scales
  std::set<std::string> damaged_;   // keys of documents
  std::atomic<std::uint64_t> checked_bytes_{0};
  std::uint64_t listed_bytes_ = 0;
};

}  // namespace

Result<CheckReport> check_nodes(const NodeLocation& location, const CheckOptions& options) {
  if (!location.store->traits().can_list)
    return unsupported("the store " + location.store->url() +
                       " cannot list its objects, which check needs; check a copy");
  return TreeCheck(location, options).run();
}

}  // namespace sherd
