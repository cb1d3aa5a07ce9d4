// Swaps the bytes of words in arrays, eight bytes at a time for any word size, with shifts and masks that compilers can
// vectorise and that are fast otherwise. memcpy allows unaligned buffers.
#include "base/endian.hpp"

#include <cassert>

namespace sherd {

namespace {

// Eight bytes, with the bytes of each of their words reversed.
template <class Word>
std::uint64_t swap_block(std::uint64_t block) noexcept {
  constexpr std::uint64_t kLowBytes = 0x00FF00FF00FF00FF;
  if constexpr (sizeof(Word) == 2)
    return (block & kLowBytes) << 8 | (block >> 8 & kLowBytes);
  else if constexpr (sizeof(Word) == 4)
    return std::rotl(byteswap(block), 32);
  else
    return byteswap(block);
}

template <class Word>
void swap_all(const std::byte* from, std::byte* to, std::size_t size) noexcept {
  std::size_t i = 0;
  for (; i + 8 <= size; i += 8) {
    std::uint64_t block;
    std::memcpy(&block, from + i, 8);
    block = swap_block<Word>(block);
    std::memcpy(to + i, &block, 8);
  }
  for (; i < size; i += sizeof(Word)) {
    Word word;
    std::memcpy(&word, from + i, sizeof word);
    word = byteswap(word);
    std::memcpy(to + i, &word, sizeof word);
  }
}

}  // namespace

void swap_words(std::span<std::byte> bytes, std::size_t word_size) noexcept { swap_words(bytes, bytes, word_size); }

void swap_words(std::span<const std::byte> from, std::span<std::byte> to, std::size_t word_size) noexcept {
  assert(from.size() == to.size() && word_size != 0 && from.size() % word_size == 0);
  switch (word_size) {
    case 2:
      return swap_all<std::uint16_t>(from.data(), to.data(), from.size());
    case 4:
      return swap_all<std::uint32_t>(from.data(), to.data(), from.size());
    case 8:
      return swap_all<std::uint64_t>(from.data(), to.data(), from.size());
    default:
      assert(word_size == 1);
      if (!from.empty() && from.data() != to.data()) std::memcpy(to.data(), from.data(), from.size());
  }
}

}  // namespace sherd
