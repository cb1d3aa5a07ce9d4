// The types of attributes, and the special attributes that determine how a variable is stored.
#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "base/try.hpp"
#include "base/utf8.hpp"
#include "netcdf/attribute.hpp"
#include "netcdf/cdl/schema.hpp"
#include "netcdf/filters.hpp"
#include "netcdf/type.hpp"

namespace sherd::netcdf {

namespace {

bool is_byte(const CdlNumber& number) { return number.type == Type::int8 || number.type == Type::uint8; }
bool is_integer(const CdlNumber& number) { return number.type != Type::float32 && number.type != Type::float64; }

/// Makes texts of the numbers.
Result<void> print_numbers(CdlAttributeValues& values) {
  Values texts(std::exchange(values.texts, {}));
  for (const CdlNumber& each : values.numbers) SHERD_TRY(append_cdl_number(texts, each));
  values.texts = std::get<std::vector<std::string>>(std::move(texts));
  values.numbers.clear();
  return {};
}

/// Texts and numbers together: with the type `string`, numbers are printed, and otherwise bytes are characters.
Result<void> add_text(CdlAttributeValues& values, std::string text, const CdlPosition& position, bool prints) {
  if (prints) SHERD_TRY(print_numbers(values));
  if (!std::ranges::all_of(values.numbers, is_byte))
    return cdl_error(position, "the values of an attribute are all texts or all numbers");
  for (const CdlNumber& each : values.numbers) values.texts.emplace_back(1, static_cast<char>(each.bits));
  values.numbers.clear();
  values.texts.push_back(std::move(text));
  return {};
}

Result<void> add_number(CdlAttributeValues& values, const CdlNumber& number, const CdlPosition& position, bool prints) {
  if (values.texts.empty() || prints) {
    values.numbers.push_back(number);
    return values.texts.empty() ? Result<void>() : print_numbers(values);
  }
  if (!is_byte(number)) return cdl_error(position, "the values of an attribute are all texts or all numbers");
  values.texts.emplace_back(1, static_cast<char>(number.bits));
  return {};
}

Result<void> add_value(CdlAttributeValues& values, const CdlTokens& tokens, bool prints) {
  const CdlToken& token = tokens.now();
  if (token.kind == CdlToken::Kind::number) return add_number(values, token.number, token.position, prints);
  if (token.kind == CdlToken::Kind::text) return add_text(values, token.utf8(), token.position, prints);
  if (token.kind == CdlToken::Kind::word && !token.escaped) {
    if (const auto special = special_cdl_number(token.text))
      return add_number(values, *special, token.position, prints);
    if (token.text == "_") return cdl_error(token.position, "'_' is for data: an attribute has no fill value");
    if (token.is_null()) {
      values.has_nulls = true;
      return add_text(values, {}, token.position, prints);
    }
  }
  return tokens.unexpected("a value");
}

/// The wider of two integer types; of equal width the second, as in ncgen.
Type wider(Type first, Type second) {
  const auto width = [](Type type) {
    switch (type) {
      case Type::int8:
      case Type::uint8:
        return 1;
      case Type::int16:
      case Type::uint16:
        return 2;
      case Type::int32:
      case Type::uint32:
        return 4;
      default:
        return 8;
    }
  };
  return width(first) <= width(second) ? second : first;
}

Type common_type(const std::vector<CdlNumber>& numbers) {
  const auto has = [&](Type type) {
    return std::ranges::any_of(numbers, [&](const CdlNumber& each) { return each.type == type; });
  };
  if (has(Type::float64)) return Type::float64;
  if (has(Type::float32)) return Type::float32;
  if (std::ranges::any_of(numbers, [](const CdlNumber& each) { return each.type == Type::uint64 && each.bits < 0; }))
    return Type::uint64;
  Type type = numbers.front().type;
  for (const CdlNumber& each : numbers) type = wider(type, each.type);
  return type;
}

Result<std::string> one_text(const CdlAttributeValues& values) {
  if (values.texts.size() == 1 && values.numbers.empty()) return values.texts.front();
  return corrupt("must be one text");
}

Result<std::int64_t> one_integer(const CdlAttributeValues& values) {
  if (values.texts.empty() && values.numbers.size() == 1 && is_integer(values.numbers.front()))
    return values.numbers.front().bits;
  return corrupt("must be one whole number");
}

Result<bool> one_bool(const CdlAttributeValues& values) {
  const bool is_text = values.texts.size() == 1;
  const std::string text = is_text                      ? values.texts.front()
                           : values.numbers.size() == 1 ? to_string(values.numbers.front())
                                                        : std::string();
  if (text == "true" || text == "1") return true;
  if (text == "false" || text == "0") return false;
  return corrupt("must be \"true\" or \"false\"");
}

Result<void> set_chunks(CdlVariable& variable, const CdlAttributeValues& values) {
  const std::size_t rank = variable.dimensions.size();
  if (!values.texts.empty() || values.numbers.size() != rank)
    return corrupt("must have one length per dimension, and there are " + std::to_string(rank) + " dimensions");
  Shape chunks;
  for (std::size_t d = 0; d < rank; ++d) {
    const CdlNumber& number = values.numbers[d];
    const CdlDimension& dimension = *variable.dimensions[d];
    if (!is_integer(number) || number.bits < 1) return corrupt("a length must be 1 or more");
    chunks.push_back(static_cast<std::uint64_t>(number.bits));
    if (!dimension.unlimited && chunks.back() > dimension.length)
      return corrupt("the chunk length " + std::to_string(chunks.back()) + " is greater than the length of '" +
                     dimension.name + "', " + std::to_string(dimension.length));
  }
  variable.definition.chunks = std::move(chunks);
  return {};
}

/// One filter of `_Filter`: its HDF5 number and its parameters.
Result<std::vector<std::uint64_t>> filter_numbers(std::string_view text) {
  std::vector<std::uint64_t> numbers;
  while (true) {
    const std::size_t end = std::min(text.find(','), text.size());
    std::string_view part = text.substr(0, end);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ') || part.ends_with('u') || part.ends_with('U')) part.remove_suffix(1);
    std::uint64_t number = 0;
    const auto [last, failed] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (failed != std::errc() || last != part.data() + part.size())
      return corrupt("must contain numbers only, such as \"307,9\" or \"2|1,5\"");
    numbers.push_back(number);
    if (end == text.size()) return numbers;
    text.remove_prefix(end + 1);
  }
}

Result<void> add_filter(const std::vector<std::uint64_t>& numbers, std::size_t element_size, NewVariable& definition,
                        std::vector<Json>& codecs) {
  constexpr std::uint64_t kLargest = std::numeric_limits<std::uint32_t>::max();
  if (std::ranges::any_of(numbers, [](std::uint64_t each) { return each > kLargest; }))
    return corrupt("a number is out of range");
  Filter filter{static_cast<std::uint32_t>(numbers.front()), {numbers.begin() + 1, numbers.end()}};
  const bool has_level = filter.id != filter_id::shuffle && filter.id != filter_id::fletcher32;
  const std::uint32_t first = filter.parameters.empty() ? 1 : filter.parameters.front();
  if (has_level && first > 0xFF) return corrupt("the level " + std::to_string(first) + " is out of range");
  if (filter.id == filter_id::deflate) definition.deflate_level = static_cast<int>(first);
  if (filter.id == filter_id::shuffle) definition.shuffle = true;
  if (filter.id == filter_id::fletcher32) definition.fletcher32 = true;
  if (filter.id == filter_id::shuffle && element_size == 1) return {};
  auto codec = codec_of(filter, element_size, false);
  if (!codec)
    return unsupported("the filter " + filter_name(filter.id) +
                       " is not supported; those that are: 1 (deflate), 2 (shuffle), 3 (fletcher32), 4 (szip), "
                       "307 (bzip2), 32001 (blosc), 32015 (zstd)");
  codecs.push_back(*std::move(codec));
  return {};
}

Result<void> set_filters(CdlVariable& variable, std::string_view text) {
  NewVariable& definition = variable.definition;
  const NewVariable before = definition;
  std::vector<Json> codecs;
  bool plain = true, shuffles = false;
  const bool is_text = definition.type == Type::character || definition.type == Type::string;
  SHERD_TRY(dtype, array_type(definition.type, 1));
  const std::size_t size = is_text ? 1 : dtype.size();
  while (true) {
    const std::size_t end = std::min(text.find('|'), text.size());
    SHERD_TRY(filter, filter_numbers(text.substr(0, end)));
    SHERD_TRY(add_filter(filter, size, definition, codecs));
    plain = plain && filter.front() <= filter_id::fletcher32;
    shuffles = shuffles || filter.front() == filter_id::shuffle;
    if (end == text.size()) break;
    text.remove_prefix(end + 1);
  }
  if (plain) return {};
  definition.deflate_level = before.deflate_level;
  definition.shuffle = before.shuffle && !shuffles;
  definition.fletcher32 = before.fletcher32;
  definition.codecs = std::move(codecs);
  return {};
}

Result<void> set_endianness(NewVariable& definition, const std::string& order) {
  if (order != "little" && order != "big" && order != "native")
    return corrupt("must be \"little\", \"big\" or \"native\"");
  definition.big_endian = order == "big";
  return {};
}

Result<void> set_deflate(NewVariable& definition, const CdlAttributeValues& values) {
  SHERD_TRY(level, one_integer(values));
  if (level < 0 || level > 9) return corrupt("must be from 0 to 9");
  definition.deflate_level = static_cast<int>(level);
  return {};
}

/// Sets a special attribute; returns whether it is one.
Result<bool> set_special(CdlVariable& variable, const std::string& name, const CdlAttributeValues& values) {
  NewVariable& definition = variable.definition;
  if (name == "_ChunkSizes") {
    SHERD_TRY(set_chunks(variable, values));
  } else if (name == "_DeflateLevel") {
    SHERD_TRY(set_deflate(definition, values));
  } else if (name == "_Shuffle") {
    SHERD_TRY(shuffle, one_bool(values));
    definition.shuffle = shuffle;
  } else if (name == "_Fletcher32") {
    SHERD_TRY(fletcher32, one_bool(values));
    definition.fletcher32 = fletcher32;
  } else if (name == "_NoFill") {
    SHERD_TRY(no_fill, one_bool(values));
    definition.no_fill = no_fill;
  } else if (name == "_Endianness") {
    SHERD_TRY(order, one_text(values));
    SHERD_TRY(set_endianness(definition, order));
  } else if (name == "_Filter") {
    SHERD_TRY(filters, one_text(values));
    SHERD_TRY(set_filters(variable, filters));
  } else if (name == "_Storage") {
    SHERD_TRY(storage, one_text(values));
    if (storage != "chunked" && storage != "contiguous" && storage != "compact")
      return corrupt("must be \"chunked\", \"contiguous\" or \"compact\"");
    definition.contiguous = storage != "chunked";  // Zarr has chunks only
  } else if (name == "_Codecs") {
    SHERD_TRY(text, one_text(values));
    SHERD_TRY(codecs, codecs_of_text(text));
    variable.all_codecs = std::move(codecs);
  } else {
    return false;
  }
  return true;
}

void replace(std::vector<Attribute>& all, std::map<std::string, std::size_t, std::less<>>& names,
             const std::string& name, Values values) {
  const auto [place, is_new] = names.try_emplace(name, all.size());
  if (is_new)
    all.push_back({name, std::move(values)});
  else
    all[place->second].values = std::move(values);
}

Result<Values> fill_value(const CdlVariable& variable, const CdlAttributeValues& values) {
  const Type type = variable.definition.type;
  if (variable.has_data) return corrupt("must come before the data of the variable");
  SHERD_TRY(fill, typed_attribute(values, type));
  if (auto* text = std::get_if<std::string>(&fill); text != nullptr && text->empty()) text->push_back('\0');
  if (size_of(fill) != 1) return corrupt("must be one value of the type " + std::string(to_string(type)));
  return fill;
}

}  // namespace

Result<CdlAttributeValues> read_attribute_values(CdlTokens& tokens, std::optional<Type> type) {
  CdlAttributeValues values{tokens.position()};
  if (tokens.now().is(';')) return values;
  while (true) {
    SHERD_TRY(add_value(values, tokens, type == Type::string));
    SHERD_TRY(tokens.next());
    SHERD_TRY(more, tokens.accept(','));
    if (!more) return values;
  }
}

Result<Values> typed_attribute(const CdlAttributeValues& values, std::optional<Type> type) {
  const bool has_text = !values.texts.empty();
  if (!type) type = has_text || values.numbers.empty() ? Type::character : common_type(values.numbers);
  Values result = no_values(*type);
  auto* strings = std::get_if<std::vector<std::string>>(&result);
  for (const std::string& text : values.texts) {
    if (!is_utf8(text)) return corrupt("the text is not valid UTF-8");
    if (strings != nullptr)
      strings->push_back(text);
    else if (auto* characters = std::get_if<std::string>(&result))
      *characters += text;
    else
      return corrupt("a number of the type " + std::string(to_string(*type)) + " is expected, not a text");
  }
  for (const CdlNumber& number : values.numbers) SHERD_TRY(append_cdl_number(result, number));
  if (const auto* characters = std::get_if<std::string>(&result)) {
    if (!is_utf8(*characters)) return corrupt("the text is not valid UTF-8");
  } else if (size_of(result) == 0) {
    return corrupt("an attribute of the type " + std::string(to_string(*type)) + " needs a value");
  }
  return result;
}

Result<void> set_variable_attribute(CdlVariable& variable, const std::string& name, std::optional<Type> type,
                                    const CdlAttributeValues& values) {
  auto special = set_special(variable, name, values);
  if (!special.has_value()) return at(values.position, std::move(special).error());
  if (*special) return {};
  auto typed = name == kFillValue ? fill_value(variable, values) : typed_attribute(values, type);
  if (!typed) return at(values.position, std::move(typed).error());
  replace(variable.definition.attributes, variable.attributes, name, *std::move(typed));
  return {};
}

Result<void> set_group_attribute(CdlGroup& group, const std::string& name, std::optional<Type> type,
                                 const CdlAttributeValues& values) {
  // They describe the file from which the text was printed.
  if (name == "_NCProperties" || name == "_IsNetcdf4" || name == "_SuperblockVersion") return {};
  if (name == "_Format") {
    constexpr std::string_view formats[] = {"classic", "64-bit offset", "64-bit data",
                                            "cdf5",    "netCDF-4",      "netCDF-4 classic model"};
    if (values.texts.size() == 1 && std::ranges::find(formats, values.texts.front()) != std::end(formats)) return {};
    return cdl_error(values.position, "must name a format of netCDF, such as \"classic\" or \"netCDF-4\"");
  }
  auto typed = typed_attribute(values, type);
  if (!typed) return at(values.position, std::move(typed).error());
  replace(group.attributes, group.attribute_names, name, *std::move(typed));
  return {};
}

}  // namespace sherd::netcdf
