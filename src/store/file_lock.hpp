// The lock of one object of a file store, against other processes.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "sherd/store.hpp"
#include "store/file_tree.hpp"

namespace sherd {

/// What the side files of an object have in their names instead of it: the name, or its hash where it is long.
[[nodiscard]] std::string side_stem(std::string_view name);
/// The stem of a side file's name.
[[nodiscard]] std::string_view stem_of_side_file(std::string_view side_file) noexcept;

class FileLock final : public StoreLock {
 public:
  enum class Wait : std::uint8_t { yes, no };
  /// nullptr where the directory has been removed meanwhile, or, without waiting, where another holds the lock.
  /// Temporary files that a killed holder has left behind are gone afterwards.
  static Result<std::unique_ptr<FileLock>> take(MadeDirectory directory, std::string stem, Wait wait);
  ~FileLock() override;

  /// A name that nobody uses, written into the lock file so that the next holder finds it after a kill.
  [[nodiscard]] Result<std::string> new_temp_name();
  /// Whether this process took the lock; a child of fork() only inherits it.
  [[nodiscard]] bool is_ours() const noexcept;
  [[nodiscard]] int directory() const noexcept { return directory_.fd.get(); }
  /// The directories made for this lock stay.
  void keep_directories() noexcept { directory_.keep(); }

 private:
  FileLock(MadeDirectory directory, std::string stem, Fd file);
  [[nodiscard]] Result<void> remove_leftovers();

  MadeDirectory directory_;  // released last: the lock file lies in it
  std::string stem_;
  Fd file_;
  off_t end_ = 0;
  pid_t process_;
};

}  // namespace sherd
