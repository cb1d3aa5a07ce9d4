// The layout of a changed archive: first the members that were added, in the order of their commits, then those of the
// old version, in long runs that the kernel copies, by reference if the file system shares blocks, and the directory.
// What was erased or replaced is left out.
#include <algorithm>
#include <vector>

#include "base/buffer.hpp"
#include "base/call.hpp"
#include "base/try.hpp"
#include "store/read_into.hpp"
#include "store/zip_contents.hpp"
#include "store/zip_encode.hpp"
#include "store/zip_first.hpp"
#include "store/zip_source.hpp"

namespace sherd {
namespace {

/// Shorter runs are copied without sharing blocks.
constexpr std::uint64_t kLongRun = std::uint64_t{1} << 20;

/// Bytes of the old version that are kept.
struct Run {
  std::uint64_t from = 0, end = 0;
  std::uint64_t to = 0;  ///< in the new version
};

bool is_kept(const ZipRecord& record, const ZipArchive& archive, const ZipChanges& changes,
             const std::optional<std::string>& key) {
  if (!key) return true;  // a directory, or another member that is not an object
  const ZipMember* const member = archive.directory().find(*key);
  return member != nullptr && member->header == record.sizes.header && !changes.contains(*key);
}

/// What is kept of an old version, whose first byte is the archive's.
class Kept {
 public:
  static Result<Kept> of(const ZipArchive& archive, const ZipChanges& changes) {
    Kept kept;
    const Extent& directory = archive.directory_extent();
    SHERD_TRY(read_into(*archive.source(), directory, kept.directory_));
    struct Placed {
      std::uint64_t header;
      bool is_kept;
    };
    std::vector<Placed> places;
    SHERD_TRY(
        for_each_zip_record(kept.directory_.span(), archive.end().count, [&](const ZipRecord& record) -> Result<void> {
          SHERD_TRY(name, zip_key(record));
          places.push_back({record.sizes.header, is_kept(record, archive, changes, name.key)});
          kept.is_kept_.push_back(places.back().is_kept);
          return {};
        }));
    std::ranges::sort(places, {}, &Placed::header);
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (!places[i].is_kept) continue;
      const std::uint64_t end = i + 1 < places.size() ? places[i + 1].header : directory.offset;
      if (!kept.runs_.empty() && kept.runs_.back().end == places[i].header)
        kept.runs_.back().end = end;
      else
        kept.runs_.push_back({places[i].header, end});
    }
    return kept;
  }

  /// Copies the members to `at` and after, and moves it to their end.
  Result<void> copy(const ZipArchive& archive, ObjectWriter& to, std::uint64_t& at) {
    for (Run& run : runs_) {
      SHERD_TRY(check_interrupted());
      const std::uint64_t length = run.end - run.from;
      if (length >= kLongRun) at += (run.from + kSharedBlock - at % kSharedBlock) % kSharedBlock;
      run.to = at;
      SHERD_TRY(to.copy(*archive.source(), run.from, length, run.to));
      at += length;
    }
    return {};
  }

  /// Appends their records, and returns how many there are.
  Result<std::uint64_t> append_records(const ZipArchive& archive, std::string& directory) const {
    std::uint64_t count = 0;
    std::size_t number = 0;
    SHERD_TRY(for_each_zip_record(directory_.span(), archive.end().count, [&](const ZipRecord& record) -> Result<void> {
      if (!is_kept_[number++]) return {};
      ++count;
      const auto after = std::ranges::upper_bound(runs_, record.sizes.header, {}, &Run::from);
      const Run& run = *std::prev(after);
      return append_zip_record(record, run.to + (record.sizes.header - run.from), directory);
    }));
    return count;
  }

 private:
  Buffer directory_;
  std::vector<bool> is_kept_;  ///< of each record
  std::vector<Run> runs_;      ///< sorted
};

/// Appends the records of the members that were added, in the order of their places.
std::uint64_t append_added(const ZipChanges& changes, std::string& directory) {
  std::vector<const ZipChanges::value_type*> added;
  for (const auto& change : changes)
    if (change.second != nullptr) added.push_back(&change);
  std::ranges::sort(added, {}, [](const auto* change) { return change->second->header(); });
  for (const auto* change : added) {
    const ZipSpooled& member = *change->second;
    append_zip_record({.key = change->first, .crc = member.crc, .size = member.size, .header = member.header()},
                      directory);
  }
  return added.size();
}

}  // namespace

Result<void> finish_zip(ZipSession& session, ZipArchive* archive, const ZipEdition& edition) {
  SHERD_TRY(members_end, session.trim());
  ZipEnding end{.offset = members_end, .comment = edition.comment};
  std::string directory;
  Condition condition = Condition::absent();
  if (archive != nullptr) {
    SHERD_TRY(generation, archive->source()->generation());
    condition = Condition::matches(std::move(generation));
    SHERD_TRY(kept, Kept::of(*archive, edition.changes));
    SHERD_TRY(kept.copy(*archive, session.writer(), end.offset));
    SHERD_TRY(count, kept.append_records(*archive, directory));
    end.count += count;
  }
  end.count += append_added(edition.changes, directory);
  if (edition.is_first) {
    SHERD_TRY(ordered, with_zip_first(directory, end.count, edition.is_first));
    directory = std::move(ordered);
  }
  append_zip_end(end, directory);
  if (directory.size() > edition.max_directory_bytes)
    return unsupported("the directory of the zip archive would have " + std::to_string(directory.size()) +
                       " bytes, more than the limit metadata_bytes (" + std::to_string(edition.max_directory_bytes) +
                       "); use larger chunks or shards, or raise the limit");
  SHERD_TRY(session.writer().write(end.offset, as_bytes(directory)));
  return session.writer().commit(condition);
}

}  // namespace sherd
