// Rows are kept as they come. At the end they are put into a random order, which depends only on the ids. Levels and
// relationships are lists of (owner, position in that order), so the annotations of each owner are in random order as
// well. Nothing is written before everything is known, and the info document is written last.
#include "neuroglancer/annotation_build.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "base/buffer.hpp"
#include "base/pool.hpp"
#include "base/try.hpp"
#include "neuroglancer/annotation_record.hpp"
#include "neuroglancer/document.hpp"
#include "neuroglancer/sharded_build.hpp"
#include "shard/morton.hpp"
#include "store/key.hpp"

namespace sherd::neuroglancer {
namespace {

// A bijection of 64 bits (splitmix64), so that distinct ids have distinct positions.
std::uint64_t mixed(std::uint64_t id) noexcept {
  id += 0x9e3779b97f4a7c15U;
  id = (id ^ (id >> 30)) * 0xbf58476d1ce4e5b9U;
  id = (id ^ (id >> 27)) * 0x94d049bb133111ebU;
  return id ^ (id >> 31);
}

/// Values of one index on their way to a store, as shards or as separate objects.
class IndexWriter {
 public:
  static Result<IndexWriter> make(const Collection::State::Location& location, const AnnotationIndex& index) {
    SHERD_TRY(directory, directory_of(location.path, index.key));
    IndexWriter writer(location.store, directory);
    if (index.sharding.is_null()) return writer;
    SHERD_TRY(sharding, Uint64Sharding::parse_given(index.sharding).in_member("sharding"));
    SHERD_TRY(format,
              Uint64Format::build(sharding, location.codecs, location.config.limits, location.config.gzip_level));
    auto store = prefixed_store(location.store, directory + "/");
    BuildOptions options{.config = location.config};
    options.config.recorder = nullptr;  // the store below counts
    SHERD_TRY(shards, ShardedBuilder::Build::start(std::move(store), std::move(format), std::move(options)));
    writer.shards_.emplace(std::move(shards));
    return writer;
  }

  /// Thread-safe.
  Result<void> add(std::uint64_t id, const std::string& object, const std::string& bytes) {
    if (shards_) return shards_->add(id, as_bytes(bytes));
    const std::string key = directory_ + "/" + object;
    return store_->set(key, bytes).in_key(key);
  }
  Result<void> finish() {
    if (shards_) SHERD_TRY(shards_->finish());
    return {};
  }

 private:
  IndexWriter(std::shared_ptr<Store> store, std::string directory)
      : store_(std::move(store)), directory_(std::move(directory)) {}

  std::shared_ptr<Store> store_;
  std::string directory_;
  std::optional<ShardedBuilder> shards_;
};

// The directory of a relationship's index: named after it if that is a valid name.
std::string key_of(const AnnotationRelationship& relationship, std::size_t number) {
  const std::string key = "rel_" + relationship.id;
  return relationship.id.find('/') == std::string::npos && check_key(key) ? key : "rel_" + std::to_string(number);
}

void append(Column& to, const Column& from) { to.bytes.insert(to.bytes.end(), from.bytes.begin(), from.bytes.end()); }

// The value of one row.
void append(Column& to, const Column& from, std::uint64_t row) {
  const std::size_t size = from.element_bytes();
  const auto* begin = from.bytes.data() + row * size;
  to.bytes.insert(to.bytes.end(), begin, begin + size);
}

/// The members of each owner.
std::vector<std::span<const Membership>> by_owner(std::span<const Membership> members) {
  std::vector<std::span<const Membership>> owners;
  for (std::size_t begin = 0, end = 0; begin < members.size(); begin = end) {
    while (end < members.size() && members[end].owner == members[begin].owner) ++end;
    owners.push_back(members.subspan(begin, end - begin));
  }
  return owners;
}

}  // namespace

Result<AnnotationBuilder> AnnotationBuilder::Build::start(Collection::State::Location location, AnnotationInfo info,
                                                          AnnotationBuildOptions options) {
  if (location.store->read_only()) return invalid_argument("the store " + location.store->url() + " is read-only");
  if (options.limit == 0 || options.limit > 0xFFFFFFFFU)
    return member_error("limit", "must be from 1 to 2^32-1 annotations per cell");
  if (options.sharding.is_string() && options.sharding.text() != "auto")
    return member_error("sharding", "must be \"auto\" or an object of parameters");
  if (options.sharding.is_object()) SHERD_TRY(Uint64Sharding::parse_given(options.sharding).in_member("sharding"));
  if (info.lower_bound.empty() != info.upper_bound.empty())
    return member_error(info.lower_bound.empty() ? "lower_bound" : "upper_bound",
                        "is missing; name both bounds or none");
  info.by_id = {"by_id", {}, info.by_id.other};
  info.spatial.clear();
  for (std::size_t i = 0; i < info.relationships.size(); ++i)
    info.relationships[i].index.key = key_of(info.relationships[i], i);
  AnnotationInfo sample = info;  // with bounds, which the document needs
  if (sample.lower_bound.empty()) {
    sample.lower_bound.assign(info.dimensions.size(), 0);
    sample.upper_bound.assign(info.dimensions.size(), 1);
  }
  for (std::size_t d = 0; d < std::min(sample.lower_bound.size(), sample.upper_bound.size()); ++d)
    if (!(sample.lower_bound[d] < sample.upper_bound[d]))
      return member_error("upper_bound", "must be above lower_bound in each dimension");
  SHERD_TRY(sample.print());
  std::unique_ptr<Build> build(new Build(std::move(location), std::move(info), std::move(options)));
  for (const AnnotationProperty& property : build->info_.properties)
    build->rows_.properties.push_back(empty_column(property));
  build->related_.resize(build->info_.relationships.size());
  build->related_starts_.assign(build->related_.size(), {0});
  return AnnotationBuilder(std::move(build));
}

Result<void> AnnotationBuilder::Build::check_related(std::size_t rows, std::span<const RelatedIds> related) const {
  if (related.size() != related_.size())
    return invalid_argument("there are related ids of " + std::to_string(related.size()) +
                            " relationships, but the info has " + std::to_string(related_.size()));
  for (std::size_t i = 0; i < related.size(); ++i) {
    const auto& [counts, ids] = related[i];
    const auto sum = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
    if (counts.size() != rows || sum != ids.size())
      return invalid_argument("relationship '" + info_.relationships[i].id + "' has " + std::to_string(counts.size()) +
                              " counts of " + std::to_string(ids.size()) + " ids for " + std::to_string(rows) +
                              " annotations");
  }
  return {};
}

Result<void> AnnotationBuilder::Build::add(const Annotations& rows, std::span<const RelatedIds> related) {
  SHERD_TRY(check_annotations(rows, info_));
  SHERD_TRY(check_related(rows.ids.size(), related));
  const std::size_t rank = info_.dimensions.size();
  rows_.ids.insert(rows_.ids.end(), rows.ids.begin(), rows.ids.end());
  rows_.geometry.insert(rows_.geometry.end(), rows.geometry.begin(), rows.geometry.end());
  for (const std::uint32_t points : rows.points) starts_.push_back(starts_.back() + points * rank);
  for (std::size_t i = 0; i < rows.properties.size(); ++i) append(rows_.properties[i], rows.properties[i]);
  for (std::size_t i = 0; i < related.size(); ++i) {
    for (const std::uint32_t count : related[i].counts) related_starts_[i].push_back(related_starts_[i].back() + count);
    related_[i].ids.insert(related_[i].ids.end(), related[i].ids.begin(), related[i].ids.end());
  }
  return {};
}

std::span<const float> AnnotationBuilder::Build::vectors(std::uint64_t at) const noexcept {
  const std::uint64_t row = order_[at];
  const std::span<const float> all(rows_.geometry);
  if (info_.type == AnnotationType::polyline) return all.subspan(starts_[row], starts_[row + 1] - starts_[row]);
  const std::size_t floats = vector_count(info_.type) * info_.dimensions.size();
  return all.subspan(row * floats, floats);
}

// Rows are added in the order in which the caller lists the properties.
void AnnotationBuilder::Build::order_properties() {
  std::vector<AnnotationProperty> properties;
  std::vector<Column> columns;
  for (const std::size_t i : readable_order(info_.properties)) {
    properties.push_back(std::move(info_.properties[i]));
    columns.push_back(std::move(rows_.properties[i]));
  }
  info_.properties = std::move(properties);
  rows_.properties = std::move(columns);
}

Result<void> AnnotationBuilder::Build::shuffle() {
  order_.resize(rows_.ids.size());
  std::iota(order_.begin(), order_.end(), 0);
  std::ranges::sort(order_, {}, [&](std::uint64_t row) { return std::pair(mixed(rows_.ids[row]), row); });
  for (std::size_t i = 1; i < order_.size(); ++i)
    if (rows_.ids[order_[i]] == rows_.ids[order_[i - 1]])
      return invalid_argument("annotations " + std::to_string(order_[i - 1]) + " and " + std::to_string(order_[i]) +
                              " have the same id, " + std::to_string(rows_.ids[order_[i]]))
          .in_member("ids");
  return {};
}

// The bounds of the annotations; a dimension without extent gets one, since a cell must have a size.
Result<void> AnnotationBuilder::Build::set_bounds() {
  const std::size_t rank = info_.dimensions.size();
  const bool given = !info_.lower_bound.empty();
  if (!given) {
    info_.lower_bound.assign(rank, order_.empty() ? 0 : INFINITY);
    info_.upper_bound.assign(rank, order_.empty() ? 1 : -INFINITY);
  }
  for (std::uint64_t at = 0; at < order_.size(); ++at) {
    const Bounds one = Bounds::of(info_.type, vectors(at), rank);
    for (std::size_t d = 0; d < rank; ++d) {
      if (given && (one.low[d] < info_.lower_bound[d] || one.high[d] > info_.upper_bound[d]))
        return invalid_argument("annotation " + std::to_string(order_[at]) +
                                " lies outside of the bounds in dimension " + info_.dimensions[d].name)
            .in_member("geometry");
      info_.lower_bound[d] = std::min(info_.lower_bound[d], one.low[d]);
      info_.upper_bound[d] = std::max(info_.upper_bound[d], one.high[d]);
    }
  }
  for (std::size_t d = 0; d < rank; ++d)
    if (!(info_.upper_bound[d] > info_.lower_bound[d]))
      info_.upper_bound[d] = std::max(info_.lower_bound[d] + 1, std::nextafter(info_.lower_bound[d], INFINITY));
  return {};
}

// An object counts once, even if an annotation names it twice.
Result<std::vector<Membership>> AnnotationBuilder::Build::members_of(std::size_t relationship) const {
  std::vector<Membership> members;
  members.reserve(related_[relationship].ids.size());
  const auto& starts = related_starts_[relationship];
  for (std::uint64_t at = 0; at < order_.size(); ++at)
    for (std::uint64_t i = starts[order_[at]]; i < starts[order_[at] + 1]; ++i)
      members.push_back({related_[relationship].ids[i], at});
  std::ranges::sort(members);
  members.erase(std::ranges::unique(members).begin(), members.end());
  return members;
}

std::uint64_t AnnotationBuilder::Build::record_bytes() const {
  std::uint64_t bytes = rows_.geometry.size() * sizeof(float) + rows_.ids.size() * sizeof(std::uint64_t);
  for (const Column& column : rows_.properties) bytes += column.bytes.size();
  return rows_.ids.empty() ? 0 : bytes / rows_.ids.size();
}

Result<Json> AnnotationBuilder::Build::sharding_for(std::uint64_t values, std::uint64_t bytes) const {
  if (!options_.sharding.is_string()) return options_.sharding;
  const std::uint64_t count = std::max<std::uint64_t>(values, 1);
  return choose_sharding(ValuesToShard{.count = count, .mean_bytes = bytes / count});
}

Result<void> AnnotationBuilder::Build::describe(const std::vector<SpatialLevel>& levels,
                                                const std::vector<std::vector<Membership>>& relationships) {
  std::uint64_t related_bytes = 0;
  for (const RelatedIds& related : related_) related_bytes += related.ids.size() * sizeof(std::uint64_t);
  SHERD_TRY(by_id, sharding_for(order_.size(), order_.size() * record_bytes() + related_bytes));
  info_.by_id.sharding = std::move(by_id);
  for (std::size_t i = 0; i < relationships.size(); ++i) {
    SHERD_TRY(sharding, sharding_for(by_owner(relationships[i]).size(), relationships[i].size() * record_bytes()));
    info_.relationships[i].index.sharding = std::move(sharding);
  }
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const SpatialLevel& level = levels[i];
    SHERD_TRY(sharding, sharding_for(by_owner(level.members).size(), level.members.size() * record_bytes()));
    info_.spatial.push_back({.index = {.key = "spatial" + std::to_string(i), .sharding = std::move(sharding)},
                             .grid_shape = {level.grid.cells.begin(), level.grid.cells.end()},
                             .chunk_size = level.grid.size,
                             .limit = level.limit});
  }
  return {};
}

Annotation AnnotationBuilder::Build::one(std::uint64_t at) const {
  const std::uint64_t row = order_[at];
  Annotation annotation;
  const auto floats = vectors(at);
  annotation.geometry.assign(floats.begin(), floats.end());
  for (std::size_t i = 0; i < rows_.properties.size(); ++i) {
    annotation.properties.push_back(empty_column(info_.properties[i]));
    append(annotation.properties.back(), rows_.properties[i], row);
  }
  for (std::size_t i = 0; i < related_.size(); ++i) {
    const auto* ids = related_[i].ids.data();
    annotation.related.emplace_back(ids + related_starts_[i][row], ids + related_starts_[i][row + 1]);
  }
  return annotation;
}

Annotations AnnotationBuilder::Build::list(std::span<const Membership> members) const {
  Annotations list;
  for (const AnnotationProperty& property : info_.properties) list.properties.push_back(empty_column(property));
  for (const Membership& member : members) {
    const std::uint64_t row = order_[member.at];
    const auto floats = vectors(member.at);
    list.ids.push_back(rows_.ids[row]);
    list.geometry.insert(list.geometry.end(), floats.begin(), floats.end());
    if (info_.type == AnnotationType::polyline)
      list.points.push_back(static_cast<std::uint32_t>(floats.size() / info_.dimensions.size()));
    for (std::size_t i = 0; i < rows_.properties.size(); ++i) append(list.properties[i], rows_.properties[i], row);
  }
  return list;
}

Result<void> AnnotationBuilder::Build::write_by_id() const {
  SHERD_TRY(writer, IndexWriter::make(location_, info_.by_id));
  SHERD_TRY(parallel_for(order_.size(), location_.config, [&](std::size_t at) -> Result<void> {
    const std::uint64_t id = rows_.ids[order_[at]];
    SHERD_TRY(bytes, one(at).print(info_));
    return writer.add(id, std::to_string(id), bytes);
  }));
  return writer.finish();
}

Result<void> AnnotationBuilder::Build::write(const Index& index) const {
  SHERD_TRY(writer, IndexWriter::make(location_, *index.where));
  CompressedMorton morton;
  if (index.level != nullptr) {
    SHERD_TRY(code, CompressedMorton::of(Shape(index.level->grid_shape.begin(), index.level->grid_shape.end())));
    morton = std::move(code);
  }
  const auto object = [&](std::uint64_t owner) {
    return index.level != nullptr ? AnnotationSpatialLevel::cell_key(morton.decode(owner)) : std::to_string(owner);
  };
  const auto lists = by_owner(index.members);
  SHERD_TRY(parallel_for(lists.size(), location_.config, [&](std::size_t i) -> Result<void> {
    const std::uint64_t owner = lists[i].front().owner;
    SHERD_TRY(bytes, list(lists[i]).print(info_));
    return writer.add(owner, object(owner), bytes);
  }));
  return writer.finish();
}

Result<AnnotationBuildReport> AnnotationBuilder::Build::finish() {
  order_properties();
  SHERD_TRY(shuffle());
  SHERD_TRY(set_bounds());
  SHERD_TRY(levels, plan_levels(*this, {info_, options_.limit, location_.config}));
  std::vector<std::vector<Membership>> relationships;
  for (std::size_t i = 0; i < related_.size(); ++i) {
    SHERD_TRY(members, members_of(i));
    relationships.push_back(std::move(members));
  }
  SHERD_TRY(describe(levels, relationships));
  const NodeLocation place{.store = location_.store, .path = location_.path, .tables = {}, .config = location_.config};
  const auto existing = options_.overwrite ? Claim::Existing::is_taken_over : Claim::Existing::is_conflict;
  SHERD_TRY(claim, Claim::take_for_objects(place, {}, existing));
  SHERD_TRY(report, build(levels, relationships, claim));
  if (claim) SHERD_TRY(claim->end());
  SHERD_TRY(location_.store->finish());
  return report;
}

/// A failed build leaves nothing, or its claim.
Result<AnnotationBuildReport> AnnotationBuilder::Build::build(const std::vector<SpatialLevel>& levels,
                                                              const std::vector<std::vector<Membership>>& relationships,
                                                              std::optional<Claim>& claim) {
  const bool is_left = claim && claim->continues_objects();
  auto made = Collection::State::prepare(location_, info_, options_.overwrite, is_left);
  if (!made && claim) claim->undo();
  SHERD_TRY(prepared, std::move(made));
  AnnotationBuildReport report{.annotations = order_.size(), .levels = levels.size(), .warnings = info_.warnings()};
  const auto write_all = [&]() -> Result<void> {
    if (claim) SHERD_TRY(claim->set_note(std::string(ClaimText::kAllObjects)));
    SHERD_TRY(write_by_id());
    for (std::size_t i = 0; i < relationships.size(); ++i) {
      report.related += by_owner(relationships[i]).size();
      SHERD_TRY(write({&info_.relationships[i].index, nullptr, relationships[i]}));
    }
    for (std::size_t i = 0; i < levels.size(); ++i) {
      report.cells += by_owner(levels[i].members).size();
      SHERD_TRY(write({&info_.spatial[i].index, &info_.spatial[i], levels[i].members}));
    }
    if (claim) SHERD_TRY(claim->confirm());
    return prepared.publish();
  };
  if (auto written = write_all(); !written) {
    // The first failure is the one to report. What another process makes here by now stays.
    const bool is_own = !claim || claim->confirm();
    const bool is_erased = is_own && prepared.erase();
    if (is_erased && claim) claim->undo();
    return std::move(written).error();
  }
  return report;
}

AnnotationBuilder::AnnotationBuilder(std::unique_ptr<Build> build) : build_(std::move(build)) {}
AnnotationBuilder::AnnotationBuilder(AnnotationBuilder&&) noexcept = default;
AnnotationBuilder& AnnotationBuilder::operator=(AnnotationBuilder&&) noexcept = default;
AnnotationBuilder::~AnnotationBuilder() = default;

Result<void> AnnotationBuilder::add(const Annotations& rows, std::span<const RelatedIds> related) {
  return build_->add(rows, related);
}

Result<AnnotationBuildReport> AnnotationBuilder::finish() { return build_->finish(); }

}  // namespace sherd::neuroglancer
