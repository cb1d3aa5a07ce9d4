// A file between a pipe and those who need one with a name.
#pragma once

#include <string>

#include "cli/output.hpp"
#include "io/files.hpp"
#include "sherd/options.hpp"

namespace sherd::cli {

/// A name in a directory of its own, which is removed with its contents.
class ScratchFile {
 public:
  /// Below TMPDIR, or /tmp.
  static Result<ScratchFile> make();
  [[nodiscard]] std::string path() const { return directory_.path() + "/data"; }
  /// An error of the engine about the file, which the user knows as standard output.
  [[nodiscard]] Error of_output(const Error& error) const;
  /// Makes the file of standard input.
  Result<void> take_input(const Config& config) const;
  /// Puts the file on standard output; `unsupported` where it has become a directory.
  Result<void> give(Output& out) const;

 private:
  explicit ScratchFile(TemporaryDirectory directory) : directory_(std::move(directory)) {}
  TemporaryDirectory directory_;
};

}  // namespace sherd::cli
