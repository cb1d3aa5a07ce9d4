// The tools of the lower bound: files, all cores, and memory that stays mapped.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "worker.hpp"

namespace bench {

class File {
 public:
  File(const std::filesystem::path& path, int flags) : descriptor_(open(path.c_str(), flags | O_CLOEXEC, 0666)) {
    if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), path.string());
  }
  ~File() { close(descriptor_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  void read(std::span<std::byte> to, std::uint64_t offset) const {
    if (pread(descriptor_, to.data(), to.size(), static_cast<off_t>(offset)) != static_cast<ssize_t>(to.size()))
      throw std::runtime_error("a short read");
  }
  void write(std::span<const std::byte> from, std::uint64_t offset) const {
    if (pwrite(descriptor_, from.data(), from.size(), static_cast<off_t>(offset)) != static_cast<ssize_t>(from.size()))
      throw std::runtime_error("a short write");
  }
  void sync() const { fsync(descriptor_); }
  [[nodiscard]] std::uint64_t size() const { return static_cast<std::uint64_t>(lseek(descriptor_, 0, SEEK_END)); }

 private:
  int descriptor_;
};

// Runs work(0) … work(count - 1) on all cores.
inline void on_all_cores(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  const auto run = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::jthread> threads;
  for (std::size_t i = 1; i < std::min<std::size_t>(count, std::thread::hardware_concurrency()); ++i)
    threads.emplace_back(run);
  run();
}

// Memory of this thread that stays mapped.
template <int Which>
std::span<std::byte> scratch(std::size_t size) {
  thread_local std::vector<std::byte> memory;
  if (memory.size() < size) memory.resize(size);
  return {memory.data(), size};
}

// Copies a box out of a cube of `size`.
inline void gather(const std::byte* from, std::uint64_t size, const Key& box, std::size_t element, std::byte* to) {
  const std::size_t row = box.shape[2] * element;
  for (std::uint64_t z = 0; z < box.shape[0]; ++z)
    for (std::uint64_t y = 0; y < box.shape[1]; ++y, to += row)
      std::memcpy(to, from + (((box.origin[0] + z) * size + box.origin[1] + y) * size + box.origin[2]) * element, row);
}

inline std::vector<Key> pieces(const Key& box, std::uint64_t length) {
  std::vector<Key> keys;
  for (std::uint64_t z = 0; z < box.shape[0]; z += length)
    for (std::uint64_t y = 0; y < box.shape[1]; y += length)
      for (std::uint64_t x = 0; x < box.shape[2]; x += length)
        keys.push_back({{box.origin[0] + z, box.origin[1] + y, box.origin[2] + x}, {length, length, length}});
  return keys;
}

// The lower bound of volumes: gzip and the files, without compressed_segmentation.
Prepare volume_floor(const Task& task);
// The lower bound of Zarr v2: blosc or zlib, and one file per chunk.
Prepare v2_floor(const Task& task);

}  // namespace bench
