#include "array/partial_source.hpp"

#include <algorithm>
#include <cstring>

#include "store/reply.hpp"

namespace sherd {

void PartialSource::hold(ReadReply part) {
  ReadReply& kept = parts_[part.offset];
  if (part.bytes.size() >= kept.bytes.size()) kept = std::move(part);
}

std::optional<std::span<const std::byte>> PartialSource::find(Extent range) const {
  constexpr int kParts = 4;  // few parts overlap; a range that is not found is requested again
  auto next = parts_.upper_bound(range.offset);
  for (int i = 0; i < kParts && next != parts_.begin(); ++i) {
    const ReadReply& part = (--next)->second;
    const std::uint64_t from = range.offset - part.offset;
    if (from <= part.bytes.size() && range.length <= part.bytes.size() - from)
      return part.bytes.subspan(from, range.length);
  }
  return std::nullopt;
}

Result<void> PartialSource::read(std::span<const RangeRead> ranges) {
  const std::size_t before = missing_.size();
  for (const auto& [offset, into] : ranges) {
    if (auto inside = check_range(offset, into.size(), version_.size); !inside) return std::move(inside).in_key(name());
    if (into.empty()) continue;
    const auto held = find({offset, into.size()});
    if (!held)
      missing_.push_back({offset, into.size()});
    else
      std::memcpy(into.data(), held->data(), held->size());
  }
  if (missing_.size() == before) return {};
  return unavailable("the bytes have not arrived yet");
}

bool waits_for_bytes(const ByteSource& source) noexcept {
  const auto* partial = dynamic_cast<const PartialSource*>(&source);
  return partial != nullptr && partial->waits();
}

bool has_arrived(const ByteSource& source, Extent range) noexcept {
  const auto* partial = dynamic_cast<const PartialSource*>(&source);
  return partial != nullptr && partial->find(range).has_value();
}

std::vector<Run> without_arrived(std::span<const Run> runs, std::span<const Wanted> wanted, const ByteSource& source) {
  std::vector<Run> result;
  const auto add = [&](std::size_t first, std::size_t last) {
    if (first == last) return;
    Extent all = wanted[first].extent;
    for (const Wanted& each : wanted.subspan(first, last - first))
      all.length = std::max(all.end(), each.extent.end()) - all.offset;
    result.push_back({all, first, last});
  };
  for (const Run& run : runs) {
    if (has_arrived(source, run.extent)) {
      result.push_back(run);
      continue;
    }
    std::size_t first = run.first, last = run.last;
    while (first < last && has_arrived(source, wanted[first].extent)) ++first;
    while (last > first && has_arrived(source, wanted[last - 1].extent)) --last;
    add(run.first, first);
    add(first, last);
    add(last, run.last);
  }
  return result;
}

}  // namespace sherd
