// One TIFF file open in libtiff, with its messages captured: shared by reading and writing.
#pragma once

#include <tiffio.h>

#include <cstdarg>
#include <string>
#include <string_view>

#include "io/files.hpp"

namespace sherd {

class TiffSession {
 public:
  explicit TiffSession(std::string path) : path_(std::move(path)) {}
  ~TiffSession();
  TiffSession(const TiffSession&) = delete;
  TiffSession& operator=(const TiffSession&) = delete;

  /// `largest`: the maximum that libtiff may allocate at once; 0: unlimited.
  Result<void> open(int descriptor, const char* mode, std::uint64_t largest);
  [[nodiscard]] TIFF* tiff() noexcept { return tiff_; }
  [[nodiscard]] bool failed() const noexcept { return !message_.empty(); }
  /// The first error that libtiff has reported since the last call, or `otherwise`.
  Error failure(std::string_view otherwise, ErrorCode code = ErrorCode::corrupt);

 private:
  static int on_error(TIFF* tiff, void* user, const char* module, const char* format, std::va_list arguments);
  static int on_warning(TIFF* tiff, void* user, const char* module, const char* format, std::va_list arguments);

  std::string path_;
  std::string message_;
  int number_ = 0;  ///< errno at that message
  TIFF* tiff_ = nullptr;
};

Result<std::unique_ptr<ArrayFileReader>> open_tiff_files(const std::string& path, const ImportOptions& options);

}  // namespace sherd
