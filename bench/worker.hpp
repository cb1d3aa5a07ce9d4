// Shared by the C++ programs of the benchmark: the cells, memory on huge pages, and the protocol described in
// worker.py. A program is a function that opens what a cell needs and returns a function that prepares each call.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace bench {

using Triple = std::array<std::uint64_t, 3>;

// The chunk shape of Zarr v2.
inline constexpr Triple kV2Chunk{64, 64, 128};

// A box of the array, which one call reads or writes.
struct Key {
  Triple origin;
  Triple shape;
  [[nodiscard]] std::uint64_t elements() const { return shape[0] * shape[1] * shape[2]; }
};

// How an array is stored: the lengths of edges; `shards` is 0 for unsharded arrays.
struct Layout {
  std::uint64_t chunks;
  std::uint64_t shards;
  bool zstd;
};

struct Task {
  bool synced;
  std::string cell;
  std::filesystem::path data, scratch;
  std::uint64_t size;

  [[nodiscard]] bool is_volume() const {
    return cell.find("-image") != std::string::npos || cell.find("-labels") != std::string::npos;
  }
  [[nodiscard]] bool is_v2() const { return cell.find("-v2-") != std::string::npos; }
  [[nodiscard]] bool is_together() const { return cell.ends_with("together"); }
  [[nodiscard]] bool noisy() const { return cell.ends_with("-noisy") || cell == "update" || is_v2(); }
  [[nodiscard]] std::string source() const;
  [[nodiscard]] std::string target() const { return (scratch / (cell + ".zarr")).string(); }
  [[nodiscard]] Layout source_layout() const;
  [[nodiscard]] Layout target_layout() const;
  [[nodiscard]] std::vector<Key> keys() const;
  // The inner chunk in the first shard that update number `repeat` replaces, and its new elements.
  [[nodiscard]] Key updated(unsigned repeat) const;
  [[nodiscard]] std::vector<std::uint16_t> update(unsigned repeat) const;
  // All elements to be written.
  [[nodiscard]] std::vector<std::uint16_t> elements() const;
};

// Fresh memory on huge pages.
class Pages {
 public:
  explicit Pages(std::size_t size);
  ~Pages();
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  [[nodiscard]] std::byte* data() const { return data_; }
  template <class T>
  [[nodiscard]] std::span<T> as() const {
    return {reinterpret_cast<T*>(data_), size_ / sizeof(T)};
  }

 private:
  std::size_t size_, reserved_;
  std::byte* data_;
};

using Keep = std::function<void(std::span<const std::byte> result)>;
using Call = std::function<void(const Keep& keep)>;
using Prepare = std::function<Call(unsigned repeat)>;

// argv: synced|unsynced CELL DATA SCRATCH SIZE. The captures of a Call are destroyed after the clock has stopped.
int serve(std::span<char*> arguments, const std::string& version, const std::function<Prepare(const Task&)>& program);

}  // namespace bench
