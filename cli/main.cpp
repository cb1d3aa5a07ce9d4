// The sherd command: parses the line, runs the subcommand, and turns what comes of it into an exit code.
// Knows every subcommand by name; what each does stands in the file of its name.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>

#include "cli/command.hpp"
#include "cli/options.hpp"
#include "cli/parser.hpp"
#include "cli/session.hpp"
#include "sherd/version.hpp"

namespace sherd::cli {
namespace {

constexpr Command kCommands[] = {
    {"create", "Make an array, or a group", add_create},
    {"info", "Show what an array or a group is", add_info},
    {"tree", "Draw a hierarchy", add_tree},
    {"ls", "List what a group holds", add_ls},
    {"read", "Read elements, as .npy, raw bytes or JSON", add_read},
    {"write", "Write elements into an array", add_write},
    {"import", "Make an array of a file: NIfTI, npy, raw, PNG, PGM, TIFF", add_import},
    {"export", "Write an array as a file", add_export},
    {"copy", "Copy, re-chunk, re-shard and re-compress", add_copy},
    {"check", "Find every fault in what is stored", add_check},
    {"picture", "Draw a plane of an array as a PNG or JPEG", add_picture},
    {"completion", "Print a completion script for a shell", add_completion},
};
constexpr Command kKvCommands[] = {
    {"get", "Get the value of an id", add_kv_get},
    {"put", "Store the value of an id, or replace it", add_kv_put},
    {"ls", "List all ids", add_kv_ls},
    {"rm", "Remove the value of an id", add_kv_rm},
    {"compact", "Write shards with dead bytes anew", add_kv_compact},
    {"build", "Make shards of files, each the value of an id", add_kv_build},
};
constexpr CommandGroup kGroups[] = {
    {"kv", "Values by id, in Neuroglancer's shards", kKvCommands},
};
/// Subcommands that a later version is to have.
constexpr const char* kLaterCommands[] = {"append", "compact"};
constexpr std::size_t kHelpColumn = 34;
constexpr std::size_t kHelpWidth = 110;

/// Breaks a line of help between words.
std::string wrapped(const std::string& text) {
  constexpr std::size_t width = kHelpWidth - kHelpColumn;
  std::string lines;
  std::size_t begin = 0;
  while (text.size() - begin > width) {
    std::size_t end = text.rfind(' ', begin + width);
    if (end == std::string::npos || end <= begin) break;
    lines += text.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return lines + text.substr(begin);
}

/// Options with the names of their values, and nothing of the parser's own in between.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(kHelpColumn); }
  std::string make_option_name(const CLI::Option* option, bool positional) const override {
    if (positional) return option->get_name(true);
    std::string names;
    for (const std::string& name : option->get_snames()) names += "-" + name + ", ";
    for (const std::string& name : option->get_lnames()) names += "--" + name;
    return names;
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    return option->get_type_size() == 0 || option->get_positional() ? "" : " " + option->get_type_name();
  }
  std::string make_option_desc(const CLI::Option* option) const override { return wrapped(option->get_description()); }
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
    for (auto at = text.find("\n\n\n"); at != std::string::npos; at = text.find("\n\n\n")) text.erase(at, 1);
    return text;
  }
};

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

Error unknown_command(const std::string& word) {
  const auto nearest = std::min_element(std::begin(kCommands), std::end(kCommands), [&](const auto& a, const auto& b) {
    return edit_distance(word, a.name) < edit_distance(word, b.name);
  });
  const bool near = edit_distance(word, nearest->name) <= 2;
  return invalid_argument("'" + word + "' is no subcommand; " +
                          (near ? "did you mean '" + std::string(nearest->name) + "'?" : "see 'sherd --help'"));
}

class CommandLine {
 public:
  CommandLine() {
    app_.formatter(std::make_shared<HelpFormatter>());
    app_.footer(
        "See 'sherd SUBCOMMAND --help' for options and examples.\n"
        "Exit codes: 0 done, 1 faults found by check, 2 usage, 3 not found, 4 corrupt, 5 unsupported, 6 conflict,\n"
        "7 input or output failed, 8 unavailable, 130 interrupted.");
    for (const Command& command : kCommands) add_command(app_, command);
    for (const CommandGroup& group : kGroups) {
      CLI::App* sub = app_.add_subcommand(std::string(group.name), std::string(group.summary))->require_subcommand(1);
      sub->set_help_flag("-h,--help", "Print this and exit");
      for (const Command& command : group.commands) add_command(*sub, command);
    }
    for (const char* name : kLaterCommands) app_.add_subcommand(name)->group("")->prefix_command()->set_help_flag();
    add_common(app_);
    // One subcommand a line: what follows may be called like another one. What the root does not know is told by us.
    app_.require_subcommand(0, 1);
    app_.allow_extras();
  }

  /// Parses and runs; gives the exit code.
  int run(int argc, char** argv) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
      return print(app_.help());
    } catch (const CLI::CallForVersion&) {
      return print(std::string("sherd ") + version() + "\n");
    } catch (const CLI::ParseError& error) {
      return fail(invalid_argument(std::string(error.what()) + help_hint()), asks_for_json(argc, argv));
    }
    if (const auto unknown = app_.remaining(); !unknown.empty()) {
      if (!unknown.front().starts_with('-')) return fail(unknown_command(unknown.front()), everywhere_.json);
      return fail(invalid_argument("unknown option " + unknown.front() + help_hint()), everywhere_.json);
    }
    if (app_.get_subcommands().empty()) {
      std::fputs(app_.help().c_str(), stderr);
      return exit_code(ErrorCode::invalid_argument);
    }
    if (const auto later = given_later(*chosen()))
      return fail(unsupported(*later + " is not supported by this version"), asks_for_json(argc, argv));
    return run_subcommand();
  }

  [[nodiscard]] const Everywhere& everywhere() const noexcept { return everywhere_; }

 private:
  void add_command(CLI::App& to, const Command& command) {
    CLI::App* app = to.add_subcommand(std::string(command.name), std::string(command.summary));
    Arguments arguments(*app);
    runs_.emplace_back(app, command.add(arguments));
    add_common(*app);
  }

  /// The subcommand that was parsed, the innermost one.
  [[nodiscard]] const CLI::App* chosen() const {
    const CLI::App* app = &app_;
    while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
    return app;
  }

  void add_common(CLI::App& app) {
    Arguments arguments(app);
    add_everywhere(arguments, everywhere_);
    app.set_help_flag("-h,--help", "Print this and exit")->group("Everywhere");
    app.set_version_flag("--version", std::string("sherd ") + version(), "Print the version and exit")
        ->group("Everywhere");
  }

  [[nodiscard]] std::string help_hint() const {
    std::string names;
    for (const CLI::App* app = chosen(); app != &app_; app = app->get_parent()) names.insert(0, " " + app->get_name());
    return "; see 'sherd" + names + " --help'";
  }

  // Where parsing failed the options have not been taken over yet.
  static bool asks_for_json(int argc, char** argv) {
    for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i)
      if (std::string_view(argv[i]) == "--json") return true;
    return false;
  }

  static int fail(const Error& error, bool json) {
    report(error, json);
    return exit_code(error.code());
  }

  static int print(const std::string& text) {
    Output out;
    auto written = out.write(text);
    if (written) written = out.flush();
    return written || out.closed() ? 0 : fail(written.error(), false);
  }

  int run_subcommand() {
    auto session = Session::make(everywhere_);
    if (!session) return fail(session.error(), everywhere_.json);
    const auto row = std::find_if(runs_.begin(), runs_.end(), [&](const auto& run) { return run.first == chosen(); });
    auto done = row->second(**session);
    (*session)->end_progress();
    if (auto flushed = (*session)->out().flush(); !flushed && done) done = std::move(flushed).error();
    (*session)->report_stats();
    if (done) return *done;
    if ((*session)->out().closed()) return 0;
    if (const int status = interrupt_status(); status != 0) {
      report(unavailable("interrupted"), everywhere_.json);
      return status;
    }
    return fail(done.error(), everywhere_.json);
  }

  Everywhere everywhere_;
  CLI::App app_{"Sharded, chunked N-dimensional arrays.", "sherd"};
  std::vector<std::pair<const CLI::App*, Run>> runs_;
};

}  // namespace
}  // namespace sherd::cli

int main(int argc, char** argv) {
  using namespace sherd;
  cli::catch_interrupts();
  cli::CommandLine line;
  try {
    return line.run(argc, argv);
  } catch (const Exception& failure) {
    cli::report(failure.error(), line.everywhere().json);
    return cli::exit_code(failure.error().code());
  } catch (const std::bad_alloc&) {
    cli::report(unavailable("out of memory"), line.everywhere().json);
    return cli::exit_code(ErrorCode::unavailable);
  }
}
