// Implements what all subcommands share: limits from options and the environment, the recorder for --stats, progress,
// interrupts, and error reports.
#include "cli/session.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "api/registry.hpp"
#include "api/trace.hpp"
#include "base/nearest.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "cli/values.hpp"
#include "io/axes.hpp"
#include "sherd/precomputed.hpp"

namespace sherd::cli {
namespace {

constexpr std::uint64_t kMostThreads = 4096;
constexpr unsigned kMostTrace = 9;

// A signal handler can only access globals.
volatile std::sig_atomic_t signal_received = 0;
volatile std::sig_atomic_t signals_polled = 0;

void on_signal(int number) {
  if (signals_polled == 0 || signal_received != 0) _exit(128 + number);
  signal_received = number;
}

// An unknown limit is probably misspelt, so it is an error, as with --limit.
Result<void> limits_from_environment(Limits& limits) {
  constexpr std::string_view prefix = "SHERD_LIMIT_";
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (!text.starts_with(prefix) || equals == text.npos) continue;
    const std::string variable(text.substr(0, equals));
    const std::string name = lowered(std::string_view(variable).substr(prefix.size()));
    SHERD_TRY(number, parse_size(text.substr(equals + 1)).in([&]() -> const std::string& { return variable; }));
    SHERD_TRY(limits.set(name, number).in([&]() -> const std::string& { return variable; }));
  }
  return {};
}

Result<void> limits_from_options(Limits& limits, const std::vector<std::string>& options) {
  for (const std::string& option : options) {
    const auto equals = option.find('=');
    if (equals == std::string::npos) return invalid_argument("--limit " + option + ": write it as NAME=VALUE");
    SHERD_TRY(value, parse_size(std::string_view(option).substr(equals + 1)).in([&] { return "--limit " + option; }));
    SHERD_TRY(limits.set(option.substr(0, equals), value).in([] { return "--limit"; }));
  }
  return {};
}

Result<std::map<std::string, std::string>> parse_storage_options(const std::vector<std::string>& options) {
  std::map<std::string, std::string> parsed;
  for (const std::string& option : options) {
    const auto equals = option.find('=');
    if (equals == std::string::npos) {  // what follows the name may be a secret
      const auto end = option.find_first_not_of("abcdefghijklmnopqrstuvwxyz_");
      return invalid_argument("--store-option " + option.substr(0, end) + ": write it as NAME=VALUE");
    }
    parsed.insert_or_assign(option.substr(0, equals), option.substr(equals + 1));
  }
  return parsed;
}

Result<double> parse_seconds(const std::string& text) {
  const auto seconds = parse_number<double>(text);
  if (!seconds || !(*seconds >= 0))
    return invalid_argument("'" + text + "' is not a number of seconds; write it as 30 or 0.5, or inf for no limit");
  return *seconds;
}

// Read from /proc: getrusage would include the process image before exec, however large it was.
std::uint64_t peak_rss() {
  constexpr std::string_view label = "VmHWM:";
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(label)) return std::strtoull(line.c_str() + label.size(), nullptr, 10) * 1024;
  return 0;
}

}  // namespace

std::string known_formats() {
  std::string known;
  for (const Format* format : tables().formats) known += (known.empty() ? "" : ", ") + std::string(format->name());
  return known;
}

Result<void> check_format(std::string_view option, const std::string& name) {
  if (name.empty() || find_format(name) != nullptr) return {};
  std::vector<std::string_view> names;
  for (const Format* format : tables().formats) names.push_back(format->name());
  return invalid_argument(std::string(option) + ": '" + name + "' is not a known format (" + known_formats() + ")" +
                          did_you_mean(name, names));
}

Result<std::unique_ptr<Session>> Session::make(const Everywhere& options) {
  std::unique_ptr<Session> session(new Session(options));
  SHERD_TRY(limits_from_environment(session->limits_));
  SHERD_TRY(limits_from_options(session->limits_, options.limits));
  SHERD_TRY(storage_options, parse_storage_options(options.storage_options));
  session->storage_options_ = std::move(storage_options);
  SHERD_TRY(check_format("--store-format", options.store_format));
  if (options.threads > kMostThreads)
    return invalid_argument("--threads: must be at most " + std::to_string(kMostThreads));
  if (!options.lock_timeout.empty()) {
    SHERD_TRY(seconds, parse_seconds(options.lock_timeout).in([] { return "--lock-timeout"; }));
    session->lock_timeout_ = seconds;
  }
  const unsigned level = options.trace ? kMostTrace : trace_level();
  if (options.stats || level > 0) session->recorder_ = std::make_shared<Recorder>();
  if (level > 0) trace(*session->recorder_, level);
  return session;
}

Config Session::config() {
  Config config;
  config.threads = static_cast<unsigned>(options_.threads);
  config.limits = limits_;
  config.storage_options = storage_options_;
  config.lock_timeout = lock_timeout_;
  if (options_.lock == "none") config.lock = Locking::none;
  config.notice = [this](const std::string& text) { note("sherd: " + text); };
  config.recorder = recorder_;
  config.open_stores = open_stores_;
  return config;
}

Result<void> Session::finish() { return open_stores_->finish(); }

Config Session::watched(std::string label) {
  Config result = config();
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  const bool shown = options_.progress == "always" || (options_.progress == "auto" && terminal && !options_.quiet);
  if (!shown) return result;
  bar_ = std::make_shared<ProgressBar>(std::move(label));
  result.progress = [bar = bar_](const Progress& progress) { bar->update(progress); };
  return result;
}

Config Session::guarded(std::string label) {
  Config result = watched(std::move(label));
  signals_polled = 1;
  result.interrupted = [] { return signal_received != 0; };
  return result;
}

OpenOptions Session::opening(Config config, bool writable, std::uint64_t scale) const {
  return {
      .path = {}, .writable = writable, .format = options_.store_format, .config = std::move(config), .scale = scale};
}

std::string shown(const std::string& url) {
  const auto parsed = parse_url(url);
  return parsed && !parsed->is_file() ? parsed->shown : url;
}

std::string name_of_store(const std::string& url) {
  const auto parsed = parse_url(url);
  if (parsed && parsed->scheme != "file") return parsed->shown;  // opening it again could need requests
  const auto store = open_store(url);
  return store ? (*store)->url() : url;
}

Result<Array> Session::open_scale(const std::string& url, Config config, bool writable,
                                  const LevelChoice& level) const {
  const OpenOptions options = opening(std::move(config), writable, level.number);
  if (level.resolution.empty()) return at(url, open_array(url, options));
  if (level.number != 0) return invalid_argument("--resolution can only be used without --scale and --level");
  SHERD_TRY(numbers, parse_positive(level.resolution, 3).in([] { return "--resolution"; }));
  return at(url, neuroglancer::open_scale(url, {numbers[0], numbers[1], numbers[2]}, options));
}

Result<Array> Session::open_level(const std::string& url, Config config, const LevelChoice& choice) const {
  if (!choice.resolution.empty()) return open_scale(url, std::move(config), false, choice);
  const OpenOptions options = opening(std::move(config), false, choice.number);
  const std::uint64_t level = choice.number;
  SHERD_TRY(node, at(url, open(url, options)));
  if (const Group* group = std::get_if<Group>(&node)) {
    SHERD_TRY(array, at(url, sherd::open_level(*group, level)));
    if (array) return *std::move(array);
  } else if (level == 0) {
    return std::get<Array>(std::move(node));
  }
  return at(url, open_array(url, options));
}

void Session::end_progress(bool completed) {
  if (!bar_) return;
  if (completed && options_.progress == "always")
    bar_->finish();
  else
    bar_->clear();
}

void Session::note(const std::string& text) {
  end_progress(false);
  if (!options_.quiet && !options_.json) std::fprintf(stderr, "%s\n", printable(options_.typed.in(text)).c_str());
}

void Session::report_stats() const {
  if (!options_.stats) return;
  const Recorder::Stats stats = recorder_->stats();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start_;
  Json::Object updates;
  for (const auto& [how, count] : recorder_->updates()) updates.emplace_back(how, count);
  const Json json(Json::Object{{"requests", stats.requests},
                               {"retries", stats.retries},
                               {"round_trips", stats.round_trips},
                               {"bytes_read", stats.bytes_read},
                               {"bytes_written", stats.bytes_written},
                               {"chunks_decoded", stats.chunks_decoded},
                               {"chunks_encoded", stats.chunks_encoded},
                               {"chunks_moved", stats.chunks_moved},
                               {"updates", std::move(updates)},
                               {"peak_rss", peak_rss()},
                               {"seconds", seconds.count()}});
  std::fprintf(stderr, "%s\n", json.dump().c_str());
}

void catch_interrupts() {
  struct sigaction action{};
  action.sa_handler = on_signal;
  for (const int number : {SIGINT, SIGTERM}) {
    struct sigaction present{};
    sigaction(number, nullptr, &present);
    // A shell starts background jobs with Ctrl-C (SIGINT) ignored.
    if (present.sa_handler != SIG_IGN) sigaction(number, &action, nullptr);
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // exceeding `ulimit -f` becomes an error of the write
}

int interrupt_status() noexcept { return signal_received == 0 ? 0 : 128 + signal_received; }

int exit_code(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument:
      return 2;
    case ErrorCode::not_found:
      return 3;
    case ErrorCode::corrupt:
      return 4;
    case ErrorCode::unsupported:
      return 5;
    case ErrorCode::conflict:
      return 6;
    case ErrorCode::io:
      return 7;
    case ErrorCode::unavailable:
      return 8;
  }
  return 8;
}

Json as_json(const Error& error) {
  Json::Object fields{{"code", to_string(error.code())},
                      {"message", error.message()},
                      {"key", error.key().empty() ? Json() : Json(error.key())},
                      {"slot", error.slot() ? Json(*error.slot()) : Json()}};
  if (!error.member().empty()) fields.emplace_back("member", error.member());
  return Json(std::move(fields));
}

namespace {

/// A list in an error has one line for each entry, two characters to the right.
std::string printable_lines(std::string_view text) {  // NOLINT(misc-no-recursion): text gets shorter
  constexpr std::string_view begin = "\n  ";
  const std::size_t end = text.find(begin);
  if (end == text.npos) return printable(text);
  return printable(text.substr(0, end)) + std::string(begin) + printable_lines(text.substr(end + begin.size()));
}

}  // namespace

void report(const Error& error, bool json, const TypedPaths& typed) {
  if (json)
    std::fprintf(stderr, "%s\n", json_text(Json::Object{{"error", as_json(error)}}).c_str());
  else
    std::fprintf(stderr, "sherd: %s\n", printable_lines(typed.in(error.text())).c_str());
}

void report_interrupt(bool json) {
  if (!json) return report(unavailable("interrupted"), false);
  Json error = as_json(unavailable("interrupted"));
  error.set("code", "interrupted");
  std::fprintf(stderr, "%s\n", json_text(Json::Object{{"error", std::move(error)}}).c_str());
}

}  // namespace sherd::cli
