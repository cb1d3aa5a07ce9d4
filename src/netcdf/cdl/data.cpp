// The data section. Data along an unlimited dimension that is not the first are in braces, since nothing else shows its
// length:
//
//   int v(t, x, u), with t and u unlimited and x = 2:   v = {1, 2, 3}, {4}, {5}, {6, 7} ;
//
// So the dimensions are divided into parts that begin with such dimensions, here (t, x) and (u). Within a part, items
// are in C order: in the last part they are elements, in others lists in braces. Only the first dimension of a part can
// be unlimited, so the index of an item is known when it is read.
#include <algorithm>

#include "base/checked.hpp"
#include "base/try.hpp"
#include "netcdf/attribute.hpp"
#include "netcdf/cdl/schema.hpp"
#include "netcdf/model.hpp"
#include "netcdf/type.hpp"

namespace sherd::netcdf {

namespace {

/// At most kLongestDimension, like all counts here.
std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  return std::min(checked_mul(a, b).value_or(kLongestDimension), kLongestDimension);
}

class DataReader {
 public:
  DataReader(CdlTokens& tokens, CdlVariable& variable)
      : tokens_(tokens),
        variable_(variable),
        dimensions_(variable.dimensions),
        fill_(variable.fill()),
        is_text_(variable.definition.type == Type::character) {
    parts_.push_back(0);
    for (std::size_t d = 1; d < dimensions_.size(); ++d)
      if (dimensions_[d]->unlimited) parts_.push_back(d);
    data_.values = no_values(variable.definition.type);
    data_.inner = parts_.back();
  }

  Result<void> run() {
    variable_.has_data = true;
    if (!tokens_.now().is(';')) SHERD_TRY(list(0));
    if (!tokens_.now().is(';')) return tokens_.unexpected("',' or ';'");
    variable_.data = std::move(data_);
    return {};
  }

 private:
  [[nodiscard]] std::size_t end_of(std::size_t part) const {
    return part + 1 < parts_.size() ? parts_[part + 1] : dimensions_.size();
  }
  /// The number of items of a part at one index of its first dimension.
  [[nodiscard]] std::uint64_t block(std::size_t part) const {
    std::uint64_t size = 1;
    for (std::size_t d = parts_[part] + 1; d < end_of(part); ++d) size = product(size, dimensions_[d]->length);
    return size;
  }
  /// The number of items that fit into a part.
  [[nodiscard]] std::uint64_t capacity(std::size_t part) const {
    if (dimensions_.empty()) return 1;
    const CdlDimension& first = *dimensions_[parts_[part]];
    return first.unlimited ? kLongestDimension : product(first.length, block(part));
  }
  /// Makes an unlimited dimension long enough.
  void stretch(std::size_t part, std::uint64_t items) {
    if (dimensions_.empty() || !dimensions_[parts_[part]]->unlimited) return;
    std::uint64_t& length = dimensions_[parts_[part]]->length;
    length = std::max(length, ceil_div(items, block(part)));
  }
  [[nodiscard]] Error too_many(std::uint64_t capacity) const {
    return cdl_error(tokens_.position(), "'" + variable_.definition.name + "' has room for " +
                                             std::to_string(capacity) + " values here, and more are given");
  }
  [[nodiscard]] Error not_a_value() const {
    const CdlToken& token = tokens_.now();
    if (token.is('{'))
      return cdl_error(token.position, "'{' is for unlimited dimensions that are not the first of a variable");
    if (token.kind == CdlToken::Kind::path || (token.kind == CdlToken::Kind::word))
      return cdl_error(token.position, token.shown() +
                                           " is not a value; NCZarr has no enumerations, and functions "
                                           "such as time() are not supported");
    return tokens_.unexpected("a value");
  }

  // As deep as there are unlimited dimensions.
  Result<void> list(std::size_t part) {  // NOLINT(misc-no-recursion)
    if (part + 1 == parts_.size()) return is_text_ ? texts() : elements();
    const std::uint64_t room = capacity(part), per_index = block(part);
    const std::size_t outer = indices_.size();
    std::uint64_t items = 0;
    while (!tokens_.now().is('}') || items > 0) {
      if (items == room) return too_many(room);
      if (!tokens_.now().is('{'))
        return cdl_error(tokens_.position(), "'{' is expected, since '" + dimensions_[parts_[part + 1]]->name +
                                                 "' is unlimited and not the first dimension");
      indices_.resize(outer + end_of(part) - parts_[part]);
      std::uint64_t rest = items % per_index;
      for (std::size_t d = end_of(part) - 1; d > parts_[part]; --d) {
        indices_[outer + d - parts_[part]] = rest % dimensions_[d]->length;
        rest /= dimensions_[d]->length;
      }
      indices_[outer] = items / per_index;
      SHERD_TRY(tokens_.next());
      SHERD_TRY(list(part + 1));
      SHERD_TRY(tokens_.expect('}'));
      ++items;
      SHERD_TRY(more, tokens_.accept(','));
      if (!more) break;
    }
    indices_.resize(outer);
    stretch(part, items);
    return {};
  }

  /// Records that the last `count` values are `offset` elements after the beginning of the last part.
  void add_run(std::uint64_t offset, std::size_t count) {
    if (count == 0) return;
    const std::size_t begin = size_of(data_.values) - count;
    if (continues_ && !data_.runs.empty()) {
      CdlRun& last = data_.runs.back();
      if (last.offset + last.count == offset && last.begin + last.count == begin) {
        last.count += count;
        return;
      }
    }
    if (!continues_) data_.indices.insert(data_.indices.end(), indices_.begin(), indices_.end());
    continues_ = true;
    data_.runs.push_back({data_.indices.size() - indices_.size(), offset, begin, count});
  }

  Result<void> elements() {
    const std::uint64_t room = capacity(parts_.size() - 1);
    const std::size_t before = size_of(data_.values);
    continues_ = false;
    std::uint64_t count = 0;
    while (!tokens_.now().is('}') || count > 0) {
      if (count == room) return too_many(room);
      SHERD_TRY(element());
      ++count;
      SHERD_TRY(tokens_.next());
      SHERD_TRY(more, tokens_.accept(','));
      if (!more) break;
    }
    add_run(0, size_of(data_.values) - before);
    stretch(parts_.size() - 1, count);
    return {};
  }

  /// Appends the value of the present token.
  Result<void> element() {
    const CdlToken& token = tokens_.now();
    auto* strings = std::get_if<std::vector<std::string>>(&data_.values);
    if (token.kind == CdlToken::Kind::text) {
      if (strings == nullptr)
        return cdl_error(token.position, "a number of the type " + std::string(to_string(variable_.definition.type)) +
                                             " is expected, not the text " + token.shown());
      strings->push_back(token.utf8());
      return {};
    }
    std::optional<CdlNumber> number;
    if (token.kind == CdlToken::Kind::number) number = token.number;
    if (token.kind == CdlToken::Kind::word && !token.escaped) {
      if (token.text == "_") {
        append_fill();
        return {};
      }
      if (strings != nullptr && token.is_null()) {
        strings->emplace_back();
        ++variable_.nulls;
        return {};
      }
      number = special_cdl_number(token.text);
    }
    if (!number) return not_a_value();
    if (auto appended = append_cdl_number(data_.values, *number); !appended)
      return at(token.position, std::move(appended).error());
    return {};
  }

  void append_fill() {
    std::visit([&](auto& list) { list.push_back(std::get<std::remove_cvref_t<decltype(list)>>(fill_).front()); },
               data_.values);
  }

  /// The length to which each text is padded with fill values: a row. Along a single dimension, or an unlimited one,
  /// texts are concatenated.
  [[nodiscard]] std::uint64_t unit() const {
    if (dimensions_.size() < 2 || dimensions_.back()->unlimited) return 1;
    return dimensions_.back()->length;
  }

  // Braces around texts of a part are ignored.
  Result<void> texts() {
    continues_ = after_character_ = false;
    std::uint64_t used = 0;
    std::size_t depth = 0;
    while (!tokens_.now().is('}') || used > 0 || depth > 0) {
      for (; tokens_.now().is('{'); ++depth) SHERD_TRY(tokens_.next());
      SHERD_TRY(piece(used));
      SHERD_TRY(tokens_.next());
      for (; depth > 0 && tokens_.now().is('}'); --depth) SHERD_TRY(tokens_.next());
      SHERD_TRY(more, tokens_.accept(','));
      if (!more) break;
    }
    if (depth > 0) return tokens_.unexpected("',' or '}'");
    stretch(parts_.size() - 1, used);
    return {};
  }

  /// Appends a text, a character or `_`. `used` is the number of elements used so far. A text begins a new row and
  /// fills whole rows; consecutive characters in single quotes form one text.
  Result<void> piece(std::uint64_t& used) {
    const CdlToken& token = tokens_.now();
    const bool is_character = token.kind == CdlToken::Kind::number, is_fill = token.is_word("_");
    auto& characters = std::get<std::string>(data_.values);
    const std::size_t before = characters.size();
    if (token.kind == CdlToken::Kind::text) {
      characters += token.text;
    } else if (is_character) {
      if (auto appended = append_cdl_number(data_.values, token.number); !appended)
        return at(token.position, std::move(appended).error());
    } else if (!is_fill) {
      return not_a_value();
    }
    const std::uint64_t row = unit(), room = capacity(parts_.size() - 1), length = characters.size() - before;
    if (!is_character || !after_character_) used = product(ceil_div(used, row), row);
    after_character_ = is_character;
    // As in ncgen, an empty text is one element where texts are concatenated, unless the dimension is unlimited. ncdump
    // prints one after a text that ends in a newline, when there is no room for an element.
    const bool nothing = !is_fill && ((!dimensions_.empty() && dimensions_.back()->unlimited) || used == room);
    const std::uint64_t taken = length > 0 ? length : nothing ? 0 : row;
    if (used > room || taken > room - used) return too_many(room);
    if (length == 0 && taken > 0) characters += std::get<std::string>(fill_);  // so that the variable has data
    add_run(used, characters.size() - before);
    used += taken;
    return {};
  }

  CdlTokens& tokens_;
  CdlVariable& variable_;
  const std::vector<CdlDimension*>& dimensions_;
  const Values fill_;
  const bool is_text_;
  std::vector<std::size_t> parts_;      ///< the first dimension of each
  std::vector<std::uint64_t> indices_;  ///< of all dimensions before the part that is read
  bool continues_ = false;              ///< the last run is in the same list
  bool after_character_ = false;        ///< the last item was in single quotes
  CdlData data_;
};

}  // namespace

Shape CdlVariable::shape() const {
  Shape lengths;
  for (const CdlDimension* each : dimensions) lengths.push_back(each->length);
  return lengths;
}

std::string CdlVariable::full_name() const { return member_path(group, definition.name); }

Values CdlVariable::fill() const {
  const auto own = attributes.find(kFillValue);
  return own != attributes.end() ? definition.attributes[own->second].values : default_fill(definition.type);
}

Result<void> read_cdl_data(CdlTokens& tokens, CdlVariable& variable) { return DataReader(tokens, variable).run(); }

}  // namespace sherd::netcdf
