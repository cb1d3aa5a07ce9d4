// Hostile shards of the 2022 draft: 38 to 55 of docs/limits.md, through arrays and through the transformer as a store.
// The good object holds 64 bytes of four chunks and, with no checksum, an index of 64.
#include <sys/stat.h>

#include <algorithm>
#include <cstring>

#include "base/endian.hpp"
#include "sherd/draft2022.hpp"
#include "tests/hostile/hostile.hpp"

namespace sherd::hostile {
namespace draft2022_test {

using draft2022::ShardingTransformer;

constexpr std::uint64_t kMax = ~std::uint64_t{0};
constexpr const char* kShard = "data/root/a/c0/0";
constexpr std::size_t kIndex = 64;
const Box kAll{{0, 0}, {4, 8}};
const Box kFirst{{0, 0}, {2, 4}};
const Box kLast{{2, 4}, {2, 4}};
using Make = std::function<void(Store&, const std::string&)>;
using Act = std::function<Result<void>(const std::shared_ptr<Store>&)>;

void make_array(Store& store, const std::string& compressor = "") {
  const std::shared_ptr<Store> borrowed(&store, [](Store*) {});
  CreateOptions options{
      .shape = {4, 8}, .dtype = DType::uint16, .chunks = {2, 4}, .shards = {4, 8}, .format = "draft2022"};
  options.codecs = std::vector<Json>{compressor.empty() ? "bytes" : compressor.c_str()};
  const Array array = create_array(borrowed, "a", options).value();
  std::vector<std::uint16_t> values;
  for (std::uint64_t i = 0; i < 32; ++i) values.push_back(good(i / 8, i % 8));
  array.write(kAll, std::span<const std::uint16_t>(values)).value();
}

/// The good array with its shard changed.
Make shard(const std::function<void(std::string&)>& change) {
  return [change](Store& store, const std::string&) {
    make_array(store);
    std::string bytes = store.get(kShard).value().value();
    change(bytes);
    store.set(kShard, bytes).value();
  };
}
void set_entry(std::string& bytes, std::size_t slot, std::uint64_t offset, std::uint64_t nbytes) {
  auto* const at = reinterpret_cast<std::byte*>(bytes.data()) + bytes.size() - kIndex + 16 * slot;
  store_little(at, offset);
  store_little(at + 8, nbytes);
}
/// With this entry of slot 0.
Make entry(std::uint64_t offset, std::uint64_t nbytes) {
  return shard([=](std::string& bytes) { set_entry(bytes, 0, offset, nbytes); });
}
Make cut_to(std::size_t size) {
  return shard([=](std::string& bytes) { bytes.resize(size); });
}

/// A shard with this entry of slot 0, as a file of `size` bytes, nearly all of them a hole.
Make sparse(std::uint64_t size, std::uint64_t nbytes, const std::string& compressor = "") {
  return [=](Store& store, const std::string& root) {
    make_array(store, compressor);
    std::string bytes = store.get(kShard).value().value();
    set_entry(bytes, 0, 0, nbytes);
    const std::string path = root + "/" + kShard;
    std::FILE* const file = std::fopen(path.c_str(), "r+");
    if (file == nullptr || ::fseeko(file, static_cast<off_t>(size - kIndex), SEEK_SET) != 0 ||
        std::fwrite(bytes.data() + bytes.size() - kIndex, 1, kIndex, file) != kIndex || std::fclose(file) != 0)
      std::abort();
  };
}

Make in_place_of_the_shard(const std::function<void(const std::string&)>& make) {
  return [=](Store& store, const std::string& root) {
    make_array(store);
    const std::string path = root + "/" + kShard;
    std::filesystem::remove(path);
    make(path);
  };
}

/// Reads a box whose elements must all be what `value` says.
Act read(const Box& box, Value value = good) {
  return [=](const std::shared_ptr<Store>& store) -> Result<void> {
    const auto array = open_array(store, {.path = "a"});
    if (!array) return array.error();
    std::vector<std::uint16_t> values(*element_count(box.shape));
    auto done = array->read(box, std::span<std::uint16_t>(values));
    if (!done) return done;
    for (std::uint64_t i = 0; i < values.size(); ++i)
      if (values[i] != value(box.origin[0] + i / box.shape[1], box.origin[1] + i % box.shape[1]))
        return corrupt("element " + std::to_string(i) + " is " + std::to_string(values[i]));
    return {};
  };
}
/// Writes what exists there, and reads everything.
Act write(const Box& box) {
  return [=](const std::shared_ptr<Store>& store) -> Result<void> {
    const auto array = open_array(store, {.path = "a", .writable = true});
    if (!array) return array.error();
    std::vector<std::uint16_t> values(*element_count(box.shape));
    for (std::uint64_t i = 0; i < values.size(); ++i)
      values[i] = good(box.origin[0] + i / box.shape[1], box.origin[1] + i % box.shape[1]);
    auto done = array->write(box, std::span<const std::uint16_t>(values));
    return done ? read(kAll)(store) : std::move(done);
  };
}
/// An operation of the transformer on the chunk of slot 0.
template <class Operation>
Act by_transformer(const Operation& operation) {
  return [operation](const std::shared_ptr<Store>& store) -> Result<void> {
    auto transformer = ShardingTransformer::open(store, "a");
    if (!transformer) return transformer.error();
    return operation(*transformer);
  };
}
const std::string kChunk = "data/root/a/c0/0";
const Act get_it = by_transformer([](ShardingTransformer& store) -> Result<void> {
  const auto value = store.get(kChunk);
  return value ? Result<void>() : value.error();
});
const Act get_its_end = by_transformer([](ShardingTransformer& store) -> Result<void> {
  const std::vector<draft2022::KeyRange> ranges{{kChunk, {-4, {}}}};
  const auto values = store.get_partial_values(ranges);
  return values ? Result<void>() : values.error();
});
const Act erase_another = by_transformer([](ShardingTransformer& store) { return store.erase("data/root/a/c1/1"); });
const Act erase_a_prefix =
    by_transformer([](ShardingTransformer& store) { return store.erase_prefix("data/root/a/c1/"); });
const Act set_a_part = by_transformer([](ShardingTransformer& store) {
  const std::array<std::byte, 2> two{};
  return store.set_partial_values(std::vector<draft2022::KeyStartValue>{{kChunk, 4, two}});
});

constexpr Value kFirstChunk = [](std::uint64_t y, std::uint64_t x) { return good(y % 2, x % 4); };
constexpr Value kWithoutFirst = [](std::uint64_t y, std::uint64_t x) {
  return y < 2 && x < 4 ? std::uint16_t{0} : good(y, x);
};

std::vector<StoredCase> sizes() {
  return {
      {38, "an empty shard", cut_to(0), read(kAll), corrupt_code, kShard},
      {38, "an empty shard, and a chunk is written", cut_to(0), write(kFirst), corrupt_code, kShard},
      {38, "an empty shard is rewritten whole", cut_to(0), write(kAll)},
      {38, "an empty shard, and a chunk is erased", cut_to(0), erase_another, corrupt_code, kShard},
      {39, "a shard of one byte", cut_to(1), read(kAll), corrupt_code, "too small"},
      {39, "a shard of one byte, behind the transformer", cut_to(1), get_it, corrupt_code, "too small"},
      {40, "a shard one byte shorter than its index", cut_to(63), read(kAll), corrupt_code, "too small"},
      {40, "the last byte is missing", cut_to(127), read(kAll), corrupt_code, kShard},
      {41, "an index of noise", shard([](std::string& bytes) { std::fill_n(bytes.begin() + 64, 64, '\x55'); }),
       read(kAll), corrupt_code, kShard},
  };
}

std::vector<StoredCase> entries() {
  const auto all_one = shard([](std::string& bytes) {
    for (std::size_t slot = 1; slot < 4; ++slot) set_entry(bytes, slot, 0, 16);
  });
  return {
      {42, "offset and nbytes wrap", entry(kMax - 7, 16), read(kFirst), corrupt_code, "slot 0"},
      {42, "offset and nbytes wrap to an extent inside", entry(kMax - 7, 40), get_it, corrupt_code, "slot 0"},
      {42, "offset and nbytes wrap, and another chunk is read", entry(kMax - 7, 16), read(kLast)},
      {42, "offset and nbytes wrap, and the end is asked for", entry(kMax - 7, 40), get_its_end, corrupt_code,
       "slot 0"},
      {42, "offset and nbytes wrap, and a part is set", entry(kMax - 7, 40), set_a_part, corrupt_code, "slot 0"},
      {43, "offset 2^64-1 and nbytes 0", entry(kMax, 0), read(kFirst), corrupt_code, "half-empty"},
      {44, "offset 2^64-1 and nbytes 16", entry(kMax, 16), read(kFirst), corrupt_code, "half-empty"},
      {44, "offset 0 and nbytes 2^64-1", entry(0, kMax), read(kFirst), corrupt_code, "half-empty"},
      {44, "both 2^64-1 is a missing chunk", entry(kMax, kMax), read(kAll, kWithoutFirst)},
      {45, "a range beyond the end", entry(120, 16), read(kFirst), corrupt_code, "beyond"},
      {45, "a range beyond the end, and another chunk is written", entry(120, 16), write(kLast), corrupt_code,
       "slot 0"},
      {45, "a range beyond the end, and a prefix is erased", entry(120, 16), erase_a_prefix, corrupt_code, "slot 0"},
      {45, "an offset beyond the end", entry(1000, 16), get_it, corrupt_code, "beyond"},
      {46, "a range inside the index", entry(64, 16), get_it},
      {47, "all entries are one range", all_one, read(kAll, kFirstChunk)},
      {47, "all entries are one range, and all is written", all_one, write(kAll)},
      {48, "a partial overlap, and the chunk is written", entry(8, 16), write(kFirst)},
      {49, "nbytes 0", entry(0, 0), read(kFirst), corrupt_code, kShard},
      {49, "nbytes too small", entry(0, 15), read(kFirst), corrupt_code, "15 bytes"},
      {49, "nbytes too large", entry(0, 17), read(kFirst), corrupt_code, "17 bytes"},
  };
}

std::vector<StoredCase> files() {
  constexpr std::uint64_t tebibyte = std::uint64_t{1} << 40U;
  return {
      {50, "nbytes 2^63", entry(0, std::uint64_t{1} << 63U), read(kFirst), corrupt_code, "beyond"},
      {50, "a chunk of 8 TiB in a sparse file", sparse(8 * tebibyte, 8 * tebibyte - 64), read(kFirst), corrupt_code,
       kShard},
      {50, "a compressed chunk of 1 GiB in a sparse file", sparse(tebibyte, tebibyte >> 10U, "gzip"), read(kFirst),
       corrupt_code, kShard},
      {50, "a chunk of 8 TiB behind the transformer", sparse(8 * tebibyte, 8 * tebibyte - 64), get_it, corrupt_code,
       kShard},
      {50, "a chunk of 8 TiB, and another one is written", sparse(8 * tebibyte, 8 * tebibyte - 64), write(kLast),
       corrupt_code, kShard},
      {54, "a sparse shard of 4 TiB", sparse(4 * tebibyte, 16), read(kFirst)},
      {55, "a FIFO as the shard", in_place_of_the_shard([](const std::string& path) {
         if (::mkfifo(path.c_str(), 0600) != 0) std::abort();
       }),
       read(kAll), corrupt_code, "not a regular file"},
      {55, "a directory as the shard",
       in_place_of_the_shard([](const std::string& path) { std::filesystem::create_directory(path); }), get_it,
       corrupt_code, "not a regular file"},
  };
}

INSTANTIATE_TEST_SUITE_P(DraftShardSize, HostileStore, testing::ValuesIn(sizes()), stored_name);
INSTANTIATE_TEST_SUITE_P(DraftShardEntry, HostileStore, testing::ValuesIn(entries()), stored_name);
INSTANTIATE_TEST_SUITE_P(DraftShardFile, HostileStore, testing::ValuesIn(files()), stored_name);

}  // namespace draft2022_test
}  // namespace sherd::hostile
