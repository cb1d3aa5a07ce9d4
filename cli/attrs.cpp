// sherd attrs: prints the attributes of an array or a group, or changes some of them in one atomic write.
#include <algorithm>
#include <variant>

#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/options.hpp"
#include "cli/values.hpp"
#include "node/extension.hpp"

namespace sherd::cli {
namespace {

struct Attrs {
  std::string url;
  std::vector<std::string> words, removed;
  std::optional<std::string> replacement;

  [[nodiscard]] bool changes() const {
    return replacement || !removed.empty() ||
           std::ranges::any_of(words, [](const std::string& word) { return word.find('=') != std::string::npos; });
  }

  /// The members set by arguments of the form NAME=JSON.
  [[nodiscard]] Result<Json> assigned() const {
    Json set{Json::Object{}};
    for (const std::string& word : words) {
      const std::size_t equals = word.find('=');
      if (equals == std::string::npos)
        return invalid_argument("'" + word + "' names an attribute to print, but others are set; to set it, write '" +
                                word + "=JSON', or use two commands");
      if (equals == 0) return invalid_argument("'" + word + "' has no name before '='");
      const std::string name = word.substr(0, equals);
      if (set.find(name) != nullptr) return invalid_argument("'" + name + "' is set twice");
      set.set(name, parse_value_argument(word.substr(equals + 1)));
    }
    return set;
  }

  template <class Handle>
  [[nodiscard]] Result<void> change(Handle& node) const {
    if (replacement) {
      if (!words.empty() || !removed.empty())
        return invalid_argument("--replace cannot be combined with NAME=JSON and --remove");
      SHERD_TRY(all, parse_json_argument(*replacement).in([] { return "--replace"; }));
      if (!all.is_object()) return wrong_value(all, "an object").in("--replace");
      return at(url, node.set_attributes(all));
    }
    SHERD_TRY(set, assigned());
    for (const std::string& name : removed)
      if (node.attributes().find(name) == nullptr) return not_found(shown(url) + " has no attribute '" + name + "'");
    SHERD_TRY(at(url, node.update_attributes(set, removed)));
    return {};
  }

  Result<void> print(Session& session, const Json& attributes) const {
    if (words.empty()) return session.out().print(attributes);
    if (words.size() == 1 || !session.json()) {
      for (const std::string& name : words) SHERD_TRY(session.out().print(*attributes.find(name)));
      return {};
    }
    Json some{Json::Object{}};
    for (const std::string& name : words) some.set(name, *attributes.find(name));
    return session.out().print(some);
  }

  Result<int> run(Session& session) const {
    SHERD_TRY(node,
              at(url, open(url, session.opening(changes() ? session.guarded("attrs") : session.config(), changes()))));
    if (changes()) {
      SHERD_TRY(std::visit([this](auto& handle) { return change(handle); }, node));
      return 0;
    }
    const Json attributes = std::visit([](const auto& handle) { return handle.attributes(); }, node);
    for (const std::string& name : words)
      if (attributes.find(name) == nullptr) return not_found(shown(url) + " has no attribute '" + name + "'");
    SHERD_TRY(print(session, attributes));
    return 0;
  }
};

}  // namespace

Run add_attrs(Arguments& arguments) {
  auto attrs = std::make_shared<Attrs>();
  arguments.argument("URL", attrs->url, "An array or a group");
  arguments.arguments("NAME", attrs->words, "Attributes to print; NAME=JSON sets one, and what is not JSON is text");
  arguments.repeated("--remove", "NAME", attrs->removed, "Remove an attribute; may be given several times");
  arguments.text("--replace", "JSON|@FILE", attrs->replacement, "Replace all attributes with those of a JSON object");
  arguments.examples({{"sherd attrs brain.zarr", "all attributes, as JSON"},
                      {"sherd attrs brain.zarr units", "the value of one"},
                      {"sherd attrs brain.zarr units=nm offset='[0, 10, 20]' --remove draft",
                       "set two and remove one, in one atomic write"},
                      {"sherd attrs brain.zarr --replace @brain.json", "the object in a file instead of all"}});
  return [attrs](Session& session) { return attrs->run(session); };
}

}  // namespace sherd::cli
