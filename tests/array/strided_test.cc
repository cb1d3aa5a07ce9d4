// Copies between a dense chunk and strided memory, compared with copies of one element after the other.
#include "array/strided.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>

namespace sherd {
namespace strided_test {

using Bytes = std::vector<std::byte>;
using Random = std::mt19937_64;

Bytes noise(std::size_t size, std::uint64_t seed) {
  Random random(seed);
  Bytes bytes(size);
  for (std::byte& each : bytes) each = static_cast<std::byte>(random());
  return bytes;
}

/// Calls `visit(chunk offset, memory offset)` for each element of a part, in bytes.
void each_element(const Region& part, std::span<const std::int64_t> strides, std::span<const std::int64_t> memory,
                  const std::function<void(std::int64_t, std::int64_t)>& visit) {
  const std::size_t rank = part.axes.size();
  const auto offset = [](std::uint64_t at, std::int64_t stride) { return static_cast<std::int64_t>(at) * stride; };
  if (part.points) {
    for (std::uint64_t i = 0; i < part.axes[0].count; ++i) {
      std::int64_t from = 0;
      for (std::size_t d = 0; d < rank; ++d) from += offset(part.axes[d].coordinate(i), strides[d]);
      visit(from, offset(part.axes[0].position(i), memory[0]));
    }
    return;
  }
  std::function<void(std::size_t, std::int64_t, std::int64_t)> nest = [&](std::size_t d, std::int64_t from,
                                                                          std::int64_t to) {
    if (d == rank) return visit(from, to);
    for (std::uint64_t i = 0; i < part.axes[d].count; ++i)
      nest(d + 1, from + offset(part.axes[d].coordinate(i), strides[d]),
           to + offset(part.axes[d].position(i), memory[d]));
  };
  nest(0, 0, 0);
}

/// A part of a chunk, and memory with strides of its own that holds it.
struct Case {
  std::size_t size = 1;  // of an element
  Shape chunk = {};
  Region part = {};
  std::vector<std::int64_t> strides = {};  // of the memory
  std::int64_t origin = 0;                 // of the memory's element 0
  std::size_t memory_bytes = 0;

  /// Copies both ways, and compares with copies of one element after the other.
  void expect_copies() const {
    const auto chunk_strides = sherd::chunk_strides(chunk, size);
    const Bytes dense = noise(*element_count(chunk) * size, 1);
    const Bytes memory = noise(memory_bytes, 2);
    Bytes out = memory, wanted_out = memory, in = dense, wanted_in = dense;
    copy_out(size, dense.data(), chunk_strides, part, {out.data() + origin, strides});
    copy_in(size, in.data(), chunk_strides, part, {memory.data() + origin, strides});
    each_element(part, chunk_strides, strides, [&](std::int64_t in_chunk, std::int64_t in_memory) {
      std::memcpy(wanted_out.data() + origin + in_memory, dense.data() + in_chunk, size);
      std::memcpy(wanted_in.data() + in_chunk, memory.data() + origin + in_memory, size);
    });
    EXPECT_TRUE(out == wanted_out) << "chunk -> memory";
    EXPECT_TRUE(in == wanted_in) << "memory -> chunk";
  }
};

/// Sets dense strides of the memory in this order of dimensions (the last one fastest), with `pad` bytes after each
/// element, and every other dimension backwards if requested.
void lay_out(Case& of, const Shape& result, const std::vector<std::size_t>& order, std::size_t pad, bool backwards) {
  of.strides.assign(result.size(), 0);
  auto step = static_cast<std::int64_t>(of.size + pad);
  for (std::size_t i = order.size(); i-- > 0;) {
    of.strides[order[i]] = step;
    step *= static_cast<std::int64_t>(std::max<std::uint64_t>(result[order[i]], 1));
  }
  of.memory_bytes = static_cast<std::size_t>(step);
  for (std::size_t d = 0; backwards && d < result.size(); d += 2) {
    of.origin += of.strides[d] * static_cast<std::int64_t>(std::max<std::uint64_t>(result[d], 1) - 1);
    of.strides[d] = -of.strides[d];
  }
}

std::vector<std::size_t> numbers(std::size_t count) {
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

Case whole_chunk(std::size_t size, const Shape& shape, const std::vector<std::size_t>& order) {
  Case made{.size = size, .chunk = shape};
  for (const std::uint64_t length : shape) made.part.axes.push_back({.count = length});
  lay_out(made, shape, order, 0, false);
  return made;
}

TEST(StridedCopy, OfStepsOfEitherSignAgreesWithElementByElement) {
  Random random(3);
  for (int round = 0; round < 400; ++round) {
    Case made;
    made.size = std::array<std::size_t, 7>{1, 2, 3, 4, 8, 12, 16}[random() % 7];
    Shape result;
    for (std::size_t rank = random() % 5; result.size() < rank;) {
      const std::uint64_t length = 1 + random() % 9;
      AxisPart axis;
      axis.step = 1 + static_cast<std::int64_t>(random() % 3);
      axis.count = random() % (1 + (length - 1) / static_cast<std::uint64_t>(axis.step) + 1);
      if (random() % 10 != 0) axis.count = std::max<std::uint64_t>(axis.count, 1);
      const std::uint64_t reach = axis.count == 0 ? 0 : (axis.count - 1) * static_cast<std::uint64_t>(axis.step);
      axis.start = static_cast<std::int64_t>(random() % (length - std::min(reach, length - 1)));
      if (random() % 3 == 0) {
        axis.start += static_cast<std::int64_t>(reach);
        axis.step = -axis.step;
      }
      axis.first = random() % 3;
      made.chunk.push_back(length);
      made.part.axes.push_back(axis);
      result.push_back(axis.first + axis.count + random() % 2);
    }
    auto order = numbers(result.size());
    std::shuffle(order.begin(), order.end(), random);
    lay_out(made, result, order, random() % 2, random() % 3 == 0);
    SCOPED_TRACE("round " + std::to_string(round) + ", chunk " + to_string(made.chunk));
    made.expect_copies();
  }
}

TEST(StridedCopy, OfListsAgreesWithElementByElement) {
  const std::vector<std::uint64_t> rows{100, 103, 103, 104}, positions{2, 0, 3, 1};
  for (const std::size_t size : {1U, 4U, 12U}) {
    Case made{.size = size, .chunk = {5, 7}};
    AxisPart list{.count = rows.size(), .coordinates = rows.data(), .positions = positions.data(), .shift = 100};
    made.part.axes = {list, {.start = 6, .step = -2, .count = 4, .first = 1}};
    lay_out(made, {4, 5}, {1, 0}, 3, true);
    made.expect_copies();
  }
}

TEST(StridedCopy, OfAListForAnyDimensionAgreesWithElementByElement) {
  const std::vector<std::uint64_t> rows{0, 2, 2, 4}, positions{2, 0, 3, 1};
  const AxisPart list{.count = rows.size(), .coordinates = rows.data(), .positions = positions.data()};
  for (const std::size_t size : {1U, 2U, 3U, 8U, 16U})
    for (const bool backwards : {false, true})
      for (std::size_t listed = 0; listed < 8; ++listed) {
        Case made{.size = size, .chunk = {5, 6, 7}};
        for (std::size_t d = 0; d < 3; ++d)
          made.part.axes.push_back((listed >> d & 1) != 0 ? list : AxisPart{.start = 1, .count = 4, .first = 1});
        lay_out(made, {5, 5, 5}, backwards ? std::vector<std::size_t>{2, 0, 1} : numbers(3), 0, backwards);
        SCOPED_TRACE("size " + std::to_string(size) + ", lists " + std::to_string(listed));
        made.expect_copies();
      }
}

TEST(StridedCopy, OfPointsAgreesWithElementByElement) {
  const std::vector<std::uint64_t> x{4, 0, 2}, y{6, 1, 1}, positions{1, 2, 0};
  for (const std::size_t size : {2U, 3U, 16U}) {
    Case made{.size = size, .chunk = {5, 7}};
    for (const auto* list : {&x, &y})
      made.part.axes.push_back({.count = 3, .coordinates = list->data(), .positions = positions.data()});
    made.part.points = true;
    lay_out(made, {3}, {0}, 5, true);
    made.expect_copies();
  }
}

TEST(StridedCopy, TransposesInTiles) {
  for (const std::size_t size : {1U, 2U, 4U, 8U, 16U, 6U}) {
    SCOPED_TRACE(size);
    whole_chunk(size, {70, 67}, {1, 0}).expect_copies();
    whole_chunk(size, {64, 128}, {1, 0}).expect_copies();
    whole_chunk(size, {3, 40, 33}, {2, 0, 1}).expect_copies();
    whole_chunk(size, {3, 40, 33}, {2, 1, 0}).expect_copies();
  }
}

TEST(StridedCopy, OfShortRowsFarApartAgreesWithElementByElement) {
  // Rows of 100 bytes in more than 8 MiB of memory are written past the caches.
  Case made{.size = 1, .chunk = {90, 3, 100}};
  for (const std::uint64_t length : made.chunk) made.part.axes.push_back({.count = length});
  made.strides = {100'003, 1'001, 1};
  made.origin = 13;  // rows begin anywhere in a cache line
  made.memory_bytes = 13 + 90 * 100'003;
  made.expect_copies();
}

TEST(StridedCopy, OfNoDimensionsIsOneElement) {
  Case made{.size = 8, .memory_bytes = 8};
  made.expect_copies();
}

TEST(StridedCopy, OfNoElementsTouchesNothing) {
  Case made{.size = 4, .chunk = {5, 5}};
  made.part.axes = {{.count = 5}, {.count = 0}};
  copy_out(4, nullptr, chunk_strides(made.chunk, 4), made.part, {nullptr, {0, 0}});
  copy_in(4, nullptr, chunk_strides(made.chunk, 4), made.part, {nullptr, {0, 0}});
  fill_out(4, nullptr, made.part, {nullptr, {0, 0}});
  Bytes chunk(100, std::byte{1}), memory(100, std::byte{2});
  copy_out(4, chunk.data(), chunk_strides(made.chunk, 4), made.part, {memory.data(), {20, 4}});
  copy_in(4, chunk.data(), chunk_strides(made.chunk, 4), made.part, {memory.data(), {20, 4}});
  fill_out(4, chunk.data(), made.part, {memory.data(), {20, 4}});
  EXPECT_EQ(chunk, Bytes(100, std::byte{1}));
  EXPECT_EQ(memory, Bytes(100, std::byte{2}));
}

TEST(FillOut, WritesOneElementEverywhereInThePart) {
  for (const std::size_t size : {1U, 2U, 3U, 8U, 24U}) {
    const Bytes element = noise(size, 5);
    Case made{.size = size};
    made.part.axes = {{.start = 3, .count = 4, .first = 1}, {.start = 9, .step = -3, .count = 3, .first = 2}};
    lay_out(made, {6, 5}, {0, 1}, 0, false);
    Bytes filled(made.memory_bytes), wanted(made.memory_bytes);
    fill_out(size, element.data(), made.part, {filled.data(), made.strides});
    for (std::size_t i = 1; i < 5; ++i)
      for (std::size_t j = 2; j < 5; ++j)
        std::copy(element.begin(), element.end(), wanted.begin() + (i * 5 + j) * size);
    EXPECT_EQ(filled, wanted);
  }
}

TEST(AllEqual, FindsASingleBitThatDiffersAnywhere) {
  for (const DType& dtype : {DType(DType::uint8), DType(DType::uint16), DType(DType::float32), DType(DType::uint64),
                             DType(DType::complex128), DType::raw(24).value()}) {
    const std::uint64_t count = 1500;
    const Bytes element = noise(dtype.size(), 7);
    Bytes elements(count * dtype.size());
    fill_dense(dtype.size(), element.data(), count, elements.data());
    EXPECT_TRUE(all_equal(dtype, elements.data(), count, element.data()));
    EXPECT_TRUE(all_equal(dtype, elements.data(), 0, element.data()));
    for (const std::size_t at : {std::size_t{0}, elements.size() / 2, elements.size() - 1}) {
      elements[at] ^= std::byte{0x10};
      EXPECT_FALSE(all_equal(dtype, elements.data(), count, element.data())) << at;
      elements[at] ^= std::byte{0x10};
    }
  }
}

TEST(DenseTarget, IsTheDestinationOfAWholeChunkThatIsDenseThere) {
  Bytes memory(1000);
  const Shape shape{4, 5};
  const auto strides = chunk_strides(shape, 2);
  Region whole{.axes = {{.count = 4, .first = 3}, {.count = 5}}};
  EXPECT_EQ(dense_target(whole, shape, strides, ReadTarget{memory.data(), {10, 2}}), memory.data() + 30);
  EXPECT_EQ(dense_target(whole, shape, strides, ReadTarget{memory.data(), {12, 2}}), nullptr) << "rows apart";
  EXPECT_EQ(dense_target(whole, shape, strides, ReadTarget{memory.data(), {2, 8}}), nullptr) << "transposed";
  Region part = whole;
  part.axes[1].count = 4;
  EXPECT_EQ(dense_target(part, shape, strides, ReadTarget{memory.data(), {10, 2}}), nullptr) << "a part";
  Region reversed{.axes = {{.start = 3, .step = -1, .count = 4}, {.count = 5}}};
  EXPECT_EQ(dense_target(reversed, shape, strides, ReadTarget{memory.data(), {10, 2}}), nullptr) << "backwards";
}

TEST(FittingStrides, OmitDimensionsOfLengthOneThatTheViewLacks) {
  const Selection selection = Box{{0, 0, 0}, {4, 1, 5}};
  EXPECT_THAT(fitting_strides(selection, {4, 1, 5}, std::vector<std::int64_t>{50, 30, 2}).value(),
              testing::ElementsAre(50, 30, 2));
  EXPECT_THAT(fitting_strides(selection, {4, 5}, std::vector<std::int64_t>{50, 2}).value(),
              testing::ElementsAre(50, 0, 2));
  for (const Shape& shape : {Shape{5, 4}, Shape{4}, Shape{4, 5, 1}, Shape{4, 1, 1, 5}, Shape{20}}) {
    const auto fitted = fitting_strides(selection, shape, std::vector<std::int64_t>(shape.size(), 1));
    ASSERT_FALSE(fitted) << to_string(shape);
    EXPECT_EQ(fitted.error().code(), ErrorCode::invalid_argument);
  }
}

}  // namespace strided_test
}  // namespace sherd
