// The command-line parser as subcommands see it. Only main.cpp and parser.cpp include CLI11, which takes long to
// compile.
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

/// The arguments of one subcommand. Values are stored when the line is parsed; help lists options in this order. `type`
/// is the name of the value in the help.
class Arguments {
 public:
  explicit Arguments(CLI::App& app) : app_(&app) {}

  /// A required positional argument. A leading ~/ means the home directory, here and in options whose type contains
  /// FILE.
  void argument(const std::string& name, std::string& value, const std::string& help);
  /// An optional positional argument.
  void argument(const std::string& name, std::optional<std::string>& value, const std::string& help);
  /// A required argument that is stored as text, not a path of the file system.
  void word(const std::string& name, std::string& value, const std::string& help);
  /// Any number of positional arguments, after the required ones.
  void arguments(const std::string& name, std::vector<std::string>& values, const std::string& help);
  void text(const std::string& name, const std::string& type, std::string& value, const std::string& help);
  void text(const std::string& name, const std::string& type, std::optional<std::string>& value,
            const std::string& help);
  void number(const std::string& name, std::uint64_t& value, const std::string& help);
  void number(const std::string& name, std::optional<std::uint64_t>& value, const std::string& help);
  void flag(const std::string& name, bool& value, const std::string& help);
  /// One of several words; a name without dashes is a required argument. `later`: a word of a later
  /// version, which help does not list, and which is an error.
  void choice(const std::string& name, const std::vector<std::string>& words, std::string& value,
              const std::string& help, const std::string& later = {});
  /// Options whose `call` runs in command-line order, each time they are given; without a type they are flags. A
  /// non-empty result of `call` is the reason why the value is rejected.
  void in_order(const std::string& name, const std::string& type, const std::string& help,
                const std::function<std::string(const std::string& value)>& call);
  /// May be given several times, one value each.
  void repeated(const std::string& name, const std::string& type, std::vector<std::string>& values,
                const std::string& help);
  /// Leaves -h to an option of this subcommand; --help remains.
  void release_h();
  /// Example command lines, each with an explanation, at the end of the help.
  void examples(const std::vector<std::pair<std::string, std::string>>& examples);
  /// Puts options that are added from now on under a separate heading.
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
  std::vector<std::string> words = {};  ///< the values it accepts by name; empty: none
};
struct ParsedCommand {
  std::string name, help;
  std::vector<ParsedOption> options = {};
  std::vector<std::string> words = {};  ///< of its first argument; empty: files
  bool more = false;                    ///< whether files may follow that, as after a group's subcommands
};
[[nodiscard]] std::vector<ParsedCommand> known_commands(const CLI::App& root);

/// The word of a later version that was given: "--layout hdf5".
[[nodiscard]] std::optional<std::string> given_later(const CLI::App& command);

}  // namespace sherd::cli
