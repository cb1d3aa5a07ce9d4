// A dataset as CDL: the header, group by group, and where the data of variables follow. The layout is ncdump's;
// dump_data.cpp prints the values.
#include "netcdf/cdl/dump.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/url.hpp"
#include "netcdf/attribute.hpp"
#include "netcdf/filters.hpp"

namespace sherd::netcdf {

namespace {

/// Names after which CDL needs a space before an attribute's colon.
constexpr std::string_view kKeywords[] = {"variables", "dimensions", "data", "group", "types"};

/// The last name in the URL of a Zarr dataset, or in the path of a file, without the part after its last dot.
std::string default_name(const std::string& url) {
  const std::string place = is_url(url) ? url.substr(0, url.find('?')) : url;
  std::string name = place.substr(place.rfind('/') + 1);
  if (is_url(url))
    if (const auto decoded = path_of_store("file:///" + name)) name = decoded->substr(1);
  if (const std::size_t dot = name.rfind('.'); dot != name.npos) name.erase(dot);
  return name;
}

/// Compares a path given by a user with the path of a group: "/g/h" is that group, "h" and "g/h" those that end so.
bool is_group_named(std::string_view wanted, const std::string& group) {
  if (wanted.empty() || wanted == "/") return group == "/";
  if (wanted.starts_with('/')) return wanted == group;
  return ("/" + std::string(wanted)) == group.substr(group.rfind('/')) && wanted.find('/') == wanted.npos;
}

bool is_variable_named(std::string_view wanted, const Group& group, const std::string& variable) {
  const std::size_t slash = wanted.rfind('/');
  if (slash == wanted.npos) return wanted == variable;
  if (wanted.substr(slash + 1) != variable) return false;
  const std::string_view path = wanted.substr(0, slash);
  const std::string_view own = group.path() == "/" ? std::string_view() : std::string_view(group.path());
  return wanted.starts_with('/') ? own == path : own.ends_with(path);
}

constexpr std::uint32_t kSzipOptions = 4 | 32;  ///< of its mask; the other options follow from the byte order

/// How elements are converted to stored bytes, except for their order.
struct FilterTexts {
  std::string filters;  ///< `_Filter`: "4,32,16|307,9", without filters that have special attributes of their own
  std::string codecs;   ///< `_Codecs`, if the filters are insufficient
};

FilterTexts filter_texts(const Storage& storage) {
  FilterTexts texts;
  std::vector<Filter> filters = storage.filters;
  const std::vector<Json> codecs = inner_codecs(storage.codecs);
  for (const Json& codec : codecs) {
    if (is_layout(codec)) continue;
    auto filter = filter_of(codec);
    if (!filter) {
      texts.codecs = codecs_text(codecs);
      continue;
    }
    if (filter->id == filter_id::szip) filter->parameters.front() &= kSzipOptions;
    filters.push_back(*std::move(filter));
  }
  for (const Filter& each : filters) {
    if (each.id <= filter_id::fletcher32) continue;  // nor deflate or shuffle
    texts.filters += (texts.filters.empty() ? "" : "|") + std::to_string(each.id);
    for (const std::uint32_t parameter : each.parameters) texts.filters += "," + std::to_string(parameter);
  }
  return texts;
}

class Dumper {
 public:
  Dumper(const Dataset& dataset, const DumpOptions& options, TextBuffer& to)
      : dataset_(dataset),
        printing_{options, {options.float_digits.value_or(7), options.double_digits.value_or(15)}},
        options_(options),
        to_(to) {}

  Result<void> run() {
    SHERD_TRY(check_selection());
    to_ += "netcdf " + cdl_name(options_.name.empty() ? default_name(dataset_.url()) : options_.name) + " {\n";
    SHERD_TRY(group(dataset_.root(), 0));
    to_ += "}\n";
    return to_.pass(true);
  }

 private:
  void line(std::size_t indent, std::string_view text) { to_ += std::string(indent, ' ') + std::string(text) + "\n"; }

  Result<void> check_selection() const {
    for (const std::string& name : options_.variables)
      if (!any_group(dataset_.root(), [&](const Group& group) {
            return std::ranges::any_of(group.variables(), [&](const Variable& variable) {
              return is_variable_named(name, group, variable.name());
            });
          }))
        return no_variable(name);
    for (const std::string& name : options_.groups)
      if (!any_group(dataset_.root(), [&](const Group& group) { return is_group_named(name, group.path()); }))
        return not_found("the dataset has no group '" + name + "'");
    return {};
  }

  /// Warnings begin with the path of what is left out.
  [[nodiscard]] Error no_variable(const std::string& name) const {
    const std::string path = name.starts_with('/') ? name : "/" + name;
    for (const std::string& warning : dataset_.warnings()) {
      const std::size_t end = warning.find(": the variable is left out");
      if (end == warning.npos) continue;
      if (warning.substr(0, end).ends_with(path))
        return unsupported("the variable '" + name + "' is left out" + warning.substr(warning.find(':', end + 1)));
    }
    return not_found("the dataset has no variable '" + name + "'");
  }

  template <class Test>
  static bool any_group(const Group& group, const Test& test) {  // NOLINT(misc-no-recursion)
    if (test(group)) return true;
    return std::ranges::any_of(group.groups(), [&](const Group& each) { return any_group(each, test); });
  }

  Result<void> group(const Group& group, std::size_t indent) {  // NOLINT(misc-no-recursion)
    if (!group.dimensions().empty()) line(indent, "dimensions:");
    for (const Dimension& each : group.dimensions()) dimension(each, indent);
    const auto variables = group.variables();
    if (!variables.empty()) line(indent, "variables:");
    for (const Variable& each : variables) {
      declaration(group, each, indent);
      SHERD_TRY(to_.pass());
    }
    const bool is_root = group.path() == "/";
    if (!group.attributes().empty() || options_.special_attributes) {
      to_ += "\n";
      line(indent, is_root ? "// global attributes:" : "// group attributes:");
    }
    for (const Attribute& each : group.attributes()) attribute("", each, indent, std::nullopt);
    if (is_root && options_.special_attributes) special_of_root(indent);
    SHERD_TRY(data(group, variables, indent));
    for (const Group& each : group.groups()) {
      to_ += "\n";
      line(indent, "group: " + cdl_name(each.name()) + " {");
      SHERD_TRY(this->group(each, indent + 2));
      line(indent + 2, "} // group " + cdl_name(each.name()));
    }
    return {};
  }

  void dimension(const Dimension& each, std::size_t indent) {
    const std::string length = std::to_string(each.length);
    line(indent, "\t" + cdl_name(each.name) + " = " +
                     (each.unlimited ? "UNLIMITED ; // (" + length + " currently)" : length + " ;"));
  }

  /// Only the name if it refers to the innermost dimension with this name; otherwise with its group.
  static std::string reference(const Group& group, const Dimension& dimension) {
    const auto nearest = group.dimension(dimension.name);
    if (nearest && nearest->group == dimension.group) return cdl_name(dimension.name);
    return cdl_name(dimension.group) + (dimension.group == "/" ? "" : "/") + cdl_name(dimension.name);
  }

  void declaration(const Group& group, const Variable& variable, std::size_t indent) {
    std::string text = "\t" + std::string(to_string(variable.type())) + " " + cdl_name(variable.name());
    for (std::size_t d = 0; d < variable.dimensions().size(); ++d)
      text += (d == 0 ? "(" : ", ") + reference(group, variable.dimensions()[d]);
    line(indent, text + (variable.dimensions().empty() ? " ;" : ") ;"));
    const auto times = options_.times || options_.iso_times ? time_units_of(variable) : std::nullopt;
    for (const Attribute& each : variable.attributes()) {
      attribute(variable.name(), each, indent, times);
      if (!options_.times && !options_.iso_times) continue;
      const auto* text_value = std::get_if<std::string>(&each.values);
      if (each.name == "bounds" && text_value != nullptr) bounds_.insert_or_assign(*text_value, variable);
    }
    if (options_.special_attributes && has_storage()) special_of(variable, indent);
  }

  void attribute(const std::string& variable, const Attribute& each, std::size_t indent,
                 const std::optional<TimeUnits>& times) {
    std::string text = "\t\t";
    if (type_of(each.values) == Type::string) text += "string ";
    text += cdl_name(variable);
    if (std::ranges::find(kKeywords, variable) != std::end(kKeywords)) text += " ";
    text += ":" + cdl_name(each.name) + " = " + cdl_attribute(each, printing_.digits) + " ;";
    if (times) text += date_comment(each.values, *times, indent);
    line(indent, text);
  }

  /// The numbers of an attribute as dates, in a comment: on the same line if there are at most two.
  std::string date_comment(const Values& values, const TimeUnits& times, std::size_t indent) const {
    constexpr std::size_t kFirst = 18, kPrefix = 3;
    const std::size_t count = size_of(values);
    const bool wrap = count > 2;
    std::string text;
    std::size_t position = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const auto number = std::visit(
          [&](const auto& list) -> std::optional<double> {
            if constexpr (std::is_arithmetic_v<typename std::remove_cvref_t<decltype(list)>::value_type> &&
                          !std::is_same_v<std::remove_cvref_t<decltype(list)>, std::string>)
              return static_cast<double>(list[i]);
            else
              return std::nullopt;
          },
          values);
      if (!number) return {};
      std::string date;
      times.append_quoted(date, *number, options_.iso_times ? 'T' : ' ');
      if (i + 1 < count) date += ",";
      position += 1 + date.size();
      const bool fresh = wrap && (i == 0 || position > options_.line_length);
      text += fresh ? "\n" + std::string(indent, ' ') + "\t\t  " : " ";
      if (fresh) position = kFirst + date.size();
      if (i == 0 || fresh) {
        text += "// ";
        position += kPrefix;
      }
      text += date;
    }
    return text;
  }

  void special(const std::string& variable, std::string_view name, const std::string& value, std::size_t indent) {
    line(indent, "\t\t" + cdl_name(variable) + ":" + std::string(name) + " = " + value + " ;");
  }

  /// Files of the first three kinds have only one way to store variables.
  [[nodiscard]] bool has_storage() const {
    return dataset_.kind() == "netCDF-4" || dataset_.kind() == "netCDF-4 classic model";
  }

  void special_of(const Variable& variable, std::size_t indent) {
    const Storage& storage = variable.storage();
    const std::string& name = variable.name();
    std::string chunks;
    for (const std::uint64_t length : storage.chunks) chunks += (chunks.empty() ? "" : ", ") + std::to_string(length);
    special(name, "_Storage", chunks.empty() ? "\"contiguous\"" : "\"chunked\"", indent);
    if (!chunks.empty()) special(name, "_ChunkSizes", chunks, indent);
    if (storage.fletcher32) special(name, "_Fletcher32", "\"true\"", indent);
    if (storage.shuffle) special(name, "_Shuffle", "\"true\"", indent);
    if (storage.deflate_level) special(name, "_DeflateLevel", std::to_string(*storage.deflate_level), indent);
    const FilterTexts texts = filter_texts(storage);
    if (!texts.filters.empty()) special(name, "_Filter", "\"" + texts.filters + "\"", indent);
    if (!texts.codecs.empty()) {
      std::string text;
      append_cdl_text(text, texts.codecs, TextUse::attribute);
      special(name, "_Codecs", text, indent);
    }
    const Type type = variable.type();
    const bool bytes = type == Type::int8 || type == Type::uint8 || type == Type::character || type == Type::string;
    if (!bytes) special(name, "_Endianness", storage.big_endian ? "\"big\"" : "\"little\"", indent);
    if (storage.no_fill) special(name, "_NoFill", "\"true\"", indent);
  }

  void special_of_root(std::size_t indent) {
    if (!dataset_.properties().empty()) {
      std::string text;
      append_cdl_text(text, dataset_.properties(), TextUse::attribute);
      special("", "_NCProperties", text, indent);
    }
    special("", "_Format", "\"" + std::string(dataset_.kind()) + "\"", indent);
  }

  Result<void> data(const Group& group, const std::vector<Variable>& variables, std::size_t indent) {
    if (options_.header_only || !wants_data(group)) return {};
    if (!variables.empty()) line(indent, "data:");
    for (const Variable& variable : variables) {
      if (!wants_data(group, variable)) continue;
      SHERD_TRY(
          dump_data(variable, indent, printing_, times_of(variable), to_).in([&] { return variable.full_name(); }));
    }
    return {};
  }

  [[nodiscard]] bool wants_data(const Group& group) const {
    return options_.groups.empty() || std::ranges::any_of(options_.groups, [&](const std::string& name) {
             return is_group_named(name, group.path());
           });
  }

  [[nodiscard]] bool wants_data(const Group& group, const Variable& variable) const {
    const auto named = [&](const std::string& name) { return is_variable_named(name, group, variable.name()); };
    if (!options_.variables.empty() && std::ranges::none_of(options_.variables, named)) return false;
    if (options_.coordinates_only && (variable.dimensions().size() != 1 || !group.dimension(variable.name())))
      return false;
    return std::ranges::none_of(variable.dimensions(), [](const Dimension& each) { return each.length == 0; });
  }

  [[nodiscard]] std::optional<TimeUnits> times_of(const Variable& variable) const {
    if ((!options_.times && !options_.iso_times) || variable.type() == Type::string ||
        variable.type() == Type::character)
      return std::nullopt;
    const auto parent = bounds_.find(variable.name());
    return time_units_of(parent != bounds_.end() ? parent->second : variable);
  }

  const Dataset& dataset_;
  Printing printing_;
  const DumpOptions& options_;
  TextBuffer& to_;
  std::map<std::string, Variable> bounds_;  ///< by the name of the variable with the bounds of its cells
};

}  // namespace

Result<void> dump(const Dataset& dataset, const DumpOptions& options, const TextSink& to) {
  constexpr std::uint64_t kShortest = 10;
  if (options.line_length < kShortest) return invalid_argument("the length of lines must be 10 or more");
  for (const auto& digits : {options.float_digits, options.double_digits})
    if (digits && (*digits < 1 || *digits > 20))
      return invalid_argument("the number of significant digits must be from 1 to 20");
  TextBuffer buffer(to);
  return Dumper(dataset, options, buffer).run();
}

}  // namespace sherd::netcdf
