// The lower bound of Zarr v2: each chunk's file is opened, read and decoded once, or gathered, encoded once and
// written, by all cores. Nothing is transposed for order F, and parts of chunks are not copied out; with blosc only the
// planes that a box intersects are decoded. blosc and deflate are the libraries that Sherd uses.
#include <blosc.h>
#include <isa-l/igzip_lib.h>
#include <libdeflate.h>

#include <algorithm>
#include <memory>

#include "floor.hpp"

namespace bench {
namespace {

constexpr std::size_t kElement = 2;
constexpr std::size_t kChunkBytes = kV2Chunk[0] * kV2Chunk[1] * kV2Chunk[2] * kElement;

bool is_blosc(const Task& task) { return task.cell.find("-blosc-") != std::string::npos; }

// The part of a chunk that is needed: elements stored one after another.
struct Part {
  std::filesystem::path file;
  std::size_t first = 0, count = 0;
};

void decode(bool blosc, const Part& part, std::span<const std::byte> from, std::span<std::byte> to) {
  thread_local const std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)> inflater(
      libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
  if (blosc && part.count * kElement < to.size()) {
    const int first = static_cast<int>(part.first), count = static_cast<int>(part.count);
    if (blosc_getitem(from.data(), first, count, to.data()) < 0)
      throw std::runtime_error("a chunk that cannot be decoded");
    return;
  }
  const bool good = blosc ? blosc_decompress_ctx(from.data(), to.data(), to.size(), 1) == static_cast<int>(to.size())
                          : libdeflate_zlib_decompress(inflater.get(), from.data(), from.size(), to.data(), to.size(),
                                                       nullptr) == LIBDEFLATE_SUCCESS;
  if (!good) throw std::runtime_error("a chunk that cannot be decoded");
}

std::size_t deflate(std::span<const std::byte> from, std::span<std::byte> to) {
  thread_local std::vector<std::uint8_t> buffer(ISAL_DEF_LVL1_DEFAULT);
  isal_zstream stream;
  isal_deflate_stateless_init(&stream);
  stream.level = 1;
  stream.level_buf = buffer.data();
  stream.level_buf_size = static_cast<std::uint32_t>(buffer.size());
  stream.gzip_flag = IGZIP_ZLIB;
  stream.end_of_stream = 1;
  stream.next_in = const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(from.data()));
  stream.avail_in = static_cast<std::uint32_t>(from.size());
  stream.next_out = reinterpret_cast<std::uint8_t*>(to.data());
  stream.avail_out = static_cast<std::uint32_t>(to.size());
  if (isal_deflate_stateless(&stream) != COMP_OK) throw std::runtime_error("a chunk that cannot be encoded");
  return stream.total_out;
}

std::span<const std::byte> encode(bool blosc, std::span<const std::byte> from) {
  const auto to = scratch<2>(from.size() + (std::size_t{64} << 10));
  if (!blosc) return to.first(deflate(from, to));
  const int size = blosc_compress_ctx(5, BLOSC_SHUFFLE, kElement, from.size(), from.data(), to.data(), to.size(),
                                      BLOSC_LZ4_COMPNAME, 0, 1);
  if (size <= 0) throw std::runtime_error("a chunk that cannot be encoded");
  return to.first(static_cast<std::size_t>(size));
}

// The numbers of the chunks that a box intersects.
std::vector<Triple> touched(const Key& key) {
  const auto first = [&](std::size_t d) { return key.origin[d] / kV2Chunk[d]; };
  const auto end = [&](std::size_t d) { return (key.origin[d] + key.shape[d] + kV2Chunk[d] - 1) / kV2Chunk[d]; };
  std::vector<Triple> chunks;
  for (std::uint64_t z = first(0); z < end(0); ++z)
    for (std::uint64_t y = first(1); y < end(1); ++y)
      for (std::uint64_t x = first(2); x < end(2); ++x) chunks.push_back({z, y, x});
  return chunks;
}

std::filesystem::path object(const std::filesystem::path& array, const Triple& chunk) {
  return array / (std::to_string(chunk[0]) + '.' + std::to_string(chunk[1]) + '.' + std::to_string(chunk[2]));
}

// `slowest` is the dimension whose planes are stored one after another.
std::vector<Part> touched_parts(const std::filesystem::path& array, const Key& key, std::size_t slowest) {
  const std::size_t length = kV2Chunk[slowest], plane = kChunkBytes / kElement / length;
  std::vector<Part> parts;
  for (const Triple& chunk : touched(key)) {
    const std::uint64_t begin = chunk[slowest] * length, end = key.origin[slowest] + key.shape[slowest];
    const std::uint64_t first = std::max(begin, key.origin[slowest]) - begin,
                        last = std::min(begin + length, end) - begin;
    parts.push_back({object(array, chunk), first * plane, (last - first) * plane});
  }
  return parts;
}

Prepare reading(const Task& task) {
  std::vector<std::vector<Part>> calls;
  for (const Key& key : task.keys())
    calls.push_back(touched_parts(task.source(), key, task.cell.find("-f") != std::string::npos ? 2 : 0));
  return [=, blosc = is_blosc(task)](unsigned) -> Call {
    auto result = std::make_shared<std::unique_ptr<Pages>>();
    return [=](const Keep&) {
      std::size_t capacity = 0;
      for (const auto& parts : calls) {
        if (parts.size() > capacity) {
          result->reset();
          *result = std::make_unique<Pages>((capacity = parts.size()) * kChunkBytes);
        }
        on_all_cores(parts.size(), [&](std::size_t i) {
          const File file(parts[i].file, O_RDONLY);
          const auto encoded = scratch<1>(file.size()).first(file.size());
          file.read(encoded, 0);
          decode(blosc, parts[i], encoded, {(*result)->data() + i * kChunkBytes, kChunkBytes});
        });
      }
    };
  };
}

Prepare writing(const Task& task) {
  const auto elements = std::make_shared<const std::vector<std::uint16_t>>(task.elements());
  const auto chunks = touched({{0, 0, 0}, {task.size, task.size, task.size}});
  return [=, blosc = is_blosc(task)](unsigned) -> Call {
    return [=](const Keep&) {
      std::filesystem::create_directories(task.target());
      std::vector<std::unique_ptr<File>> files(chunks.size());
      on_all_cores(chunks.size(), [&](std::size_t i) {
        const auto& [z, y, x] = chunks[i];
        const auto chunk = scratch<1>(kChunkBytes);
        const Key box{{z * kV2Chunk[0], y * kV2Chunk[1], x * kV2Chunk[2]}, kV2Chunk};
        gather(std::as_bytes(std::span(*elements)).data(), task.size, box, kElement, chunk.data());
        files[i] = std::make_unique<File>(object(task.target(), chunks[i]), O_WRONLY | O_CREAT | O_TRUNC);
        files[i]->write(encode(blosc, chunk.first(kChunkBytes)), 0);
      });
      if (task.synced) on_all_cores(files.size(), [&](std::size_t i) { files[i]->sync(); });
    };
  };
}

}  // namespace

Prepare v2_floor(const Task& task) { return task.cell.starts_with("write-") ? writing(task) : reading(task); }

}  // namespace bench
