// The protocol of worker.py, and the geometry of cells.py.
#include "worker.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <zlib.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <new>
#include <sstream>
#include <stdexcept>

namespace bench {
namespace {

std::vector<Triple> triples(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<Triple> all;
  for (Triple one; file >> one[0] >> one[1] >> one[2];) all.push_back(one);
  if (all.empty()) throw std::runtime_error("nothing in " + path.string());
  return all;
}

std::vector<Key> tiles(std::uint64_t size, const Triple& lengths) {
  std::vector<Key> keys;
  for (std::uint64_t z = 0; z < size; z += lengths[0])
    for (std::uint64_t y = 0; y < size; y += lengths[1])
      for (std::uint64_t x = 0; x < size; x += lengths[2]) keys.push_back({{z, y, x}, lengths});
  return keys;
}

std::vector<Key> tiles(std::uint64_t size, std::uint64_t length) { return tiles(size, {length, length, length}); }

// A size in /proc/self/status, in bytes.
std::uint64_t status(const std::string& field) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(field + ":")) return std::strtoull(line.c_str() + field.size() + 1, nullptr, 10) * 1024;
  throw std::runtime_error("no " + field + " in /proc/self/status");
}

long minor_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

/// The peak of memory is that of the call's data: not the code that it is the first to touch.
void measure(const Call& call, bool check) {
  std::ofstream("/proc/self/clear_refs") << "5";  // restarts VmHWM
  std::uint32_t digest = 0;
  const Keep add = [&](std::span<const std::byte> result) {
    digest = static_cast<std::uint32_t>(crc32_z(digest, reinterpret_cast<const Bytef*>(result.data()), result.size()));
  };
  const auto resident = status("VmRSS"), code = status("RssFile");
  const long faults = minor_faults();
  const auto start = std::chrono::steady_clock::now();
  call(check ? add : [](std::span<const std::byte>) {});
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const auto peak = static_cast<std::int64_t>(status("VmHWM") - resident - (status("RssFile") - code));
  std::cout << "{\"seconds\": " << seconds.count() << ", \"faults\": " << minor_faults() - faults
            << ", \"peak\": " << peak;
  if (check) std::cout << ", \"digest\": " << digest;
  std::cout << "}" << std::endl;
}

}  // namespace

std::string Task::source() const {
  if (is_v2()) {
    const std::size_t begin = cell.find('-') + 1, end = is_together() ? cell.rfind('-') : cell.size();
    return (data / (cell.substr(begin, end - begin) + ".zarr")).string();
  }
  const bool sharded = cell != "read-raw" && cell != "read-zstd";
  return (data / ((noisy() ? "noisy" : sharded ? "sharded" : cell.substr(5)) + ".zarr")).string();
}

Layout Task::source_layout() const {
  if (cell == "read-raw" || cell == "read-zstd") return {size / 2, 0, cell == "read-zstd"};
  return {size / 8, size / 2, true};
}

Layout Task::target_layout() const {
  if (cell == "write-raw" || cell == "write-zstd") return {size / 2, 0, cell == "write-zstd"};
  if (cell == "reshard") return {size / 16, size / 4, true};
  return {size / 8, size / 2, true};
}

std::vector<Key> Task::keys() const {
  if (cell == "shards") return tiles(size, size / 2);
  if (cell == "chunks") return tiles(size, size / 8);
  if (cell.starts_with("tiles-")) return tiles(size, kV2Chunk);
  std::vector<Key> keys;
  if (cell == "together") {
    const auto chunks = tiles(size, size / 8);
    for (std::size_t i = 0; i < chunks.size(); ++i) keys.push_back(chunks[i * 197 % chunks.size()]);
    return keys;
  }
  const bool boxes = cell.starts_with("boxes");
  if (!boxes && cell != "points") return {{{0, 0, 0}, {size, size, size}}};
  const std::uint64_t length = boxes ? size * 100 / 512 : 1;
  for (const Triple& corner : triples(data / (boxes ? "boxes.txt" : "points.txt")))
    keys.push_back({corner, {length, length, length}});
  return keys;
}

Key Task::updated(unsigned repeat) const {
  const std::uint64_t length = size / 8;
  return {{repeat % 4 * length, repeat / 4 % 4 * length, repeat / 16 % 4 * length}, {length, length, length}};
}

std::vector<std::uint16_t> Task::update(unsigned repeat) const {
  const Key key = updated(repeat);
  std::vector<std::uint16_t> values(key.elements());
  std::ifstream file(data / "noisy.bin", std::ios::binary);
  auto* to = values.data();
  for (std::uint64_t z = 0; z < key.shape[0]; ++z)
    for (std::uint64_t y = 0; y < key.shape[1]; ++y, to += key.shape[2]) {
      const std::uint64_t row = ((key.origin[0] + z) * size + key.origin[1] + y) * size + key.origin[2];
      file.seekg(static_cast<std::streamoff>(row * 2));
      file.read(reinterpret_cast<char*>(to), static_cast<std::streamsize>(key.shape[2] * 2));
    }
  if (!file) throw std::runtime_error("noisy.bin is too short");
  for (auto& value : values) value ^= 1;
  return values;
}

std::vector<std::uint16_t> Task::elements() const {
  std::vector<std::uint16_t> values(size * size * size);
  std::ifstream file(data / (noisy() ? "noisy.bin" : "plain.bin"), std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * 2)))
    throw std::runtime_error("the file of elements is too short");
  return values;
}

Pages::Pages(std::size_t size) : size_(size) {
  constexpr std::size_t kHuge = std::size_t{2} << 20;
  reserved_ = (size + kHuge - 1) / kHuge * kHuge;
  data_ = static_cast<std::byte*>(std::aligned_alloc(kHuge, reserved_));
  if (data_ == nullptr) throw std::bad_alloc();
  madvise(data_, reserved_, MADV_HUGEPAGE);
}

Pages::~Pages() { std::free(data_); }

int serve(std::span<char*> arguments, const std::string& version, const std::function<Prepare(const Task&)>& program) {
  if (arguments.size() != 6) {
    std::cerr << "usage: " << arguments[0] << " synced|unsynced CELL DATA SCRATCH SIZE\n";
    return 2;
  }
  try {
    const Task task{arguments[1] == std::string("synced"), arguments[2], arguments[3], arguments[4],
                    std::stoull(arguments[5])};
    const Prepare prepare = program(task);
    std::cout << "{\"version\": \"" << version << "\"}" << std::endl;
    for (std::string line; std::getline(std::cin, line);) {
      std::istringstream words(line);
      unsigned repeat = 0;
      std::string check;
      words >> repeat >> check;
      measure(prepare(repeat), !check.empty());
    }
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
  return 0;
}

}  // namespace bench
