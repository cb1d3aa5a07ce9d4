// A lower bound for readers and writers of these files: the same bytes are read with pread and decoded once, or
// gathered, encoded once and written, by all cores, into memory on huge pages. Nothing else is done: the offsets of all
// inner chunks are known in advance, decoded elements are not rearranged, and parts of chunks are not copied out.
#include <zstd.h>

#include <algorithm>
#include <map>

#include "floor.hpp"

namespace {

using bench::Call;
using bench::File;
using bench::gather;
using bench::Keep;
using bench::Key;
using bench::Layout;
using bench::on_all_cores;
using bench::Pages;
using bench::pieces;
using bench::Prepare;
using bench::scratch;
using bench::Task;
using bench::Triple;

constexpr std::size_t kPart = std::size_t{1} << 20;  // the size of reads and writes without codecs

std::size_t checked(std::size_t result) {
  if (ZSTD_isError(result) != 0) throw std::runtime_error(ZSTD_getErrorName(result));
  return result;
}

void decode(std::span<const std::byte> from, std::span<std::byte> to) {
  thread_local const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(), ZSTD_freeDCtx);
  if (checked(ZSTD_decompressDCtx(context.get(), to.data(), to.size(), from.data(), from.size())) != to.size())
    throw std::runtime_error("a chunk of another size");
}

std::span<const std::byte> encode(std::span<const std::byte> from) {
  thread_local const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), ZSTD_freeCCtx);
  const auto to = scratch<2>(ZSTD_compressBound(from.size()));
  return to.first(checked(ZSTD_compressCCtx(context.get(), to.data(), to.size(), from.data(), from.size(), 3)));
}

std::filesystem::path object(const std::filesystem::path& array, const Triple& cell) {
  return array / "c" / std::to_string(cell[0]) / std::to_string(cell[1]) / std::to_string(cell[2]);
}

// The location of an encoded chunk.
struct Extent {
  const File* file;
  std::uint64_t offset, length;
};

// The open files of an array, and the extent of each (inner) chunk.
struct Stored {
  std::vector<std::unique_ptr<File>> files;
  std::map<Triple, Extent> extents;
};

Stored locate(const Task& task) {
  const Layout layout = task.source_layout();
  const std::uint64_t outer = layout.shards != 0 ? layout.shards : layout.chunks;
  const std::uint64_t cells = task.size / outer, inner = outer / layout.chunks;
  Stored stored;
  for (std::uint64_t i = 0; i < cells * cells * cells; ++i) {
    const Triple cell{i / cells / cells, i / cells % cells, i % cells};
    const File* file = stored.files.emplace_back(std::make_unique<File>(object(task.source(), cell), O_RDONLY)).get();
    std::vector<std::uint64_t> index{0, file->size()};
    if (layout.shards != 0) {
      index.resize(2 * inner * inner * inner);
      file->read(std::as_writable_bytes(std::span(index)), file->size() - index.size() * 8 - 4);  // crc32c follows
    }
    for (std::uint64_t j = 0; j < index.size() / 2; ++j)
      stored.extents[{cell[0] * inner + j / inner / inner, cell[1] * inner + j / inner % inner,
                      cell[2] * inner + j % inner}] = {file, index[2 * j], index[2 * j + 1]};
  }
  return stored;
}

// The extents of the chunks that a box intersects.
std::vector<Extent> touched(const Stored& stored, const Key& key, std::uint64_t length) {
  std::vector<Extent> extents;
  for (std::uint64_t z = key.origin[0] / length; z * length < key.origin[0] + key.shape[0]; ++z)
    for (std::uint64_t y = key.origin[1] / length; y * length < key.origin[1] + key.shape[1]; ++y)
      for (std::uint64_t x = key.origin[2] / length; x * length < key.origin[2] + key.shape[2]; ++x)
        extents.push_back(stored.extents.at({z, y, x}));
  return extents;
}

// Each extent once, in storage order.
std::vector<Extent> joined(const std::vector<std::vector<Extent>>& calls) {
  std::map<std::pair<const File*, std::uint64_t>, Extent> all;
  for (const auto& extents : calls)
    for (const Extent& extent : extents) all.insert({{extent.file, extent.offset}, extent});
  std::vector<Extent> result;
  for (const auto& [where, extent] : all) result.push_back(extent);
  return result;
}

void read_encoded(const std::vector<Extent>& extents, std::uint64_t chunk_bytes, std::byte* to) {
  on_all_cores(extents.size(), [&](std::size_t i) {
    const auto encoded = scratch<1>(extents[i].length);
    extents[i].file->read(encoded, extents[i].offset);
    decode(encoded, {to + i * chunk_bytes, chunk_bytes});
  });
}

void read_raw(const std::vector<Extent>& extents, std::uint64_t chunk_bytes, std::byte* to) {
  const std::size_t parts = std::max<std::size_t>(1, chunk_bytes / kPart);
  const std::size_t part = chunk_bytes / parts;
  on_all_cores(extents.size() * parts,
               [&](std::size_t i) { extents[i / parts].file->read({to + i * part, part}, i % parts * part); });
}

Prepare reading(const Task& task) {
  const Layout layout = task.source_layout();
  const std::uint64_t chunk_bytes = layout.chunks * layout.chunks * layout.chunks * 2;
  const auto stored = std::make_shared<Stored>(locate(task));
  std::vector<std::vector<Extent>> calls;
  for (const Key& key : task.keys()) calls.push_back(touched(*stored, key, layout.chunks));
  if (task.is_together()) calls = {joined(calls)};
  return [=](unsigned) -> Call {
    auto result = std::make_shared<std::unique_ptr<Pages>>();
    return [=, held = stored](const Keep&) {
      std::size_t capacity = 0;
      for (const auto& extents : calls) {
        const std::size_t bytes = extents.size() * chunk_bytes;
        const bool fresh = task.cell == "shards" || bytes > capacity;  // a shard has its own memory
        if (fresh) {
          result->reset();
          *result = std::make_unique<Pages>(capacity = bytes);
        }
        (layout.zstd ? read_encoded : read_raw)(extents, chunk_bytes, (*result)->data());
      }
    };
  };
}

// The files of an array that is being written: inner chunks are stored in the order in which they are encoded.
class Target {
 public:
  Target(const Task& task, std::uint64_t size, Layout layout)
      : synced_(task.synced), edge_(layout.shards != 0 ? layout.shards : layout.chunks), cells_(size / edge_) {
    for (std::uint64_t i = 0; i < cells_ * cells_ * cells_; ++i) {
      const auto path = object(task.target(), {i / cells_ / cells_, i / cells_ % cells_, i % cells_});
      std::filesystem::create_directories(path.parent_path());
      files_.push_back(std::make_unique<File>(path, O_WRONLY | O_CREAT | O_TRUNC));
    }
    ends_ = std::vector<std::atomic<std::uint64_t>>(files_.size());
  }
  // Writes to the object that contains the element at `corner`.
  void append(const Triple& corner, std::span<const std::byte> bytes) {
    const std::size_t i = ((corner[0] / edge_) * cells_ + corner[1] / edge_) * cells_ + corner[2] / edge_;
    files_[i]->write(bytes, ends_[i].fetch_add(bytes.size()));
  }
  void finish() {
    if (synced_) on_all_cores(files_.size(), [&](std::size_t i) { files_[i]->sync(); });
  }

 private:
  bool synced_;
  std::uint64_t edge_, cells_;
  std::vector<std::unique_ptr<File>> files_;
  std::vector<std::atomic<std::uint64_t>> ends_;
};

Prepare writing(const Task& task) {
  const auto elements = std::make_shared<const std::vector<std::uint16_t>>(task.elements());
  const Layout layout = task.target_layout();
  const auto keys = pieces({{0, 0, 0}, {task.size, task.size, task.size}}, layout.chunks);
  return [=](unsigned) -> Call {
    return [=](const Keep&) {
      const auto bytes = std::as_bytes(std::span(*elements));
      Target target(task, task.size, layout);
      if (!layout.zstd) {
        const std::size_t part = std::min<std::size_t>(kPart, bytes.size() / keys.size());
        on_all_cores(bytes.size() / part, [&](std::size_t i) {
          target.append(keys[i * keys.size() / (bytes.size() / part)].origin, bytes.subspan(i * part, part));
        });
      } else {
        on_all_cores(keys.size(), [&](std::size_t i) {
          const auto chunk = scratch<1>(keys[i].elements() * 2);
          gather(bytes.data(), task.size, keys[i], 2, chunk.data());
          target.append(keys[i].origin, encode(chunk));
        });
      }
      target.finish();
    };
  };
}

// Encodes the new chunk and copies the rest of the shard to a new file, which replaces the old one.
Prepare updating(const Task& task) {
  const auto path = object(task.target(), {0, 0, 0});
  return [=](unsigned repeat) -> Call {
    return [=, values = task.update(repeat)](const Keep&) {
      const auto chunk = encode(std::as_bytes(std::span(values)));
      const auto next = path.string() + ".next";
      {
        const File from(path, O_RDONLY), to(next, O_WRONLY | O_CREAT | O_TRUNC);
        const std::uint64_t size = from.size();
        const auto part = scratch<1>(kPart);
        for (std::uint64_t at = 0; at < size; at += kPart) {
          const auto bytes = part.first(std::min<std::uint64_t>(kPart, size - at));
          from.read(bytes, at);
          to.write(bytes, at);
        }
        to.write(chunk, 0);
        if (task.synced) to.sync();
      }
      std::filesystem::rename(next, path);
    };
  };
}

Prepare copying(const Task& task) {
  const Layout from = task.source_layout(), to = task.target_layout();
  const auto stored = std::make_shared<Stored>(locate(task));
  const auto keys = pieces({{0, 0, 0}, {task.size, task.size, task.size}}, from.chunks);
  return [=](unsigned) -> Call {
    return [=](const Keep&) {
      Target target(task, task.size, to);
      on_all_cores(keys.size(), [&](std::size_t i) {
        const Triple& origin = keys[i].origin;
        const Extent& extent =
            stored->extents.at({origin[0] / from.chunks, origin[1] / from.chunks, origin[2] / from.chunks});
        const auto encoded = scratch<3>(extent.length);
        extent.file->read(encoded, extent.offset);
        const auto decoded = scratch<4>(keys[i].elements() * 2);
        decode(encoded, decoded);
        for (const Key& piece : pieces({{0, 0, 0}, keys[i].shape}, to.chunks)) {
          const auto chunk = scratch<1>(piece.elements() * 2);
          gather(decoded.data(), from.chunks, piece, 2, chunk.data());
          target.append({origin[0] + piece.origin[0], origin[1] + piece.origin[1], origin[2] + piece.origin[2]},
                        encode(chunk));
        }
      });
      target.finish();
    };
  };
}

Prepare program(const Task& task) {
  if (task.is_volume()) return bench::volume_floor(task);
  if (task.is_v2()) return bench::v2_floor(task);
  if (task.cell == "update") return updating(task);
  if (task.cell == "reshard") return copying(task);
  return task.cell.starts_with("write-") ? writing(task) : reading(task);
}

}  // namespace

int main(int count, char** values) {
  return bench::serve({values, static_cast<std::size_t>(count)}, std::string("libzstd ") + ZSTD_versionString(),
                      program);
}
