// Arrays of words turned around. One loop per word size with a constant trip step, which compilers turn into
// byte shuffles of whole vector registers; memcpy keeps unaligned buffers legal.
#include "base/endian.hpp"

#include <algorithm>
#include <cassert>

namespace sherd {

namespace {

template <class Word>
void swap_all(const std::byte* from, std::byte* to, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    Word word;
    std::memcpy(&word, from + i * sizeof word, sizeof word);
    word = byteswap(word);
    std::memcpy(to + i * sizeof word, &word, sizeof word);
  }
}

}  // namespace

void swap_words(std::span<std::byte> bytes, std::size_t word_size) noexcept { swap_words(bytes, bytes, word_size); }

void swap_words(std::span<const std::byte> from, std::span<std::byte> to, std::size_t word_size) noexcept {
  assert(from.size() == to.size() && word_size != 0 && from.size() % word_size == 0);
  switch (word_size) {
    case 2: return swap_all<std::uint16_t>(from.data(), to.data(), from.size() / 2);
    case 4: return swap_all<std::uint32_t>(from.data(), to.data(), from.size() / 4);
    case 8: return swap_all<std::uint64_t>(from.data(), to.data(), from.size() / 8);
    default:
      assert(word_size == 1);
      if (!from.empty() && from.data() != to.data()) std::memcpy(to.data(), from.data(), from.size());
  }
}

}  // namespace sherd
