// Knows how to print elements as nested JSON lists, and how to parse such lists.
#include "cli/elements.hpp"

#include "base/try.hpp"

namespace sherd::cli {
namespace {

// Empty lists nested deeper than this are printed as one empty list: a shape may claim 2^60 of them.
constexpr std::uint64_t kMostEmptyLists = 1U << 16;

std::string empty_lists(const Shape& shape, std::size_t depth) {
  std::string text = "[";
  for (std::uint64_t i = 0; shape[depth] != 0 && i < shape[depth]; ++i)
    text += (i == 0 ? "" : ", ") + empty_lists(shape, depth + 1);
  return text + "]";
}

std::string no_elements(const Shape& shape) {
  std::uint64_t lists = 1;
  for (const std::uint64_t length : shape) {
    if (length == 0) return empty_lists(shape, 0);
    if (length > kMostEmptyLists / lists) break;
    lists *= length;
  }
  return "[]";
}

Result<void> collect(const Json& json, std::span<const std::uint64_t> shape, const DType& dtype,
                     std::vector<Scalar>& to) {
  if (shape.empty()) {
    SHERD_TRY(scalar, parse_scalar(json, dtype));
    to.push_back(std::move(scalar));
    return {};
  }
  if (!json.is_array() || json.size() != shape[0])
    return invalid_argument(json.is_array() ? "a list of " + std::to_string(json.size()) + " elements, " +
                                                  std::to_string(shape[0]) + " are expected"
                                            : "a list of " + std::to_string(shape[0]) + " is expected");
  for (std::size_t i = 0; i < json.elements().size(); ++i)
    SHERD_TRY(collect(json.elements()[i], shape.subspan(1), dtype, to).in_member("[" + std::to_string(i) + "]"));
  return {};
}

}  // namespace

ElementPrinter::ElementPrinter(Shape shape, DType dtype) : shape_(std::move(shape)), dtype_(std::move(dtype)) {}

// Between two elements: closes and opens the brackets of all dimensions that end and begin here.
void ElementPrinter::separate(std::string& to) const {
  std::size_t turning = 0;
  std::uint64_t block = 1;
  for (std::size_t d = shape_.size(); d > 0; --d) {
    block *= shape_[d - 1];
    if (next_ % block != 0) break;
    ++turning;
  }
  if (next_ == 0) {
    to.append(shape_.size(), '[');
  } else if (turning == 0) {
    to += ", ";
  } else {
    to.append(turning, ']');
    to += ",\n";
    to.append(shape_.size() - turning, ' ');
    to.append(turning, '[');
  }
}

std::string ElementPrinter::print(std::span<const std::byte> elements) {
  std::string text;
  for (std::size_t at = 0; at < elements.size(); at += dtype_.size()) {
    separate(text);
    text += print_scalar(elements.subspan(at, dtype_.size()), dtype_).dump();
    ++next_;
  }
  return text;
}

std::string ElementPrinter::finish() const {
  if (next_ == 0) return no_elements(shape_) + "\n";
  return std::string(shape_.size(), ']') + "\n";
}

Result<std::vector<Scalar>> parse_elements(const Json& json, const Shape& shape, const DType& dtype) {
  std::vector<Scalar> elements;
  SHERD_TRY(collect(json, shape, dtype, elements));
  return elements;
}

}  // namespace sherd::cli
