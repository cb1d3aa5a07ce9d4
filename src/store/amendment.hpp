// Making and checking amendments.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "base/buffer.hpp"
#include "sherd/store.hpp"

namespace sherd {

/// Values of Appending::obstacle. For these two reasons Store::amend() makes a new object, whatever the change is.
inline constexpr std::string_view kSeveralNames = "the file has several names";
inline constexpr std::string_view kFarAway = "the file system is on another machine";

/// `corrupt` or `invalid_argument` if an overwrite is not inside the old version, or not behind the one before it.
Result<void> check_amendment(const Amendment& amendment);

/// Where the appended bytes begin in the new version.
[[nodiscard]] std::uint64_t appended_at(const Amendment& amendment) noexcept;

/// Collects an amendment: writes behind the end of the old version, without gaps and in any order, and inside it.
class AmendmentWriter final : public ObjectWriter {
 public:
  /// `size` is that of the version `of`; `alignment` as in Amendment.
  AmendmentWriter(Generation of, std::uint64_t size, std::uint64_t alignment)
      : of_(std::move(of)), size_(size), alignment_(alignment) {}

  Result<void> write(std::uint64_t offset, std::span<const std::byte> bytes) override;
  /// An amendment is not committed by its writer.
  Result<void> commit(const Condition& condition) override;
  /// What was written; valid as long as the writer. `invalid_argument` if there are gaps.
  [[nodiscard]] Result<Amendment> amendment() const;

 private:
  Result<void> keep(std::uint64_t offset, std::span<const std::byte> bytes);

  const Generation of_;
  const std::uint64_t size_;
  const std::uint64_t alignment_;
  std::mutex mutex_;
  std::map<std::uint64_t, Buffer> pieces_;  ///< by offset
};

}  // namespace sherd
