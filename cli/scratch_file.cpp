// Lets standard input and output replace files that are not accessed sequentially. The data is spooled to a file, so
// the space for temporary files limits its size, not memory.
#include "cli/scratch_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "base/try.hpp"

namespace sherd::cli {
namespace {

constexpr std::size_t kCopiedBytes = std::size_t{1} << 20;

}  // namespace

Result<ScratchFile> ScratchFile::make() {
  const char* const folder = std::getenv("TMPDIR");
  const std::string location = folder != nullptr && *folder != '\0' ? folder : "/tmp";
  SHERD_TRY(directory, TemporaryDirectory::make(location + "/sherd", 0700));
  return ScratchFile(std::move(directory));
}

Error ScratchFile::of_output(const Error& error) const {
  std::string message = error.message();
  const std::string folder = std::filesystem::path(directory_.path()).parent_path().string();
  for (const std::string& name : {"'" + path() + "'", path()})
    for (std::size_t at = message.find(name); at != message.npos; at = message.find(name))
      message.replace(at, name.size(), "standard output");
  if (error.code() == ErrorCode::io)
    message += " (what goes there is first stored in " + folder + "; TMPDIR names another directory)";
  Error named(error.code(), std::move(message));
  const bool is_own = error.key().starts_with(path());
  return std::move(named).in_key(is_own ? "standard output" : error.key()).in_member(error.member());
}

Result<void> ScratchFile::take_input(InputPipe& input) const {
  std::ofstream file(path(), std::ios::binary);
  std::vector<std::byte> block(kCopiedBytes);
  for (std::size_t got = block.size(); got == block.size() && file;) {
    SHERD_TRY(count, input.read_some(block));
    got = count;
    file.write(reinterpret_cast<const char*>(block.data()), static_cast<std::streamsize>(got));
  }
  file.close();
  if (!file) return io_error("cannot write " + path() + ": " + std::strerror(errno));
  return {};
}

Result<void> ScratchFile::give(Output& out) const {
  std::error_code code;
  if (std::filesystem::is_directory(path(), code)) return unsupported("several files cannot go to standard output");
  std::ifstream file(path(), std::ios::binary);
  std::vector<char> block(kCopiedBytes);
  while (file && !out.closed()) {
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    SHERD_TRY(out.write(std::string_view(block.data(), static_cast<std::size_t>(file.gcount()))));
  }
  if (!file.eof() && !out.closed()) return io_error("cannot read " + path());
  return {};
}

}  // namespace sherd::cli
