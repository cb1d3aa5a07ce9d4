// A version of an object whose bytes arrive in batches of requests. A consumer that reads it in the usual way, such as
// the reader of an index, fails if bytes have not arrived yet. The missing ranges are noted, and the consumer is called
// again once they are there, so it needs no second form for stores whose requests have latency.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "shard/reader.hpp"
#include "sherd/store.hpp"
#include "store/extent.hpp"

namespace sherd {

/// Used by one thread at a time, except for find(), which others may call while nothing arrives.
class PartialSource final : public ByteSource {
 public:
  /// The object and its version. Until a request confirms it, this is the version of an earlier call.
  struct Version {
    std::string name;
    Generation generation;
    std::uint64_t size = 0;
  };
  static Result<std::shared_ptr<PartialSource>> of(std::shared_ptr<ByteSource> opened) {
    auto size = opened->size();
    if (!size) return std::move(size).error();
    auto generation = opened->generation();
    if (!generation) return std::move(generation).error();
    auto source = std::make_shared<PartialSource>(Version{opened->name(), *std::move(generation), *size});
    source->opened_ = std::move(opened);
    return source;
  }
  explicit PartialSource(Version version) : version_(std::move(version)) {}

  [[nodiscard]] const std::string& name() const noexcept override { return version_.name; }
  Result<std::uint64_t> size() override { return version_.size; }
  Result<Generation> generation() override { return version_.generation; }
  Result<void> read(std::span<const RangeRead> ranges) override;

  [[nodiscard]] const Version& version() const noexcept { return version_; }
  /// The source that was opened; null if the version is only assumed to be the present one.
  [[nodiscard]] const std::shared_ptr<ByteSource>& opened() const noexcept { return opened_; }
  /// Keeps the bytes of a reply, which must be of this version.
  void hold(ReadReply part);
  /// The bytes of a range if a single reply contains all of them.
  [[nodiscard]] std::optional<std::span<const std::byte>> find(Extent range) const;

  /// Whether a read failed only because bytes have not arrived.
  [[nodiscard]] bool waits() const noexcept { return !missing_.empty(); }
  /// The ranges that were missing since the last call.
  [[nodiscard]] std::vector<Extent> take_missing() { return std::exchange(missing_, {}); }

 private:
  Version version_;
  std::shared_ptr<ByteSource> opened_;
  std::map<std::uint64_t, ReadReply> parts_;  // by offset
  std::vector<Extent> missing_;
};

/// Whether `source` is one that waits: then a failed read may only mean that bytes have not arrived.
[[nodiscard]] bool waits_for_bytes(const ByteSource& source) noexcept;
/// Whether `source` is one that waits, and has these bytes.
[[nodiscard]] bool has_arrived(const ByteSource& source, Extent range) noexcept;
/// `runs`, in which what has arrived at the beginning and the end of a run is a run of its own, so that it is not
/// requested again.
[[nodiscard]] std::vector<Run> without_arrived(std::span<const Run> runs, std::span<const Wanted> wanted,
                                               const ByteSource& source);

}  // namespace sherd
