// The sherd command: parses the command line, runs the subcommand, and turns the outcome into an exit code. Lists every
// subcommand by name; each one is in the file of that name.
#include <unistd.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <span>
#include <string_view>

#include "base/nearest.hpp"
#include "cli/command.hpp"
#include "cli/option_errors.hpp"
#include "cli/options.hpp"
#include "cli/parser.hpp"
#include "cli/session.hpp"
#include "os/calls.hpp"
#include "sherd/version.hpp"

namespace sherd::cli {
namespace {

constexpr Command kCommands[] = {
    {"create", "Create an array or a group", add_create, true},
    {"info", "Describe an array or a group", add_info},
    {"tree", "Draw a hierarchy", add_tree},
    {"ls", "List the members of a group, or the ids of a collection", add_ls},
    {"read", "Read elements, as .npy, raw bytes or JSON", add_read},
    {"write", "Write elements into an array", add_write},
    {"append", "Append a stream of frames to an array", add_append},
    {"import", "Create an array from a file: NIfTI, npy, raw, PNG, PGM, TIFF; or import SWC, PLY, OBJ", add_import,
     true},
    {"export", "Write an array, a skeleton or a mesh as a file", add_export},
    {"copy", "Copy, re-chunk, re-shard and re-compress", add_copy, true},
    {"check", "Find and repair damage in stored documents, indexes and chunks", add_check},
    {"compact", "Rewrite shards that have dead bytes", add_compact},
    {"attrs", "Print or change the attributes of an array or a group", add_attrs},
    {"resize", "Change the shape of an array", add_resize},
    {"consolidate", "Gather the metadata of a hierarchy in one document", add_consolidate},
    {"rename", "Move an array or a group within its hierarchy", add_rename},
    {"link", "Print or change which meshes and skeletons a volume refers to", add_link},
    {"rm", "Erase an array or a group", add_rm},
    {"picture", "Draw a plane of an array as a PNG or JPEG", add_picture},
    {"nccopy", "Copy a netCDF dataset into NCZarr or a netCDF file", add_nccopy, true},
    {"ncdump", "Print a netCDF dataset as CDL", add_ncdump},
    {"ncgen", "Make a netCDF dataset from CDL", add_ncgen, true},
    {"zmap", "Print the stored objects of a netCDF dataset as they are", add_zmap},
    {"completion", "Print a completion script for a shell", add_completion},
};
constexpr Command kKvCommands[] = {
    {"get", "Get the value of an id", add_kv_get},
    {"put", "Store the value of an id, or replace it", add_kv_put},
    {"ls", "List all ids", add_kv_ls},
    {"rm", "Remove the value of an id", add_kv_rm},
    {"compact", "Rewrite shards that have dead bytes", add_kv_compact},
    {"build", "Build shards from files, each the value of an id", add_kv_build},
};
constexpr Command kAnnotationCommands[] = {
    {"build", "Write annotations with all of their indices from a table", add_annotations_build},
};
constexpr CommandGroup kGroups[] = {
    {"annotations", "Points, lines, boxes, ellipsoids and polylines for Neuroglancer", kAnnotationCommands},
    {"kv", "Values by id, in Neuroglancer's shards", kKvCommands},
};
constexpr std::size_t kHelpColumn = 34;
constexpr std::size_t kHelpWidth = 110;

/// Names that other programs use for these subcommands.
constexpr std::pair<std::string_view, std::string_view> kCalledElsewhere[] = {
    {"cat", "read"}, {"cp", "copy"},     {"del", "rm"},    {"delete", "rm"}, {"erase", "rm"},
    {"list", "ls"},  {"move", "rename"}, {"mv", "rename"}, {"remove", "rm"}, {"show", "info"},
};

/// Wraps a line of help between words.
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

/// Options with the names of their values, without anything that CLI11 adds.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(kHelpColumn); }
  std::string make_option_name(const CLI::Option* option, bool positional) const override {
    if (positional) return option->get_name(true);
    std::string names;
    for (const std::string& name : option->get_snames()) names += (names.empty() ? "-" : ", -") + name;
    for (const std::string& name : option->get_lnames()) names += (names.empty() ? "--" : ", --") + name;
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

Error unknown_command(const std::string& word, std::span<const Command> commands) {
  std::vector<std::string_view> names;
  for (const Command& command : commands) names.push_back(command.name);
  const auto elsewhere =
      std::ranges::find(kCalledElsewhere, word, &std::pair<std::string_view, std::string_view>::first);
  const bool is_known =
      elsewhere != std::end(kCalledElsewhere) && std::ranges::find(names, elsewhere->second) != names.end();
  const std::string hint =
      is_known ? "; did you mean '" + std::string(elsewhere->second) + "'?" : did_you_mean(word, names);
  return invalid_argument("unknown subcommand '" + word + "'" + (hint.empty() ? "; see 'sherd --help'" : hint));
}

/// The words that no option or argument accepted, in command-line order.
std::vector<std::string> unexpected_words(const CLI::App& app, std::span<char* const> line) {
  const auto extras = app.remaining(true);
  std::vector<std::string> words;
  for (const std::string_view word : line)
    if (word != "--" && std::ranges::find(extras, word) != extras.end()) words.emplace_back(word);
  return words;
}

class CommandLine {
 public:
  CommandLine() {
    app_.formatter(std::make_shared<HelpFormatter>());
    app_.footer(
        "See 'sherd SUBCOMMAND --help' for options and examples.\n"
        "Exit codes: 0 success, 1 faults found by check (with --repair: remain), 2 usage, 3 not found, 4 corrupt, 5 "
        "unsupported, 6 conflict,\n"
        "7 I/O error, 8 unavailable, 130 interrupted (Ctrl-C), 143 ended by SIGTERM.");
    for (const Command& command : kCommands) add_command(app_, command);
    for (const CommandGroup& group : kGroups) {
      CLI::App* sub = app_.add_subcommand(std::string(group.name), std::string(group.summary))->require_subcommand(1);
      sub->set_help_flag("-h,--help", "Print this and exit");
      for (const Command& command : group.commands) add_command(*sub, command);
    }
    add_common(app_);
    // Only one subcommand per command line: later words may have the name of another one. Unknown options of the root
    // command are reported here.
    app_.require_subcommand(0, 1);
    app_.allow_extras();
  }

  /// Parses and runs the command; returns the exit code.
  int run(int argc, char** argv) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
      if (const auto unknown = unknown_word(unexpected_words(app_, {argv + 1, argv + argc})))
        return fail(*unknown, asks_for_json(argc, argv));
      return print(app_.help());
    } catch (const CLI::CallForVersion&) {
      return print(std::string("sherd ") + version() + "\n");
    } catch (const CLI::ParseError& error) {
      auto unexpected = refusal(argc, argv);
      if (!unexpected) unexpected = invalid_argument(std::string(error.what()) + help_hint());
      return fail(*unexpected, asks_for_json(argc, argv));
    }
    if (const auto later = given_later(*chosen()))
      return fail(unsupported(*later + " is not supported by this version"), asks_for_json(argc, argv));
    if (const auto unexpected = refusal(argc, argv)) return fail(*unexpected, everywhere_.json);
    if (app_.get_subcommands().empty()) {
      std::fputs(app_.help().c_str(), stderr);
      return exit_code(ErrorCode::invalid_argument);
    }
    everywhere_.typed = TypedPaths(positionals());
    return run_subcommand();
  }

  [[nodiscard]] const Everywhere& everywhere() const noexcept { return everywhere_; }

 private:
  void add_command(CLI::App& to, const Command& command) {
    CLI::App* app = to.add_subcommand(std::string(command.name), std::string(command.summary));
    Arguments arguments(*app);
    runs_.emplace_back(app, command.add(arguments));
    if (command.creates) add_standalone(arguments, everywhere_);
    add_common(*app);
  }

  /// The innermost subcommand that was parsed.
  [[nodiscard]] const CLI::App* chosen() const {
    const CLI::App* app = &app_;
    while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
    return app;
  }

  void add_common(CLI::App& app) {
    Arguments arguments(app);
    add_everywhere(arguments, everywhere_);
    const CLI::Option* help = app.get_help_ptr();
    const bool letter = help == nullptr || !help->get_snames().empty();
    app.set_help_flag(letter ? "-h,--help" : "--help", "Print this and exit")->group("Everywhere");
    app.set_version_flag("--version", std::string("sherd ") + version(), "Print the version and exit")
        ->group("Everywhere");
  }

  /// The error for the first word that was not accepted.
  [[nodiscard]] std::optional<Error> refusal(int argc, char** argv) const {
    const auto words = unexpected_words(app_, {argv + 1, argv + argc});
    if (words.empty()) return std::nullopt;
    if (auto missing = missing_value()) return missing;
    if (auto unknown = unknown_word(words)) return unknown;
    // The value of a misspelt option is also an extra argument, so check options first.
    const auto option = std::ranges::find_if(words, is_option);
    if (option != words.end()) return unknown_option(option->substr(0, option->find('=')));
    return invalid_argument("unexpected argument '" + words.front() + "'" + help_hint());
  }

  static bool is_option(const std::string& word) { return word.size() > 1 && word[0] == '-'; }

  /// Reports the first word if it is where a subcommand should be.
  [[nodiscard]] std::optional<Error> unknown_word(const std::vector<std::string>& words) const {
    if (words.empty() || is_option(words.front())) return std::nullopt;
    const CLI::App* app = chosen();
    if (app == &app_) return unknown_command(words.front(), commands_with_groups());
    const auto group = std::ranges::find(kGroups, app->get_name(), &CommandGroup::name);
    if (group == std::end(kGroups)) return std::nullopt;
    return unknown_command(words.front(), group->commands);
  }

  /// CLI11 takes the next word as the missing value of an option, even if that word is an option itself.
  [[nodiscard]] std::optional<Error> missing_value() const {
    for (const CLI::Option* option : chosen()->get_options())
      for (const std::string& value : option->results())
        if (value.starts_with("--") && chosen()->get_option_no_throw(value) != nullptr)
          return invalid_argument(option->get_name() + " needs a value: " + option->get_type_name() + help_hint());
    return std::nullopt;
  }

  [[nodiscard]] Error unknown_option(const std::string& name) const {
    std::vector<std::string> known;
    for (const CLI::Option* option : chosen()->get_options())
      for (const std::string& each : option->get_lnames()) known.push_back(each);
    const std::string_view letters = std::string_view(name).substr(std::min(name.find_first_not_of('-'), name.size()));
    const std::string_view nearest = nearest_name(letters, {known.begin(), known.end()});
    const std::string hint = nearest.empty() ? help_hint() : "; did you mean --" + std::string(nearest) + "?";
    return invalid_argument("unknown option " + name + hint);
  }

  static std::vector<Command> commands_with_groups() {
    std::vector<Command> commands(std::begin(kCommands), std::end(kCommands));
    for (const CommandGroup& group : kGroups) commands.push_back({group.name, group.summary, nullptr});
    return commands;
  }

  [[nodiscard]] std::vector<std::string> positionals() const {
    std::vector<std::string> words;
    for (const CLI::Option* option : chosen()->get_options())
      if (option->get_positional()) words.insert(words.end(), option->results().begin(), option->results().end());
    return words;
  }

  [[nodiscard]] std::string help_hint() const {
    std::string names;
    for (const CLI::App* app = chosen(); app != &app_; app = app->get_parent()) names.insert(0, " " + app->get_name());
    return "; see 'sherd" + names + " --help'";
  }

  // If parsing failed, the options have not been stored yet.
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
    auto ended = done ? (*session)->finish() : Result<void>();
    (*session)->end_progress(done && ended);
    if (ended) ended = (*session)->out().flush();  // nothing claims success if what was written is not finished
    if (!ended && done) done = std::move(ended).error();
    (*session)->report_stats();
    if (done) return *done;
    if ((*session)->out().closed()) return 0;
    if (const int status = interrupt_status(); status != 0) {
      report_interrupt(everywhere_.json);
      return status;
    }
    const auto is_given = [this](const std::string& name) {
      const CLI::Option* option = chosen()->get_option_no_throw(name);
      return option != nullptr && option->count() > 0;
    };
    const bool overwrites = chosen()->get_option_no_throw("--overwrite") != nullptr;
    Error named = name_overwrite(name_option(done.error(), is_given), overwrites);
    // Programs read the member; users see the option.
    if (everywhere_.json && named.member().empty()) named = std::move(named).in_member(done.error().member());
    report(named, everywhere_.json, everywhere_.typed);
    return exit_code(named.code());
  }

  Everywhere everywhere_;
  CLI::App app_{"Sharded, chunked N-dimensional arrays.", "sherd"};
  std::vector<std::pair<const CLI::App*, Run>> runs_;
};

/// Rewrites "sherd help copy" to "sherd copy --help", and "sherd help" to "sherd --help".
void accept_help_command(std::vector<char*>& words) {
  static char option[] = "--help";
  if (words.size() < 2 || std::string_view(words[1]) != "help") return;
  words.erase(words.begin() + 1);
  words.push_back(option);
}

/// The part of the program's name that selects a subcommand, if it is linked under the name of a netcdf-c program.
char* tool_called(char* program) {
  if (program == nullptr) return nullptr;
  char* slash = std::strrchr(program, '/');
  char* name = slash != nullptr ? slash + 1 : program;
  const std::string_view text = name;
  return text == "ncdump" || text == "ncgen" || text == "nccopy" ? name : nullptr;
}

[[noreturn]] void report_bad_alloc() noexcept;
const std::terminate_handler abort_by_default = std::set_terminate(report_bad_alloc);

// Without allocating anything. An allocation may also fail where no handler is reached, such as before the command line
// is known.
[[noreturn]] void report_bad_alloc() noexcept {
  try {
    if (std::current_exception()) throw;
  } catch (const std::bad_alloc&) {
    constexpr std::string_view text = "sherd: out of memory\n";
    (void)os::write_all(STDERR_FILENO, std::as_bytes(std::span(text)));
    ::_exit(exit_code(ErrorCode::unavailable));
  } catch (...) {  // reported below
  }
  abort_by_default();
  std::abort();
}

}  // namespace
}  // namespace sherd::cli

int main(int argc, char** argv) {
  using namespace sherd;
  cli::catch_interrupts();
  cli::CommandLine line;
  std::vector<char*> words(argv, argv + argc);
  if (char* tool = cli::tool_called(argc > 0 ? argv[0] : nullptr)) words.insert(words.begin() + 1, tool);
  cli::accept_help_command(words);
  words.push_back(nullptr);
  try {
    return line.run(static_cast<int>(words.size()) - 1, words.data());
  } catch (const Exception& failure) {
    cli::report(failure.error(), line.everywhere().json);
    return cli::exit_code(failure.error().code());
  } catch (const std::bad_alloc&) {
    cli::report(unavailable("out of memory"), line.everywhere().json);
    return cli::exit_code(ErrorCode::unavailable);
  } catch (const std::exception& failure) {
    cli::report(io_error(failure.what()), line.everywhere().json);
    return cli::exit_code(ErrorCode::io);
  }
}
