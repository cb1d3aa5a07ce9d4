// One run of the command: state shared by all subcommands, from --json to Ctrl-C.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/url.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "cli/typed_paths.hpp"
#include "sherd/group.hpp"
#include "sherd/store.hpp"

namespace sherd::cli {

/// The options of every subcommand.
struct Everywhere {
  bool json = false;
  bool quiet = false;
  bool stats = false;
  bool trace = false;
  std::uint64_t threads = 0;
  std::string progress = "auto";
  std::string store_format;
  std::string lock_timeout;
  std::string lock = "auto";
  std::vector<std::string> limits;
  std::vector<std::string> storage_options;
  TypedPaths typed;  ///< of the arguments
};

/// The names of all formats: "zarr3, zarr2, …".
[[nodiscard]] std::string known_formats();
/// invalid_argument if an option's value is neither empty nor the name of a format.
Result<void> check_format(std::string_view option, const std::string& name);

/// Which resolution of an image or a volume to open.
struct LevelChoice {
  std::uint64_t number = 0;
  std::string resolution;  ///< "8,8,40"; empty: not given
};

class Session {
 public:
  /// Rejects unknown limits and formats. SHERD_LIMIT_<NAME> variables are applied first; options override them.
  static Result<std::unique_ptr<Session>> make(const Everywhere& options);

  [[nodiscard]] bool json() const noexcept { return options_.json; }
  [[nodiscard]] Output& out() noexcept { return out_; }
  /// Run-time settings for a short call.
  [[nodiscard]] Config config();
  /// Run-time settings for a call that takes a while: progress is drawn under `label`.
  [[nodiscard]] Config watched(std::string label);
  /// Run-time settings for a call that must not be left half done, with progress: Ctrl-C stops it cleanly.
  [[nodiscard]] Config guarded(std::string label);
  [[nodiscard]] OpenOptions opening(Config config, bool writable = false, std::uint64_t scale = 0) const;
  /// The array at `url`, or the resolution of the volume there.
  [[nodiscard]] Result<Array> open_scale(const std::string& url, Config config, bool writable,
                                         const LevelChoice& level) const;
  /// The array at `url`, or one resolution of the volume or the OME-NGFF image there.
  [[nodiscard]] Result<Array> open_level(const std::string& url, Config config, const LevelChoice& level) const;
  /// Finishes what was written into zip archives. A command that reports success by note() calls this before; it is
  /// also called before anything is printed on standard output, and at the end of a command that has succeeded.
  Result<void> finish();
  /// One line on standard error, unless --quiet or --json.
  void note(const std::string& text);
  /// Erases the progress; with --progress=always, that of a completed call remains as a last line.
  void end_progress(bool completed);
  /// With --stats: prints the cost of the run as one line of JSON on standard error.
  void report_stats() const;
  /// The format of new nodes if one was requested, otherwise empty.
  [[nodiscard]] const std::string& format() const noexcept { return options_.store_format; }

 private:
  explicit Session(const Everywhere& options) : options_(options) {}

  Everywhere options_;
  Limits limits_;
  std::map<std::string, std::string> storage_options_;
  double lock_timeout_ = Config{}.lock_timeout;
  Output out_{[this] { return finish(); }};
  std::shared_ptr<Recorder> recorder_;
  std::shared_ptr<OpenStores> open_stores_ = std::make_shared<OpenStores>();
  std::shared_ptr<ProgressBar> bar_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// A path or URL as messages show it: without secrets.
[[nodiscard]] std::string shown(const std::string& url);
/// A store's path or URL as messages show it, with the whole path of a file and without secrets.
[[nodiscard]] std::string name_of_store(const std::string& url);
/// The result of a call on the node at `url`; an error with a key gets the name of the store.
template <class T>
[[nodiscard]] Result<T> at(const std::string& url, Result<T> result) {
  if (result.has_value()) return result;
  return in_store(std::move(result).error(), name_of_store(url));
}

/// Handles Ctrl-C and SIGTERM. A call that polls is stopped cleanly; anything else ends at once.
void catch_interrupts();
/// 128 plus the number of the signal if one was received, otherwise 0.
[[nodiscard]] int interrupt_status() noexcept;

/// The exit code of an error.
[[nodiscard]] int exit_code(ErrorCode code) noexcept;
/// {code, message, key, slot}, and `member` if known.
[[nodiscard]] Json as_json(const Error& error);
/// Prints an error on standard error: as a line or, with `json`, as an object.
void report(const Error& error, bool json, const TypedPaths& typed = {});
/// Prints that a signal ended the command, as report() prints an error. Its code is "interrupted", which no other
/// error has.
void report_interrupt(bool json);

}  // namespace sherd::cli
