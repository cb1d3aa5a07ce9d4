// A stored chunk or shard among many that are read together if requests have latency: how much of it is read together
// with opening it, then the same plan and decoding as for a single one.
#include <algorithm>

#include "array/chunk_reader.hpp"
#include "array/locate.hpp"
#include "array/partial_source.hpp"
#include "base/try.hpp"

namespace sherd {
namespace {

/// The longest read of a divisible object: a first read is one request on one connection, and the runs of what is left
/// are decoded one by one as they arrive.
constexpr std::uint64_t kReadBytes = std::uint64_t{8} << 20;

}  // namespace

class ChunkReader::Object final : public ObjectRead {
 public:
  Object(const ChunkReader& reader, std::string key, Piece piece, Shape valid, Outcome outcome)
      : reader_(reader),
        key_(std::move(key)),
        piece_(std::move(piece)),
        valid_(std::move(valid)),
        outcome_(std::move(outcome)) {}

  [[nodiscard]] ReadRequest first() const override;
  // Even for one that is kept whole, since the version identifies it.
  [[nodiscard]] bool has_index() const noexcept override {
    return piece_.layout.shard || reader_.config_.cache != CacheMode::index;
  }
  Result<std::vector<Run>> plan(ByteSource* source) override {
    auto runs = source != nullptr ? plan_stored(*source) : plan_missing();
    return std::move(runs).in_key(key_);
  }
  Result<void> take(ByteSource& source, const Run& run, std::span<const std::byte> bytes) override {
    if (whole_) return reader_.from_whole(source, bytes, piece_).in_key(key_);
    return reader_.decode_run(source, plan_, run, bytes).in_key(key_);
  }
  Result<void> finish() override { return outcome_.finished(), Result<void>{}; }
  Result<void> again() override { return outcome_.again(); }

 private:
  [[nodiscard]] std::uint64_t raw_part(ReadRequest& request) const;
  [[nodiscard]] bool must_have_all(std::uint64_t size) const;
  [[nodiscard]] bool is_divisible(std::uint64_t size) const;
  [[nodiscard]] bool wants_all() const;
  Result<std::vector<Run>> plan_missing() const;
  Result<std::vector<Run>> plan_stored(ByteSource& source);

  const ChunkReader& reader_;
  const std::string key_;
  const Piece piece_;
  const Shape valid_;
  const Outcome outcome_;
  bool whole_ = false;
  ReadPlan plan_;
};

// Enough to plan the rest, or everything if that is needed and fits in a run.
ReadRequest ChunkReader::Object::first() const {
  const ChunkLayout& layout = piece_.layout;
  ReadRequest request{.key = key_, .length = 0};
  const auto if_few = [&](std::uint64_t bytes) { return bytes <= reader_.run_bytes() ? bytes : 0; };
  if (!layout.shard && layout.chain.raw_word_size() == 0) {
    request.length = layout.max_encoded_size(piece_.shape) + 1;  // reveals an object that is too large
  } else if (!layout.shard) {
    request.length = if_few(wants_all() ? chunk_bytes(layout, piece_.shape) : raw_part(request));
  } else {
    const ShardLayout& shard = *layout.shard;
    request.from_end =
        !layout.opaque_shard() && shard.slots() != nullptr && shard.slots()->location == IndexLocation::end;
    const std::uint64_t index = first_index_bytes(layout, piece_.shape, reader_.config_.limits);
    request.length = std::max(index, reader_.config_.tail_read_bytes.value_or(reader_.traits_.tail_read_bytes));
    const std::uint64_t all = chunk_bytes(layout, valid_) + index;
    const std::uint64_t most = is_divisible(all) ? std::min(reader_.run_bytes(), kReadBytes) : reader_.run_bytes();
    if (wants_all()) request.length = std::max(request.length, std::min(all, most));
  }
  return request;
}

// Moves the request to the first run that is needed of a chunk without codecs.
std::uint64_t ChunkReader::Object::raw_part(ReadRequest& request) const {
  const Piece stored = stored_piece(piece_);
  const std::uint64_t element = stored.layout.dtype.size();
  const auto strides = chunk_strides(stored.shape, element);
  std::vector<Wanted> wanted;
  for (const ReadPart& part : stored.parts) {
    const auto [low, high] = byte_range(part.region, strides, element);
    wanted.push_back({{low, high - low}});
  }
  const Extent first = coalesce(wanted, reader_.gap(), reader_.run_bytes())[0].extent;
  request.offset = first.offset;
  return first.length;
}

/// Whether a part of the object is of no use.
bool ChunkReader::Object::must_have_all(std::uint64_t size) const {
  const ChunkLayout& layout = piece_.layout;
  return layout.opaque_shard() || reader_.keeps(layout, piece_.shape) || reader_.keeps_stored(size);
}

/// Whether parts of it are useful as soon as the index is there.
bool ChunkReader::Object::is_divisible(std::uint64_t size) const {
  const auto& shard = piece_.layout.shard;
  return shard && !shard->inner->shard && !must_have_all(size);
}

bool ChunkReader::Object::wants_all() const {
  const ChunkLayout& layout = piece_.layout;
  if (must_have_all(chunk_bytes(layout, valid_))) return true;
  if (!layout.shard) return false;
  const Piece stored = stored_piece(piece_);
  const std::uint64_t inside = *element_count(layout.shard->grid(layout.chain.stored_shape(valid_)));
  return ReadCells(stored.parts, regular_axes(layout.shard->inner_shape)).size() >= inside;
}

Result<std::vector<Run>> ChunkReader::Object::plan_missing() const {
  if (reader_.config_.missing_is_error) return not_found("the chunk is missing");
  SHERD_TRY(reader_.fill(piece_));
  return std::vector<Run>();
}

Result<std::vector<Run>> ChunkReader::Object::plan_stored(ByteSource& source) {
  SHERD_TRY(size, source.size());
  SHERD_TRY(kept, reader_.from_kept(source, piece_));
  if (kept) return std::vector<Run>();
  SHERD_TRY(whole, reader_.wants_whole(source, size, piece_, valid_));
  whole_ = whole && (size <= kReadBytes || !is_divisible(size) || has_arrived(source, {0, size}));
  if (whole_) {
    SHERD_TRY(piece_.layout.check_object_size(piece_.shape, size, reader_.config_.limits));
    return std::vector<Run>{{{0, size}, 0, 0}};
  }
  plan_ = {};
  SHERD_TRY(reader_.make_plan(source, size, piece_, plan_));
  if (waits_for_bytes(source)) return std::vector<Run>();
  SHERD_TRY(reader_.fill_empty(plan_, 0, plan_.empty.size()));
  plan_.runs = coalesce(plan_.wanted, reader_.gap(), std::min(reader_.run_bytes(), kReadBytes));
  return without_arrived(plan_.runs, plan_.wanted, source);
}

std::unique_ptr<ObjectRead> ChunkReader::object_read(std::string key, Piece piece, Shape valid, Outcome outcome) const {
  return std::make_unique<Object>(*this, std::move(key), std::move(piece), std::move(valid), std::move(outcome));
}

}  // namespace sherd
