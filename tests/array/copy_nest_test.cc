// Copies between two memories with strides or lists of offsets, compared with copies of one element after the other.
#include "array/copy_nest.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <random>

namespace sherd {
namespace copy_nest_test {

using Bytes = std::vector<std::byte>;

Bytes noise(std::size_t size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Bytes bytes(size);
  for (std::byte& each : bytes) each = static_cast<std::byte>(random());
  return bytes;
}

/// Calls `visit` with both offsets of each element.
void each_element(std::span<const CopyList> lists, std::span<const CopyAxis> axes,
                  const std::function<void(std::int64_t, std::int64_t)>& visit, std::int64_t from = 0,
                  std::int64_t to = 0) {
  if (!lists.empty()) {
    for (std::size_t i = 0; i < lists[0].from.size(); ++i)
      each_element(lists.subspan(1), axes, visit, from + lists[0].from[i], to + lists[0].to[i]);
    return;
  }
  if (axes.empty()) return visit(from, to);
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(axes[0].count); ++i)
    each_element(lists, axes.subspan(1), visit, from + i * axes[0].from, to + i * axes[0].to);
}

void expect_copies(std::size_t size, const std::vector<CopyList>& lists, const std::vector<CopyAxis>& axes,
                   std::size_t aligned = 1) {
  std::int64_t low_from = 0, low_to = 0, high_from = 0, high_to = 0;
  each_element(lists, axes, [&](std::int64_t from, std::int64_t to) {
    low_from = std::min(low_from, from), low_to = std::min(low_to, to);
    high_from = std::max(high_from, from), high_to = std::max(high_to, to);
  });
  const auto bytes = [&](std::int64_t low, std::int64_t high) { return static_cast<std::size_t>(high - low) + size; };
  const Bytes source = noise(bytes(low_from, high_from), 1);
  Bytes copied = noise(bytes(low_to, high_to) + aligned, 2);
  const std::size_t shift = aligned - reinterpret_cast<std::uintptr_t>(copied.data()) % aligned;
  Bytes wanted = copied;
  const auto in_copy = [&](Bytes& of) { return of.data() + shift - low_to; };
  copy_elements(size, lists, axes, source.data() - low_from, in_copy(copied));
  each_element(lists, axes, [&](std::int64_t from, std::int64_t to) {
    std::memcpy(in_copy(wanted) + to, source.data() - low_from + from, size);
  });
  EXPECT_TRUE(copied == wanted);
}

TEST(CopyElements, WithoutDimensionsIsOneElement) { expect_copies(8, {}, {}); }

TEST(CopyElements, OfAxesInAnyOrderAgreesWithElementByElement) {
  for (const std::int64_t size : {1, 2, 3, 4, 8, 12, 16}) {
    std::vector<CopyAxis> axes{{5, size, 40 * size}, {4, -5 * size, 7 * size}, {6, 20 * size, -size}};
    std::vector<std::size_t> order{0, 1, 2};
    do {
      SCOPED_TRACE("size " + std::to_string(size));
      expect_copies(static_cast<std::size_t>(size), {}, {axes[order[0]], axes[order[1]], axes[order[2]]});
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

TEST(CopyElements, TransposesInTiles) {
  for (const std::int64_t size : {1, 2, 4, 6, 8, 16})
    for (const auto& [rows, columns] : {std::pair<std::uint64_t, std::uint64_t>{70, 67}, {64, 128}}) {
      SCOPED_TRACE("size " + std::to_string(size));
      const CopyAxis down{rows, size, static_cast<std::int64_t>(columns) * size};
      const CopyAxis across{columns, static_cast<std::int64_t>(rows) * size, size};
      expect_copies(static_cast<std::size_t>(size), {}, {down, across});
    }
}

TEST(CopyElements, TransposesIntoMemoryThatNoCacheHolds) {
  // Rows that begin with a cache line, in more than 8 MiB.
  for (const std::int64_t size : {1, 2, 4, 8})
    expect_copies(static_cast<std::size_t>(size), {}, {{96, size, 128 << 10}, {64, 96 * size, size}}, 64);
}

TEST(CopyElements, OfShortRowsFarApartAgreesWithElementByElement) {
  // Rows of 100 bytes in more than 8 MiB are written past the caches; they begin anywhere in a cache line.
  expect_copies(1, {}, {{90, 300, 100'003}, {3, 100, 1'001}, {100, 1, 1}});
}

TEST(CopyElements, OfListsAgreesWithElementByElement) {
  for (const std::int64_t size : {1, 2, 3, 8, 16}) {
    const CopyList list{{0, 5 * size, 5 * size, -size}, {6 * size, 0, 2 * size, 4 * size}};
    expect_copies(static_cast<std::size_t>(size), {list}, {});
    expect_copies(static_cast<std::size_t>(size), {list, {{0, 100}, {200, 0}}}, {{3, size, 20 * size}});
  }
}

TEST(FillDense, RepeatsAnElementOfAnySize) {
  for (const std::size_t size : {1U, 2U, 3U, 8U, 24U})
    for (const std::uint64_t count : {0U, 1U, 2U, 3U, 17U, 100U}) {
      Bytes filled(count * size + 1, std::byte{0xaa});
      const Bytes element = noise(size, 6);
      fill_dense(size, element.data(), count, filled.data());
      for (std::uint64_t i = 0; i < count; ++i)
        EXPECT_TRUE(std::equal(element.begin(), element.end(), filled.begin() + static_cast<std::ptrdiff_t>(i * size)));
      EXPECT_EQ(filled.back(), std::byte{0xaa}) << "nothing is written behind the last element";
    }
}

}  // namespace copy_nest_test
}  // namespace sherd
