// The grammar of CDL by recursive descent, as deep as groups are nested. A name must be defined before it is used, so
// that everything is known when it is read.
#include <algorithm>

#include "base/text.hpp"
#include "base/try.hpp"
#include "netcdf/attribute.hpp"
#include "netcdf/cdl/schema.hpp"
#include "netcdf/model.hpp"

namespace sherd::netcdf {

namespace {

using Kind = CdlToken::Kind;

/// The types by their CDL names, in lower or upper case.
std::optional<Type> cdl_type(std::string_view name) {
  constexpr std::pair<std::string_view, Type> aliases[] = {{"real", Type::float32},
                                                           {"long", Type::int32},
                                                           {"integer", Type::int32},
                                                           {"ulong", Type::uint32},
                                                           {"uinteger", Type::uint32}};
  const bool is_upper = std::ranges::none_of(name, [](char c) { return c >= 'a' && c <= 'z'; });
  const std::string lower = is_upper ? lowered(name) : std::string(name);
  for (const auto& [alias, type] : aliases)
    if (alias == lower) return type;
  return type_called(lower);
}

/// A type, a variable, or a name that is not yet either.
struct Reference {
  CdlPosition position;
  std::string name;
  bool is_path = false, escaped = false;
  std::optional<Type> type = {};
  CdlVariable* variable = nullptr;
};

class Parser {
 public:
  Parser(std::string_view text, const CdlOptions& options, Cdl::State& state)
      : tokens_(text), options_(options), state_(state), group_(&state.root) {}

  Result<void> run() {
    if (const std::uint64_t line = tokens_.lexer().first_latin1_line(); line > 0)
      state_.warnings.push_back("line " + std::to_string(line) +
                                ": not valid UTF-8; such texts and names are read as " +
                                "Latin-1, and the bytes of characters are kept");
    SHERD_TRY(tokens_.next());
    const CdlToken& token = tokens_.now();
    if (!token.is_word("netcdf") && !token.is_word("NETCDF") && !token.is_word("netCDF"))
      return tokens_.unexpected("'netcdf', with which CDL begins,");
    SHERD_TRY(name, tokens_.lexer().dataset_name());
    state_.name = std::move(name);
    SHERD_TRY(tokens_.next());
    SHERD_TRY(tokens_.expect('{'));
    SHERD_TRY(body());
    SHERD_TRY(tokens_.expect('}'));
    if (tokens_.now().kind != Kind::end) return tokens_.unexpected("the end of the text");
    return {};
  }

 private:
  /// The contents of the braces of a group.
  Result<void> body() {  // NOLINT(misc-no-recursion)
    SHERD_TRY(attributes());
    if (is_section("types")) SHERD_TRY(types());
    if (is_section("dimensions")) SHERD_TRY(dimensions());
    if (is_section("variables")) SHERD_TRY(variables());
    if (is_section("data")) SHERD_TRY(data());
    while (is_section("group")) {
      SHERD_TRY(group());
      SHERD_TRY(attributes());
    }
    const CdlToken& token = tokens_.now();
    if (token.kind == Kind::section)
      return cdl_error(token.position, token.shown() +
                                           " is out of order: a group has types, dimensions, variables and "
                                           "data, in this order, and groups behind them");
    if (!token.is('}') && token.kind != Kind::end) return tokens_.unexpected("a section, a group or '}'");
    return {};
  }

  [[nodiscard]] bool is_section(std::string_view name) const noexcept {
    return tokens_.now().kind == Kind::section && tokens_.now().text == name;
  }
  [[nodiscard]] bool ends_section() const noexcept {
    const CdlToken& token = tokens_.now();
    return token.kind == Kind::section || token.kind == Kind::end || token.is('}');
  }

  Result<void> attributes() {
    while (!ends_section()) {
      SHERD_TRY(attribute());
      SHERD_TRY(tokens_.expect(';'));
    }
    return {};
  }

  Result<std::string> name(std::string_view what) {
    if (tokens_.now().kind != Kind::word) return tokens_.unexpected(what);
    std::string name = tokens_.now().text;
    SHERD_TRY(tokens_.next());
    return name;
  }

  Result<void> group() {  // NOLINT(misc-no-recursion)
    SHERD_TRY(tokens_.next());
    const CdlPosition position = tokens_.position();
    SHERD_TRY(called, name("the name of a group"));
    if (++depth_ > kMaxGroupDepth)
      return at(position, unsupported("groups are nested more than " + std::to_string(kMaxGroupDepth) + " deep"));
    auto& entry = group_->groups[called];
    if (entry || group_->variables.contains(called))
      return cdl_error(position, "a group or a variable '" + called + "' is defined already");
    entry = std::make_unique<CdlGroup>();
    entry->path = member_path(group_->path, called);
    entry->position = position;
    entry->parent = group_;
    group_->group_order.push_back(entry.get());
    group_ = entry.get();
    SHERD_TRY(tokens_.expect('{'));
    SHERD_TRY(body());
    SHERD_TRY(tokens_.expect('}'));
    group_ = group_->parent;
    --depth_;
    return {};
  }

  Result<void> dimensions() {
    SHERD_TRY(tokens_.next());
    while (!ends_section()) {
      if (tokens_.now().kind == Kind::word) {
        SHERD_TRY(dimension_or_attribute());
      } else {
        SHERD_TRY(attribute());
      }
      SHERD_TRY(tokens_.expect(';'));
    }
    return {};
  }

  Result<void> dimension_or_attribute() {
    SHERD_TRY(first, reference());
    if (!tokens_.now().is('=')) return attribute_of(first);
    while (true) {
      SHERD_TRY(dimension(first.name, first.position));
      SHERD_TRY(more, tokens_.accept(','));
      if (!more) return {};
      first.position = tokens_.position();
      SHERD_TRY(next, name("the name of a dimension"));
      first.name = std::move(next);
    }
  }

  Result<void> dimension(const std::string& called, const CdlPosition& position) {
    SHERD_TRY(tokens_.expect('='));
    auto dimension = std::make_unique<CdlDimension>();
    *dimension = {called, group_->path, 0, false, position};
    const CdlToken& token = tokens_.now();
    if (token.is_word("unlimited") || token.is_word("UNLIMITED")) {
      dimension->unlimited = true;
    } else if (token.kind == Kind::number && token.number.type != Type::float32 && token.number.type != Type::float64) {
      dimension->length = static_cast<std::uint64_t>(token.number.bits);
      if (dimension->length > kLongestDimension)
        return cdl_error(token.position, "the length of a dimension is from 1 to 2^62, or unlimited");
      dimension->unlimited = dimension->length == 0;  // as in netcdf-c
    } else {
      return tokens_.unexpected("a length or 'unlimited'");
    }
    auto& entry = group_->dimensions[called];
    if (entry) return cdl_error(position, "the dimension '" + called + "' is defined already");
    group_->dimension_order.push_back(dimension.get());
    entry = std::move(dimension);
    return tokens_.next();
  }

  Result<void> variables() {
    SHERD_TRY(tokens_.next());
    while (!ends_section()) {
      if (tokens_.now().is(':')) {
        SHERD_TRY(attribute());
      } else {
        SHERD_TRY(first, reference());
        const Kind kind = tokens_.now().kind;
        const bool declares = kind == Kind::word || kind == Kind::path || is_section("data");
        if (declares) {
          SHERD_TRY(type_or_attribute(first));
        } else {
          SHERD_TRY(attribute_of(first));
        }
      }
      SHERD_TRY(tokens_.expect(';'));
    }
    return {};
  }

  /// After a type: variables, or the attribute of a variable.
  Result<void> type_or_attribute(const Reference& first) {
    SHERD_TRY(type, as_type(first));
    const CdlPosition position = tokens_.position();
    if (is_section("data"))
      return cdl_error(position, "'data:' begins a section; write a space before the colon if a variable is meant");
    SHERD_TRY(second, reference());
    if (tokens_.now().is(':')) return attribute_behind(type, second);
    while (true) {
      if (second.is_path) return cdl_error(second.position, "the name of a new variable has no '/'");
      SHERD_TRY(variable(type, second.name, second.position));
      SHERD_TRY(more, tokens_.accept(','));
      if (!more) return {};
      second.position = tokens_.position();
      SHERD_TRY(next, name("the name of a variable"));
      second.name = std::move(next);
    }
  }

  Result<void> variable(Type type, const std::string& called, const CdlPosition& position) {
    auto variable = std::make_unique<CdlVariable>();
    variable->definition.name = called;
    variable->definition.type = type;
    variable->definition.no_fill = options_.no_fill;
    variable->group = group_->path;
    variable->position = position;
    SHERD_TRY(parenthesis, tokens_.accept('('));
    for (bool more = parenthesis; more;) {
      SHERD_TRY(dimension, known_dimension());
      variable->dimensions.push_back(dimension);
      variable->definition.dimensions.push_back(member_path(dimension->group, dimension->name));
      if (variable->dimensions.size() > options_.limits.dimensions)
        return at(position, unsupported("'" + called + "' has more than " + std::to_string(options_.limits.dimensions) +
                                        " dimensions (the limit 'dimensions')"));
      SHERD_TRY(comma, tokens_.accept(','));
      more = comma;
    }
    if (parenthesis) SHERD_TRY(tokens_.expect(')'));
    auto& entry = group_->variables[called];
    if (entry) return cdl_error(position, "the variable '" + called + "' is defined already");
    group_->variable_order.push_back(variable.get());
    entry = std::move(variable);
    return {};
  }

  /// A dimension of this group or of a parent, or the one at a path.
  Result<CdlDimension*> known_dimension() {
    const CdlToken& token = tokens_.now();
    if (token.kind != Kind::word && token.kind != Kind::path) return tokens_.unexpected("the name of a dimension");
    CdlDimension* found = nullptr;
    if (token.kind == Kind::path) {
      SHERD_TRY(entry, find_named(token.text, token.position));
      const auto own = entry.group->dimensions.find(entry.name);
      if (own != entry.group->dimensions.end()) found = own->second.get();
    } else {
      for (const CdlGroup* at = group_; at != nullptr && found == nullptr; at = at->parent)
        if (const auto own = at->dimensions.find(token.text); own != at->dimensions.end()) found = own->second.get();
    }
    if (found == nullptr) return cdl_error(token.position, "the dimension " + token.shown() + " is not defined");
    SHERD_TRY(tokens_.next());
    return found;
  }

  struct Named {
    CdlGroup* group = nullptr;
    std::string name;
  };
  /// The group of a path, and the last name.
  Result<Named> find_named(std::string_view path, const CdlPosition& position) {
    Named entry{&state_.root, {}};
    while (!path.empty()) {
      path.remove_prefix(1);                                          // an escaped slash is refused with the name
      const std::size_t end = std::min(path.find('/'), path.size());  // an escaped one is refused by the name
      auto plain = unescaped_cdl_name(path.substr(0, end));
      if (!plain) return at(position, std::move(plain).error());
      path.remove_prefix(end);
      if (path.empty()) {
        entry.name = *std::move(plain);
        break;
      }
      const auto next = entry.group->groups.find(*plain);
      if (next == entry.group->groups.end()) return cdl_error(position, "the group '" + *plain + "' is not defined");
      entry.group = next->second.get();
    }
    return entry;
  }

  /// Reads a name or a path, and finds what it refers to: a variable of this group first, otherwise a type.
  Result<Reference> reference() {
    const CdlToken& token = tokens_.now();
    if (token.kind != Kind::word && token.kind != Kind::path) return tokens_.unexpected("a name");
    Reference result{token.position, token.text, token.kind == Kind::path, token.escaped};
    Named entry{group_, token.text};
    if (result.is_path) {
      SHERD_TRY(found, find_named(token.text, token.position));
      entry = std::move(found);
    }
    const auto variable = entry.group->variables.find(entry.name);
    if (variable != entry.group->variables.end()) result.variable = variable->second.get();
    if (!result.is_path && !result.escaped) result.type = cdl_type(token.text);
    SHERD_TRY(tokens_.next());
    return result;
  }

  static Result<Type> as_type(const Reference& reference) {
    if (reference.type) return *reference.type;
    return cdl_error(reference.position, "the type '" + reference.name + "' is not defined");
  }
  static Result<CdlVariable*> as_variable(const Reference& reference) {
    if (reference.variable != nullptr) return reference.variable;
    return cdl_error(reference.position, "the variable '" + reference.name + "' is not defined");
  }

  /// `:name = …`, `variable:name = …`, `type :name = …` or `type variable:name = …`.
  Result<void> attribute() {
    if (tokens_.now().is(':')) return attribute_value(nullptr, std::nullopt);
    SHERD_TRY(first, reference());
    return attribute_of(first);
  }

  Result<void> attribute_of(const Reference& first) {
    if (!tokens_.now().is(':')) {
      if (tokens_.now().kind != Kind::word && tokens_.now().kind != Kind::path) return tokens_.unexpected("':'");
      SHERD_TRY(type, as_type(first));
      SHERD_TRY(second, reference());
      return attribute_behind(type, second);
    }
    if (first.variable == nullptr && first.type) return attribute_value(nullptr, first.type);
    SHERD_TRY(variable, as_variable(first));
    return attribute_value(variable, std::nullopt);
  }

  Result<void> attribute_behind(Type type, const Reference& owner) {
    SHERD_TRY(variable, as_variable(owner));
    return attribute_value(variable, type);
  }

  /// After the owner, at the colon.
  Result<void> attribute_value(CdlVariable* variable, std::optional<Type> type) {
    SHERD_TRY(tokens_.expect(':'));
    const CdlPosition position = tokens_.position();
    SHERD_TRY(called, name("the name of an attribute"));
    const std::string shown = (variable != nullptr ? variable->definition.name : "") + ":" + called;
    SHERD_TRY(named(tokens_.expect('='), shown));  // this reads the first value
    SHERD_TRY(values, named(read_attribute_values(tokens_, type), shown));
    if (is_hidden_attribute(called) && !is_file_attribute(called))
      return cdl_error(position, "the attribute '" + called + "' is reserved for metadata of the storage");
    if (values.has_nulls)
      state_.warnings.push_back(to_string(values.position) + ": NIL in an attribute is stored as empty text");
    if (variable != nullptr && called.starts_with("_Quantize"))
      state_.warnings.push_back(to_string(position) + ": " + called +
                                " is kept as an attribute, but values are stored as they are");
    if (variable != nullptr) return named(set_variable_attribute(*variable, called, type, values), shown);
    return named(set_group_attribute(*group_, called, type, values), shown);
  }

  /// Names the attribute in an error, after the position.
  template <class T>
  static Result<T> named(Result<T> result, const std::string& attribute) {
    if (result) return result;
    std::string text = result.error().message();
    text.insert(text.find(": ") + 2, attribute + ": ");
    return Error(result.error().code(), std::move(text));
  }

  static bool is_file_attribute(std::string_view name) {
    return name == "_NCProperties" || name == "_IsNetcdf4" || name == "_SuperblockVersion";
  }

  Result<void> data() {
    SHERD_TRY(tokens_.next());
    while (!ends_section()) {
      SHERD_TRY(owner, reference());
      SHERD_TRY(variable, as_variable(owner));
      if (variable->has_data) return cdl_error(owner.position, "the data of '" + owner.name + "' are given already");
      SHERD_TRY(tokens_.expect('='));
      SHERD_TRY(read_cdl_data(tokens_, *variable));
      SHERD_TRY(tokens_.expect(';'));
    }
    return {};
  }

  // ---- types of users, which are read and refused

  Result<void> types() {
    SHERD_TRY(tokens_.next());
    while (!ends_section()) {
      const CdlToken& token = tokens_.now();
      if (token.is_word("compound") || token.is_word("struct") || token.is_word("structure")) return compound();
      if (token.is_word("opaque")) return opaque();
      if (token.is(':')) {
        SHERD_TRY(attribute());
      } else {
        SHERD_TRY(first, reference());
        if (tokens_.now().is_word("enum")) return enumeration();
        if (tokens_.now().is('(')) return sequence();
        SHERD_TRY(attribute_of(first));
      }
      SHERD_TRY(tokens_.expect(';'));
    }
    return {};
  }

  static Error refused(const CdlPosition& position, const std::string& name, std::string_view what) {
    return at(position, unsupported("the type '" + name + "' is " + std::string(what) +
                                    ", and NCZarr has no user-defined types; use variables of atomic types"));
  }

  Result<void> compound() {
    SHERD_TRY(tokens_.next());
    const CdlPosition position = tokens_.position();
    SHERD_TRY(called, name("the name of a type"));
    SHERD_TRY(tokens_.expect('{'));
    while (!tokens_.now().is('}')) {
      SHERD_TRY(reference());
      do {
        SHERD_TRY(name("the name of a field"));
        if (tokens_.now().is('(')) SHERD_TRY(field_lengths());
        if (!tokens_.now().is(',')) break;
        SHERD_TRY(tokens_.next());
      } while (true);
      SHERD_TRY(tokens_.expect(';'));
    }
    return refused(position, called, "compound");
  }

  Result<void> field_lengths() {
    do {
      SHERD_TRY(tokens_.next());
      if (tokens_.now().kind != Kind::number) return tokens_.unexpected("the length of a field");
      SHERD_TRY(tokens_.next());
    } while (tokens_.now().is(','));
    return tokens_.expect(')');
  }

  Result<void> opaque() {
    SHERD_TRY(tokens_.next());
    SHERD_TRY(tokens_.expect('('));
    if (tokens_.now().kind != Kind::number) return tokens_.unexpected("the length of the type");
    SHERD_TRY(tokens_.next());
    SHERD_TRY(tokens_.expect(')'));
    const CdlPosition position = tokens_.position();
    SHERD_TRY(called, name("the name of a type"));
    return refused(position, called, "opaque");
  }

  Result<void> enumeration() {
    SHERD_TRY(tokens_.next());
    const CdlPosition position = tokens_.position();
    SHERD_TRY(called, name("the name of a type"));
    SHERD_TRY(tokens_.expect('{'));
    while (true) {
      SHERD_TRY(name("the name of a value"));
      SHERD_TRY(tokens_.expect('='));
      if (tokens_.now().kind != Kind::number) return tokens_.unexpected("a number");
      SHERD_TRY(tokens_.next());
      SHERD_TRY(more, tokens_.accept(','));
      if (!more) break;
    }
    SHERD_TRY(tokens_.expect('}'));
    return refused(position, called, "an enumeration");
  }

  Result<void> sequence() {
    SHERD_TRY(tokens_.expect('('));
    SHERD_TRY(tokens_.expect('*'));
    SHERD_TRY(tokens_.expect(')'));
    const CdlPosition position = tokens_.position();
    SHERD_TRY(called, name("the name of a type"));
    return refused(position, called, "a list of variable length");
  }

  CdlTokens tokens_;
  const CdlOptions& options_;
  Cdl::State& state_;
  CdlGroup* group_;
  std::size_t depth_ = 0;
};

}  // namespace

Result<Cdl> Cdl::parse(std::string_view text, const CdlOptions& options) {
  auto state = std::make_shared<State>();
  state->header_only = options.header_only;
  state->text_size = text.size();
  SHERD_TRY(Parser(text, options, *state).run());
  SHERD_TRY(check_data_model(state->root, options.model));
  SHERD_TRY(finish_cdl(*state, options.long_texts));
  return Cdl(std::move(state));
}

const std::string& Cdl::name() const noexcept { return state_->name; }
const std::vector<std::string>& Cdl::warnings() const noexcept { return state_->warnings; }

}  // namespace sherd::netcdf
