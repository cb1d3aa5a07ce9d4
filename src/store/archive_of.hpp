// Finds the archive of a store, also below wrappers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "sherd/store.hpp"
#include "store/capabilities.hpp"

namespace sherd {

/// The archive that a store shows as a whole, also below wrappers; otherwise nullptr.
[[nodiscard]] ArchiveStore* archive_of(Store& store);

/// The archive some or all of whose members a store shows; otherwise nullptr.
[[nodiscard]] ArchiveStore* archive_around(Store& store);

/// The store of that whole archive, found from a store that shows all or some of its members; nullptr if parents lead
/// to none.
[[nodiscard]] std::shared_ptr<Store> whole_archive(std::shared_ptr<Store> store);

/// Whether a store shows members of an archive: without Store::finish(), what is written into it is lost.
[[nodiscard]] inline bool is_in_archive(Store& store) { return archive_around(store) != nullptr; }

/// Compares the bytes of a whole object, if it is a stored member of a zip archive, with the checksum that the archive
/// has of them. (Compressed members are compared when they are decoded.)
class ArchivedChecksum {
 public:
  explicit ArchivedChecksum(const ByteSource& object) noexcept;
  /// The next bytes.
  void add(std::span<const std::byte> bytes) noexcept;
  /// `corrupt` if all bytes together have another checksum.
  [[nodiscard]] Result<void> compare() const;

 private:
  std::optional<std::uint32_t> expected_;
  std::uint32_t found_ = 0;
};

}  // namespace sherd
