// Plans a copy of a tree: its nodes one by one, or those of an image.
#include "copy/plan.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include "array/nodes.hpp"
#include "base/call.hpp"
#include "base/pool.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "codec/number.hpp"
#include "copy/options.hpp"
#include "format/hidden_group.hpp"
#include "io/image.hpp"
#include "netcdf/member_notes.hpp"
#include "neuroglancer/dual_format.hpp"
#include "node/consolidated.hpp"
#include "node/document.hpp"
#include "node/foreign_objects.hpp"
#include "node/path.hpp"
#include "node/presence.hpp"
#include "ome/ome.hpp"
#include "store/key.hpp"
#include "store/prefetched.hpp"

namespace sherd {
namespace {

/// The number of members whose documents are in memory at a time.
constexpr std::size_t kPlannedTogether = 128;

class TreePlanner {
 public:
  TreePlanner(const NodeLocation& source, const NodeLocation& destination, const CopyOptions& options)
      : source_(source),
        destination_(destination),
        options_(options),
        format_(*source.format),
        new_format_(*destination.format),
        documents_(source.store) {}

  Result<TreePlan> run() && {
    SHERD_TRY(plan_all());
    SHERD_TRY(warn_of_foreign_objects());
    return std::move(plan_);
  }

 private:
  // Uses the texts that are stored at `location`, so that an unchanged node keeps its documents byte for byte.
  Result<void> keep_texts(const NodeLocation& location, NodeCopy& node) const {
    const std::vector<DocumentVersion>& versions = node.document.versions;
    if (changes_format()) return {};
    node.stored = documents_of(node, destination_);
    for (std::size_t i = 0; i < node.stored.size() && node.stored.size() == versions.size(); ++i) {
      SHERD_TRY(text, documents_->get(versions[i].key, location.config.limits.metadata_bytes));
      if (text) node.stored[i].text = *std::move(text);
    }
    return {};
  }

  // Only a group that is an image can be copied in part.
  Result<bool> is_image() const {
    if (is_image_copy(source_, destination_, options_)) return true;
    if (!asks_for_cutout(options_)) return false;
    SHERD_TRY(document, format_.open(*source_.store, source_.path, source_.config.limits));
    return document && document->type == NodeType::group;
  }

  Result<void> plan_all() {
    if (asks_for_cutout(options_) && options_.config.layout != Layout::plain)
      return std::move(unsupported(std::string("cannot be combined with the layout zarr+neuroglancer; ") +
                                   (options_.select ? "copy the part" : "convert the elements in a copy") +
                                   " first, and then copy that with the layout"))
          .in_member(options_.select ? "select" : "dtype");
    SHERD_TRY(labelled, find_labelled_image(destination_));
    plan_.labelled = std::move(labelled);
    SHERD_TRY(of_image, is_image());
    if (!plan_.labelled && !of_image) {
      SHERD_TRY(refuse_volume_options(options_));
      const std::string_view image_option = !options_.type.empty()  ? "type"
                                            : options_.resolution   ? "resolution"
                                            : options_.voxel_offset ? "voxel_offset"
                                                                    : "";
      if (!image_option.empty())
        return std::move(invalid_argument("can only be used with a pyramid, or with a volume on one side of the copy"))
            .in_member(std::string(image_option));
      SHERD_TRY(plan(""));
      SHERD_TRY(check_complete());
      SHERD_TRY(check_ranks());
      return list_all();
    }
    SHERD_TRY(planned, plan_image(source_, destination_, options_, plan_.labelled));
    plan_.nodes = std::move(planned.nodes);
    plan_.dangling = std::move(planned.dangling);
    for (const NodeCopy& node : plan_.nodes)
      if (node.array) plan_.bytes += node.array->bytes;
    SHERD_TRY(document, format_.open(*source_.store, source_.path, source_.config.limits));
    if (!document) return {};
    if (document->type == NodeType::group) {
      note_references("", document->document);
      SHERD_TRY(note_side_documents(source_, ""));
    }
    std::string volume(split_key(format_.document_key(source_.path, document->type)).prefix);
    if (!volume.empty()) volume.pop_back();
    for (const NodeCopy& node : plan_.nodes) note_references(node, volume);
    return {};
  }

  // If the copy has the same format, it refers to them too.
  void note_references(const std::string& path, const Json& group) {
    if (changes_format()) return;
    for (const auto& reference : references_of(format_, group))
      if (auto leads = path_below(path, reference.second); leads && !leads->empty())
        plan_.referred.insert_or_assign(*leads, join_path(source_.path, *leads));
  }

  // The collections to which the volume of a dual-format copy refers, as the source's volume did.
  void note_references(const NodeCopy& node, const std::string& volume) {
    const auto& counterpart = node.document.counterpart;
    if (!counterpart) return;
    for (const auto& reference : references_of(*counterpart->format, counterpart->document)) {
      const auto from = path_below(volume, reference.second), to = path_below(node.path, reference.second);
      if (from && to && !to->empty()) plan_.referred.insert_or_assign(*to, *from);
    }
  }

  // Documents of a group that only other programs read. The copy has them if its format does.
  Result<void> note_side_documents(const NodeLocation& location, const std::string& path) {
    const std::vector<std::string_view> kept = side_documents(location_below(destination_, path));
    for (const std::string_view name : side_documents(location)) {
      std::string key = join_path(location.path, name);
      SHERD_TRY(present, location.store->open(key));
      if (present == nullptr) continue;
      if (std::ranges::find(kept, name) != kept.end())
        plan_.side_documents.insert_or_assign(join_path(path, name), std::move(key));
      else
        plan_.warnings.push_back(key + " is not part of the copy: the format of the copy does not define it");
    }
    return {};
  }

  // A part of an array is copied for its elements only.
  Result<void> warn_of_foreign_objects() {
    if (asks_for_cutout(options_)) return {};
    SHERD_TRY(foreign, foreign_objects(source_));
    if (foreign.count == 1)
      plan_.warnings.push_back(foreign.first + " belongs to no node and was left out");
    else if (foreign.count > 1)
      plan_.warnings.push_back(std::to_string(foreign.count) +
                               " objects that belong to no node were left out, such as " + foreign.first);
    return {};
  }

  // Once, however many nodes have documents that are left out. Arrays of a group are not checked; the group has one.
  Result<void> warn(const NodeLocation& location, const NodeDocument& document) {
    if (!plan_.warnings.empty() || (document.type == NodeType::array && !plan_.nodes.empty())) return {};
    SHERD_TRY(left_out, netcdf::left_out_of_copies(location, document.document));
    if (left_out) plan_.warnings.push_back(*std::move(left_out));
    return {};
  }

  Result<void> plan(const std::string& path) {
    SHERD_TRY(check_interrupted(options_.config.interrupted));
    const NodeLocation location = location_below(source_, path);
    auto document = format_.open(*documents_, location.path, location.config.limits);
    if (!document) return leave_out(path, std::move(document).error());
    if (!*document) return path.empty() ? Result<void>(no_node_at(location)) : Result<void>();  // erased meanwhile
    SHERD_TRY(warn(location, **document));
    const std::string key = key_of(location, (*document)->type);
    if (changes_format()) warn_of_left_behind(format_, new_format_, **document, key, plan_.warnings);
    if ((*document)->type == NodeType::group) return plan_group(location, path, **std::move(document));
    return in_source(plan_array(location, path, **document), key, options_);
  }

  Result<void> plan_group(const NodeLocation& location, const std::string& path, NodeDocument document) {
    if (!options_.axes.empty())
      return std::move(invalid_argument("can only be set for one array or image; copy an array of the group"))
          .in_member("axes");
    SHERD_TRY(are_labels, plan_labels(location, path, document));
    if (are_labels) return {};
    if (changes_format()) {
      SHERD_TRY(attributes, in_store(ome_attributes(location, document.attributes), location.store->url()));
      for (OmeDataset& dataset : ome_datasets(attributes))
        if (const auto below = normal_path(dataset.path))
          axes_.insert_or_assign(join_path(path, *below), std::move(dataset.axes));
    }
    const std::size_t number = plan_.nodes.size();
    plan_.nodes.push_back({path, std::move(document)});
    SHERD_TRY(note_side_documents(location, path));
    SHERD_TRY(hidden, hidden_group(location, plan_.nodes[number].document.document));
    if (hidden) left_out_.emplace(path, corrupt(*hidden));
    SHERD_TRY(members, members_at(location));
    SHERD_TRY(plan_members(path, members));
    note_missing(number);
    NodeCopy node = std::move(plan_.nodes[number]);
    SHERD_TRY(finish_group(location, node));
    note_references(path, node.document.document);
    plan_.nodes[number] = std::move(node);
    return {};
  }

  [[nodiscard]] std::vector<std::string> documents_at(const std::string& path) const {
    const Format* const format = &format_;
    return document_keys({&format, 1}, join_path(source_.path, path));
  }

  /// Where requests have latency, the documents of many members are read together.
  Result<void> plan_members(const std::string& path, const Members& members) {
    const std::shared_ptr<Store> outer = documents_;
    for (std::size_t i = 0; i < members.size();) {
      const std::size_t end = std::min(i + kPlannedTogether, members.size());
      std::vector<std::string> keys;
      for (std::size_t k = i; k < end; ++k)
        std::ranges::move(documents_at(join_path(path, members[k].first)), std::back_inserter(keys));
      SHERD_TRY(read, prefetched_store(*source_.store, keys));
      documents_ = std::move(read);
      for (; i < end; ++i) SHERD_TRY(plan(join_path(path, members[i].first)));
    }
    documents_ = outer;
    return {};
  }

  /// Lists the chunks of the arrays.
  Result<void> list_all() {
    const Config config = with_requests(options_.config, source_.store->traits().parallel_requests);
    SHERD_TRY(parallel_for(unlisted_.size(), config, [&](std::size_t i) {
      NodeCopy& node = plan_.nodes[unlisted_[i]];
      return in_source(list_chunks(*node.array), key_of(location_below(source_, node.path), NodeType::array), options_);
    }));
    for (const std::size_t number : unlisted_) plan_.bytes += plan_.nodes[number].array->bytes;
    return {};
  }

  /// The members of a group. If they are those that OME-NGFF's metadata name, there may be others.
  Result<Members> members_at(const NodeLocation& group) {
    auto listed = members_of(group);
    const bool is_all = listed.has_value();
    SHERD_TRY(members, listed_or_named(std::move(listed), group));
    if (!is_all && !std::exchange(names_members_, true))
      plan_.warnings.emplace_back("the server lists nothing: only members that OME-NGFF's metadata name are copied");
    return members;
  }

  // OME-NGFF requires labels to have as many levels as their image, and `check` lets only those before 0.5 have others:
  // the copy's are made of the finest one. False for any other node.
  Result<bool> plan_labels(const NodeLocation& location, const std::string& path, const NodeDocument& document) {
    if (!changes_format() || new_format_.name() == "zarr2" || options_.config.layout != Layout::plain) return false;
    const auto labels = ome_group(document.attributes, location.path);
    if (!labels || last_segment(parent_path(path)) != "labels") return false;
    SHERD_TRY(image, image_of_labels(location, *labels));
    if (!image) return false;
    SHERD_TRY(below, normal_path(labels->datasets.front().path));
    const NodeLocation finest = at_path(location, join_path(location.path, below));
    SHERD_TRY(array, format_.open(*finest.store, finest.path, finest.config.limits));
    if (!array || !array->array || !is_integer(array->array->dtype)) return false;
    CopyOptions options = options_for(*array->array, path);
    options.pyramid = Pyramid{.method = Pyramid::Method::mode};
    SHERD_TRY(planned, plan_image(location, location_below(destination_, path), options, image));
    std::set<std::string> taken, made;
    for (const OmeDataset& dataset : labels->datasets) taken.insert(dataset.path.substr(0, dataset.path.find('/')));
    const std::size_t first = plan_.nodes.size();
    for (NodeCopy& node : planned.nodes) {
      if (node.reduced) node.reduced->node += first;
      if (node.array) plan_.bytes += node.array->bytes;
      made.insert(node.path);
      node.path = join_path(path, node.path);
      plan_.nodes.push_back(std::move(node));
    }
    plan_.warnings.push_back("'" + path + "' has " + made_levels(*image, labels->datasets.size()));
    SHERD_TRY(note_side_documents(location, path));
    SHERD_TRY(members, members_at(location));
    for (const auto& member : members) {
      if (taken.contains(member.first)) continue;
      if (made.contains(member.first))
        return unsupported("'" + join_path(path, member.first) +
                           "' is not a resolution of these labels, and the copy needs its name for one; rename it");
      SHERD_TRY(plan(join_path(path, member.first)));
    }
    return true;
  }

  // Makes the document of a group whose members are planned.
  Result<void> finish_group(const NodeLocation& location, NodeCopy& node) {
    SHERD_TRY(keep_texts(location, node));
    SHERD_TRY(drop_left_out(node));
    untie(node);
    if (!changes_format()) return {};
    SHERD_TRY(fresh, copied_group(location, node.document, destination_));
    const auto* consolidation = capability<Consolidation>(new_format_);
    if (consolidation != nullptr && consolidated_entries(format_, node.document.document)) {
      SHERD_TRY(listed, consolidation->with_entries(std::move(fresh), {}));  // filled in by run()
      fresh = std::move(listed);
    }
    node.document.document = std::move(fresh);
    return {};
  }

  // A node that cannot be read: an error, unless the caller wants the rest.
  Result<void> leave_out(const std::string& path, Error error) {
    if (!options_.skip_damaged || path.empty() || !is_stored_fault(error)) return error;
    left_out_.emplace(path, std::move(error));
    return {};
  }

  // What the metadata of a group name below it, and nothing was planned for.
  void note_missing(std::size_t number) {
    const NodeCopy& group = plan_.nodes[number];
    std::map<std::string, std::string> named;
    if (const auto entries = consolidated_entries(format_, group.document.document))
      for (const auto& [path, entry] : *entries)
        named.emplace(join_path(group.path, path), "is in the consolidated metadata, but not stored");
    if (const auto members = netcdf::listed_members(group.document.document))
      for (const netcdf::ListedMember& each : *members)
        named.insert_or_assign(join_path(group.path, each.name), "is listed by its group's metadata, but not stored");
    for (auto node = plan_.nodes.begin() + static_cast<std::ptrdiff_t>(number); node != plan_.nodes.end(); ++node)
      named.erase(node->path);
    for (const auto& [path, fault] : named) {
      const std::vector<std::string> groups = ancestors(path);
      if (std::ranges::none_of(groups, [&](const std::string& each) { return left_out_.contains(each); }))
        left_out_.emplace(path, corrupt(fault));
    }
  }

  // Removes members that are left out from the list that a group of NCZarr keeps.
  Result<void> drop_left_out(NodeCopy& group) const {
    Json document = group.document.document;
    for (const auto& [path, error] : left_out_)
      if (parent_path(path) == group.path)
        document = netcdf::without_member(std::move(document), std::string(last_segment(path)));
    if (document == group.document.document) return {};
    SHERD_TRY(lowered, format_.lower(document, source_.config.limits));
    group.document.document = std::move(document);
    group.document.attributes = std::move(lowered.attributes);
    group.stored.clear();
    return {};
  }

  // A copy that lacks something must not look complete.
  Result<void> check_complete() {
    std::string parts;
    for (const auto& [path, error] : left_out_) {
      if (options_.skip_damaged)
        plan_.warnings.push_back("/" + path + ": left out: " + error.text());
      else
        parts += (parts.empty() ? "" : "; ") + ("/" + path) + ": " + error.text();
    }
    if (parts.empty()) return {};
    return std::move(corrupt("is needed to copy only the rest of " + url_below(source_.store->url(), source_.path) +
                             ", without " + parts))
        .in_member("skip_damaged");
  }

  // Chunks and shards apply to the arrays of their rank; if the root is an array, a mismatch is an error.
  [[nodiscard]] CopyOptions options_for(const ArraySpec& spec, const std::string& path) {
    CopyOptions options = options_;
    const std::size_t rank = spec.shape.size();
    const auto fits = [&](const std::optional<Shape>& lengths) {
      return !lengths || lengths->empty() || lengths->size() == rank;
    };
    if (path.empty() || (fits(options.chunks) && fits(options.shards))) {
      rank_met_ = true;
      return options;
    }
    options.chunks.reset();
    options.shards.reset();
    return options;
  }

  Result<void> plan_array(const NodeLocation& location, const std::string& path, const NodeDocument& document) {
    auto source = make_array(location, document);
    if (!source)
      return leave_out(path, stored_error(std::move(source).error()).in_key(key_of(location, document.type)));
    SHERD_TRY(source->state().check_access());
    const CopyOptions options = options_for(*document.array, path);
    SHERD_TRY(cutout, Cutout::make(*document.array, options));
    SHERD_TRY(spec, copied_spec(source->state(), destination_, options, cutout.get()));
    NodeCopy node{path, document};
    SHERD_TRY(keep_texts(location, node));
    untie(node);
    if (path.empty()) SHERD_TRY(keep_image(*source, node));
    NodeLocation to = location_below(destination_, path);
    // An array whose layout does not change keeps its document byte for byte.
    Json attributes = copied_attributes(format_, new_format_, node.document);
    if (cutout) attributes = cutout->attributes_of(std::move(attributes), short_names(*document.array));
    if (changes_format()) name_axes(path, document, spec);
    SHERD_TRY(set_axes(options_.axes, spec));
    if (changes_format() || !options.axes.empty() || (cutout && cutout->changes_chunks())) {
      SHERD_TRY(fresh, new_node(destination_, std::move(spec), attributes));
      if (changes_format()) warn_of_replaced(attributes, fresh, key_of(location, document.type), plan_.warnings);
      node.document = std::move(fresh);
      node.stored.clear();
    } else if (cutout || options.chunks || options.shards || options.auto_shards || options.codecs ||
               options.index_location) {
      NodeChange change{.chunks = &spec};
      if (cutout) change.shape = spec.shape;
      if (cutout) change.attributes = std::move(attributes);
      SHERD_TRY(changed, format_.changed(node.document.document, change));
      if (!(changed == node.document.document)) node.stored.clear();
      SHERD_TRY(lowered, format_.lower(changed, to.config.limits));
      node.document = std::move(lowered);
    }
    if (options_.config.layout == Layout::zarr_neuroglancer) {
      SHERD_TRY(counterpart, counterpart_of_copy({location, document}, {to, node.document}));
      SHERD_TRY(add_counterpart(to, node.document, counterpart));
      note_references(node, location.path);
      node.stored.clear();
    }
    to.writable = false;  // there is nothing to write to yet
    auto destination = make_array(std::move(to), node.document);
    if (!destination) return of_request(destination.error());
    SHERD_TRY(array, plan_unlisted(*std::move(source), *std::move(destination), std::move(cutout)));
    node.array = std::move(array);
    unlisted_.push_back(plan_.nodes.size());
    plan_.nodes.push_back(std::move(node));
    return {};
  }

  // In OME-NGFF 0.5 the dimensions of each resolution have the names of the axes; 0.4 has no names for them. Names from
  // a data model are kept as those of the format.
  void name_axes(const std::string& path, const NodeDocument& document, ArraySpec& spec) const {
    const auto assign = [&spec](const std::vector<std::string>& names) {
      if (names.size() == spec.shape.size()) spec.dimension_names.assign(names.begin(), names.end());
    };
    if (const auto axes = axes_.find(path); axes != axes_.end()) return assign(axes->second);
    if (spec.dimension_names.empty()) assign(netcdf::dimension_names(document));
  }

  // A resolution copied without its group stores the description of the image itself. Parts of the group's metadata
  // that are invalid are left out.
  Result<void> keep_image(const Array& source, NodeCopy& node) const {
    const auto level = find_single_level(source, false);
    if (!level || !*level) return {};
    const Json attributes = array_attributes((*level)->image, (*level)->attributes);
    SHERD_TRY(document, format_.changed(std::move(node.document.document), {.attributes = attributes}));
    SHERD_TRY(lowered, format_.lower(std::move(document), options_.config.limits));
    node.document = std::move(lowered);
    node.stored.clear();
    return {};
  }

  // The reference of an array to its volume is not copied: the copy has its own volume, or none.
  void untie(NodeCopy& node) const {
    Json document = without_layout(node.document.document);
    if (document == node.document.document) return;
    node.document.document = std::move(document);
    node.document.attributes.erase(kLayoutMember);
    node.stored.clear();
  }

  static std::string key_of(const NodeLocation& location, NodeType type) {
    return location.format->document_key(location.path, type);
  }

  [[nodiscard]] bool changes_format() const { return format_.name() != new_format_.name(); }

  Result<void> check_ranks() const {
    if (rank_met_ || (!options_.chunks && !options_.shards)) return {};
    return std::move(invalid_argument("no array here has so many dimensions"))
        .in_member(options_.chunks ? "chunks" : "shards");
  }

  const NodeLocation& source_;
  const NodeLocation& destination_;
  const CopyOptions& options_;
  const Format& format_;      ///< of the source
  const Format& new_format_;  ///< of the destination
  TreePlan plan_;
  std::shared_ptr<Store> documents_;   ///< a snapshot of the source in which documents are read
  std::vector<std::size_t> unlisted_;  ///< numbers of the nodes that are arrays whose chunks have not been listed
  std::map<std::string, std::vector<std::string>> axes_;  ///< of the resolutions of images, by path
  std::map<std::string, Error> left_out_;                 ///< nodes that cannot be read, by path
  bool rank_met_ = false, names_members_ = false;
};

}  // namespace

NodeLocation location_below(const NodeLocation& root, const std::string& path) {
  return at_path(root, join_path(root.path, path));
}

std::vector<Document> documents_of(const NodeCopy& node, const NodeLocation& destination) {
  return destination.format->documents(join_path(destination.path, node.path), node.document.document);
}

Result<TreePlan> plan_tree(const NodeLocation& source, const NodeLocation& destination, const CopyOptions& options) {
  return TreePlanner(source, destination, options).run();
}

}  // namespace sherd
