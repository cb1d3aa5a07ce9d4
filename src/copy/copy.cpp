// The order in which a tree is copied. The destination is unchanged until the copy is complete, and a kill at any
// moment leaves something that can be resumed:
//   1. Everything is planned: all documents, and which objects must be made.
//   2. The copy is begun next to the destination (node/new_node.hpp): a note there identifies what is being copied.
//   3. Objects are made, each visible only when it is complete. One that exists is done. Collections of Neuroglancer's
//      objects, to which a group may refer, are copied unchanged.
//   4. Documents are written, that of the root last.
//   5. The result is moved to the destination, and the note is erased.
// A resumed copy compares its plan with the note, and makes what is missing.
#include "copy/copy.hpp"

#include <algorithm>
#include <thread>

#include "array/nodes.hpp"
#include "base/checked.hpp"
#include "base/pool.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "copy/below.hpp"
#include "copy/documents.hpp"
#include "copy/new_copy.hpp"
#include "copy/object.hpp"
#include "copy/plan.hpp"
#include "neuroglancer/dual_format.hpp"
#include "node/creation.hpp"
#include "node/document.hpp"
#include "node/path.hpp"
#include "store/archive_of.hpp"
#include "store/retry.hpp"
#include "store/with_writers.hpp"

namespace sherd {
namespace {

class TreeCopy {
 public:
  TreeCopy(TreePlan plan, const NodeLocation& source, const NodeLocation& destination, const CopyOptions& options)
      : source_(source),
        destination_(destination),
        options_(options),
        new_format_(*destination.format),
        plan_(std::move(plan)),
        total_(plan_.bytes) {
    for (const NodeCopy& node : plan_.nodes) total_ += most_bytes(node);
  }

  Result<CopyReport> run() {
    SHERD_TRY(renew_consolidated_metadata(plan_.nodes, new_format_));
    SHERD_TRY(make_texts());
    const auto making = [&](const NodeLocation& location) { return make(location); };
    const NewCopy copy{
        {.overwrite = options_.overwrite}, fingerprint(source_, plan_.nodes, options_), paths_below(), making};
    SHERD_TRY(add_notes(plan_.nodes, destination_));
    SHERD_TRY(make_texts());
    SHERD_TRY(is_there, has_documents(*destination_.store, plan_.nodes.front()));
    bool completed = false;
    if (is_there) {
      SHERD_TRY(done, complete_copy(destination_, copy));
      completed = done;
    }
    announce_documents();
    if (!completed) SHERD_TRY(make_new_copy(destination_, copy, options_));
    if (plan_.labelled) SHERD_TRY(list_labels(*plan_.labelled));
    return report();
  }

 private:
  /// The bytes of an array that is not a copy of one in the source. Chunks that are not stored make a coarser one
  /// cheaper.
  static std::uint64_t most_bytes(const NodeCopy& node) {
    if ((!node.reduced && !node.fill) || !node.document.array) return 0;
    return element_count(node.document.array->shape).value_or(0) * node.document.array->dtype.size();
  }

  /// An archive may have documents in front, which are written last.
  void announce_documents() {
    ArchiveStore* const archive = archive_around(*destination_.store);
    if (archive == nullptr) return;
    std::uint64_t bytes = 0, count = 0;
    for (const NodeCopy& node : plan_.nodes)
      for (const Document& document : node.stored) {
        bytes += document.key.size() + document.text.size();
        ++count;
      }
    archive->expect_first(bytes, count);
  }

  [[nodiscard]] ReportProgress progress_of_fill() const {
    if (!options_.config.progress) return {};
    return [this](const Progress& each) { options_.config.progress({counts_.bytes + each.done, total_}); };
  }

  // Makes what does not exist yet, the root's document last.
  Result<void> make(const NodeLocation& root) {
    SHERD_TRY(copy_small_arrays(root));
    for (NodeCopy& node : plan_.nodes)
      if (node.document.type == NodeType::array && !is_small(node)) SHERD_TRY(make_elements(root, node));
    for (const auto& [path, source] : plan_.referred)
      SHERD_TRY(copy_below({source_.store, source}, {root.store, join_path(root.path, path)}, options_.resume, counts_,
                           options_.config));
    for (const auto& [path, key] : plan_.side_documents)
      SHERD_TRY(
          copy_unchanged({*source_.store, key, *root.store, join_path(root.path, path)}, options_.resume, counts_));
    if (options_.config.progress) options_.config.progress({counts_.bytes, total_});
    SHERD_TRY(parallel_for(plan_.nodes.size() - 1, waiting(),
                           [&](std::size_t i) { return complete(*root.store, plan_.nodes[i + 1]); }));
    return complete(*root.store, plan_.nodes.front());
  }

  // A dataset may have thousands of these: they are copied at the same time, because a call for each mostly waits.
  static bool is_small(const NodeCopy& node) {
    constexpr std::uint64_t kSmallArray = std::uint64_t{1} << 20, kFewObjects = 16;
    return node.array && !node.reduced && !node.fill && node.array->object_count() <= kFewObjects &&
           element_count(node.document.array->shape).value_or(~std::uint64_t{0}) <=
               kSmallArray / std::max<std::uint64_t>(node.document.array->dtype.size(), 1);
  }

  Result<void> copy_small_arrays(const NodeLocation& root) {
    std::vector<NodeCopy*> small;
    for (NodeCopy& node : plan_.nodes)
      if (is_small(node)) small.push_back(&node);
    if (small.size() == 1) return make_elements(root, *small.front());
    const Config config = waiting();
    Budget budget(config.memory_budget);
    return parallel_for(small.size(), with_progress(config, counts_.bytes, total_), [&](std::size_t i) -> Result<void> {
      ArrayCopy& task = *small[i]->array;
      SHERD_TRY(destination, begin_array(root, *small[i]));
      task.destination = std::move(destination);
      Config each = options_.config;
      each.memory_budget = memory_of(task);
      each.interrupted = nullptr;  // asked between them, on the caller's thread
      each.progress = nullptr;
      const auto share = budget.take(each.memory_budget);
      return copy_objects(task, each);
    });
  }

  // What a small array takes, whose chunks may be large. How much variable-length elements take is not known.
  [[nodiscard]] std::uint64_t memory_of(const ArrayCopy& task) const {
    constexpr std::uint64_t kLeast = std::uint64_t{8} << 20, kChunks = 4;
    const Array::State &from = task.source.state(), &to = task.destination.state();
    if (from.dtype.is_variable()) return options_.config.memory_budget;
    const std::uint64_t leaf = std::max(leaf_bytes(from), leaf_bytes(to));
    return std::clamp(checked_mul(kChunks, leaf).value_or(~std::uint64_t{0}), kLeast,
                      std::max(kLeast, options_.config.memory_budget));
  }

  Result<Array> begin_array(const NodeLocation& root, const NodeCopy& node) {
    SHERD_TRY(check_links(location_below(root, node.path), node.document));
    SHERD_TRY(write_counterpart(location_below(root, node.path), node.document));
    return make_array(location_below(root, node.path), node.document);
  }

  Result<void> make_elements(const NodeLocation& root, NodeCopy& node) {
    if (node.fill)  // its writes confirm their document
      SHERD_TRY(write_documents(*root.store, new_format_.arrays_have_documents() ? node : plan_.nodes.front()));
    SHERD_TRY(destination, begin_array(root, node));
    if (node.reduced) {
      const NodeCopy& finer = plan_.nodes[node.reduced->node];
      SHERD_TRY(source, make_array(location_below(root, finer.path), finer.document));
      SHERD_TRY(reduced, plan_copy(std::move(source), std::move(destination),
                                   std::make_shared<CoarserElements>(node.reduced->how)));
      total_ -= most_bytes(node) - std::min(most_bytes(node), reduced.bytes);
      return copy_objects(reduced, with_progress(options_.config, counts_.bytes, total_));
    }
    if (node.fill) {
      SHERD_TRY(node.fill(destination, progress_of_fill()));
      counts_.bytes += most_bytes(node);
      return {};
    }
    node.array->destination = std::move(destination);
    return copy_objects(*node.array, with_progress(options_.config, counts_.bytes, total_));
  }

  // For loops that write small objects.
  [[nodiscard]] Config waiting() const {
    return with_copies(options_.config, source_.store->traits(), destination_.store->traits());
  }

  Result<void> complete(Store& store, const NodeCopy& node) const {
    if (node.document.type == NodeType::array && !new_format_.arrays_have_documents()) return {};
    SHERD_TRY(is_there, has_documents(store, node));
    return is_there ? Result<void>() : write_documents(store, node);
  }

  static Result<void> write_documents(Store& store, const NodeCopy& node) {
    for (const Document& document : node.stored) SHERD_TRY(store.set(document.key, document.text).in_key(document.key));
    return {};
  }

  // A copy that is not resumed has none yet.
  Result<bool> has_documents(Store& store, const NodeCopy& node) const {
    if (!options_.resume) return false;
    return are_stored(store, node, destination_.config.limits);
  }

  // Makes the texts of all documents that have none.
  Result<void> make_texts() {
    for (NodeCopy& node : plan_.nodes) {
      if (node.stored.empty()) node.stored = documents_of(node, destination_);
      for (const Document& document : node.stored)
        SHERD_TRY(check_text(document.text, options_.config.limits).in_key(document.key));
    }
    return {};
  }

  // Lanes copy objects one after the other. The hook is polled before each on the caller's thread, which also reports
  // the progress; a call would poll it every 20 ms.
  Result<void> copy_objects(const ArrayCopy& task, const Config& watched) {
    const CopyShares shares = share_memory(task, watched);
    ObjectCopy objects(task, shares, counts_);
    const Array::State& to = task.destination.state();
    const Shape shape = to.shape();
    const Shape count = to.grid.count(shape);
    const auto caller = std::this_thread::get_id();
    std::atomic<std::size_t> next{0};
    std::atomic<bool> failed{false};
    const WriteOrder order(shares.config, to.location.store->traits(), task.object_count());
    const auto one = [&](std::size_t i) -> Result<void> {
      const CellAccess cell = access(to, unravel(task.object(order(i)), count), shape);
      SHERD_TRY(done, is_done(to, cell));
      if (!done) SHERD_TRY(objects.copy(cell));
      counts_.bytes += element_count(cell.valid).value_or(0) * to.dtype.size();
      return {};
    };
    SHERD_TRY(objects.finish(parallel_for(
        std::min<std::uint64_t>(shares.lanes, task.object_count()), shares.config, [&](std::size_t) -> Result<void> {
          for (std::size_t i = next++; i < task.object_count() && !failed; i = next++) {
            const bool stop = std::this_thread::get_id() == caller && watched.interrupted && watched.interrupted();
            auto done = stop ? Result<void>(unavailable("interrupted")) : one(i);
            if (done) continue;
            failed = true;
            return done;
          }
          return {};
        })));
    return confirm_source(task);
  }

  // A chunk that vanished may have been replaced by the fill value, or erased with the array. Where requests have
  // latency, chunks that are decoded are read without a look before, and so may have vanished without notice.
  static Result<void> confirm_source(const ArrayCopy& task) {
    const Array::State& from = task.source.state();
    Store& store = *from.location.store;
    const bool decodes = task.way == CopyWay::encoded || task.clips || task.everything;
    const bool may_have_vanished = decodes && !from.layout.shard && store.traits().parallel_requests > 1;
    if (!*task.vanished && !may_have_vanished) return {};
    auto confirmed = from.confirm_missing();
    if (!confirmed && is_lost_race(confirmed.error())) {
      const auto now = from.location.format->open(store, from.location.path, from.config().limits);
      const auto* const array = now && *now && (*now)->array ? &*(*now)->array : nullptr;
      const bool is_same =
          array != nullptr && array->shape == from.shape() && array->grid == from.document().array->grid;
      if (is_same && !*task.vanished) return {};  // it has other attributes
      confirmed = conflict("the array was changed while it was copied; copy it again").in_key(confirmed.error().key());
    }
    return in_store(std::move(confirmed), task.source.store()->url());
  }

  // A dual-format shard is done when both names exist, because a copy may have been interrupted between them.
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
    for (const NodeCopy& node : plan_.nodes)
      if (!node.path.empty()) paths.push_back(node.path);
    return paths;
  }

  [[nodiscard]] CopyReport report() const {
    CopyReport report;
    for (const NodeCopy& node : plan_.nodes) ++(node.document.type == NodeType::array ? report.arrays : report.groups);
    report.shards = counts_.written;
    report.shards_skipped = counts_.skipped;
    report.chunks_moved = counts_.moved;
    report.chunks_encoded = counts_.encoding->chunks_encoded;
    report.dangling = plan_.dangling;
    report.warnings = plan_.warnings;
    if (const auto& recorder = options_.config.recorder) {
      recorder->chunks_moved += report.chunks_moved;
      recorder->chunks_encoded += report.chunks_encoded;
    }
    return report;
  }

  const NodeLocation& source_;
  const NodeLocation& destination_;
  const CopyOptions& options_;
  const Format& new_format_;  ///< of the destination
  TreePlan plan_;
  std::uint64_t total_;  ///< bytes
  CopyCounts counts_;
};

}  // namespace

Result<CopyReport> make_nodes(std::vector<NodeCopy> nodes, const NodeLocation& destination,
                              const CopyOptions& options) {
  return in_store(TreeCopy({std::move(nodes)}, destination, destination, options).run(), destination.store->url());
}

Result<CopyReport> copy_nodes(const NodeLocation& source, const NodeLocation& destination, const CopyOptions& options) {
  SHERD_TRY(from, in_store(source_of_copy(source, destination, options), source.store->url()));
  SHERD_TRY(plan, in_store(plan_tree(from, destination, options), from.store->url()));
  return in_store(TreeCopy(std::move(plan), from, destination, options).run(), destination.store->url());
}

}  // namespace sherd
