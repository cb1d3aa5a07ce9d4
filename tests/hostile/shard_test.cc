// Hostile shards: 38 to 55 of docs/limits.md. The good object holds 64 bytes of four inner chunks and an index of 68.
#include "tests/hostile/hostile.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/checksum.hpp"

namespace sherd::hostile {
namespace shard_test {

using Make = std::function<void(World&)>;
using Words = std::span<std::uint64_t>;
constexpr std::uint64_t kMax = ~std::uint64_t{0};

Make object_of(std::size_t size) {
  return [size](World& world) {
    world.array(sharded());
    world.object(world.object().substr(0, size));
  };
}

Make flipped(std::size_t byte) {
  return [byte](World& world) {
    world.array(sharded());
    std::string bytes = world.object();
    bytes[byte] = static_cast<char>(bytes[byte] ^ 1);
    world.object(bytes);
  };
}

/// A shard whose entry of slot 0 is this.
Make entry(std::uint64_t offset, std::uint64_t nbytes) {
  return [=](World& world) {
    world.array(sharded());
    world.index([=](Words words) {
      words[0] = offset;
      words[1] = nbytes;
    });
  };
}

/// A shard, as a file that goes on for `size` bytes and ends with an index with one slot of this size.
Make sparse_shard_of(const std::string& codecs, std::uint64_t size, std::size_t slot, std::uint64_t nbytes) {
  return [=](World& world) {
    world.array(codecs);
    world.index([=](Words words) { words[2 * slot + 1] = nbytes; });
    const std::string bytes = world.object();
    const std::string index = bytes.substr(bytes.size() - 68);
    world.sparse(size);
    const int fd = ::open(world.object_path().c_str(), O_WRONLY | O_CLOEXEC);
    if (::pwrite(fd, index.data(), index.size(), static_cast<off_t>(size - index.size())) != 68) std::abort();
    ::close(fd);
  };
}

/// Of zstd chunks.
Make sparse_shard(std::uint64_t size, std::uint64_t nbytes) {
  return sparse_shard_of(sharded(R"(, {"name": "zstd", "configuration": {"level": 1, "checksum": false}})"), size, 0,
                         nbytes);
}

const std::string kBytes = R"({"name": "bytes", "configuration": {"endian": "little"}})";

std::string level(const std::string& shape, const std::string& codecs, const std::string& checksum) {
  return R"({"name": "sharding_indexed", "configuration": {"chunk_shape": )" + shape + R"(, "codecs": [)" + codecs +
         R"(], "index_codecs": [)" + kBytes + checksum + "]}}";
}
const std::string kChecksum = R"(, {"name": "crc32c"})";

/// Of shards of two chunks each.
Make sparse_nest(std::uint64_t size, std::size_t slot, std::uint64_t nbytes) {
  return sparse_shard_of("[" + level("[2, 4]", level("[1, 4]", kBytes, kChecksum), kChecksum) + "]", size, slot,
                         nbytes);
}

/// A shard of one shard of 32 chunks, which is said to be all of the one around it.
void shard_inside_itself(World& world) {
  world.array("[" + level("[4, 8]", level("[1, 1]", kBytes, kChecksum), "") + "]");
  std::string bytes = world.object();
  const std::uint64_t entry[] = {0, bytes.size()};
  std::memcpy(bytes.data() + bytes.size() - sizeof entry, entry, sizeof entry);
  world.object(bytes);
}

Make instead_of_object(const std::function<void(const std::string&)>& make) {
  return [make](World& world) {
    world.array(sharded());
    std::filesystem::remove(world.object_path());
    make(world.object_path().string());
  };
}

// Every slot shows chunk 0.
constexpr Value kFirstChunk = [](std::uint64_t y, std::uint64_t x) { return good(y % 2, x % 4); };
// Slot 0 begins four elements late: the rest of chunk 0 and the beginning of chunk 1 (in Morton order, as C order
// here).
constexpr Value kShifted = [](std::uint64_t y, std::uint64_t x) {
  if (y >= 2 || x >= 4) return good(y, x);
  return y == 0 ? good(1, x) : good(0, x + 4);
};
constexpr Value kWithoutFirst = [](std::uint64_t y, std::uint64_t x) {
  return y < 2 && x < 4 ? std::uint16_t{0} : good(y, x);
};
constexpr Act read_it = Act::read_all;

std::vector<Case> sizes() {
  return {
      {38, "an empty object", object_of(0), read_it, refused(corrupt_code, "'a/c/0/0'")},
      {38, "an empty object is rewritten whole", object_of(0), Act::write_all, reads()},
      {38, "an empty object is not updated in part", object_of(0), Act::write_one, refused(corrupt_code, "'a/c/0/0'")},
      {39, "an object of 1 byte", object_of(1), read_it, refused(corrupt_code, "too small for its index")},
      {40, "an object one byte shorter than its index", object_of(67), read_it,
       refused(corrupt_code, "too small for its index")},
      {40, "the last byte of a shard with its index first is missing",
       [](World& world) {
         world.array(sharded("", "start"));
         world.object(world.object().substr(0, 131));
       },
       read_it, refused(corrupt_code, "beyond", 3)},
      {40, "the last byte of a shard with its index first is missing, and another chunk is written",
       [](World& world) {
         world.array(sharded("", "start"));
         world.object(world.object().substr(0, 131));
       },
       Act::write_one, refused(corrupt_code, "beyond", 3)},
      {40, "the last byte is missing", object_of(131), read_it, refused(corrupt_code, "shard index")},
      {41, "one bit of the index", flipped(70), read_it, refused(corrupt_code, "crc32c")},
      {41, "one bit of the index checksum", flipped(131), read_it, refused(corrupt_code, "crc32c")},
      {41, "one bit of the index, on writing one element", flipped(70), Act::write_one,
       refused(corrupt_code, "crc32c")},
      {41, "one bit of the index, on writing all", flipped(70), Act::write_all, reads()},
  };
}

std::vector<Case> entries() {
  return {
      {42, "offset and nbytes wrap", entry(kMax - 7, 16), read_it, refused(corrupt_code, "'a/c/0/0'", 0)},
      {42, "offset and nbytes wrap to an extent inside", entry(kMax - 7, 40), read_it,
       refused(corrupt_code, "beyond", 0)},
      {42, "offset and nbytes wrap, on writing one element", entry(kMax - 7, 16), Act::write_one,
       refused(corrupt_code, "'a/c/0/0'", 0)},
      {43, "offset 2^64-1 and nbytes 0", entry(kMax, 0), read_it, refused(corrupt_code, "half-empty", 0)},
      {44, "offset 2^64-1 and nbytes 16", entry(kMax, 16), read_it, refused(corrupt_code, "half-empty", 0)},
      {44, "offset 0 and nbytes 2^64-1", entry(0, kMax), read_it, refused(corrupt_code, "half-empty", 0)},
      {44, "both 2^64-1 is a missing chunk", entry(kMax, kMax), read_it, reads(kWithoutFirst)},
      {45, "a range beyond the end", entry(128, 16), read_it, refused(corrupt_code, "beyond", 0)},
      {45, "an offset beyond the end", entry(1000, 16), read_it, refused(corrupt_code, "beyond", 0)},
      {45, "a range beyond the end of the last slot, and an element of the first is written",
       [](World& world) {
         world.array(sharded());
         world.index([](Words words) {
           words[6] = 124;
           words[7] = 16;
         });
       },
       Act::write_one, refused(corrupt_code, "beyond", 3)},
      {46, "a range of the last slot inside the index, and an element of the first is written",
       [](World& world) {
         world.array(sharded("", "start"));
         std::string bytes = world.object();
         const std::uint64_t offset = 0;
         std::memcpy(bytes.data() + 48, &offset, sizeof offset);
         const std::uint32_t checksum = crc32c(std::as_bytes(std::span(bytes).first(64)));
         std::memcpy(bytes.data() + 64, &checksum, sizeof checksum);
         world.object(bytes);
       },
       Act::write_one, refused(corrupt_code, "overlap the shard's index", 3)},
      {46, "a range inside the index", entry(64, 16), Act::read_one,
       reads([](std::uint64_t, std::uint64_t) { return std::uint16_t{64}; })},
      {47, "all entries are one range",
       [](World& world) {
         world.array(sharded());
         world.index([](Words words) {
           for (std::size_t slot = 1; slot < 4; ++slot)
             std::copy_n(words.begin(), 2, words.begin() + 2 * static_cast<std::ptrdiff_t>(slot));
         });
       },
       read_it, reads(kFirstChunk)},
      {47, "all entries are one range, and one element is written",
       [](World& world) {
         world.array(sharded());
         world.index([](Words words) {
           for (std::size_t slot = 1; slot < 4; ++slot)
             std::copy_n(words.begin(), 2, words.begin() + 2 * static_cast<std::ptrdiff_t>(slot));
         });
       },
       Act::write_one, reads(kFirstChunk)},
      {47, "a shard inside is all of the one around it", shard_inside_itself, read_it,
       refused(corrupt_code, "crc32c", 0)},
      {48, "a partial overlap", entry(8, 16), read_it, reads(kShifted)},
      {48, "a partial overlap, and the chunk is written", entry(8, 16), Act::write_all, reads()},
      {49, "nbytes 0", entry(0, 0), read_it, refused(corrupt_code, "'a/c/0/0'", 0)},
      {49, "nbytes too small", entry(0, 15), read_it, refused(corrupt_code, "15 bytes", 0)},
      {49, "nbytes too large", entry(0, 17), read_it, refused(corrupt_code, "17 bytes", 0)},
  };
}

std::vector<Case> layouts() {
  std::string big = sharded();
  big.replace(big.rfind("little"), 6, "big");
  const auto other = [](const std::string& written, const std::string& read) {
    return [=](World& world) {
      world.array(written);
      world.document(document_with("{\"codecs\": " + read + "}"));
    };
  };
  return {
      {51, "the index is said to be at the start", other(sharded(), sharded("", "start")), read_it,
       refused(corrupt_code, "crc32c")},
      {51, "the index is said to be at the end", other(sharded("", "start"), sharded()), read_it,
       refused(corrupt_code, "crc32c")},
      {52, "a big-endian index", [big](World& world) { world.array(big); }, read_it, reads()},
      {52, "a little-endian index that is said to be big", other(sharded(), big), read_it,
       refused(corrupt_code, "beyond", 0)},
  };
}

std::vector<Case> files() {
  constexpr std::uint64_t tebibyte = std::uint64_t{1} << 40;
  return {
      {50, "nbytes 2^63", entry(0, std::uint64_t{1} << 63), read_it, refused(corrupt_code, "beyond", 0)},
      {50, "a chunk of 8 TiB in a sparse file", sparse_shard(8 * tebibyte, 8 * tebibyte - 68), Act::read_one,
       refused(corrupt_code, "'a/c/0/0'", 0), Where::files},
      {50, "a chunk of 1 GiB in a sparse file", sparse_shard(tebibyte, tebibyte >> 10), Act::read_one,
       refused(corrupt_code, "'a/c/0/0'", 0), Where::files},
      {50, "a chunk of 1 GiB in a sparse file when one element is written", sparse_shard(tebibyte, tebibyte >> 10),
       Act::write_one, refused(corrupt_code, "'a/c/0/0'", 0), Where::files},
      {50, "a shard of 1 GiB inside a sparse one when one element is written", sparse_nest(tebibyte, 0, tebibyte >> 10),
       Act::write_one, refused(corrupt_code, "inner shard of", 0), Where::files},
      {50, "a shard of 512 GiB inside a sparse one, while an element next to it is written",
       sparse_nest(tebibyte, 3, tebibyte / 2), Act::write_one, refused(corrupt_code, "inner shard of", 3),
       Where::files},
      {54, "a sparse shard of 4 TiB",
       [](World& world) {
         world.array(sharded());
         world.index([](Words) {});
         const std::string bytes = world.object();
         world.sparse(4 * tebibyte);
         const int fd = ::open(world.object_path().c_str(), O_WRONLY | O_CLOEXEC);
         if (::pwrite(fd, bytes.data() + 64, 68, static_cast<off_t>(4 * tebibyte - 68)) != 68) std::abort();
         ::close(fd);
       },
       read_it, reads(), Where::files},
      {54, "a chunk that is a sparse file of 1 GiB",
       [](World& world) {
         world.array(chunked(R"({"name": "gzip", "configuration": {"level": 1}})"));
         world.sparse(tebibyte >> 10);
       },
       read_it, refused(corrupt_code, "'a/c/0/0'"), Where::files},
      {55, "a FIFO", instead_of_object([](const std::string& path) {
         if (::mkfifo(path.c_str(), 0600) != 0) std::abort();
       }),
       read_it, refused(corrupt_code, "not a regular file"), Where::files},
      {55, "a directory", instead_of_object([](const std::string& path) { std::filesystem::create_directory(path); }),
       read_it, refused(corrupt_code, "not a regular file"), Where::files},
      {55, "a device",
       instead_of_object([](const std::string& path) { std::filesystem::create_symlink("/dev/zero", path); }), read_it,
       refused(corrupt_code, "not a regular file"), Where::files},
      {55, "a FIFO as document",
       [](World& world) {
         std::filesystem::create_directories(world.root() / "a");
         if (::mkfifo((world.root() / "a/zarr.json").c_str(), 0600) != 0) std::abort();
       },
       Act::open, refused(corrupt_code, "not a regular file"), Where::files},
  };
}

INSTANTIATE_TEST_SUITE_P(ShardSize, Hostile, testing::ValuesIn(sizes()), name_of);
INSTANTIATE_TEST_SUITE_P(ShardEntry, Hostile, testing::ValuesIn(entries()), name_of);
INSTANTIATE_TEST_SUITE_P(ShardLayout, Hostile, testing::ValuesIn(layouts()), name_of);
INSTANTIATE_TEST_SUITE_P(ShardFile, Hostile, testing::ValuesIn(files()), name_of);

}  // namespace shard_test
}  // namespace sherd::hostile
