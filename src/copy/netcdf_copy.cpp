// First all definitions, group by group; then the elements of all variables, box by box, on all threads in parallel.
// The boxes in memory share the budget.
#include "copy/netcdf_copy.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <utility>

#include "array/create.hpp"
#include "base/buffer.hpp"
#include "base/checked.hpp"
#include "base/pool.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "base/utf8.hpp"
#include "copy/heap_trimmer.hpp"
#include "netcdf/attribute.hpp"
#include "netcdf/cdl/lexer.hpp"
#include "netcdf/definitions.hpp"
#include "netcdf/filters.hpp"
#include "netcdf/names.hpp"
#include "netcdf/shards.hpp"
#include "netcdf/type.hpp"

namespace sherd::netcdf {

namespace {

bool in_zarr(FilterForm form) { return form == FilterForm::zarr2 || form == FilterForm::zarr3; }

bool is_group_named(const std::string& wanted, const Group& group) {
  return wanted == group.path() || "/" + wanted == group.path() || wanted == group.name();
}

bool is_named(const std::string& wanted, const Dimension& dimension) {
  return wanted == dimension.name || wanted == dimension.full_name();
}

/// Whether the options set the chunk length of a variable along a dimension.
bool is_chunk_chosen(const Variable& source, const Dimension& dimension, const DatasetCopyOptions& options) {
  if (std::ranges::any_of(options.variable_chunks, [&](const auto& each) { return is_named(each.first, source); }))
    return true;
  return std::ranges::any_of(options.dimension_chunks,
                             [&](const auto& each) { return is_named(each.first, dimension); });
}

/// The part of the source that is copied.
class Selection {
 public:
  explicit Selection(const DatasetCopyOptions& options) : options_(options) {}

  /// Whether the copy contains the group, possibly only because of another group below it.
  [[nodiscard]] bool has(const Group& group) const {  // NOLINT(misc-no-recursion)
    return in(options_.groups, group) ||
           std::ranges::any_of(group.groups(), [&](const Group& each) { return has(each); });
  }
  [[nodiscard]] bool has(const Group& group, const Variable& variable) const {
    return in(options_.groups, group) && in(options_.variables, variable);
  }
  [[nodiscard]] bool has_data(const Group& group, const Variable& variable) const {
    return has(group, variable) && in(options_.data_groups, group) && in(options_.data_variables, variable);
  }
  /// Whether an unlimited dimension of the source has elements in the copy, which determine its length.
  [[nodiscard]] bool has_data(const Group& group, const Dimension& dimension) const {  // NOLINT(misc-no-recursion)
    const auto along = [&](const Variable& variable) {
      return has_data(group, variable) && std::ranges::find(variable.dimensions(), dimension.full_name(),
                                                            &Dimension::full_name) != variable.dimensions().end();
    };
    return std::ranges::any_of(group.variables(), along) ||
           std::ranges::any_of(group.groups(), [&](const Group& each) { return has_data(each, dimension); });
  }
  [[nodiscard]] bool is_everything() const {
    return options_.groups.empty() && options_.variables.empty() && options_.data_groups.empty() &&
           options_.data_variables.empty();
  }

 private:
  static bool in(const std::vector<std::string>& names, const Group& group) {
    return names.empty() || std::ranges::any_of(names, [&](const auto& name) { return is_group_named(name, group); });
  }
  static bool in(const std::vector<std::string>& names, const Variable& variable) {
    return names.empty() || std::ranges::any_of(names, [&](const auto& name) { return is_named(name, variable); });
  }

  const DatasetCopyOptions& options_;
};

/// One variable, and the boxes in which it is copied.
struct Part {
  Variable variable;
  Boxes boxes;
  std::uint64_t element_bytes = 1;  ///< memory of an element
  std::uint64_t first = 0;          ///< number of the first box, counted over all variables
};

class Copier {
 public:
  Copier(const CopyTask& task, DatasetCopyReport report)
      : task_(task),
        options_(task.options),
        selection_(task.options),
        report_(std::move(report)),
        budget_(task.options.config.memory_budget / 2),
        trimmer_(task.options.config.memory_budget / kTrimsPerBudget) {}

  Result<DatasetCopyReport> run() {
    const auto& read = task_.source.warnings();
    report_.warnings.insert(report_.warnings.begin(), read.begin(), read.end());
    SHERD_TRY(check_names());
    SHERD_TRY(define(task_.source.root()));
    std::ranges::move(task_.sink.losses(), std::back_inserter(report_.warnings));
    SHERD_TRY(task_.sink.end_definitions());
    SHERD_TRY(copy_elements());
    for (const auto& [name, count] : nulls_)
      report_.warnings.push_back(name + ": " + std::to_string(count) +
                                 (count == 1 ? " null string (NIL)" : " null strings (NIL)") + " became empty");
    SHERD_TRY(task_.sink.finish());
    return std::move(report_);
  }

 private:
  /// Names in the options that match nothing are most likely misspelled.
  Result<void> check_names() const {
    const auto check_variable = [&](const std::string& name) -> Result<void> {
      if (any_variable(task_.source.root(), [&](const Variable& each) { return is_named(name, each); })) return {};
      return not_found("the dataset has no variable '" + name + "'");
    };
    const auto check_group = [&](const std::string& name) -> Result<void> {
      if (any_group(task_.source.root(), [&](const Group& each) { return is_group_named(name, each); })) return {};
      return not_found("the dataset has no group '" + name + "'");
    };
    for (const auto& [member, names] :
         {std::pair("variables", &options_.variables), std::pair("data_variables", &options_.data_variables)})
      for (const std::string& name : *names) SHERD_TRY(check_variable(name).in_member(member));
    for (const auto& [member, names] :
         {std::pair("groups", &options_.groups), std::pair("data_groups", &options_.data_groups)})
      for (const std::string& name : *names) SHERD_TRY(check_group(name).in_member(member));
    for (const auto& [name, chunks] : options_.variable_chunks) SHERD_TRY(check_variable(name).in_member("chunks"));
    for (const FilterChoice& choice : options_.filters)
      for (const std::string& name : choice.variables) SHERD_TRY(check_variable(name).in_member("filters"));
    for (const auto& [name, shards] : options_.shards.variables) SHERD_TRY(check_variable(name).in_member("shards"));
    for (const auto& [name, length] : options_.shards.dimensions)
      if (!any_dimension(task_.source.root(), name))
        return not_found("the dataset has no dimension '" + name + "'").in_member("shards");
    for (const auto& [name, length] : options_.dimension_chunks)
      if (!any_dimension(task_.source.root(), name))
        return not_found("the dataset has no dimension '" + name + "'").in_member("chunks");
    return {};
  }

  template <class Test>
  static bool any_variable(const Group& group, const Test& test) {  // NOLINT(misc-no-recursion)
    return std::ranges::any_of(group.variables(), test) ||
           std::ranges::any_of(group.groups(), [&](const Group& each) { return any_variable(each, test); });
  }
  template <class Test>
  static bool any_group(const Group& group, const Test& test) {  // NOLINT(misc-no-recursion)
    return test(group) || std::ranges::any_of(group.groups(), [&](const Group& each) { return any_group(each, test); });
  }
  static bool any_dimension(const Group& group, const std::string& name) {  // NOLINT(misc-no-recursion)
    return std::ranges::any_of(group.dimensions(), [&](const Dimension& each) { return is_named(name, each); }) ||
           std::ranges::any_of(group.groups(), [&](const Group& each) { return any_dimension(each, name); });
  }

  Result<void> define(const Group& group) {  // NOLINT(misc-no-recursion)
    const bool root = group.path() == "/";
    if (!root) {
      ++report_.groups;
      SHERD_TRY(task_.sink.define_group(
          group.path(), copied_attributes(group.attributes(), task_.form, group.path(), report_.warnings)));
    }
    for (Dimension each : group.dimensions()) {
      if (options_.fixed_dimensions) each.unlimited = false;
      const bool has_elements = selection_.is_everything() || selection_.has_data(task_.source.root(), each);
      if (each.unlimited && !has_elements) each.length = 0;
      SHERD_TRY(task_.sink.define_dimension(each));
    }
    for (const Variable& each : group.variables())
      if (selection_.has(group, each)) SHERD_TRY(define(group, each).in([&] { return each.full_name(); }));
    for (const Group& each : group.groups())
      if (selection_.has(each)) SHERD_TRY(define(each));
    return {};
  }

  Result<void> define(const Group& group, const Variable& source) {
    NewVariable to{.name = source.name(), .type = source.type(), .no_fill = source.storage().no_fill};
    for (const Dimension& each : source.dimensions()) to.dimensions.push_back(each.full_name());
    to.attributes = copied_attributes(source.attributes(), task_.form, source.full_name(), report_.warnings);
    drop_wrong_fill(to, source);
    if (task_.form == FilterForm::zarr3) keep_array_fill(to, source);
    SHERD_TRY(has_data, has_elements(group, source));
    if (has_data && task_.form == FilterForm::zarr2) to.no_fill |= needs_no_fill(task_.mode, to);
    StringSizes strings;
    if (source.type() == Type::string) {
      SHERD_TRY(sizes, string_sizes(source, has_data, to));
      strings = sizes;
    }
    SHERD_TRY(filters, choose_filters(source, options_, task_.form, to, report_.warnings));
    if (task_.form == FilterForm::none && has_filters(source))
      report_.warnings.push_back(source.full_name() + ": the copy has no filters, which classic files cannot have");
    const bool filtered = to.deflate_level || to.shuffle || to.fletcher32 || !filters.empty();
    SHERD_TRY(chunks, chunks_of(source, filtered, strings.stored()));
    to.chunks = chunks;
    SHERD_TRY(shards, shards_of(source, chunks));
    to.shards = shards;
    const Shape objects = to.shards.empty() ? to.chunks : to.shards;
    SHERD_TRY(task_.sink.define_variable(group.path(), std::move(to), std::move(filters)));
    ++report_.variables;
    return has_data ? add_part(source, objects, strings) : Result<void>();
  }

  [[nodiscard]] Result<bool> has_elements(const Group& group, const Variable& source) const {
    if (!selection_.has_data(group, source)) return false;
    if (!task_.sparse || !source.has_array()) return true;
    SHERD_TRY(stored, source.array().nchunks_initialized());
    return stored > 0;
  }

  /// A fill value of another type, which only classic files can have, is ignored.
  void drop_wrong_fill(NewVariable& to, const Variable& source) {
    const auto fill = std::ranges::find(to.attributes, kFillValue, &Attribute::name);
    if (fill == to.attributes.end()) return;
    if (type_of(fill->values) == source.type() && size_of(fill->values) == 1) return;
    if (task_.form == FilterForm::none) return;
    report_.warnings.push_back(source.full_name() +
                               ": the attribute '_FillValue' is left out: it is not one value of " + "the type " +
                               std::string(to_string(source.type())));
    to.attributes.erase(fill);
  }

  /// So that what is missing in the source is missing in the copy.
  static void keep_array_fill(NewVariable& to, const Variable& source) {
    if (!source.has_array() || source.storage().no_fill) return;
    const DType &stored = source.array().dtype(), dtype = array_type(source.type(), 1).value();
    if (stored == dtype) to.array_fill = number_of(source.type(), source.array().fill_value());
  }

  [[nodiscard]] static bool has_filters(const Variable& source) {
    const Storage& storage = source.storage();
    return !storage.filters.empty() || !std::ranges::all_of(inner_codecs(storage.codecs), is_layout);
  }

  /// The sizes of strings, so that boxes can be planned. Strings of NCZarr in Zarr v2 have a fixed length, which must
  /// be that of the longest one.
  Result<StringSizes> string_sizes(const Variable& source, bool has_data, NewVariable& to) {
    const bool fixed = task_.form == FilterForm::zarr2 && !has_variable_strings(task_.mode, false);
    auto noted = string_length_in(source.attributes());
    if (!noted) noted = string_length_in(task_.source.root().attributes(), kDefaultMaxLength);
    const std::uint64_t usual = noted.value_or(kDefaultStringLength);
    auto sizes = known_sizes(source);
    const bool fits = !fixed || (sizes && sizes->longest <= usual);
    if (!fits || (!sizes && has_data)) {
      SHERD_TRY(measured, of_source(measured_sizes(source, options_.config)));
      sizes = measured;
    }
    if (!sizes) return StringSizes();
    if (fixed && sizes->longest > usual) to.string_length = sizes->longest;
    if (fixed) sizes->fixed = std::max(usual, sizes->longest);
    return *sizes;
  }

  /// Empty: none, or chosen by the sink.
  [[nodiscard]] Result<Shape> chunks_of(const Variable& source, bool filtered, std::uint64_t string_bytes) {
    if (source.dimensions().empty() || task_.form == FilterForm::none) return Shape();
    SHERD_TRY(chosen, chosen_chunks(source, options_));
    Shape chunks = chosen ? *chosen : source.storage().chunks;
    const bool grows =
        std::ranges::any_of(source.dimensions(), [&](const Dimension& each) { return is_unlimited(each); });
    const bool whole = chunks.empty() && chosen;
    if (!in_zarr(task_.form) && chunks.empty() && !filtered && !grows) return Shape();
    if (whole) chunks = source.shape();
    if (chunks.empty()) chunks = usual_chunks(source, string_bytes);
    const Shape shape = source.shape();
    for (std::size_t d = 0; d < chunks.size(); ++d) {
      // HDF5 does not allow chunks longer than a fixed dimension.
      chunks[d] =
          is_unlimited(source.dimensions()[d]) ? length_along(source, d, chunks[d]) : std::min(chunks[d], shape[d]);
      chunks[d] = std::max<std::uint64_t>(chunks[d], 1);
    }
    return chunks;
  }

  [[nodiscard]] Result<Shape> shards_of(const Variable& source, const Shape& chunks) const {
    if (task_.form != FilterForm::zarr3) return Shape();
    if (options_.shards.empty())
      return chunks == source.storage().chunks ? source.storage().shards.value_or(Shape()) : Shape();
    std::vector<Dimension> dimensions = source.dimensions();
    for (Dimension& each : dimensions) each.unlimited = is_unlimited(each);
    const DType dtype = source.type() == Type::string      ? DType(DType::string)
                        : source.type() == Type::character ? DType(DType::uint8)
                                                           : array_type(source.type(), 1).value();
    return chosen_shards(options_.shards, source.full_name(), dimensions, chunks, dtype);
  }

  [[nodiscard]] bool is_unlimited(const Dimension& dimension) const {
    return dimension.unlimited && !options_.fixed_dimensions;
  }

  /// The chunk length along an unlimited dimension. netcdf-c 4.9.1 and 4.9.2 cannot open a dataset of Zarr v2 with
  /// chunks longer than the array, or with an array without elements.
  std::uint64_t length_along(const Variable& source, std::size_t d, std::uint64_t length) {
    const Dimension& dimension = source.dimensions()[d];
    const std::uint64_t present = source.shape()[d];
    if (task_.form != FilterForm::zarr2 || length <= present || present == 0) return length;
    const bool chosen = is_chunk_chosen(source, dimension, options_);
    const std::string chunks = ": chunks of " + std::to_string(length) + " along '" + dimension.name + "'";
    const std::string refused =
        "netcdf-c 4.9.1 and 4.9.2 do not open chunks longer than the dimension, which is " + std::to_string(present);
    report_.warnings.push_back(source.full_name() + chunks +
                               (chosen ? " are stored as asked for, but " + refused
                                       : " become shorter: " + refused + "; chunks that are asked for are kept"));
    return chosen ? length : present;
  }

  Result<void> add_part(const Variable& source, const Shape& objects, const StringSizes& strings) {
    const std::uint64_t element_bytes = source.type() == Type::string ? strings.memory() : element_size(source.type());
    const std::uint64_t most = std::max<std::uint64_t>(options_.config.memory_budget / 2, 1);
    const std::uint64_t threads = thread_count(options_.config.threads);
    const BoxPlan plan{source.shape(), source.storage().chunks, objects, element_bytes};
    SHERD_TRY(boxes, boxes_of(plan.shape, box_shape(plan, most, std::min(kEnough, most / (2 * threads)))));
    const auto end = checked_add(boxes_, boxes.count);
    const auto elements = element_count(plan.shape);
    const std::uint64_t size = std::max<std::size_t>(1, element_size(source.type()));
    const auto bytes = elements ? checked_mul(*elements, size) : std::nullopt;
    const auto total = bytes ? checked_add(*bytes, report_.bytes) : std::nullopt;
    if (!end || !total) return unsupported("the dataset is larger than the address space");
    parts_.push_back({source, std::move(boxes), element_bytes, boxes_});
    boxes_ = *end;
    report_.bytes = *total;
    return {};
  }

  Result<void> copy_elements() {
    std::atomic<std::uint64_t> done = 0;
    const Config shared = with_requests(options_.config, kWaiting);
    const Config config = with_progress(shared, done, report_.bytes);
    SHERD_TRY(parallel_for(boxes_, config, [&](std::size_t i) -> Result<void> {
      const auto next = std::ranges::upper_bound(parts_, i, {}, &Part::first);
      const Part& part = *std::prev(next);
      const Box box = part.boxes.at(i - part.first);
      const std::uint64_t count = *element_count(box.shape);
      if (count > 0) SHERD_TRY(copy_box(part, box, count).in([&] { return part.variable.full_name(); }));
      done += count * std::max<std::size_t>(1, element_size(part.variable.type()));
      return {};
    }));
    if (options_.config.progress) options_.config.progress({done, report_.bytes});
    return {};
  }

  Result<void> copy_box(const Part& part, const Box& box, std::uint64_t count) {
    const std::string name = part.variable.full_name();
    const Budget::Share share = budget_.take(count * part.element_bytes);
    if (part.variable.type() == Type::string) {
      std::vector<std::uint64_t> nulls;
      SHERD_TRY(values, of_source(part.variable.read(box, nulls)));
      if (!nulls.empty()) {
        const std::scoped_lock lock(nulls_mutex_);
        nulls_[name] += nulls.size();
      }
      SHERD_TRY(task_.sink.write_strings(name, box, std::get<std::vector<std::string>>(std::move(values))));
      trimmer_.encoded(count * part.element_bytes);
      return {};
    }
    Buffer elements;
    SHERD_TRY(elements.resize(count * part.element_bytes));
    SHERD_TRY(of_source(part.variable.read(box, elements.span())));
    return task_.sink.write(name, box, elements.span());
  }

  template <class T>
  Result<T> of_source(Result<T> read) const {
    return in_store(std::move(read), task_.source.url());
  }

  const CopyTask& task_;
  const DatasetCopyOptions& options_;
  Selection selection_;
  DatasetCopyReport report_;
  Budget budget_;
  HeapTrimmer trimmer_;  ///< for strings, which fragment the heap
  std::vector<Part> parts_;
  std::uint64_t boxes_ = 0;
  std::mutex nulls_mutex_;
  std::map<std::string, std::uint64_t> nulls_;  ///< the number of strings in variables that were null pointers
};

}  // namespace

std::vector<Attribute> copied_attributes(const std::vector<Attribute>& attributes, FilterForm form,
                                         const std::string& place, std::vector<std::string>& warnings) {
  std::vector<Attribute> copied;
  for (Attribute each : attributes) {
    if (is_hidden_attribute(each.name) && form != FilterForm::none) {
      warnings.push_back(place + ": the attribute '" + each.name + "' is left out: the name is reserved");
      continue;
    }
    if (const auto fault = fault_of_name(each.name)) {
      warnings.push_back(place + ": the attribute '" + shown_name(each.name) +
                         "' is left out: netCDF does not allow the name: " + *fault);
      continue;
    }
    if (!std::exchange(each.nulls, {}).empty())
      warnings.push_back(place + ": the attribute '" + each.name + "' has null strings (NIL), which became empty");
    const auto convert = [&](std::string& text) {
      if (is_utf8(text)) return;
      text = from_latin1(text);
      warnings.push_back(place + ": the attribute '" + each.name + "' is not UTF-8 and is read as Latin-1");
    };
    if (in_zarr(form)) {
      if (auto* text = std::get_if<std::string>(&each.values)) convert(*text);
      if (auto* texts = std::get_if<std::vector<std::string>>(&each.values)) std::ranges::for_each(*texts, convert);
    }
    copied.push_back(std::move(each));
  }
  return copied;
}

Result<std::optional<Shape>> chosen_chunks(const Variable& source, const DatasetCopyOptions& options) {
  const Shape shape = source.shape();
  if (options.unchunked) return std::optional(Shape());
  for (const auto& [name, chunks] : options.variable_chunks) {
    if (!is_named(name, source)) continue;
    const bool fits = chunks.empty() || chunks.size() == shape.size();
    if (!fits && source.full_name() != "/" + name && !name.starts_with('/')) continue;  // the name of another variable
    if (!fits)
      return invalid_argument("the variable has " + std::to_string(shape.size()) + " dimensions, but there are " +
                              std::to_string(chunks.size()) + " chunk lengths")
          .in_member("chunks");
    if (std::ranges::find(chunks, 0U) != chunks.end())
      return invalid_argument("chunk lengths must be positive").in_member("chunks");
    return std::optional(chunks);
  }
  Shape chunks = source.storage().chunks.empty() ? shape : source.storage().chunks;
  bool any = false;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const Dimension& dimension = source.dimensions()[d];
    for (const auto& [name, length] : options.dimension_chunks) {
      if (!is_named(name, dimension)) continue;
      chunks[d] = length == 0 ? shape[d] : length;
      any = true;
    }
  }
  return any ? std::optional(chunks) : std::nullopt;
}

Shape usual_chunks(const Variable& source, std::uint64_t string_bytes) {
  const auto dtype = array_type(source.type(), std::max(kDefaultStringLength, string_bytes));
  if (!dtype) return Shape(source.shape().size(), 1);  // of strings that are longer than a type can be
  return auto_chunks(source.shape(), *dtype, chunk_bytes_target(source.shape(), *dtype, false));
}

Result<DatasetCopyReport> copy_dataset(const CopyTask& task, DatasetCopyReport report) {
  return Copier(task, std::move(report)).run();
}

}  // namespace sherd::netcdf
