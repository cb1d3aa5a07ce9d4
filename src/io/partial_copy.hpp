// A file on a server as a local one that has some of its bytes, for libraries that read files only.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/buffer.hpp"
#include "io/files.hpp"
#include "sherd/options.hpp"
#include "sherd/store.hpp"

namespace sherd {

/// Reads whole blocks, and more of them together the longer reads go on in order. Blocks that were read while the file
/// was opened are kept in the local file, the others in memory as far as a limit. Thread-safe; one thread reads at a
/// time.
class PartialCopy final : public FileBytes {
 public:
  /// Of an object in a store; nullptr if it does not exist. `shown`: what errors call it. The local file has the
  /// object's name, in a directory of its own among the temporary files.
  static Result<std::shared_ptr<PartialCopy>> make(Store& store, const std::string& key, std::string shown);

  /// The local file. It has the size of the other, and zeros where nothing was kept.
  [[nodiscard]] const std::string& path() const noexcept;
  [[nodiscard]] const std::string& shown() const noexcept { return shown_; }

  [[nodiscard]] bool random_access() const noexcept override { return true; }
  [[nodiscard]] std::uint64_t size_bound() const noexcept override { return size_; }
  Result<void> read_at(std::uint64_t offset, std::span<std::byte> into) override;
  /// Reads ranges, best in ascending order: what is missing of them is requested together.
  Result<void> read(std::span<const RangeRead> ranges);

  /// Keeps a range of the file. Reports progress in bytes.
  Result<void> keep(std::uint64_t offset, std::uint64_t bytes, const Config& config);
  /// From now on nothing is added to the local file.
  void stop_keeping();

  /// The first error of a read since the last call: libraries hide the errors of what they call.
  Result<void> take_failure();

 private:
  class LocalFile;
  struct Run {
    std::uint64_t begin = 0, end = 0;  ///< blocks
    Buffer bytes;
  };
  PartialCopy(std::shared_ptr<ByteSource> source, std::uint64_t size, std::string shown,
              std::unique_ptr<LocalFile> file);
  Result<void> add(Run run);
  Result<void> serve(std::span<const RangeRead> parts);
  Result<void> fetch(std::vector<Run> runs);
  [[nodiscard]] std::vector<Run> missing(std::span<const RangeRead> parts) const;
  [[nodiscard]] std::uint64_t blocks_ahead(std::uint64_t begin) const;
  [[nodiscard]] const Run* find(std::uint64_t block) const;
  [[nodiscard]] bool has(std::uint64_t block) const { return kept_[block] || find(block) != nullptr; }
  Result<void> copy_out(const RangeRead& part);

  const std::shared_ptr<ByteSource> source_;
  const std::uint64_t size_;
  const std::string shown_;
  const std::unique_ptr<LocalFile> file_;
  std::mutex mutex_;        // guards the following
  std::vector<bool> kept_;  // blocks
  bool keeping_ = true;
  std::list<Run> runs_;  // the newest first
  Result<void> failure_;
};

}  // namespace sherd
