// The local file has its own name in a directory of its own, because libhdf5 resolves its path, also if that is
// /proc/self/fd/N. Both are removed with the owner, in the process that made them; a killed process leaves them among
// the temporary files.
#include "io/partial_copy.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <random>
#include <utility>

#include "base/text.hpp"
#include "base/try.hpp"
#include "os/calls.hpp"
#include "os/fd.hpp"
#include "store/reply.hpp"

namespace sherd {
namespace {

constexpr std::uint64_t kBlock = std::uint64_t{64} << 10;
constexpr std::uint64_t kFirstBlocks = 16, kGrowth = 2, kMostBlocks = 256;  ///< that are read together
constexpr std::uint64_t kGapBlocks = 2;                                     ///< are read with their neighbours
constexpr std::uint64_t kMemory = std::uint64_t{64} << 20;                  ///< for runs
constexpr std::uint64_t kRangeBytes = std::uint64_t{4} << 20;               ///< of one request

}  // namespace

class PartialCopy::LocalFile {
 public:
  static Result<std::unique_ptr<LocalFile>> make(const std::string& name, std::uint64_t size) {
    const char* const chosen = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe)
    const std::string folder = chosen != nullptr && *chosen != '\0' ? chosen : "/tmp";
    static std::atomic<std::uint64_t> made{0};
    for (int tries = 0; tries < kTries; ++tries) {
      const std::string directory =
          folder + "/sherd-" + std::to_string(::getpid()) + "-" + std::to_string(std::random_device{}() + ++made);
      if (os::mkdirat(AT_FDCWD, directory.c_str(), 0700) != 0) {
        if (errno == EEXIST) continue;
        return file_error("cannot make a temporary directory in", folder, errno);
      }
      auto file = std::make_unique<LocalFile>(directory, directory + "/" + name);
      file->fd_ = os::Fd(os::openat(AT_FDCWD, file->path_.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600));
      if (!file->fd_ || os::ftruncate(file->fd(), size) != 0)
        return file_error("cannot make a temporary file", file->path_, errno);
      return file;
    }
    return io_error("cannot make a temporary directory in " + folder);
  }
  LocalFile(std::string directory, std::string path) : directory_(std::move(directory)), path_(std::move(path)) {}
  LocalFile(const LocalFile&) = delete;
  LocalFile& operator=(const LocalFile&) = delete;
  ~LocalFile() {
    if (::getpid() != maker_) return;
    os::unlinkat(AT_FDCWD, path_.c_str(), 0);
    os::unlinkat(AT_FDCWD, directory_.c_str(), AT_REMOVEDIR);
  }

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }

 private:
  static constexpr int kTries = 100;
  const pid_t maker_ = ::getpid();
  const std::string directory_, path_;
  os::Fd fd_;
};

Result<std::shared_ptr<PartialCopy>> PartialCopy::make(Store& store, const std::string& key, std::string shown) {
  Run first;
  SHERD_TRY(first.bytes.resize(kFirstBlocks * kBlock));
  SHERD_TRY(reply, read_one(store, {.key = key, .length = first.bytes.size(), .into = first.bytes.span()}));
  if (reply.source == nullptr) return std::shared_ptr<PartialCopy>();
  SHERD_TRY(size, reply.source->size());
  SHERD_TRY(file, LocalFile::make(std::string(last_segment(key)), size));
  std::shared_ptr<PartialCopy> copy(new PartialCopy(std::move(reply.source), size, std::move(shown), std::move(file)));
  first.bytes.truncate(reply.bytes.size());
  first.end = std::min<std::uint64_t>(kFirstBlocks, copy->kept_.size());
  if (reply.bytes.size() == std::min(size, kFirstBlocks * kBlock)) SHERD_TRY(copy->add(std::move(first)));
  return copy;
}

PartialCopy::PartialCopy(std::shared_ptr<ByteSource> source, std::uint64_t size, std::string shown,
                         std::unique_ptr<LocalFile> file)
    : source_(std::move(source)),
      size_(size),
      shown_(std::move(shown)),
      file_(std::move(file)),
      kept_((size + kBlock - 1) / kBlock) {}

const std::string& PartialCopy::path() const noexcept { return file_->path(); }

Result<void> PartialCopy::read_at(std::uint64_t offset, std::span<std::byte> into) {
  const RangeRead range{offset, into};
  return read({&range, 1});
}

Result<void> PartialCopy::read(std::span<const RangeRead> ranges) {
  const std::lock_guard lock(mutex_);
  std::vector<RangeRead> parts;
  std::uint64_t bytes = 0;
  auto done = [&]() -> Result<void> {
    for (const RangeRead& range : ranges) {
      if (range.offset > size_ || range.into.size() > size_ - range.offset)
        return corrupt("truncated: " + std::to_string(range.into.size()) + " bytes are wanted at byte " +
                       std::to_string(range.offset) + ", the file ends at byte " + std::to_string(size_));
      for (std::uint64_t at = 0; at < range.into.size();) {
        const std::uint64_t length = std::min(range.into.size() - at, kMostBlocks * kBlock - bytes);
        parts.push_back({range.offset + at, range.into.subspan(at, length)});
        at += length;
        bytes = std::min(kMostBlocks * kBlock, bytes + std::max(length, kBlock));
        if (bytes < kMostBlocks * kBlock) continue;
        SHERD_TRY(serve(parts));
        parts.clear();
        bytes = 0;
      }
    }
    return serve(parts);
  }();
  if (!done && failure_) failure_ = done;
  return done;
}

Result<void> PartialCopy::serve(std::span<const RangeRead> parts) {
  SHERD_TRY(fetch(missing(parts)));
  for (const RangeRead& part : parts) SHERD_TRY(copy_out(part));
  std::uint64_t bytes = 0;
  std::erase_if(runs_, [&](const Run& run) { return (bytes += run.bytes.size()) > kMemory; });
  return {};
}

const PartialCopy::Run* PartialCopy::find(std::uint64_t block) const {
  const auto found = std::ranges::find_if(runs_, [&](const Run& run) { return run.begin <= block && block < run.end; });
  return found != runs_.end() ? &*found : nullptr;
}

std::uint64_t PartialCopy::blocks_ahead(std::uint64_t begin) const {
  const auto before = std::ranges::find(runs_, begin, &Run::end);
  return before != runs_.end() ? std::min(kMostBlocks, kGrowth * (before->end - before->begin)) : 1;
}

std::vector<PartialCopy::Run> PartialCopy::missing(std::span<const RangeRead> parts) const {
  std::vector<Run> runs;
  for (const RangeRead& part : parts) {
    if (part.into.empty()) continue;
    for (std::uint64_t block = part.offset / kBlock; block * kBlock < part.offset + part.into.size(); ++block) {
      if (has(block)) continue;
      if (!runs.empty() && runs.back().begin <= block && block <= runs.back().end + kGapBlocks)
        runs.back().end = std::max(runs.back().end, block + 1);
      else
        runs.push_back({.begin = block, .end = block + 1, .bytes = {}});
    }
  }
  if (runs.size() != 1) return runs;
  std::uint64_t end = std::min<std::uint64_t>(kept_.size(), runs[0].begin + blocks_ahead(runs[0].begin));
  while (end > runs[0].end && has(end - 1)) --end;
  runs[0].end = std::max(runs[0].end, end);
  return runs;
}

Result<void> PartialCopy::fetch(std::vector<Run> runs) {
  std::vector<RangeRead> ranges;
  for (Run& run : runs) {
    const std::uint64_t begin = run.begin * kBlock;
    SHERD_TRY(run.bytes.resize(std::min(size_, run.end * kBlock) - begin));
    for (std::uint64_t at = 0; at < run.bytes.size(); at += kRangeBytes)
      ranges.push_back({begin + at, run.bytes.span().subspan(at, std::min(kRangeBytes, run.bytes.size() - at))});
  }
  if (ranges.empty()) return {};
  SHERD_TRY(source_->read(ranges));
  for (Run& run : runs) SHERD_TRY(add(std::move(run)));
  return {};
}

Result<void> PartialCopy::add(Run run) {
  if (keeping_) {
    if (os::pwrite_all(file_->fd(), run.bytes.span(), run.begin * kBlock) != 0)
      return file_error("cannot store", "a copy of " + shown_ + " among the temporary files", errno);
    std::fill(kept_.begin() + static_cast<std::ptrdiff_t>(run.begin),
              kept_.begin() + static_cast<std::ptrdiff_t>(run.end), true);
  }
  runs_.push_front(std::move(run));
  return {};
}

Result<void> PartialCopy::copy_out(const RangeRead& part) {
  for (std::uint64_t done = 0; done < part.into.size();) {
    const std::uint64_t at = part.offset + done, block = at / kBlock;
    const auto rest = part.into.subspan(done);
    std::uint64_t bytes = 0;
    if (const Run* run = find(block); run != nullptr) {
      const auto from = run->bytes.span().subspan(at - run->begin * kBlock);
      bytes = std::min(rest.size(), from.size());
      std::memcpy(rest.data(), from.data(), bytes);
    } else {
      bytes = std::min<std::uint64_t>(rest.size(), (block + 1) * kBlock - at);
      const ssize_t got = os::pread_all(file_->fd(), rest.first(bytes), at);
      if (got < 0) return file_error("cannot read", file_->path(), errno);
      if (static_cast<std::uint64_t>(got) != bytes) return io_error("became shorter: " + file_->path());
    }
    done += bytes;
  }
  return {};
}

Result<void> PartialCopy::keep(std::uint64_t offset, std::uint64_t bytes, const Config& config) {
  Buffer buffer;
  SHERD_TRY(buffer.resize(std::min(bytes, kMostBlocks * kBlock)));
  for (std::uint64_t done = 0; done < bytes;) {
    const auto piece = buffer.span().first(std::min<std::uint64_t>(buffer.size(), bytes - done));
    SHERD_TRY(read_at(offset + done, piece));
    done += piece.size();
    if (config.progress) config.progress({done, bytes});
  }
  return {};
}

void PartialCopy::stop_keeping() {
  const std::lock_guard lock(mutex_);
  keeping_ = false;
}

Result<void> PartialCopy::take_failure() {
  const std::lock_guard lock(mutex_);
  return std::exchange(failure_, {});
}

}  // namespace sherd
