// One run of the command: what holds for every subcommand, from --json to Ctrl-C.
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

/// Which resolution of an image or a volume.
struct LevelChoice {
  std::uint64_t number = 0;
  std::string resolution;  ///< "8,8,40"; empty: not given
};

class Session {
 public:
  /// Refuses limits and formats that do not exist. The environment's SHERD_LIMIT_<NAME> come first, options win.
  static Result<std::unique_ptr<Session>> make(const Everywhere& options);

  [[nodiscard]] bool json() const noexcept { return options_.json; }
  [[nodiscard]] Output& out() noexcept { return out_; }
  /// Run-time settings for a short call.
  [[nodiscard]] Config config();
  /// The same for a call that takes a while: progress is drawn under `label`.
  [[nodiscard]] Config watched(std::string label);
  /// The same for a call that would leave something half done: Ctrl-C ends it in good order.
  [[nodiscard]] Config guarded(std::string label);
  [[nodiscard]] OpenOptions opening(Config config, bool writable = false, std::uint64_t scale = 0) const;
  /// The array at `url`, or the resolution of the volume there.
  [[nodiscard]] Result<Array> open_scale(const std::string& url, Config config, bool writable,
                                         const LevelChoice& level) const;
  /// The array at `url`, or one resolution of the volume or the OME-NGFF image there.
  [[nodiscard]] Result<Array> open_level(const std::string& url, Config config, const LevelChoice& level) const;
  /// One line on standard error, unless --quiet or --json.
  void note(const std::string& text);
  void end_progress();
  /// Where --stats is given: what the run has cost, as one line of JSON on standard error.
  void report_stats() const;
  /// The format of new nodes, where one is asked for; otherwise empty.
  [[nodiscard]] const std::string& format() const noexcept { return options_.store_format; }

 private:
  explicit Session(const Everywhere& options) : options_(options) {}

  Everywhere options_;
  Limits limits_;
  std::map<std::string, std::string> storage_options_;
  double lock_timeout_ = Config{}.lock_timeout;
  Output out_;
  std::shared_ptr<Recorder> recorder_;
  std::shared_ptr<ProgressBar> bar_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// The result of a call about the node at `url`: an error that names a key says in which store.
template <class T>
[[nodiscard]] Result<T> at(const std::string& url, Result<T> result) {
  if (result.has_value()) return result;
  const auto store = open_store(url);
  return in_store(std::move(result).error(), store ? (*store)->url() : url);
}

/// Ctrl-C and SIGTERM. A call that polls is ended in good order; everything else ends at once.
void catch_interrupts();
/// 128 and the signal's number where one has come, otherwise 0.
[[nodiscard]] int interrupt_status() noexcept;

/// The exit code of an error.
[[nodiscard]] int exit_code(ErrorCode code) noexcept;
/// {code, message, key, slot}, and the member where one is known.
[[nodiscard]] Json as_json(const Error& error);
/// Prints an error on standard error: a line, or with `json` an object.
void report(const Error& error, bool json, const TypedPaths& typed = {});
/// The same of a command that a signal ended. Its code is "interrupted", as no other error's.
void report_interrupt(bool json);

}  // namespace sherd::cli
