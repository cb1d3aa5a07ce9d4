// One version of an object of a file store, kept open.
#pragma once

#include <mutex>

#include "sherd/store.hpp"
#include "store/file_tree.hpp"

namespace sherd {

class FileSource final : public ByteSource {
 public:
  FileSource(std::string key, Fd file, const struct stat& status)
      : key_(std::move(key)), file_(std::move(file)), status_(status) {}

  [[nodiscard]] const std::string& name() const noexcept override { return key_; }
  Result<std::uint64_t> size() override { return bytes(); }
  Result<Generation> generation() override { return generation_of(status_); }
  Result<void> read(std::span<const RangeRead> ranges) override;
  [[nodiscard]] Appending appending() override;
  void outlive_appends(IsIntact is_intact) override;

  [[nodiscard]] int fd() const noexcept { return file_.get(); }
  /// `conflict` if the file has changed since it was opened.
  [[nodiscard]] Result<void> check_unchanged() const;
  /// The size when it was opened.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return static_cast<std::uint64_t>(status_.st_size); }

 private:
  /// What is now where the version was.
  class Present;

  [[nodiscard]] Result<bool> is_unchanged() const;
  [[nodiscard]] Result<bool> has_only_grown(struct stat now) const;

  std::string key_;
  Fd file_;
  struct stat status_;
  mutable std::mutex mutex_;  ///< guards what follows
  IsIntact is_intact_;
  mutable struct stat seen_ = status_;  ///< when the version was last found intact
};

}  // namespace sherd
