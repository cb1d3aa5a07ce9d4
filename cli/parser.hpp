// The parser of the command line, as subcommands see it. CLI11 does the work and is known to main.cpp and parser.cpp
// alone: it takes long to compile.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace sherd::cli {

/// The arguments of one subcommand. Values are written when the line is parsed; help shows options in this order.
/// `type` is what help calls the value.
class Arguments {
 public:
  explicit Arguments(CLI::App& app) : app_(&app) {}

  /// A required argument without a name. At its start, and in options whose type names a FILE, ~/ is the home
  /// directory.
  void argument(const std::string& name, std::string& value, const std::string& help);
  /// The same, but it need not be given.
  void argument(const std::string& name, std::optional<std::string>& value, const std::string& help);
  /// A required argument that is not a path of the file system, but text that is stored.
  void word(const std::string& name, std::string& value, const std::string& help);
  /// Any number of arguments without a name, after the required ones.
  void arguments(const std::string& name, std::vector<std::string>& values, const std::string& help);
  void text(const std::string& name, const std::string& type, std::string& value, const std::string& help);
  void text(const std::string& name, const std::string& type, std::optional<std::string>& value,
            const std::string& help);
  void number(const std::string& name, std::uint64_t& value, const std::string& help);
  void number(const std::string& name, std::optional<std::uint64_t>& value, const std::string& help);
  void flag(const std::string& name, bool& value, const std::string& help);
  /// One of several words; a name without dashes is a required argument. `later` are words as the options of later().
  void choice(const std::string& name, const std::vector<std::string>& words, std::string& value,
              const std::string& help, const std::string& later = {});
  /// Options that are called in the order of the line, each time they are given; without a type they are flags. What
  /// `call` returns is why the value is refused, if it is not empty.
  void in_order(const std::string& name, const std::string& type, const std::string& help,
                const std::function<std::string(const std::string& value)>& call);
  /// May be given several times, one value each.
  void repeated(const std::string& name, const std::string& type, std::vector<std::string>& values,
                const std::string& help);
  /// Leaves -h to an option of this subcommand; --help stays.
  void release_h();
  /// Options that a later version is to have: known to the parser, absent from help, refused where they are given.
  /// A name alone is a flag, "--name VALUE" takes a value; "--name word" takes the word, which says what this version
  /// does anyway, and refuses others.
  void later(const std::vector<std::string>& options);
  /// Example command lines and what each does, at the end of the help.
  void examples(const std::vector<std::pair<std::string, std::string>>& examples);
  /// Puts what is added from now on under a heading of its own.
  void begin_group(const std::string& heading) { group_ = heading; }

  /// The parser of the whole line.
  [[nodiscard]] const CLI::App* root() const noexcept;

 private:
  void add_to_group(CLI::Option& option) const;
  template <class Number>
  void any_number(const std::string& name, Number& value, const std::string& help);
  CLI::App* app_;
  std::string group_;
};

/// What the parser knows, for completion scripts.
struct ParsedOption {
  std::vector<std::string> names;  ///< with their dashes
  std::string help;
  bool takes_value = false;
  bool repeated = false;
  std::vector<std::string> words = {};  ///< values by name; empty: none has one
};
struct ParsedCommand {
  std::string name, help;
  std::vector<ParsedOption> options = {};
  std::vector<std::string> words = {};  ///< of its first argument; empty: files
  bool more = false;                    ///< whether files may follow that, as they do after a group's subcommands
};
[[nodiscard]] std::vector<ParsedCommand> known_commands(const CLI::App& root);

/// What was given of what a later version is to have: "--slack", "--chunk-order arrival".
[[nodiscard]] std::optional<std::string> given_later(const CLI::App& command);

}  // namespace sherd::cli
