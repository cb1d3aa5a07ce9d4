// A temporary file between a pipe and code that needs a named file.
#pragma once

#include <string>

#include "cli/input_pipe.hpp"
#include "cli/output.hpp"
#include "io/files.hpp"

namespace sherd::cli {

/// A file name in a new directory, which is removed with its contents.
class ScratchFile {
 public:
  /// Below TMPDIR, or in /tmp.
  static Result<ScratchFile> make();
  [[nodiscard]] std::string path() const { return directory_.path() + "/data"; }
  /// Rewords an engine error about the file, which the user knows as standard output.
  [[nodiscard]] Error of_output(const Error& error) const;
  /// Copies the rest of the input, such as standard input, into the file.
  Result<void> take_input(InputPipe& input) const;
  /// Copies the file to standard output; `unsupported` if it has become a directory.
  Result<void> give(Output& out) const;

 private:
  explicit ScratchFile(TemporaryDirectory directory) : directory_(std::move(directory)) {}
  TemporaryDirectory directory_;
};

}  // namespace sherd::cli
