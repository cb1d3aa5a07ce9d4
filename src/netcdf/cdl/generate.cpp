// Writes a dataset from CDL. If texts or braces leave gaps between the values, and the whole array is not much larger
// than the text, it is written whole; otherwise run by run, so that memory and time depend on the size of the text and
// not on the dimensions.
#include <algorithm>
#include <set>

#include "base/checked.hpp"
#include "base/try.hpp"
#include "netcdf/attribute.hpp"
#include "netcdf/cdl/schema.hpp"
#include "netcdf/definitions.hpp"
#include "netcdf/filters.hpp"
#include "netcdf/model.hpp"
#include "netcdf/type.hpp"

namespace sherd::netcdf {

namespace {

constexpr std::uint64_t kBatchBytes = std::uint64_t{32} << 20U;  ///< of strings written at a time
constexpr std::uint64_t kDenseBytes = std::uint64_t{64} << 20U;  ///< arrays up to this size are written whole
constexpr std::uint64_t kStringBytes = std::uint64_t{1} << 30U;  ///< of strings of a fixed size, in total
constexpr std::uint64_t kFilled = std::uint64_t{1} << 32U;       ///< elements that are filled one by one
constexpr std::uint64_t kPerByte = 16;                           ///< maximum bytes of an array per byte of text

template <class Group, class Visit>
Result<void> for_each_group(Group& group, const Visit& visit) {  // NOLINT(misc-no-recursion)
  SHERD_TRY(visit(group));
  for (CdlGroup* each : group.group_order) SHERD_TRY(for_each_group<Group>(*each, visit));
  return {};
}

template <class Group, class Visit>
Result<void> for_each_variable(Group& group, const Visit& visit) {
  return for_each_group(group, [&](Group& each) -> Result<void> {
    for (CdlVariable* variable : each.variable_order) SHERD_TRY(visit(*variable));
    return {};
  });
}

/// Puts filters that have their own attributes, in netCDF's order, around those of `_Filter`.
void join_filters(NewVariable& definition, std::size_t element_size) {
  const auto codec = [](const char* name, Json::Object configuration) {
    return Json(Json::Object{{"name", name}, {"configuration", Json(std::move(configuration))}});
  };
  std::vector<Json>& codecs = *definition.codecs;
  if (definition.shuffle && element_size > 1)
    codecs.insert(codecs.begin(), codec("numcodecs.shuffle", {{"elementsize", element_size}}));
  if (definition.deflate_level) codecs.push_back(codec("numcodecs.zlib", {{"level", *definition.deflate_level}}));
  if (definition.fletcher32) {
    std::erase_if(codecs, [](const Json& each) { return plain_name(each) == "fletcher32"; });
    codecs.push_back(codec("numcodecs.fletcher32", {}));
  }
  definition.shuffle = definition.fletcher32 = false;
  definition.deflate_level.reset();
}

/// Adds the byte order and all filters to given codecs. `_Codecs` contains all filters.
void complete_codecs(CdlVariable& variable) {
  NewVariable& definition = variable.definition;
  const bool is_text = definition.type == Type::character || definition.type == Type::string;
  const std::size_t size = is_text ? 1 : element_size(definition.type);
  if (!variable.all_codecs.empty()) {
    definition.codecs = variable.all_codecs;
    definition.shuffle = definition.fletcher32 = false;
    definition.deflate_level.reset();
  }
  if (definition.fletcher32 && definition.deflate_level && !definition.codecs) definition.codecs.emplace();
  if (!definition.codecs) return;
  if (variable.all_codecs.empty()) join_filters(definition, size);
  const char* order = definition.big_endian ? "big" : "little";
  definition.big_endian = false;
  Json bytes{Json::Object{{"name", "bytes"}}};
  if (size > 1) bytes.set("configuration", Json::Object{{"endian", order}});
  const auto named = std::ranges::find(*definition.codecs, "bytes", plain_name);
  if (named != definition.codecs->end())
    *named = std::move(bytes);
  else
    definition.codecs->insert(definition.codecs->begin(), std::move(bytes));
}

/// The order of a checksum and a compressor is fixed in Zarr v3 only. `_Codecs` is taken literally.
Result<void> check_checksum(const Writer& writer, const CdlVariable& variable) {
  const auto& codecs = variable.definition.codecs;
  if (!codecs || !variable.all_codecs.empty() || writer.format() != "zarr2") return {};
  const auto is_other = [](const Json& each) {
    return !is_layout(each) && plain_name(each) != "shuffle" && plain_name(each) != "fletcher32";
  };
  if (std::ranges::find(*codecs, "fletcher32", plain_name) == codecs->end() || std::ranges::none_of(*codecs, is_other))
    return {};
  return unsupported("'" + variable.definition.name +
                     "' has _Fletcher32 and compression, which readers of Zarr v2 do not agree on; leave one of them "
                     "out, or write Zarr v3 (--store-format zarr3)");
}

/// Where a text that is too long is cut: between characters, or literally at that byte.
std::size_t cut_of(const std::string& text, std::uint64_t length, LongTexts how) {
  auto end = static_cast<std::size_t>(length);
  if (how == LongTexts::cut_bytes) return end;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80) --end;
  return end;
}

/// Makes strings long enough, or cuts texts that are longer than the dataset's length.
Result<void> fit_strings(Cdl::State& state, CdlVariable& variable, LongTexts how) {
  if (variable.definition.type != Type::string) return {};
  std::string_view limit = kMaxLength;
  auto length = string_length_in(variable.definition.attributes);
  if (!length) length = string_length_in(state.root.attributes, limit = kDefaultMaxLength);
  std::uint64_t longest = std::get<std::vector<std::string>>(variable.fill()).front().size(), cut = 0;
  if (auto* texts = std::get_if<std::vector<std::string>>(&variable.data.values)) {
    for (std::string& text : *texts) {
      if (length && text.size() > *length) {
        if (how == LongTexts::refused)
          return at(variable.position,
                    invalid_argument("'" + variable.definition.name + "' has a text of " + std::to_string(text.size()) +
                                     " bytes, more than the " + std::to_string(*length) + " of " + std::string(limit) +
                                     "; raise that attribute, or cut such texts with --truncate"));
        text.resize(cut_of(text, *length, how));
        ++cut;
      }
      longest = std::max<std::uint64_t>(longest, text.size());
    }
  }
  if (cut > 0 && how == LongTexts::cut_characters)
    state.warnings.push_back(variable.full_name() + ": " + std::to_string(cut) +
                             (cut == 1 ? " text is" : " texts are") + " longer than " + std::to_string(*length) +
                             " bytes (" + std::string(limit) + ") and cut to that");
  variable.definition.string_length = std::max(longest, length.value_or(kDefaultStringLength));
  return {};
}

/// A text as fill value is written into every element.
Result<void> check_filled(const CdlVariable& variable) {
  const bool is_text = variable.definition.type == Type::string || variable.definition.type == Type::character;
  if (!is_text || !variable.attributes.contains(kFillValue)) return {};
  if (element_count(variable.shape()).value_or(kFilled) < kFilled) return {};
  return at(variable.position,
            unsupported("'" + variable.definition.name +
                        "' has 2^32 or more elements, which is too many for a text with a _FillValue"));
}

Values filled(const Values& fill, std::size_t count) {
  return std::visit([&](const auto& one) -> Values { return std::remove_cvref_t<decltype(one)>(count, one.front()); },
                    fill);
}

void copy_values(const Values& from, std::size_t begin, std::size_t count, Values& to, std::size_t at) {
  std::visit(
      [&](auto& list) {
        const auto& source = std::get<std::remove_cvref_t<decltype(list)>>(from);
        std::copy_n(source.begin() + static_cast<std::ptrdiff_t>(begin), count,
                    list.begin() + static_cast<std::ptrdiff_t>(at));
      },
      to);
}

Values slice_of(const Values& values, std::size_t begin, std::size_t count) {
  return std::visit(
      [&](const auto& list) -> Values {
        const auto first = list.begin() + static_cast<std::ptrdiff_t>(begin);
        return std::remove_cvref_t<decltype(list)>(first, first + static_cast<std::ptrdiff_t>(count));
      },
      values);
}

/// Writes the data of one variable.
class DataWriter {
 public:
  DataWriter(Writer& writer, const CdlVariable& variable, std::size_t text_size)
      : writer_(writer), data_(variable.data), variable_(variable), shape_(variable.shape()), text_size_(text_size) {}

  Result<void> run() {
    if (data_.runs.empty()) return {};
    const auto bytes = whole_size();
    if (data_.runs.size() > 1 && bytes && *bytes <= std::max(kDenseBytes, text_size_ * kPerByte)) return write_whole();
    for (const CdlRun& run : data_.runs) {
      Box box{Shape(data_.indices.begin() + static_cast<std::ptrdiff_t>(run.outer),
                    data_.indices.begin() + static_cast<std::ptrdiff_t>(run.outer + data_.inner)),
              Shape(data_.inner, 1)};
      box.origin.resize(shape_.size(), 0);
      box.shape.resize(shape_.size(), 1);
      const std::uint64_t batch = batch_size();
      for (std::uint64_t done = 0; done < run.count; done += batch)
        SHERD_TRY(range(data_.inner, run.offset + done, std::min<std::uint64_t>(batch, run.count - done),
                        run.begin + done, box));
    }
    return {};
  }

 private:
  [[nodiscard]] std::uint64_t element_bytes() const {
    if (variable_.definition.type == Type::string)
      return sizeof(std::string) + variable_.definition.string_length.value_or(0);
    return std::visit([](const auto& list) { return sizeof(list[0]); }, data_.values);
  }
  [[nodiscard]] std::optional<std::uint64_t> whole_size() const {
    const auto elements = element_count(shape_);
    return elements ? checked_mul(*elements, element_bytes()) : std::nullopt;
  }
  [[nodiscard]] std::uint64_t batch_size() const {
    if (variable_.definition.type != Type::string) return size_of(data_.values);
    return std::max<std::uint64_t>(1, kBatchBytes / element_bytes());
  }

  Result<void> write_whole() {
    Values all = filled(variable_.fill(), *element_count(shape_));
    const std::uint64_t inner =
        *element_count(Shape(shape_.begin() + static_cast<std::ptrdiff_t>(data_.inner), shape_.end()));
    for (const CdlRun& run : data_.runs) {
      std::uint64_t index = 0;
      for (std::size_t d = 0; d < data_.inner; ++d) index = index * shape_[d] + data_.indices[run.outer + d];
      copy_values(data_.values, run.begin, run.count, all, index * inner + run.offset);
    }
    return writer_.write(variable_.full_name(), Box{Shape(shape_.size(), 0), shape_}, all);
  }

  /// Writes consecutive elements along dimension `d` and those after it: the rest of an index, whole indices, and the
  /// beginning of another.
  Result<void> range(std::size_t d, std::uint64_t offset, std::uint64_t count, std::size_t begin,  // NOLINT
                     Box& box) {
    if (d == shape_.size()) return write(box, begin, count);
    std::uint64_t row = 1;
    for (std::size_t inner = d + 1; inner < shape_.size(); ++inner)
      row = checked_mul(row, shape_[inner]).value_or(~0ULL);
    const auto part = [&](std::uint64_t index, std::uint64_t inside, std::uint64_t length) -> Result<void> {
      box.origin[d] = index;
      box.shape[d] = 1;
      return range(d + 1, inside, length, begin, box);
    };
    if (offset % row != 0 || count < row) {
      const std::uint64_t head = std::min(count, row - offset % row);
      SHERD_TRY(part(offset / row, offset % row, head));
      offset += head, begin += head, count -= head;
    }
    if (const std::uint64_t whole = count / row; whole > 0) {
      box.origin[d] = offset / row;
      box.shape[d] = whole;
      for (std::size_t inner = d + 1; inner < shape_.size(); ++inner) {
        box.origin[inner] = 0;
        box.shape[inner] = shape_[inner];
      }
      SHERD_TRY(write(box, begin, whole * row));
      offset += whole * row, begin += whole * row, count -= whole * row;
    }
    return count > 0 ? part(offset / row, 0, count) : Result<void>();
  }

  Result<void> write(const Box& box, std::size_t begin, std::size_t count) {
    if (begin == 0 && count == size_of(data_.values)) return writer_.write(variable_.full_name(), box, data_.values);
    return writer_.write(variable_.full_name(), box, slice_of(data_.values, begin, count));
  }

  Writer& writer_;
  const CdlData& data_;
  const CdlVariable& variable_;
  const Shape shape_;
  const std::size_t text_size_;
};

/// Whether the data contain every element.
bool is_whole(const CdlVariable& variable) {
  std::uint64_t given = 0;
  for (const CdlRun& run : variable.data.runs) given += run.count;
  return given == element_count(variable.shape());
}

/// Strings of a fixed size are all as long as the longest.
Result<void> check_string_bytes(const Writer& writer, const CdlVariable& variable, std::size_t text_size) {
  const bool any_length = has_variable_strings(writer.mode(), writer.format() != "zarr2");
  if (variable.definition.type != Type::string || any_length) return {};
  const auto bytes = checked_mul(size_of(variable.data.values), variable.definition.string_length.value_or(0));
  if (bytes && *bytes <= std::max(kStringBytes, text_size * kPerByte)) return {};
  return unsupported("all strings of a variable in Zarr v2 are as long as the longest, here " +
                     std::to_string(*variable.definition.string_length) + " bytes; write Zarr v3 or shorten it");
}

}  // namespace

Result<void> finish_cdl(Cdl::State& state, LongTexts long_texts) {
  if (state.header_only) {
    SHERD_TRY(for_each_group(state.root, [](CdlGroup& group) -> Result<void> {
      for (CdlDimension* each : group.dimension_order)
        if (each->unlimited) each->length = 0;
      for (CdlVariable* each : group.variable_order) each->data = {};
      return {};
    }));
  }
  return for_each_variable(state.root, [&](CdlVariable& variable) -> Result<void> {
    complete_codecs(variable);
    SHERD_TRY(fit_strings(state, variable, long_texts));
    if (variable.nulls > 0 && !state.header_only)
      state.warnings.push_back(variable.full_name() + ": " + std::to_string(variable.nulls) +
                               (variable.nulls == 1 ? " null string (NIL) is" : " null strings (NIL) are") +
                               " stored as empty text");
    return check_filled(variable);
  });
}

Result<void> Cdl::check_names(const ShardLengths& shards) const {
  std::set<std::string, std::less<>> variables, dimensions;
  const auto add = [](auto& names, const std::string& group, const std::string& name) {
    const std::string path = member_path(group, name);
    names.insert({name, path, path.substr(1)});
  };
  SHERD_TRY(for_each_group(state_->root, [&](const CdlGroup& group) -> Result<void> {
    for (const CdlVariable* each : group.variable_order) add(variables, group.path, each->definition.name);
    for (const CdlDimension* each : group.dimension_order) add(dimensions, group.path, each->name);
    return {};
  }));
  for (const auto& [name, lengths] : shards.variables)
    if (!variables.contains(name)) return not_found("the text has no variable '" + name + "'").in_member("shards");
  for (const auto& [name, length] : shards.dimensions)
    if (!dimensions.contains(name)) return not_found("the text has no dimension '" + name + "'").in_member("shards");
  return {};
}

Result<void> Cdl::define(Writer& writer) const {
  const CdlGroup& root = state_->root;
  for (const Attribute& each : root.attributes) SHERD_TRY(writer.set_attribute("/", each));
  SHERD_TRY(for_each_group(root, [&](const CdlGroup& group) -> Result<void> {
    if (group.parent != nullptr) {
      auto defined = writer.define_group(group.path, group.attributes);
      if (!defined) return at(group.position, std::move(defined).error());
    }
    for (const CdlDimension* each : group.dimension_order) {
      auto defined = writer.define_dimension(group.path, each->name, each->length, each->unlimited);
      if (!defined) return at(each->position, std::move(defined).error());
    }
    return {};
  }));
  return for_each_variable(root, [&](const CdlVariable& variable) -> Result<void> {
    SHERD_TRY(check_string_bytes(writer, variable, state_->text_size).in([&] { return to_string(variable.position); }));
    SHERD_TRY(check_checksum(writer, variable).in([&] { return to_string(variable.position); }));
    NewVariable definition = variable.definition;
    if (writer.format() == "zarr2" && is_whole(variable))
      definition.no_fill |= needs_no_fill(writer.mode(), definition);
    return writer.define_variable(variable.group, std::move(definition)).in([&] {
      return to_string(variable.position);
    });
  });
}

Result<void> Cdl::write(Writer& writer) const {
  SHERD_TRY(define(writer));
  SHERD_TRY(for_each_variable(state_->root, [&](const CdlVariable& variable) {
    return DataWriter(writer, variable, state_->text_size).run().in([&] { return to_string(variable.position); });
  }));
  return writer.sync();
}

}  // namespace sherd::netcdf
