// The order in which a tree is copied, so that until it is whole the destination stays as it was, and a kill at any
// moment leaves something that can be gone on with:
//   1. Everything is planned: all documents, and which objects there are to be made.
//   2. The copy is begun next to the destination (array/staged.hpp): a note there says what is being copied.
//   3. Objects are made, each visible only when it is whole. One that exists is done. Collections of Neuroglancer's
//      objects, to which a group may refer, are copied as they are.
//   4. Documents are written, those of members before their group's.
//   5. What has been made is moved to the destination, and the note is erased.
// A copy that goes on compares its plan with the note, and makes what is missing.
#include "tools/copy.hpp"
#include "tools/copy_labels.hpp"
#include "tools/copy_options.hpp"

#include <algorithm>
#include <map>
#include <thread>

#include "array/consolidated.hpp"
#include "array/document.hpp"
#include "array/hierarchy.hpp"
#include "array/staged.hpp"
#include "base/checksum.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "io/image.hpp"
#include "neuroglancer/document.hpp"
#include "neuroglancer/dual_format.hpp"
#include "ome/ome.hpp"

namespace sherd {
namespace {

// What another attempt can go on from; any other failure would only come again.
bool is_passing(const Error& error) { return error.code() == ErrorCode::io || error.code() == ErrorCode::unavailable; }

// Says what is being copied, or continues it.
Result<void> note_copy(const StagedNode& staged, Store& store, const std::string& mine, const CopyOptions& options) {
  if (options.resume) {
    SHERD_TRY(noted, store.get(staged.note_key(), options.config.limits.metadata_bytes));
    if (noted == mine) return {};
    if (noted)
      return conflict(
          "an unfinished copy of something else, or with other options, exists here; start again without resuming it");
    SHERD_TRY(staged.abandon());  // its contents are unknown
  }
  return store.set(staged.note_key(), mine);
}

class TreeCopy {
 public:
  TreeCopy(const NodeLocation& source, const NodeLocation& destination, const CopyOptions& options)
      : source_(source),
        destination_(destination),
        options_(options),
        format_(*source.format),
        new_format_(*destination.format) {}

  Result<CopyReport> run() {
    SHERD_TRY(in_store(plan_all(), source_.store->url()));
    return make_all();
  }

  Result<CopyReport> run(std::vector<NodeCopy> nodes) {
    nodes_ = std::move(nodes);
    return make_all();
  }

 private:
  Result<CopyReport> make_all() {
    SHERD_TRY(renew_consolidated_metadata(nodes_, new_format_));
    SHERD_TRY(make_texts());
    const auto making = [&](const NodeLocation& location) { return make(location); };
    const StagedCopy copy{
        {.overwrite = options_.overwrite}, fingerprint(source_, nodes_, options_), paths_below(), making};
    // They tell whether a copy is finished, and belong to consolidated metadata.
    if (options_.resume || is_consolidated(nodes_, new_format_)) SHERD_TRY(add_notes(nodes_, destination_));
    SHERD_TRY(make_texts());
    SHERD_TRY(is_there, has_documents(*destination_.store, nodes_.front()));
    bool completed = false;
    if (is_there) {
      SHERD_TRY(done, complete_staged(destination_, copy));
      completed = done;
    }
    if (!completed) SHERD_TRY(make_staged(destination_, copy, options_));
    if (labelled_) SHERD_TRY(list_labels(*labelled_));
    return report();
  }

  // Makes what is not there yet, the root's document last.
  Result<void> make(const NodeLocation& root) {
    for (NodeCopy& node : nodes_) {
      if (node.document.type != NodeType::array) continue;
      SHERD_TRY(check_links(at(root, node.path), node.document));
      SHERD_TRY(write_counterpart(at(root, node.path), node.document));
      if (node.fill)  // its writes confirm their document
        for (const Document& document : node.stored)
          SHERD_TRY(root.store->set(document.key, document.text).in_key(document.key));
      SHERD_TRY(destination, make_array(at(root, node.path), node.document));
      if (node.reduced) {
        const NodeCopy& finer = nodes_[node.reduced->node];
        SHERD_TRY(source, make_array(at(root, finer.path), finer.document));
        SHERD_TRY(reduced, plan_copy(std::move(source), std::move(destination),
                                     std::make_shared<CoarserElements>(node.reduced->how)));
        total_ += reduced.bytes;
        SHERD_TRY(copy_objects(reduced));
      } else if (node.fill) {
        const std::uint64_t bytes = element_count(destination.shape()).value_or(0) * destination.dtype().size();
        SHERD_TRY(node.fill(destination));
        total_ += bytes;
        counts_.bytes += bytes;
      } else {
        node.array->destination = std::move(destination);
        SHERD_TRY(copy_objects(*node.array));
      }
    }
    for (const auto& [path, source] : referred_)
      SHERD_TRY(copy_below({source_.store, source}, {root.store, join_path(root.path, path)}, options_.resume, counts_,
                           options_.config));
    if (options_.config.progress) options_.config.progress({counts_.bytes, total_});
    for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
      if (node->document.type == NodeType::array && !new_format_.arrays_have_documents()) continue;
      SHERD_TRY(is_there, has_documents(*root.store, *node));
      if (is_there) continue;
      for (const Document& document : node->stored)
        SHERD_TRY(root.store->set(document.key, document.text).in_key(document.key));
    }
    return {};
  }

  // A copy that is not resumed has none yet.
  Result<bool> has_documents(Store& store, const NodeCopy& node) const {
    if (!options_.resume) return false;
    return are_stored(store, node, destination_.config.limits);
  }

  // The texts of all documents that have none.
  Result<void> make_texts() {
    for (NodeCopy& node : nodes_) {
      if (node.stored.empty()) node.stored = documents_of(node);
      for (const Document& document : node.stored)
        SHERD_TRY(check_text(document.text, options_.config.limits).in_key(document.key));
    }
    return {};
  }

  [[nodiscard]] std::vector<Document> documents_of(const NodeCopy& node) const {
    return new_format_.documents(join_path(destination_.path, node.path), node.document.document);
  }

  // The same, with the texts that are stored at `location`: a node that stays as it is keeps its documents to the byte.
  Result<void> keep_texts(const NodeLocation& location, NodeCopy& node) const {
    const std::vector<DocumentVersion>& versions = node.document.versions;
    if (changes_format()) return {};
    node.stored = documents_of(node);
    for (std::size_t i = 0; i < node.stored.size() && node.stored.size() == versions.size(); ++i) {
      SHERD_TRY(text, location.store->get(versions[i].key, location.config.limits.metadata_bytes));
      if (text) node.stored[i].text = *std::move(text);
    }
    return {};
  }

  [[nodiscard]] NodeLocation at(const NodeLocation& root, const std::string& path) const {
    NodeLocation location = root;
    location.path = join_path(root.path, path);
    return location;
  }

  // A part of a group can only be one of an image.
  Result<bool> is_image() const {
    if (is_image_copy(source_, destination_, options_)) return true;
    if (!asks_for_cutout(options_)) return false;
    SHERD_TRY(document, format_.open(*source_.store, source_.path, source_.config.limits));
    return document && document->type == NodeType::group;
  }

  Result<void> plan_all() {
    if (asks_for_cutout(options_) && options_.config.layout != Layout::plain)
      return unsupported("layout zarr+neuroglancer: is made of whole arrays; copy the part first, and then the copy");
    SHERD_TRY(labelled, find_labelled_image(destination_));
    labelled_ = std::move(labelled);
    SHERD_TRY(of_image, is_image());
    if (!labelled_ && !of_image) {
      SHERD_TRY(refuse_volume_options(options_));
      const std::string_view image_option = !options_.type.empty()  ? "type"
                                            : options_.resolution   ? "resolution"
                                            : options_.voxel_offset ? "voxel_offset"
                                                                    : "";
      if (!image_option.empty())
        return std::move(invalid_argument("can only be used with a pyramid, or with a volume on one side of the copy"))
            .in_member(std::string(image_option));
      SHERD_TRY(plan(""));
      return check_ranks();
    }
    SHERD_TRY(planned, plan_image(source_, destination_, options_, labelled_));
    nodes_ = std::move(planned.nodes);
    dangling_ = std::move(planned.dangling);
    for (const NodeCopy& node : nodes_)
      if (node.array) total_ += node.array->bytes;
    SHERD_TRY(document, format_.open(*source_.store, source_.path, source_.config.limits));
    if (!document) return {};
    if (document->type == NodeType::group) note_references("", document->document);
    std::string volume(split_key(format_.document_key(source_.path, document->type)).prefix);
    if (!volume.empty()) volume.pop_back();
    for (const NodeCopy& node : nodes_) note_references(node, volume);
    return {};
  }

  // Where the copy is of the same format, it leads to them too.
  void note_references(const std::string& path, const Json& group) {
    if (changes_format()) return;
    for (const auto& reference : references_of(format_, group))
      if (auto leads = path_below(path, reference.second); leads && !leads->empty())
        referred_.insert_or_assign(*leads, join_path(source_.path, *leads));
  }

  // Those to which the volume of a dual-format copy leads, as one at this path did.
  void note_references(const NodeCopy& node, const std::string& volume) {
    const auto& counterpart = node.document.counterpart;
    if (!counterpart) return;
    for (const auto& reference : references_of(*counterpart->format, counterpart->document)) {
      const auto from = path_below(volume, reference.second), to = path_below(node.path, reference.second);
      if (from && to && !to->empty()) referred_.insert_or_assign(*to, *from);
    }
  }

  Result<void> plan(const std::string& path) {
    if (options_.config.interrupted && options_.config.interrupted()) return unavailable("interrupted");
    const NodeLocation location = at(source_, path);
    SHERD_TRY(document, format_.open(*location.store, location.path, location.config.limits));
    if (!document) return {};  // erased since it was listed
    const std::string key = format_.document_key(location.path, document->type);
    if (document->type == NodeType::array) return in_source(plan_array(location, path, *document), key, options_);
    if (!options_.axes.empty())
      return std::move(invalid_argument("are of one array or image; copy an array of the group")).in_member("axes");
    NodeCopy node{path, *std::move(document)};
    SHERD_TRY(keep_texts(location, node));
    untie(node);
    if (changes_format()) {
      const std::string_view ome = ome_version_of(new_format_);
      for (OmeDataset& dataset : ome_datasets(node.document.attributes))
        if (const auto below = normal_path(dataset.path))
          axes_.insert_or_assign(join_path(path, *below), std::move(dataset.axes));
      SHERD_TRY(fresh, new_format_.group_document(as_ome_version(node.document.attributes, ome, location.path)));
      SHERD_TRY(carry_spelling(format_, node.document, new_format_, fresh, destination_.config.limits));
      const auto* consolidation = capability<Consolidation>(new_format_);
      if (consolidation != nullptr && consolidated_entries(format_, node.document.document)) {
        SHERD_TRY(listed, consolidation->with_entries(std::move(fresh), {}));  // which run() fills
        fresh = std::move(listed);
      }
      node.document.document = std::move(fresh);
    }
    note_references(path, node.document.document);
    nodes_.push_back(std::move(node));
    SHERD_TRY(members, members_of(location));
    for (const auto& member : members) SHERD_TRY(plan(join_path(path, member.first)));
    return {};
  }

  // Chunks and shards go to the arrays of their rank; where the root is an array, that is an error.
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
    if (!source) return stored_error(std::move(source).error());
    SHERD_TRY(source->state().check_access());
    const CopyOptions options = options_for(*document.array, path);
    SHERD_TRY(cutout, Cutout::make(*document.array, options));
    SHERD_TRY(spec, copied_spec(source->state(), destination_, options, cutout.get()));
    NodeCopy node{path, document};
    SHERD_TRY(keep_texts(location, node));
    untie(node);
    if (path.empty()) SHERD_TRY(keep_image(*source, node));
    NodeLocation to = at(destination_, path);
    // An array whose layout stays keeps its document to the byte.
    Json attributes = copied_attributes(format_, new_format_, node.document);
    if (cutout) attributes = cutout->attributes_of(std::move(attributes), short_names(*document.array));
    if (changes_format()) name_axes(path, spec);
    SHERD_TRY(name_axes(spec));
    if (changes_format() || !options.axes.empty() || (cutout && cutout->changes_chunks())) {
      SHERD_TRY(fresh, new_node(destination_, std::move(spec), attributes));
      NodeDocument spelled = document;
      spelled.array = fresh.array;  // as a copy of the copy will express it
      if (changes_format()) SHERD_TRY(carry_spelling(format_, spelled, new_format_, fresh.document, to.config.limits));
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
    SHERD_TRY(array, plan_copy(*std::move(source), *std::move(destination), std::move(cutout)));
    total_ += array.bytes;
    node.array = std::move(array);
    nodes_.push_back(std::move(node));
    return {};
  }

  static std::vector<std::string> short_names(const ArraySpec& spec) {
    std::vector<std::string> names(spec.shape.size());
    for (std::size_t d = 0; d < spec.dimension_names.size(); ++d)
      names[d] = short_axis_name(spec.dimension_names[d].value_or(""));
    return names;
  }

  // What the caller says of the dimensions of the copy.
  Result<void> name_axes(ArraySpec& spec) const {
    if (options_.axes.empty()) return {};
    SHERD_TRY(names, axis_names(options_.axes).in_member("axes"));
    if (names.size() != spec.shape.size())
      return std::move(invalid_argument("the copy has " + std::to_string(spec.shape.size()) + " dimensions"))
          .in_member("axes");
    spec.dimension_names.assign(names.begin(), names.end());
    return {};
  }

  // In OME-NGFF 0.5 the dimensions of each resolution are called as the axes are; 0.4 has no names for them.
  void name_axes(const std::string& path, ArraySpec& spec) const {
    const auto axes = axes_.find(path);
    if (axes == axes_.end() || axes->second.size() != spec.shape.size()) return;
    spec.dimension_names.assign(axes->second.begin(), axes->second.end());
  }

  // A resolution that is copied without the group around it says itself what the image is. What the group's metadata
  // say that cannot be understood is left behind.
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

  // The tie of an array to a volume is not copied: the copy has one of its own, or none.
  void untie(NodeCopy& node) const {
    Json document = without_layout(node.document.document);
    if (document == node.document.document) return;
    node.document.document = std::move(document);
    node.document.attributes.erase(kLayoutMember);
    node.stored.clear();
  }

  [[nodiscard]] bool changes_format() const { return format_.name() != new_format_.name(); }

  Result<void> check_ranks() const {
    if (rank_met_ || (!options_.chunks && !options_.shards)) return {};
    return std::move(invalid_argument("no array here has so many dimensions"))
        .in_member(options_.chunks ? "chunks" : "shards");
  }

  // Lanes copy one object after the other. Interruption is polled on the caller's thread only.
  Result<void> copy_objects(const ArrayCopy& task) {
    const Config watched = with_progress(options_.config, counts_.bytes, total_);
    const CopyShares shares = share_memory(task, watched);
    ObjectCopy objects(task, shares, counts_);
    const Array::State& to = task.destination.state();
    const Shape shape = to.shape();
    const Shape count = to.grid.count(shape);
    const auto caller = std::this_thread::get_id();
    std::atomic<std::size_t> next{0};
    std::atomic<bool> failed{false};
    const auto one = [&](std::size_t i) -> Result<void> {
      const CellAccess cell = access(to, unravel(task.object(i), count), shape);
      SHERD_TRY(done, is_done(to, cell));
      if (!done) SHERD_TRY(objects.copy(cell));
      counts_.bytes += element_count(cell.valid).value_or(0) * to.dtype.size();
      return {};
    };
    SHERD_TRY(parallel_for(
        std::min<std::uint64_t>(shares.lanes, task.object_count()), shares.config, [&](std::size_t) -> Result<void> {
          for (std::size_t i = next++; i < task.object_count() && !failed; i = next++) {
            const bool stop = std::this_thread::get_id() == caller && watched.interrupted && watched.interrupted();
            auto done = stop ? Result<void>(unavailable("interrupted")) : one(i);
            if (done) continue;
            failed = true;
            return done;
          }
          return {};
        }));
    return objects.finish();
  }

  // A shard of two formats is there when both names are: a copy may have been cut off between them.
  Result<bool> is_done(const Array::State& to, const CellAccess& cell) {
    if (!options_.resume) return false;
    SHERD_TRY(present, to.location.store->open(cell.key));
    if (present == nullptr) return false;
    if (const CounterpartKeys* keys = counterpart_keys(to)) {
      SHERD_TRY(other, to.location.store->open(keys->key(cell.cell)));
      if (other == nullptr) return false;
      SHERD_TRY(generation, present->generation());
      SHERD_TRY(of_other, other->generation());
      if (!(generation == of_other)) return false;
    }
    ++counts_.skipped;
    return true;
  }

  [[nodiscard]] std::vector<std::string> paths_below() const {
    std::vector<std::string> paths;
    for (const NodeCopy& node : nodes_)
      if (!node.path.empty()) paths.push_back(node.path);
    return paths;
  }

  [[nodiscard]] CopyReport report() const {
    CopyReport report;
    for (const NodeCopy& node : nodes_) ++(node.document.type == NodeType::array ? report.arrays : report.groups);
    report.shards = counts_.written;
    report.shards_skipped = counts_.skipped;
    report.chunks_moved = counts_.moved;
    report.chunks_encoded = counts_.encoding->chunks_encoded;
    report.dangling = dangling_;
    if (const auto& recorder = options_.config.recorder) {
      recorder->chunks_moved += report.chunks_moved;
      recorder->chunks_encoded += report.chunks_encoded;
    }
    return report;
  }

  const NodeLocation& source_;
  const NodeLocation& destination_;
  const CopyOptions& options_;
  const Format& format_;         ///< of the source
  const Format& new_format_;     ///< of the destination
  std::vector<NodeCopy> nodes_;  ///< groups before their members
  /// Collections of objects to which the copy refers: paths below its root, and those in the source's store.
  std::map<std::string, std::string> referred_;
  std::vector<std::pair<std::string, std::string>> dangling_;  ///< of a new volume
  std::map<std::string, std::vector<std::string>> axes_;       ///< of the resolutions of images, by path
  std::optional<LabelledImage> labelled_;
  bool rank_met_ = false;
  std::uint64_t total_ = 0;
  CopyCounts counts_;
};

}  // namespace

Result<void> make_staged(const NodeLocation& destination, const StagedCopy& copy, const CopyOptions& options) {
  SHERD_TRY(staged, StagedNode::begin(destination, copy.clear, options.resume));
  SHERD_TRY(note_copy(staged, *destination.store, copy.note, options));
  auto made = copy.make(staged.location());
  if (made) made = staged.commit(copy.below);
  if (!made && !is_passing(made.error())) (void)staged.abandon();  // the first failure is the one to report
  return made;
}

// Documents are written last, so the copy was finished, unless it is an older document that a copy
// was to overwrite.
Result<bool> complete_staged(const NodeLocation& destination, const StagedCopy& copy) {
  SHERD_TRY(left, StagedLeftover::find(destination));
  const bool is_ours = left.note() == copy.note;
  if (is_ours && !left.is_in_place()) return false;
  NodeLocation location = destination;
  SHERD_TRY(enter(location));
  SHERD_TRY(copy.make(location));
  if (is_ours || !left.note()) SHERD_TRY(left.erase(destination));
  return true;
}

Result<CopyReport> make_nodes(std::vector<NodeCopy> nodes, const NodeLocation& destination,
                              const CopyOptions& options) {
  return in_store(TreeCopy(destination, destination, options).run(std::move(nodes)), destination.store->url());
}

Result<CopyReport> copy_nodes(const NodeLocation& source, const NodeLocation& destination, const CopyOptions& options) {
  SHERD_TRY(from, in_store(source_of_copy(source, destination, options), source.store->url()));
  return in_store(TreeCopy(from, destination, options).run(), destination.store->url());
}

}  // namespace sherd
