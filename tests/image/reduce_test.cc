// From which elements an element of a coarser resolution is computed, and how.
#include "image/reduce.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sherd {
namespace reduce_test {

using testing::ElementsAre;

Reduction halves(Pyramid::Method method = Pyramid::Method::mean, std::uint64_t phase = 0) {
  return {.method = method, .step = {2}, .phase = {phase}};
}

/// The whole of a one-dimensional array, reduced.
template <class T>
std::vector<T> reduced(const Reduction& how, const std::vector<T>& values) {
  const Shape finer{values.size()};
  const Box coarse{{0}, how.shape_of(finer)}, from = how.made_of(coarse, finer);
  EXPECT_EQ(from, (Box{{0}, finer}));
  std::vector<T> result(coarse.shape[0]);
  reduce(how, DType::of<T>(), {from, reinterpret_cast<const std::byte*>(values.data())},
         {coarse, reinterpret_cast<std::byte*>(result.data())}, {.threads = 1})
      .value();
  return result;
}

TEST(Reduction, HasAnElementForEachStepThatBeginsInTheArray) {
  EXPECT_EQ(halves().shape_of({8}), Shape{4});
  EXPECT_EQ(halves().shape_of({9}), Shape{5});
  EXPECT_EQ(halves(Pyramid::Method::mean, 1).shape_of({8}), Shape{5}) << "the first has one element";
  const Reduction how{.step = {1, 3}, .phase = {0, 2}};
  EXPECT_EQ(how.shape_of({5, 7}), (Shape{5, 3}));
  EXPECT_EQ(how.most(), 3U);
}

TEST(Reduction, FindsTheBoxOfEitherArrayForABoxOfTheOther) {
  EXPECT_EQ(halves().made_of({{1}, {2}}, {8}), (Box{{2}, {4}}));
  EXPECT_EQ(halves().made_of({{3}, {2}}, {9}), (Box{{6}, {3}})) << "the array ends there";
  EXPECT_EQ(halves(Pyramid::Method::mean, 1).made_of({{0}, {2}}, {8}), (Box{{0}, {3}}));
  EXPECT_EQ(halves().goes_into({{3}, {2}}), (Box{{1}, {2}}));
  EXPECT_EQ(halves(Pyramid::Method::mean, 1).goes_into({{3}, {2}}), (Box{{2}, {1}}));
}

TEST(Reduce, ComputesMeansOfTheElementsThatExist) {
  EXPECT_THAT(reduced<std::uint8_t>(halves(), {1, 2, 3, 4, 9}), ElementsAre(2, 4, 9)) << "halves become even";
  EXPECT_THAT(reduced<std::uint8_t>(halves(Pyramid::Method::mean, 1), {1, 2, 3, 4, 9}), ElementsAre(1, 2, 6));
  EXPECT_THAT(reduced<std::int8_t>(halves(), {-3, -2, -1, 0}), ElementsAre(-2, 0));
  EXPECT_THAT(reduced<std::uint64_t>(halves(), {~std::uint64_t{0}, ~std::uint64_t{0}}), ElementsAre(~std::uint64_t{0}));
  EXPECT_THAT(reduced<float>(halves(), {1, 2}), ElementsAre(1.5F));
}

TEST(Reduce, ComputesModesWithTheSmallestOfEquallyFrequentValues) {
  Reduction how{.method = Pyramid::Method::mode, .step = {4}, .phase = {0}};
  EXPECT_THAT(reduced<std::uint32_t>(how, {7, 5, 5, 7, 0, 0, 0, 9}), ElementsAre(5, 0));
  how.ignore_zero = true;
  EXPECT_THAT(reduced<std::uint32_t>(how, {7, 5, 5, 7, 0, 0, 0, 9}), ElementsAre(5, 9));
  EXPECT_THAT(reduced<std::uint32_t>(how, {0, 0, 0, 0}), ElementsAre(0));
}

TEST(Reduce, ComputesPartsThatAgreeWithTheWhole) {
  const Reduction how{.step = {2, 2}, .phase = {1, 0}};
  const Shape finer{7, 9};
  std::vector<std::uint16_t> values(7 * 9);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint16_t>(i * i);
  const auto part = [&](const Box& coarse) {
    const Box from = how.made_of(coarse, finer);
    std::vector<std::uint16_t> own, result(coarse.shape[0] * coarse.shape[1]);
    for (std::uint64_t y = 0; y < from.shape[0]; ++y)
      for (std::uint64_t x = 0; x < from.shape[1]; ++x)
        own.push_back(values[(from.origin[0] + y) * 9 + from.origin[1] + x]);
    reduce(how, DType::uint16, {from, reinterpret_cast<const std::byte*>(own.data())},
           {coarse, reinterpret_cast<std::byte*>(result.data())}, {.threads = 2})
        .value();
    return result;
  };
  const Shape shape = how.shape_of(finer);
  const auto whole = part({{0, 0}, shape});
  for (std::uint64_t y = 0; y < shape[0]; ++y)
    for (std::uint64_t x = 0; x < shape[1]; ++x)
      EXPECT_EQ(part({{y, x}, {1, 1}}).front(), whole[y * shape[1] + x]) << y << ", " << x;
}

TEST(Reduction, IsRefusedForTypesWithoutAMeanOrAMode) {
  EXPECT_TRUE(halves().check(DType::complex64));
  EXPECT_FALSE(halves(Pyramid::Method::mode).check(DType::float32));
  EXPECT_FALSE(halves().check(DType::string));
}

}  // namespace reduce_test
}  // namespace sherd
