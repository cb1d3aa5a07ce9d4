// sherd completion: prints scripts that complete subcommands, options and their values. They are generated from the
// parser, so they cannot disagree with it.
#include <algorithm>

#include "api/registry.hpp"
#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/options.hpp"
#include "cli/values.hpp"
#include "node/format.hpp"

namespace sherd::cli {
namespace {

std::string escaped(const std::string& text, std::string_view special) {
  std::string result;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

/// Adds single quotes, as bash and zsh expect them.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

/// The options with a value that every subcommand has; they may also precede the subcommand.
std::string bash_values_before(const std::vector<ParsedCommand>& commands) {
  std::string values;
  for (const ParsedOption& option : commands.front().options) {
    const auto has_it = [&](const ParsedCommand& command) {
      return std::ranges::any_of(command.options, [&](const ParsedOption& each) { return each.names == option.names; });
    };
    if (!option.takes_value || !std::ranges::all_of(commands, has_it)) continue;
    for (const std::string& name : option.names)
      values += "    ,'" + name + "') words='" + joined(option.words) + "' ;;\n";
  }
  return values;
}

std::string bash_script(const std::vector<ParsedCommand>& commands) {
  std::vector<std::string> names;
  std::string values = bash_values_before(commands), words;
  for (const ParsedCommand& command : commands) {
    names.push_back(command.name);
    std::vector<std::string> all = command.words;
    for (const ParsedOption& option : command.options) {
      all.insert(all.end(), option.names.begin(), option.names.end());
      if (!option.takes_value) continue;
      for (const std::string& name : option.names)
        values += "    " + command.name + ",'" + name + "') words='" + joined(option.words) + "' ;;\n";
    }
    words += "    " + command.name + ",*) words='" + joined(all) + "' ;;\n";
  }
  return "# bash completion of sherd; made by: sherd completion bash\n"
         "_sherd() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command= words= word\n"
         "  # --option=value is three words for bash.\n"
         "  if [[ $previous == = ]]; then previous=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
         "  if [[ $current == = ]]; then current=; fi\n"
         "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
         "    case $word in\n      " +
         joined(names, "|") +
         ") command=$word; break ;;\n    esac\n  done\n"
         "  case $command,$previous in\n" +
         values + words + "    *) words='" + joined(names) +
         " --help --version' ;;\n  esac\n"
         "  # Files come from `-o default`, where nothing else fits.\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "  if [[ -n $command && $current != -* && ${#COMPREPLY[@]} -gt 0 && ${COMPREPLY[0]} == -* ]]; then "
         "COMPREPLY=(); fi\n"
         "}\n"
         "complete -o default -F _sherd sherd\n";
}

std::string zsh_option(const ParsedOption& option) {
  const std::string action = option.words.empty() ? "_files" : "(" + joined(option.words) + ")";
  std::string rest = "[" + escaped(option.help, "[]:\\") + "]";
  if (option.takes_value) rest += ":value:" + action;
  std::string text;
  for (const std::string& name : option.names) {
    std::string spec = option.repeated ? "*" : "";
    spec.append(name).append(rest);
    text.append(" \\\n        ").append(quoted(spec));
  }
  return text;
}

std::string zsh_script(const std::vector<ParsedCommand>& commands) {
  std::string list, cases;
  for (const ParsedCommand& command : commands) {
    list += "    " + quoted(command.name + ":" + command.help) + "\n";
    cases += "    " + command.name + ")\n      _arguments";
    for (const ParsedOption& option : command.options) cases += zsh_option(option);
    const std::string action = command.words.empty() ? "_files" : "(" + joined(command.words) + ")";
    const bool first_only = !command.words.empty() && command.more;
    cases += " \\\n        " + quoted((first_only ? "1:argument:" : "*:argument:") + action);
    cases += (first_only ? " \\\n        " + quoted("*:file:_files") : "") + "\n      ;;\n";
  }
  return "#compdef sherd\n# zsh completion of sherd; made by: sherd completion zsh\n"
         "_sherd() {\n  local -a commands\n  commands=(\n" +
         list +
         "  )\n"
         "  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n"
         "  shift words\n  (( CURRENT-- ))\n  case $words[1] in\n" +
         cases +
         "  esac\n}\n"
         "if [[ $funcstack[1] == _sherd ]]; then\n  _sherd \"$@\"\nelse\n  compdef _sherd sherd\nfi\n";
}

std::string fish_script(const std::vector<ParsedCommand>& commands) {
  std::string text = "# fish completion of sherd; made by: sherd completion fish\n";
  const auto fish_quoted = [](const std::string& word) { return "'" + escaped(word, "'\\") + "'"; };
  for (const ParsedCommand& command : commands) {
    text +=
        "complete -c sherd -f -n __fish_use_subcommand -a " + command.name + " -d " + fish_quoted(command.help) + "\n";
    const std::string inside = "complete -c sherd -n '__fish_seen_subcommand_from " + command.name + "'";
    if (!command.words.empty())
      text += inside + (command.more ? " -a " : " -f -a ") + fish_quoted(joined(command.words)) + "\n";
    for (const ParsedOption& option : command.options) {
      text += inside;
      for (const std::string& name : option.names)
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (option.takes_value) text += option.words.empty() ? " -r" : " -x -a " + fish_quoted(joined(option.words));
      text += " -d " + fish_quoted(option.help) + "\n";
    }
  }
  return text;
}

template <class Table>
std::vector<std::string> names_of(const Table& table) {
  std::vector<std::string> names;
  for (const auto& row : table) names.emplace_back(row->name);
  return names;
}

/// Values to offer for options that also accept other values.
void add_names(std::vector<ParsedCommand>& commands) {
  std::vector<std::string> formats;
  for (const Format* format : tables().formats) formats.emplace_back(format->name());
  std::vector<std::string> types;
  for (const DType& dtype :
       {DType::bool_, DType::int8, DType::int16, DType::int32, DType::int64, DType::uint8, DType::uint16, DType::uint32,
        DType::uint64, DType::float16, DType::float32, DType::float64})
    types.push_back(dtype.name());
  const std::pair<std::string_view, std::vector<std::string>> known[] = {
      {"--store-format", formats},
      {"--to", formats},
      {"--dtype", types},
      {"--codec", names_of(tables().codecs)},
      {"--unlink", {"mesh", "skeletons", "segment_properties"}},
      {"--axis", {"x", "y", "z", "t", "c"}},
      {"--axes", {"y,x", "z,y,x", "c,z,y,x", "t,c,z,y,x", "x,y,z", "x,y,z,c"}},
      {"--units", {"nanometer", "micrometer", "millimeter", "meter", "second", "millisecond"}}};
  for (ParsedCommand& command : commands)
    for (ParsedOption& option : command.options)
      for (const auto& [name, words] : known)
        if (option.words.empty() && option.names.front() == name) option.words = words;
}

struct Completion {
  std::string shell;
  const CLI::App* root = nullptr;

  Result<int> run(Session& session) const {
    auto commands = known_commands(*root);
    add_names(commands);
    SHERD_TRY(session.out().write(shell == "bash"  ? bash_script(commands)
                                  : shell == "zsh" ? zsh_script(commands)
                                                   : fish_script(commands)));
    return 0;
  }
};

}  // namespace

Run add_completion(Arguments& arguments) {
  auto completion = std::make_shared<Completion>();
  completion->root = arguments.root();
  arguments.choice("SHELL", {"bash", "zsh", "fish"}, completion->shell, "The shell");
  arguments.examples({{"source <(sherd completion bash)", "completion in this bash"},
                      {"sherd completion fish > ~/.config/fish/completions/sherd.fish", "completion in every fish"}});
  return [completion](Session& session) { return completion->run(session); };
}

}  // namespace sherd::cli
