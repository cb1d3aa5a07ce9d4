// Rejects a file that is too large for a value before reading any of it.
#include "cli/value_file.hpp"

#include <utility>

#include "base/try.hpp"

namespace sherd::cli {

Result<std::unique_ptr<InputFile>> open_value_file(const std::string& path, const Limits& limits) {
  SHERD_TRY(file, InputFile::open(path));
  if (file->size_bound() <= limits.chunk_bytes) return file;
  return std::move(unsupported("has " + std::to_string(file->size_bound()) +
                               " bytes, more than the limit chunk_bytes (" + std::to_string(limits.chunk_bytes) + ")"))
      .in_key(path);
}

}  // namespace sherd::cli
