// Reads elements of an array as netCDF values: numbers in place, text split into strings.
#include <algorithm>
#include <cstring>
#include <new>

#include "base/buffer.hpp"
#include "base/checked.hpp"
#include "base/try.hpp"
#include "base/utf8.hpp"
#include "codec/number.hpp"
#include "netcdf/model.hpp"
#include "netcdf/type.hpp"

namespace sherd::netcdf {

namespace {

/// The stored part of a box, since unlimited dimensions may be longer than the array.
struct Target {
  Box stored;
  bool whole = true;   ///< all of it
  bool empty = false;  ///< nothing
};

Target clip(const Box& box, const Shape& shape) {
  Target target{box};
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (box.origin[d] + box.shape[d] <= shape[d]) continue;
    target.whole = false;
    target.stored.shape[d] = box.origin[d] < shape[d] ? shape[d] - box.origin[d] : 0;
    target.stored.origin[d] = std::min(box.origin[d], shape[d]);
  }
  target.empty = std::ranges::find(target.stored.shape, 0U) != target.stored.shape.end();
  return target;
}

/// Reads into `count` elements of the array's own type; missing elements are the fill value.
Result<void> read_elements(const Array& array, const Box& box, std::byte* to, VarBytesArena* arena) {
  const Target target = clip(box, array.shape());
  const std::size_t size = array.dtype().size();
  if (!target.whole) {
    const std::uint64_t count = *element_count(box.shape);
    for (std::uint64_t i = 0; i < count; ++i) std::memcpy(to + i * size, array.fill_value().data(), size);
  }
  if (target.empty) return {};
  AnyView view = AnyView::dense(to, array.dtype(), box.shape);
  view.shape = target.stored.shape;
  return array.read(target.stored, view, arena);
}

Result<std::string> utf8_of(const std::byte* element, std::size_t size) {
  std::string text;
  for (std::size_t i = 0; i + 4 <= size; i += 4) {
    std::uint32_t code = 0;
    std::memcpy(&code, element + i, sizeof code);
    if (code == 0) break;
    if (code > 0x10FFFF) return corrupt("an element contains " + std::to_string(code) + ", which is not a character");
    append_utf8(code, text);
  }
  return text;
}

/// The text of a fixed-size element, up to the first NUL.
std::string text_of(const std::byte* element, std::size_t size) {
  const auto* text = reinterpret_cast<const char*>(element);
  return {text, strnlen(text, size)};
}

Result<std::vector<std::string>> read_strings(const Array& array, const Box& box, std::uint64_t count) {
  const std::size_t size = array.dtype().size();
  std::vector<std::string> texts;
  Buffer buffer;
  SHERD_TRY(buffer.resize(count * size));
  VarBytesArena arena;
  SHERD_TRY(read_elements(array, box, buffer.data(), array.dtype().is_variable() ? &arena : nullptr));
  texts.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::byte* element = buffer.data() + i * size;
    if (array.dtype().is_variable()) {
      VarBytes text;
      std::memcpy(&text, element, sizeof text);
      texts.emplace_back(text.view());
    } else if (array.dtype().kind() == DType::Kind::utf32) {
      SHERD_TRY(text, utf8_of(element, size));
      texts.push_back(std::move(text));
    } else {
      texts.push_back(text_of(element, size));
    }
  }
  return texts;
}

template <class Half>
Result<void> read_halves(const Array& array, const Box& box, std::span<std::byte> to) {
  Buffer halves;
  SHERD_TRY(halves.resize(to.size() / 2));
  SHERD_TRY(read_elements(array, box, halves.data(), nullptr));
  for (std::size_t i = 0; i < to.size() / sizeof(float); ++i) {
    Half half;
    std::memcpy(&half, halves.data() + i * sizeof half, sizeof half);
    const auto value = static_cast<float>(half.value());
    std::memcpy(to.data() + i * sizeof value, &value, sizeof value);
  }
  return {};
}

/// Reads fixed-size elements as the type of the variable.
Result<void> read_fixed(const Array& array, const Box& box, std::span<std::byte> to) {
  if (array.dtype().kind() == DType::Kind::float16) return read_halves<Float16>(array, box, to);
  if (array.dtype().kind() == DType::Kind::bfloat16) return read_halves<BFloat16>(array, box, to);
  return read_elements(array, box, to.data(), nullptr);
}

Result<void> check_box(const Box& box, const Shape& shape) {
  if (box.origin.size() != shape.size() || box.shape.size() != shape.size())
    return invalid_argument("the variable has " + std::to_string(shape.size()) + " dimensions, the box " +
                            std::to_string(box.shape.size()));
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (box.origin[d] > shape[d] || box.shape[d] > shape[d] - box.origin[d])
      return invalid_argument("the box ends beyond the variable, whose shape is " + sherd::to_string(shape));
  return {};
}

/// `unavailable` unless there is memory for this many elements, as stored and as values. Containers of the standard
/// library would throw.
Result<void> check_memory(const Variable::State& variable, std::uint64_t count) {
  constexpr std::uint64_t kSmall = std::uint64_t{1} << 20U;
  const std::uint64_t stored = variable.array ? variable.array->dtype().size() : sizeof(char*);
  const std::uint64_t value = variable.type == Type::string ? sizeof(std::string) : element_size(variable.type);
  const auto bytes = checked_mul(count, stored + value);
  if (!bytes) return unsupported("the selection is larger than the address space");
  if (*bytes < kSmall) return {};
  Buffer buffer;
  return buffer.resize(*bytes);
}

struct Wanted {
  Box box;  ///< of the array, or of the source
  std::uint64_t count = 0;
};

Result<Wanted> wanted(const Variable::State& variable, const Box& box, const Shape& shape) {
  SHERD_TRY(check_box(box, shape));
  Wanted wanted{box};
  // A scalar is an array of one element, or one without dimensions.
  if (variable.scalar && variable.array)
    wanted.box = Box{Shape(variable.array->ndim(), 0), Shape(variable.array->ndim(), 1)};
  const auto count = element_count(wanted.box.shape);
  if (!count || *count > std::uint64_t{1} << 48U) return unsupported("the selection is larger than the address space");
  wanted.count = *count;
  return wanted;
}

Result<void> read_bytes(const Variable::State& variable, const Wanted& wanted, std::span<std::byte> to) {
  if (wanted.count == 0) return {};
  return variable.array ? read_fixed(*variable.array, wanted.box, to) : variable.elements->read(wanted.box, to);
}

Result<Values> read_values(const Variable::State& variable, const Wanted& wanted, std::vector<std::uint64_t>& nulls) {
  if (variable.type == Type::string) {
    auto texts = variable.array ? read_strings(*variable.array, wanted.box, wanted.count)
                                : variable.elements->read_strings(wanted.box, nulls);
    if (!texts) return std::move(texts).error();
    return Values(*std::move(texts));
  }
  Values values = no_values(variable.type);
  auto result = std::visit(
      [&](auto& list) -> Result<void> {
        list.resize(wanted.count);
        return read_bytes(variable, wanted, std::as_writable_bytes(std::span(list)));
      },
      values);
  if (!result) return std::move(result).error();
  return values;
}

}  // namespace

Result<Values> Variable::read(const Box& box) const {
  std::vector<std::uint64_t> nulls;
  return read(box, nulls);
}

Result<Values> Variable::read(const Box& box, std::vector<std::uint64_t>& nulls) const {
  nulls.clear();
  SHERD_TRY(what, wanted(*state_, box, shape()));
  SHERD_TRY(check_memory(*state_, what.count));
  try {
    return read_values(*state_, what, nulls);
  } catch (const std::bad_alloc&) {
    return unavailable("out of memory: " + std::to_string(what.count) + " elements");
  }
}

Result<void> Variable::read(const Box& box, std::span<std::byte> into) const {
  if (state_->type == Type::string)
    return invalid_argument("the elements are strings, which have no fixed size; read them as Values");
  SHERD_TRY(what, wanted(*state_, box, shape()));
  if (into.size() / element_size(state_->type) != what.count || into.size() % element_size(state_->type) != 0)
    return invalid_argument("the box has " + std::to_string(what.count) + " elements, the memory " +
                            std::to_string(into.size()) + " bytes");
  return read_bytes(*state_, what, into);
}

Result<Values> Variable::read() const { return read(Box{Shape(state_->dimensions.size(), 0), shape()}); }

}  // namespace sherd::netcdf
