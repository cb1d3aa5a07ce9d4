// Declares options to CLI11, and reads back what CLI11 knows about them.
#include "cli/parser.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdlib>

#include "base/text.hpp"
#include "base/utf8.hpp"
#include "cli/values.hpp"

namespace sherd::cli {
namespace {

// "npy|raw|json" is a complete list; "SHAPE|auto" is not.
std::vector<std::string> words_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const bool closed = type.find('|') != std::string::npos &&
                      type.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_+|") == std::string::npos;
  return closed ? CLI::detail::split(type, '|') : std::vector<std::string>();
}

// The words in "mean|mode[:LEVELS]" and "SHAPE|auto", which are incomplete lists.
std::vector<std::string> suggestions_of(const CLI::Option& option) {
  std::vector<std::string> words = words_of(option);
  const std::string type = option.get_type_name();
  if (!words.empty() || type.find('|') == std::string::npos) return words;
  for (const std::string& each : CLI::detail::split(type, '|')) {
    const std::string word = each.substr(0, each.find('['));
    if (!word.empty() && word.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string::npos)
      words.push_back(word);
  }
  return words;
}

ParsedOption as_option(const CLI::Option& option) {
  ParsedOption known{{},
                     option.get_description(),
                     option.get_items_expected_max() != 0,
                     option.get_expected_max() > 1,
                     suggestions_of(option)};
  for (const std::string& name : option.get_lnames()) known.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) known.names.push_back("-" + name);
  return known;
}

void add_options(const CLI::App& app, ParsedCommand& command) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->nonpositional()) {
      ParsedOption known = as_option(*option);
      const auto same = [&](const ParsedOption& other) { return other.names == known.names; };
      if (std::ranges::none_of(command.options, same)) command.options.push_back(std::move(known));
    } else if (auto words = words_of(*option); !words.empty()) {
      command.words = std::move(words);
    }
  }
}

/// Expands ~. The shell does not expand a quoted ~ or the one in --output=~/x. A directory named ~ is written ./~.
std::string expand_home(std::string& path) {
  const std::size_t at = path.starts_with('@') ? 1 : 0;
  if (path.substr(at, 2) != "~/" && path.substr(at) != "~") return {};
  const char* const home = std::getenv("HOME");
  if (home == nullptr || *home == '\0')
    return "'" + path + "': the variable HOME is not set; write the directory instead of ~";
  path.replace(at, 1, home);
  return {};
}

void accept_home(CLI::Option& option) { option.transform(CLI::Validator(expand_home, "")); }

void accept_text(CLI::Option& option) {
  const auto check = [](const std::string& given) { return is_utf8(given) ? std::string() : "is not valid UTF-8"; };
  option.check(CLI::Validator(check, ""));
}

bool is_path(const std::string& type) { return type.find("FILE") != std::string::npos; }

}  // namespace

void Arguments::add_to_group(CLI::Option& option) const {
  if (!group_.empty()) option.group(group_);
}

void Arguments::argument(const std::string& name, std::string& value, const std::string& help) {
  accept_home(*app_->add_option(name, value, help)->required());
}

void Arguments::argument(const std::string& name, std::optional<std::string>& value, const std::string& help) {
  accept_home(
      *app_->add_option_function<std::string>(name, [&value](const std::string& given) { value = given; }, help));
}

void Arguments::word(const std::string& name, std::string& value, const std::string& help) {
  accept_text(*app_->add_option(name, value, help)->required());
}

void Arguments::arguments(const std::string& name, std::vector<std::string>& values, const std::string& help) {
  CLI::Option& option = *app_->add_option(name, values, help);
  accept_text(option);
}

void Arguments::text(const std::string& name, const std::string& type, std::string& value, const std::string& help) {
  CLI::Option& option = *app_->add_option(name, value, help)->type_name(type);
  is_path(type) ? accept_home(option) : accept_text(option);
  add_to_group(option);
}

void Arguments::text(const std::string& name, const std::string& type, std::optional<std::string>& value,
                     const std::string& help) {
  CLI::Option& option = *app_->add_option_function<std::string>(
                                 name, [&value](const std::string& given) { value = given; }, help)
                             ->type_name(type);
  is_path(type) ? accept_home(option) : accept_text(option);
  add_to_group(option);
}

template <class Number>
void Arguments::any_number(const std::string& name, Number& value, const std::string& help) {
  // CLI11's own conversion wraps around below 0, and its error does not name the valid range.
  const auto check = [](const std::string& given) {
    return parse_number<std::uint64_t>(given) ? std::string()
                                              : "'" + given + "' is not a whole number from 0 to 2^64-1";
  };
  add_to_group(*app_->add_option_function<std::string>(
                        name, [&value](const std::string& given) { value = *parse_number<std::uint64_t>(given); }, help)
                    ->type_name("N")
                    ->check(CLI::Validator(check, "")));
}

void Arguments::number(const std::string& name, std::uint64_t& value, const std::string& help) {
  any_number(name, value, help);
}

void Arguments::number(const std::string& name, std::optional<std::uint64_t>& value, const std::string& help) {
  any_number(name, value, help);
}

void Arguments::flag(const std::string& name, bool& value, const std::string& help) {
  add_to_group(*app_->add_flag(name, value, help));
}

void Arguments::choice(const std::string& name, const std::vector<std::string>& words, std::string& value,
                       const std::string& help, const std::string& later) {
  const auto check = [words, later](const std::string& given) {
    if (given == later || std::find(words.begin(), words.end(), given) != words.end()) return std::string();
    return "'" + given + "' is none of " + joined(words, ", ");
  };
  CLI::Option& option =
      *app_->add_option(name, value, help)->type_name(joined(words, "|"))->check(CLI::Validator(check, ""));
  if (!name.starts_with('-')) option.required();
  add_to_group(option);
}

void Arguments::in_order(const std::string& name, const std::string& type, const std::string& help,
                         const std::function<std::string(const std::string& value)>& call) {
  const auto run = [name, call](const std::string& given) {
    if (const std::string refusal = call(given); !refusal.empty()) throw CLI::ValidationError(name, refusal);
  };
  CLI::Option* option = type.empty() ? app_->add_flag_function(
                                           name, [run](std::int64_t) { run(""); }, help)
                                     : app_->add_option_function<std::string>(name, run, help)->type_name(type);
  add_to_group(*option->trigger_on_parse());
}

void Arguments::release_h() { app_->set_help_flag("--help"); }

void Arguments::repeated(const std::string& name, const std::string& type, std::vector<std::string>& values,
                         const std::string& help) {
  add_to_group(*app_->add_option(name, values, help)->allow_extra_args(false)->type_name(type));
}

void Arguments::examples(const std::vector<std::pair<std::string, std::string>>& examples) {
  std::string text = "Examples:";
  for (const auto& [command, meaning] : examples)
    text.append("\n  ").append(command).append("\n      ").append(meaning);
  app_->footer(text);
}

const CLI::App* Arguments::root() const noexcept { return app_->get_parent(); }

std::optional<std::string> given_later(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0) continue;
    // A word that help does not list has passed the check of a choice.
    const auto words = words_of(*option);
    for (const std::string& given : option->results())
      if (!words.empty() && std::find(words.begin(), words.end(), given) == words.end())
        return option->get_name() + " " + given;
  }
  return std::nullopt;
}

std::vector<ParsedCommand> known_commands(const CLI::App& root) {
  std::vector<ParsedCommand> commands;
  for (const CLI::App* app : root.get_subcommands([](const CLI::App*) { return true; })) {
    ParsedCommand command{app->get_name(), app->get_description()};
    add_options(*app, command);
    // For a group: its subcommands, and the options of all of them.
    for (const CLI::App* inner : app->get_subcommands([](const CLI::App*) { return true; })) {
      command.words.push_back(inner->get_name());
      command.more = true;
      add_options(*inner, command);
    }
    commands.push_back(std::move(command));
  }
  return commands;
}

}  // namespace sherd::cli
