// The lower bound of volumes: chunks of shards are read with pread and inflated once, or gathered, deflated once and
// written, by all cores. compressed_segmentation is omitted: for labels, memory of their size is filled once.
#include <libdeflate.h>

#include <memory>

#include "floor.hpp"

namespace bench {
namespace {

constexpr int kLevel = 6;
constexpr std::size_t kMinishards = 8;

struct Context {
  libdeflate_compressor* compressor = libdeflate_alloc_compressor(kLevel);
  libdeflate_decompressor* decompressor = libdeflate_alloc_decompressor();
  ~Context() {
    libdeflate_free_compressor(compressor);
    libdeflate_free_decompressor(decompressor);
  }
};

Context& context() {
  thread_local Context own;
  return own;
}

std::size_t inflate(std::span<const std::byte> from, std::span<std::byte> to) {
  std::size_t size = 0;
  if (libdeflate_gzip_decompress(context().decompressor, from.data(), from.size(), to.data(), to.size(), &size) !=
      LIBDEFLATE_SUCCESS)
    throw std::runtime_error("no chunk of gzip");
  return size;
}

struct Chunk {
  const File* file;
  std::uint64_t offset, length;
};

struct Volume {
  std::vector<std::unique_ptr<File>> files;
  std::vector<Chunk> chunks;
};

// Adds the chunks of one minishard, whose list consists of three rows: ids, gaps and lengths.
void add_chunks(const File& file, std::uint64_t begin, std::uint64_t end, std::vector<Chunk>& chunks) {
  constexpr std::uint64_t head = kMinishards * 16;
  std::vector<std::byte> encoded(end - begin);
  file.read(encoded, head + begin);
  std::vector<std::uint64_t> list(3 * 4096);
  const std::size_t count = inflate(encoded, std::as_writable_bytes(std::span(list))) / 24;
  std::uint64_t at = head;
  for (std::size_t i = 0; i < count; ++i) {
    at += list[count + i];
    chunks.push_back({&file, at, list[2 * count + i]});
    at += list[2 * count + i];
  }
}

Volume locate(const std::filesystem::path& scale) {
  Volume volume;
  for (const auto& entry : std::filesystem::directory_iterator(scale)) {
    const File* file = volume.files.emplace_back(std::make_unique<File>(entry.path(), O_RDONLY)).get();
    std::vector<std::uint64_t> index(2 * kMinishards);
    file->read(std::as_writable_bytes(std::span(index)), 0);
    for (std::size_t i = 0; i < kMinishards; ++i) add_chunks(*file, index[2 * i], index[2 * i + 1], volume.chunks);
  }
  return volume;
}

Prepare reading(const Task& task) {
  const std::uint64_t edge = task.size / 8;
  const bool labels = task.cell.ends_with("-labels");
  const std::size_t bytes = edge * edge * edge * (labels ? 8 : 1);
  const auto volume = std::make_shared<Volume>(locate(task.data / (task.cell.substr(5) + ".precomputed") / "8_8_8"));
  return [=](unsigned) -> Call {
    auto result = std::make_shared<std::unique_ptr<Pages>>();
    return [=](const Keep&) {
      *result = std::make_unique<Pages>(volume->chunks.size() * bytes);
      on_all_cores(volume->chunks.size(), [&](std::size_t i) {
        const Chunk& chunk = volume->chunks[i];
        const auto encoded = scratch<1>(chunk.length);
        chunk.file->read(encoded, chunk.offset);
        const std::span<std::byte> elements((*result)->data() + i * bytes, bytes);
        inflate(encoded, labels ? scratch<2>(bytes) : elements);
        if (labels) std::memset(elements.data(), 1, bytes);
      });
    };
  };
}

Prepare building(const Task& task) {
  const auto elements = std::make_shared<std::vector<std::byte>>(task.size * task.size * task.size);
  File(task.data / "image.bin", O_RDONLY).read(*elements, 0);
  const std::uint64_t edge = task.size / 8;
  const auto chunks = pieces({{0, 0, 0}, {task.size, task.size, task.size}}, edge);
  const std::filesystem::path target = task.scratch / (task.cell + ".precomputed");
  return [=, size = task.size, synced = task.synced](unsigned) -> Call {
    return [=](const Keep&) {
      std::filesystem::create_directories(target);
      std::vector<std::unique_ptr<File>> files;
      for (int i = 0; i < 8; ++i)
        files.push_back(std::make_unique<File>(target / (std::to_string(i) + ".shard"), O_WRONLY | O_CREAT | O_TRUNC));
      std::vector<std::atomic<std::uint64_t>> ends(files.size());
      on_all_cores(chunks.size(), [&](std::size_t i) {
        const auto chunk = scratch<1>(edge * edge * edge);
        gather(elements->data(), size, chunks[i], 1, chunk.data());
        const auto encoded = scratch<2>(libdeflate_gzip_compress_bound(context().compressor, chunk.size()));
        const std::size_t length =
            libdeflate_gzip_compress(context().compressor, chunk.data(), chunk.size(), encoded.data(), encoded.size());
        files[i % 8]->write(encoded.first(length), ends[i % 8].fetch_add(length));
      });
      if (synced) on_all_cores(files.size(), [&](std::size_t i) { files[i]->sync(); });
    };
  };
}

}  // namespace

Prepare volume_floor(const Task& task) { return task.cell.starts_with("build-") ? building(task) : reading(task); }

}  // namespace bench
