// Byte order.
#include "base/endian.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace sherd {
namespace endian_test {

std::vector<std::byte> counting(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 + 1);
  return bytes;
}

TEST(SwapWords, ReversesEveryWordAtAnyAlignment) {
  for (const std::size_t word : {1, 2, 4, 8}) {
    for (const std::size_t words : {0, 1, 3, 100}) {
      const auto from = counting(word * words);
      auto expected = from;
      for (std::size_t i = 0; i < words; ++i)
        std::reverse(expected.begin() + static_cast<std::ptrdiff_t>(i * word),
                     expected.begin() + static_cast<std::ptrdiff_t>((i + 1) * word));
      std::vector<std::byte> to(from.size() + 1);
      const auto unaligned = std::span(to).subspan(1);
      swap_words(from, unaligned, word);
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), unaligned.begin())) << word << " " << words;
      auto in_place = from;
      swap_words(in_place, word);
      EXPECT_EQ(in_place, expected) << word << " " << words;
    }
  }
}

TEST(LittleEndian, WordsHaveTheLowByteFirst) {
  std::byte bytes[8];
  store_little(bytes, std::uint64_t{0x0102030405060708});
  EXPECT_EQ(bytes[0], std::byte{8});
  EXPECT_EQ(bytes[7], std::byte{1});
  EXPECT_EQ(load_little<std::uint64_t>(bytes), 0x0102030405060708u);
  EXPECT_EQ(load_little<std::uint16_t>(bytes), 0x0708u);
}

}  // namespace endian_test
}  // namespace sherd
