// A temporary file without a name, for data that do not fit in memory; it exists as long as this process.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "sherd/store.hpp"
#include "store/file_tree.hpp"

namespace sherd {

class SpillFile final : public ByteSource {
 public:
  /// In `directory`, or in its nearest existing parent.
  static Result<std::unique_ptr<SpillFile>> make(const std::string& directory);

  /// Reserves space at the end and returns its offset. Thread-safe, as is everything else here.
  [[nodiscard]] std::uint64_t reserve(std::uint64_t length) noexcept { return end_.fetch_add(length); }
  Result<void> write(std::uint64_t offset, std::span<const std::byte> bytes);

  [[nodiscard]] const std::string& name() const noexcept override { return name_; }
  Result<std::uint64_t> size() override { return end_.load(); }
  Result<Generation> generation() override { return Generation{}; }
  Result<void> read(std::span<const RangeRead> ranges) override;

 private:
  SpillFile(Fd file, const std::string& directory)
      : file_(std::move(file)), name_("the temporary file in " + directory) {}

  Fd file_;
  std::string name_;
  std::atomic<std::uint64_t> end_{0};
};

}  // namespace sherd
