// Copies objects that are not chunks. A collection of Neuroglancer's objects is copied unchanged, so everything in a
// shard keeps its offset, including the fragments of meshes before their manifests. A separate collection is made next
// to its destination, like all copies (copy.cpp). If it exists already, only what is missing is made. `info` is then
// copied last; without it the copy is not recognized as a collection.
#include "copy/below.hpp"

#include <atomic>

#include "base/buffer.hpp"
#include "base/checksum.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "copy/new_copy.hpp"
#include "neuroglancer/names.hpp"
#include "node/claim.hpp"
#include "node/foreign_objects.hpp"
#include "store/key.hpp"
#include "store/retry.hpp"
#include "store/with_writers.hpp"

namespace sherd {
namespace {

constexpr std::size_t kKeysAtOnce = 256;

struct Objects {
  Store& from;
  std::string prefix;
  Store& to;
  std::string new_prefix;
  bool resume;
};

/// All objects, info documents last.
Result<void> copy_all(const Objects& all, const Config& config, CopyCounts& counts) {
  const StoreTraits traits = all.to.traits();
  const Config waiting = with_copies(config, all.from.traits(), traits);
  struct Listed {
    std::string key;
    std::uint64_t size;
  };
  std::vector<Listed> batch, infos;
  Budget writers(config.memory_budget / 2);
  const auto flush = [&](std::vector<Listed>& objects) -> Result<void> {
    const WriteOrder order(waiting, traits, objects.size());
    SHERD_TRY(parallel_for(objects.size(), waiting, [&](std::size_t i) {
      const auto& [key, size] = objects[order(i)];
      const auto share = writers.take(writer_bytes(traits, size));
      return copy_unchanged({all.from, key, all.to, all.new_prefix + key.substr(all.prefix.size())}, all.resume,
                            counts);
    }));
    objects.clear();
    return {};
  };
  Result<void> copied;
  SHERD_TRY(all.from.list(all.prefix, [&](const std::string& key, std::uint64_t size) {
    const std::string_view name = last_segment(key);
    const std::string_view below = std::string_view(key).substr(all.prefix.size());
    if (is_ours(below) || has_ours_below(below)) return true;
    (name == neuroglancer::kInfo ? infos : batch).push_back({key, size});
    if (batch.size() == kKeysAtOnce) copied = flush(batch);
    return copied.has_value();
  }));
  SHERD_TRY(std::move(copied));
  SHERD_TRY(flush(batch));
  return flush(infos);
}

std::string info_of(const std::string& path) { return prefix_of(path) + std::string(neuroglancer::kInfo); }

Result<void> refuse_changes(const CopyOptions& options) {
  if (options.chunks || options.shards || options.auto_shards || options.codecs || options.index_location)
    return invalid_argument("a collection of objects has no chunks; it is copied as it is");
  if (!options.axes.empty() || options.pyramid)
    return invalid_argument("is of images, and a collection of objects is copied as it is")
        .in_member(options.pyramid ? "pyramid" : "axes");
  return refuse_volume_options(options);
}

/// Checks the collection that a copy replaces; half of it may be gone already.
Result<void> refuse_other_files(const NodeLocation& location) {
  SHERD_TRY(claim, claim_of(location));
  if (claim) return {};
  SHERD_TRY(foreign, foreign_object_among(location));
  return foreign ? Result<void>(foreign_object_error(*foreign)) : Result<void>();
}

/// Identifies this copy.
std::string note_of(const ObjectsLocation& from, const std::string& info) {
  Json json;
  json.set("source", from.store->url());
  json.set("path", from.path);
  json.set("documents", static_cast<std::uint64_t>(crc32c(as_bytes(info))));
  return json.dump(2);
}

}  // namespace

Result<void> copy_unchanged(const ObjectToCopy& object, bool resume, CopyCounts& counts) {
  if (resume) {
    SHERD_TRY(present, object.to.open(object.new_key));
    if (present != nullptr) return ++counts.skipped, Result<void>();
  }
  return retry_limited(Config(), [&]() -> Result<void> {
    SHERD_TRY(source, object.from.open(object.key));
    if (source == nullptr) return {};  // erased since it was found
    SHERD_TRY(size, source->size().in_key(object.key));
    SHERD_TRY(writer, object.to.write(object.new_key, {.size = size}));
    auto put = writer->copy(*source, 0, size, 0).in_key(object.key);
    if (put) put = writer->commit().in_key(object.new_key);
    if (!put && put.error().code() == ErrorCode::corrupt) return in_store(std::move(put), object.from.url());
    SHERD_TRY(std::move(put));
    ++counts.written;
    return {};
  });
}

Result<void> copy_below(const ObjectsLocation& from, const ObjectsLocation& to, bool resume, CopyCounts& counts,
                        const Config& config) {
  return copy_all({*from.store, prefix_of(from.path), *to.store, prefix_of(to.path), resume}, config, counts);
}

Result<CopyReport> copy_collection(const ObjectsLocation& from, const CollectionCopy& to, const CopyOptions& options) {
  SHERD_TRY(refuse_changes(options));
  const NodeLocation& location = to.location;
  if (to.is_there && !options.overwrite && !options.resume)
    return conflict("a collection exists here already; overwrite it, resume a copy, or choose another path")
        .in_key(info_of(location.path));
  const std::uint64_t most = options.config.limits.metadata_bytes;
  SHERD_TRY(info, from.store->get(info_of(from.path), most));
  SHERD_TRY(present, location.store->get(info_of(location.path), most));
  CopyCounts counts;
  const auto make = [&](const NodeLocation& there) {
    return copy_below(from, {there.store, there.path}, options.resume, counts, options.config);
  };
  const bool replaces = to.is_there && options.overwrite;
  NewCopy copy{{.overwrite = options.overwrite, .foreign = replaces}, note_of(from, info.value_or("")), {}, make};
  bool completed = false;
  if (options.resume && to.is_there && info == present) {
    SHERD_TRY(done, complete_copy(location, copy));
    completed = done;
  }
  if (!completed) {
    if (replaces) SHERD_TRY(refuse_other_files(location));
    copy.make = [&](const NodeLocation& there) -> Result<void> {
      SHERD_TRY(make(there));
      return replaces ? refuse_other_files(location) : Result<void>();
    };
    SHERD_TRY(make_new_copy(location, copy, options));
  }
  CopyReport report;
  report.shards = counts.written;
  report.shards_skipped = counts.skipped;
  return report;
}

}  // namespace sherd
