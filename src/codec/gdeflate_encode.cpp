// Encodes pages of GDeflate: matches from hash chains, one block with its own codes, or stored bytes if these are
// fewer.
#include <algorithm>
#include <bit>
#include <cstring>
#include <queue>
#include <utility>
#include <vector>

#include "base/endian.hpp"
#include "codec/gdeflate.hpp"

namespace sherd::gdeflate {
namespace {

constexpr std::size_t kLeastMatch = 4;
constexpr unsigned kHashBits = 14;
constexpr std::size_t kLeastToCompress = 16;
constexpr unsigned kRepeat = 16, kZeros = 17, kManyZeros = 18;

/// A literal, or a match.
struct Token {
  std::uint32_t length;  ///< 0: a literal
  std::uint32_t value;   ///< the literal, or the distance
};

/// The positions of a page with the same next bytes.
class Chains {
 public:
  explicit Chains(std::span<const std::byte> page)
      : page_(page), first_(std::size_t{1} << kHashBits, kNone), before_(page.size()) {}
  void add(std::size_t at) noexcept {
    if (page_.size() - at < kLeastMatch) return;
    std::uint32_t& first = first_[hash(at)];
    before_[at] = first;
    first = static_cast<std::uint32_t>(at);
  }
  /// The longest match among the `depth` last positions that were added.
  [[nodiscard]] Token longest(std::size_t at, unsigned depth) const noexcept {
    Token best{0, 0};
    const std::size_t most = page_.size() - at;
    if (most < kLeastMatch) return best;
    for (std::uint32_t from = first_[hash(at)]; from != kNone && depth > 0; from = before_[from], --depth) {
      std::size_t length = 0;
      while (length < most && page_[from + length] == page_[at + length]) ++length;
      if (length < kLeastMatch || length <= best.length) continue;
      best = {static_cast<std::uint32_t>(length), static_cast<std::uint32_t>(at - from)};
      if (length == most) break;
    }
    return best;
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  [[nodiscard]] std::size_t hash(std::size_t at) const noexcept {
    return load_little<std::uint32_t>(page_.data() + at) * 2654435761U >> (32 - kHashBits);
  }
  std::span<const std::byte> page_;
  std::vector<std::uint32_t> first_, before_;
};

std::vector<Token> tokens_of(std::span<const std::byte> page, unsigned level) {
  // Greedy below level 5; otherwise a match is deferred if the next byte begins a longer one.
  const unsigned depth = 1U << std::min(level, 9U);
  const bool lazy = level >= 5;
  Chains chains(page);
  std::vector<Token> tokens;
  for (std::size_t at = 0; at < page.size();) {
    Token token = chains.longest(at, depth);
    chains.add(at);
    if (lazy && token.length > 0 && at + 1 < page.size() && chains.longest(at + 1, depth).length > token.length)
      token.length = 0;
    if (token.length == 0) {
      tokens.push_back({0, std::to_integer<std::uint32_t>(page[at++])});
      continue;
    }
    tokens.push_back(token);
    for (std::size_t i = 1; i < token.length; ++i) chains.add(at + i);
    at += token.length;
  }
  return tokens;
}

/// The position of the last range that begins at or below `value`.
template <std::size_t N>
std::size_t range_of(const std::array<Range, N>& ranges, std::size_t count, std::uint32_t value) noexcept {
  const auto after = std::upper_bound(ranges.begin(), ranges.begin() + static_cast<std::ptrdiff_t>(count), value,
                                      [](std::uint32_t v, const Range& range) { return v < range.base; });
  return static_cast<std::size_t>(after - ranges.begin()) - 1;
}
/// Lengths above those of the first 28 symbols use the symbol with 16 bits.
std::size_t length_symbol(std::uint32_t length) noexcept { return length > 258 ? 28 : range_of(kLengths, 28, length); }
std::size_t distance_symbol(std::uint32_t distance) noexcept { return range_of(kDistanceRanges, kDistances, distance); }

/// The lengths of a prefix code for symbols with these counts. Counts are halved until no word is too long.
void choose_lengths(std::span<const std::uint32_t> counts, unsigned longest, std::uint8_t* lengths) {
  std::vector<std::uint32_t> left(counts.begin(), counts.end());
  for (;;) {
    using Node = std::pair<std::uint64_t, std::size_t>;
    std::priority_queue<Node, std::vector<Node>, std::greater<>> open;
    std::vector<std::size_t> parents(2 * left.size(), 0);
    std::fill_n(lengths, left.size(), std::uint8_t{0});
    for (std::size_t i = 0; i < left.size(); ++i)
      if (left[i] > 0) open.emplace(left[i], i);
    if (open.empty()) return;
    if (open.size() == 1) {
      lengths[open.top().second] = 1;
      return;
    }
    std::size_t next = left.size();
    for (; open.size() > 1; ++next) {
      const Node a = open.top();
      open.pop();
      const Node b = open.top();
      open.pop();
      parents[a.second] = parents[b.second] = next;
      open.emplace(a.first + b.first, next);
    }
    std::vector<unsigned> depths(next, 0);
    unsigned deepest = 0;
    for (std::size_t i = next - 1; i-- > 0;) {
      if (i < left.size() && left[i] == 0) continue;
      depths[i] = depths[parents[i]] + 1;
      if (i < left.size()) lengths[i] = static_cast<std::uint8_t>(depths[i]), deepest = std::max(deepest, depths[i]);
    }
    if (deepest <= longest) return;
    for (std::uint32_t& count : left) count = (count + 1) / 2;
  }
}

/// The words of a prefix code, with their first bit lowest.
template <std::size_t N>
std::array<std::uint16_t, N> words_of(const std::uint8_t* lengths) noexcept {
  std::array<std::uint32_t, kMaxCodeBits + 2> next{};
  for (std::size_t i = 0; i < N; ++i)
    if (lengths[i] > 0) ++next[lengths[i] + 1U];
  std::uint32_t code = 0;
  for (unsigned length = 1; length <= kMaxCodeBits; ++length) {
    const std::uint32_t count = next[length + 1];
    next[length] = code;
    code = (code + count) << 1;
  }
  std::array<std::uint16_t, N> words{};
  for (std::size_t i = 0; i < N; ++i) {
    std::uint32_t word = lengths[i] > 0 ? next[lengths[i]]++ : 0;
    for (unsigned bit = 0; bit < lengths[i]; ++bit, word >>= 1)
      words[i] = static_cast<std::uint16_t>(words[i] << 1 | (word & 1));
  }
  return words;
}

/// Collects each lane's bits and turns, and then lays out the lanes' words in the order in which a reader requests
/// them.
class LaneWriter {
 public:
  void restart() noexcept { turn_ = 0; }
  [[nodiscard]] std::size_t turn() const noexcept { return turn_; }
  void put(std::uint32_t value, unsigned bits) {
    Lane& lane = lanes_[turn_];
    lane.word |= std::uint64_t{value} << lane.used;
    lane.used += bits;
    taken_ += bits;
    if (lane.used < kWordBits) return;
    lane.words.push_back(static_cast<std::uint32_t>(lane.word));
    lane.word >>= kWordBits;
    lane.used -= kWordBits;
  }
  void refill() {
    turns_.push_back({static_cast<std::uint8_t>(turn_), static_cast<std::uint8_t>(taken_)});
    taken_ = 0;
  }
  void next() {
    refill();
    turn_ = (turn_ + 1) % kLanes;
  }
  [[nodiscard]] std::size_t lay_out(std::byte* to) {
    for (Lane& lane : lanes_) lane.words.push_back(static_cast<std::uint32_t>(lane.word));
    std::array<unsigned, kLanes> left{};
    std::array<std::size_t, kLanes> at{};
    std::byte* out = to;
    const auto give = [&](std::size_t lane) {
      const auto& words = lanes_[lane].words;
      store_little(out, at[lane] < words.size() ? words[at[lane]] : std::uint32_t{0});
      out += kWordBytes;
      ++at[lane], left[lane] += kWordBits;
    };
    for (std::size_t lane = 0; lane < kLanes; ++lane) give(lane);
    for (const Turn& turn : turns_) {
      left[turn.lane] -= turn.bits;
      if (left[turn.lane] < kWordBits) give(turn.lane);
    }
    return static_cast<std::size_t>(out - to);
  }
  /// The maximum size of any layout.
  [[nodiscard]] std::size_t bytes() const noexcept {
    std::size_t words = 0;
    for (const Lane& lane : lanes_) words += lane.words.size() + 2;
    return words * kWordBytes;
  }

 private:
  struct Lane {
    std::vector<std::uint32_t> words;
    std::uint64_t word = 0;
    unsigned used = 0;
  };
  struct Turn {
    std::uint8_t lane, bits;
  };
  std::array<Lane, kLanes> lanes_;
  std::vector<Turn> turns_;
  std::size_t turn_ = 0;
  unsigned taken_ = 0;
};

void put_header(LaneWriter& to, bool is_last, Block kind) {
  to.restart();
  to.put(is_last ? 1 : 0, 1);
  to.put(static_cast<std::uint32_t>(kind), 2);
  to.refill();
}

void put_stored(LaneWriter& to, std::span<const std::byte> page) {
  constexpr std::size_t most = 0xffff;
  do {
    const auto part = page.first(std::min(page.size(), most));
    page = page.subspan(part.size());
    put_header(to, page.empty(), Block::stored);
    to.put(static_cast<std::uint32_t>(part.size()), 16);
    for (const std::byte each : part) {
      to.put(std::to_integer<std::uint32_t>(each), 8);
      to.next();
    }
    for (std::size_t lane = 0; lane < kLanes; ++lane) to.next();
  } while (!page.empty());
}

/// Code lengths as symbols, each with its extra bits.
std::vector<std::pair<unsigned, std::uint32_t>> runs_of(std::span<const std::uint8_t> lengths) {
  std::vector<std::pair<unsigned, std::uint32_t>> runs;
  for (std::size_t at = 0; at < lengths.size();) {
    std::size_t end = at + 1;
    while (end < lengths.size() && lengths[end] == lengths[at]) ++end;
    std::size_t left = end - at;
    if (lengths[at] != 0) runs.emplace_back(lengths[at], 0), --left;
    while (left >= 3) {
      const std::size_t most = lengths[at] != 0 ? 6 : left >= 11 ? 138 : 10;
      const std::size_t count = std::min(left, most);
      const unsigned symbol = lengths[at] != 0 ? kRepeat : count >= 11 ? kManyZeros : kZeros;
      runs.emplace_back(symbol, static_cast<std::uint32_t>(count - (symbol == kManyZeros ? 11 : 3)));
      left -= count;
    }
    for (; left > 0; --left) runs.emplace_back(lengths[at], 0);
    at = end;
  }
  return runs;
}

struct Codes {
  std::array<std::uint8_t, kSymbols> lengths{};
  std::array<std::uint8_t, kDistances> distances{};
};

Codes codes_of(std::span<const Token> tokens) {
  std::array<std::uint32_t, kSymbols> symbols{};
  std::array<std::uint32_t, kDistances> distances{};
  symbols[kEndOfBlock] = 1;
  for (const Token& token : tokens) {
    if (token.length == 0) {
      ++symbols[token.value];
    } else {
      ++symbols[kFirstLength + length_symbol(token.length)];
      ++distances[distance_symbol(token.value)];
    }
  }
  Codes codes;
  choose_lengths(symbols, kMaxCodeBits, codes.lengths.data());
  choose_lengths(distances, kMaxCodeBits, codes.distances.data());
  return codes;
}

void put_codes(LaneWriter& to, const Codes& codes) {
  const auto used = [](std::span<const std::uint8_t> lengths, std::size_t least) {
    std::size_t count = lengths.size();
    while (count > least && lengths[count - 1] == 0) --count;
    return count;
  };
  const std::size_t symbols = used(codes.lengths, kFirstLength), distances = used(codes.distances, 1);
  std::vector<std::uint8_t> all(codes.lengths.begin(), codes.lengths.begin() + static_cast<std::ptrdiff_t>(symbols));
  all.insert(all.end(), codes.distances.begin(), codes.distances.begin() + static_cast<std::ptrdiff_t>(distances));
  const auto runs = runs_of(all);
  std::array<std::uint32_t, kLengthSymbols> counts{};
  for (const auto& run : runs) ++counts[run.first];
  std::array<std::uint8_t, kLengthSymbols> lengths{};
  choose_lengths(counts, kMaxLengthCodeBits, lengths.data());
  std::size_t stated = kLengthSymbols;
  while (stated > 4 && lengths[kLengthOrder[stated - 1]] == 0) --stated;
  to.put(static_cast<std::uint32_t>(symbols - kFirstLength), 5);
  to.put(static_cast<std::uint32_t>(distances - 1), 5);
  to.put(static_cast<std::uint32_t>(stated - 4), 4);
  to.refill();
  for (std::size_t i = 0; i < stated; ++i) {
    to.put(lengths[kLengthOrder[i]], 3);
    to.next();
  }
  to.restart();
  const auto words = words_of<kLengthSymbols>(lengths.data());
  for (const auto& [symbol, more] : runs) {
    to.put(words[symbol], lengths[symbol]);
    if (symbol >= kRepeat) to.put(more, symbol == kRepeat ? 2 : symbol == kZeros ? 3 : 7);
    to.next();
  }
}

void put_tokens(LaneWriter& to, std::span<const Token> tokens, const Codes& codes) {
  const auto symbols = words_of<kSymbols>(codes.lengths.data());
  const auto distances = words_of<kDistances>(codes.distances.data());
  std::array<std::uint32_t, kLanes> waiting{};
  const auto put_distance = [&] {
    std::uint32_t& distance = waiting[to.turn()];
    if (distance == 0) return false;
    const std::size_t symbol = distance_symbol(distance);
    to.put(distances[symbol], codes.distances[symbol]);
    to.put(distance - kDistanceRanges[symbol].base, kDistanceRanges[symbol].bits);
    distance = 0;
    return true;
  };
  to.restart();
  for (std::size_t i = 0; i < tokens.size(); to.next()) {
    if (put_distance()) continue;
    const Token& token = tokens[i++];
    if (token.length == 0) {
      to.put(symbols[token.value], codes.lengths[token.value]);
      continue;
    }
    const std::size_t length = length_symbol(token.length), symbol = kFirstLength + length;
    to.put(symbols[symbol], codes.lengths[symbol]);
    to.put(token.length - kLengths[length].base, kLengths[length].bits);
    waiting[to.turn()] = token.value;
  }
  while (put_distance()) to.next();
  to.put(symbols[kEndOfBlock], codes.lengths[kEndOfBlock]);
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    put_distance();
    to.next();
  }
}

}  // namespace

std::size_t encode_page(std::span<const std::byte> from, unsigned level, std::byte* to) {
  if (level > 0 && from.size() >= kLeastToCompress) {
    const auto tokens = tokens_of(from, level);
    const Codes codes = codes_of(tokens);
    LaneWriter lanes;
    put_header(lanes, true, Block::dynamic);
    put_codes(lanes, codes);
    put_tokens(lanes, tokens, codes);
    if (lanes.bytes() < from.size()) return lanes.lay_out(to);
  }
  LaneWriter lanes;
  put_stored(lanes, from);
  return lanes.lay_out(to);
}

}  // namespace sherd::gdeflate
