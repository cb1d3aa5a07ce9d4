// Copies objects that are nobody's chunks: what stands below a collection of Neuroglancer's objects goes as it is, so
// that all that stands in a shard stays where it stands, the fragments of meshes before their manifests among it. A
// collection's info comes last: until then the copy is none.
#include <atomic>

#include "base/try.hpp"
#include "tools/copy.hpp"

namespace sherd {
namespace {

constexpr std::size_t kBatch = 256;

struct Objects {
  Store& from;
  std::string prefix;
  Store& to;
  std::string new_prefix;
  bool resume;
};

Result<void> copy_one(const Objects& all, const std::string& key, CopyCounts& counts) {
  const std::string copy = all.new_prefix + key.substr(all.prefix.size());
  if (all.resume) {
    SHERD_TRY(present, all.to.open(copy));
    if (present != nullptr) return ++counts.skipped, Result<void>();
  }
  SHERD_TRY(source, all.from.open(key));
  if (source == nullptr) return {};  // erased since it was listed
  SHERD_TRY(size, source->size().in_key(key));
  SHERD_TRY(writer, all.to.write(copy, size));
  SHERD_TRY(writer->copy(*source, 0, size, 0).in_key(key));
  SHERD_TRY(writer->commit().in_key(copy));
  ++counts.written;
  return {};
}

/// All objects, info documents last.
Result<void> copy_all(const Objects& all, const Config& config, CopyCounts& counts) {
  std::vector<std::string> batch, infos;
  const auto flush = [&](std::vector<std::string>& keys) -> Result<void> {
    SHERD_TRY(parallel_for(keys.size(), config, [&](std::size_t i) { return copy_one(all, keys[i], counts); }));
    keys.clear();
    return {};
  };
  Result<void> copied;
  SHERD_TRY(all.from.list(all.prefix, [&](const std::string& key, std::uint64_t) {
    const std::string_view name = std::string_view(key).substr(key.rfind('/') + 1);
    if (name.starts_with(".sherd-")) return true;
    (name == "info" ? infos : batch).push_back(key);
    if (batch.size() == kBatch) copied = flush(batch);
    return copied.has_value();
  }));
  SHERD_TRY(std::move(copied));
  SHERD_TRY(flush(batch));
  return flush(infos);
}

std::string prefix_of(const std::string& path) { return path.empty() ? path : path + "/"; }

}  // namespace

Result<void> copy_below(const ObjectsPlace& from, const ObjectsPlace& to, bool resume, CopyCounts& counts,
                        const Config& config) {
  return copy_all({*from.store, prefix_of(from.path), *to.store, prefix_of(to.path), resume}, config, counts);
}

Result<CopyReport> copy_collection(const ObjectsPlace& from, const ObjectsPlace& to, const CopyOptions& options) {
  const bool changes =
      options.chunks || options.shards || options.auto_shards || options.codecs || options.index_location;
  if (changes) return invalid_argument("a collection of objects has no chunks; it is copied as it is");
  SHERD_TRY(listing, to.store->list_dir(prefix_of(to.path)));
  const bool stands = !listing.objects.empty() || !listing.prefixes.empty();
  if (stands && !options.overwrite && !options.resume)
    return conflict("something stands here already; overwrite it, resume a copy, or choose another path")
        .in_key(prefix_of(to.path) + "info");
  if (stands && options.overwrite) SHERD_TRY(to.store->erase_prefix(prefix_of(to.path)));
  CopyCounts counts;
  SHERD_TRY(copy_below(from, to, options.resume, counts, options.config));
  CopyReport report;
  report.shards = counts.written;
  report.shards_skipped = counts.skipped;
  return report;
}

}  // namespace sherd
