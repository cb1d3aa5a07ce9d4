// Allocation of uninitialised memory. Large blocks come from mmap, so they are returned when freed and cost nothing
// where they are not touched. The largest are aligned to huge pages and advised to use them, which makes the first
// touch several times faster than with 4 KiB pages. Small blocks come from the C library.
#include "base/buffer.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <span>
#include <thread>
#include <utility>

namespace sherd {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kMappedBytes = std::size_t{512} << 10;  // from this size
constexpr std::size_t kPageBytes = 4096;

// A header before every block, so that free_bytes knows how it was allocated.
struct alignas(kAlignment) Header {
  void* mapping = nullptr;  // nullptr: from aligned_alloc
  std::size_t mapped = 0;
  bool kept = false;  // for the next result when it is freed
};

void* map(std::size_t size) noexcept {
  void* mapping = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return mapping == MAP_FAILED ? nullptr : mapping;
}

std::byte* map_small(std::size_t size) noexcept {
  const std::size_t whole = (sizeof(Header) + size + kPageBytes - 1) & ~(kPageBytes - 1);
  auto* header = static_cast<Header*>(map(whole));
  if (header == nullptr) return nullptr;
  *header = {header, whole};
  return reinterpret_cast<std::byte*>(header + 1);
}

std::byte* map_huge(std::size_t size) noexcept {
  const std::size_t whole = (size + 2 * kHugePageBytes + sizeof(Header) - 1) & ~(kHugePageBytes - 1);
  void* mapping = map(whole);
  if (mapping == nullptr) return nullptr;
  const auto start = reinterpret_cast<std::uintptr_t>(mapping) + sizeof(Header);
  const auto aligned = (start + kHugePageBytes - 1) & ~(std::uintptr_t{kHugePageBytes} - 1);
  // A huge page is cleared as a whole, so a small rest is not given one.
  ::madvise(reinterpret_cast<void*>(aligned), (size + kHugePageBytes / 2) & ~(kHugePageBytes - 1), MADV_HUGEPAGE);
  auto* header = reinterpret_cast<Header*>(aligned) - 1;
  *header = {mapping, whole};
  return reinterpret_cast<std::byte*>(aligned);
}

// Keeps the results freed last for the next result of about their size. Nothing is locked: a child that was forked
// meanwhile finds an empty slot at worst.
class KeptResults {
 public:
  static constexpr std::size_t kSmallest = std::size_t{64} << 10;  // the C library is good at keeping smaller ones
  static constexpr std::size_t kLargest = std::size_t{8} << 20;

  /// A block that is large enough and not much larger; nullptr if there is none.
  Header* take(std::size_t size) noexcept {
    for (auto& slot : slots_) {
      Header* found = slot.exchange(nullptr);
      if (found == nullptr) continue;
      const auto before =
          static_cast<std::size_t>(reinterpret_cast<std::byte*>(found + 1) - static_cast<std::byte*>(found->mapping));
      const std::size_t capacity = found->mapped - before;
      if (capacity >= size && capacity / 2 <= size) return found;
      put_into(slot, found);
    }
    return nullptr;
  }
  void put(Header* freed) noexcept {
    for (auto& slot : slots_) {
      Header* none = nullptr;
      if (slot.compare_exchange_strong(none, freed)) return;
    }
    put_into(slots_[next_.fetch_add(1, std::memory_order_relaxed) % slots_.size()], freed);
  }
  static KeptResults& all() noexcept {
    static constinit KeptResults kept;
    return kept;
  }

 private:
  void put_into(std::atomic<Header*>& slot, Header* block) noexcept {
    if (Header* before = slot.exchange(block)) ::munmap(before->mapping, before->mapped);
  }

  std::array<std::atomic<Header*>, 4> slots_{};
  std::atomic<std::size_t> next_{0};
};

// The stock that a thread may have, so that memory is not faulted in again for each chunk, and the stock that all
// threads together may have beyond that, however many there are.
constexpr std::size_t kKeptBytes = std::size_t{4} << 20;
constexpr std::size_t kLargestKeptBytes = std::size_t{8} << 20;
std::size_t most_kept_beyond() noexcept {
  static const std::size_t bytes = kLargestKeptBytes * std::max(1U, std::thread::hardware_concurrency());
  return bytes;
}
std::atomic<std::size_t> kept_beyond{0};

}  // namespace

std::byte* allocate_bytes(std::size_t size) noexcept {
  if (size >= kMappedBytes && size < 2 * kHugePageBytes) return map_small(size);
  if (size > (std::size_t{1} << 62)) return nullptr;
  if (size >= 2 * kHugePageBytes) return map_huge(size);
  const std::size_t whole = (sizeof(Header) + size + kAlignment - 1) & ~(kAlignment - 1);
  void* block = std::aligned_alloc(kAlignment, whole);
  if (block == nullptr) return nullptr;
  auto* header = static_cast<Header*>(block);
  *header = {};
  return reinterpret_cast<std::byte*>(header + 1);
}

std::byte* allocate_result(std::size_t size) noexcept {
  if (size < KeptResults::kSmallest || size > KeptResults::kLargest) return allocate_bytes(size);
  if (Header* kept = KeptResults::all().take(size)) return reinterpret_cast<std::byte*>(kept + 1);
  std::byte* fresh = size < 2 * kHugePageBytes ? map_small(size) : map_huge(size);
  if (fresh != nullptr) (reinterpret_cast<Header*>(fresh) - 1)->kept = true;
  return fresh;
}

void free_bytes(std::byte* data) noexcept {
  if (data == nullptr) return;
  auto* header = reinterpret_cast<Header*>(data) - 1;
  if (header->kept)
    KeptResults::all().put(header);
  else if (header->mapping != nullptr)
    ::munmap(header->mapping, header->mapped);
  else
    std::free(header);
}

Buffer::Buffer(Buffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      capacity_(std::exchange(other.capacity_, 0)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(capacity_, other.capacity_);
  return *this;
}

void Buffer::reset() noexcept {
  free_bytes(std::exchange(data_, nullptr));
  size_ = capacity_ = 0;
}

Result<void> Buffer::resize(std::size_t size) {
  if (size > capacity_ || data_ == nullptr) {
    if (pooled_) Scratch::exchange(*this, size);
    if (size > capacity_ || data_ == nullptr) {
      reset();
      const std::size_t capacity = pooled_ ? Scratch::rounded(size) : size;
      data_ = allocate_bytes(capacity);
      if (data_ == nullptr) return unavailable("out of memory: " + std::to_string(size) + " bytes");
      capacity_ = capacity;
    }
  }
  size_ = size;
  return {};
}

Result<void> Buffer::grow(std::size_t size) {
  if (size > capacity_) {
    Buffer larger;
    larger.pooled_ = pooled_;
    if (auto done = larger.resize(std::max(size, capacity_ + capacity_ / 2)); !done) return done;
    if (size_ > 0) std::memcpy(larger.data_, data_, size_);
    *this = std::move(larger);
    if (pooled_) Scratch::give_back(larger);
  }
  size_ = size;
  return {};
}

Result<void> Buffer::append(std::span<const std::byte> bytes) {
  const std::size_t at = size_;
  if (auto grown = grow(at + bytes.size()); !grown) return grown;
  if (!bytes.empty()) std::memcpy(data_ + at, bytes.data(), bytes.size());
  return {};
}

// The blocks that a thread can lend, ascending by capacity.
struct Scratch::Stock {
  std::array<Buffer, 6> buffers;
  std::size_t count = 0;
  std::size_t bytes = 0;

  ~Stock() {
    while (count > 0) take(begin());
  }

  [[nodiscard]] Buffer* begin() noexcept { return buffers.data(); }
  [[nodiscard]] Buffer* end() noexcept { return buffers.data() + count; }

  /// Smaller ones are released.
  void put(Buffer& buffer) noexcept {
    const std::size_t capacity = buffer.capacity();
    if (capacity > kLargestKeptBytes) return;
    while (count == buffers.size() || !count_in(capacity)) {
      if (count == 0 || buffers.front().capacity() >= capacity) return;
      take(begin()).reset();
    }
    Buffer* slot = std::ranges::upper_bound(begin(), end(), capacity, {}, &Buffer::capacity);
    buffers[count++] = std::move(buffer);
    std::rotate(slot, end() - 1, end());
  }

  Buffer take(Buffer* from) noexcept {
    const std::size_t before = beyond();
    bytes -= from->capacity();
    kept_beyond.fetch_sub(before - beyond(), std::memory_order_relaxed);
    std::rotate(from, from + 1, end());
    return std::move(buffers[--count]);
  }

 private:
  [[nodiscard]] std::size_t beyond() const noexcept { return bytes > kKeptBytes ? bytes - kKeptBytes : 0; }

  /// Whether this much more may be kept.
  bool count_in(std::size_t more) noexcept {
    const std::size_t before = beyond();
    bytes += more;
    const std::size_t shared = beyond() - before;
    if (shared == 0 || kept_beyond.fetch_add(shared, std::memory_order_relaxed) + shared <= most_kept_beyond())
      return true;
    kept_beyond.fetch_sub(shared, std::memory_order_relaxed);
    bytes -= more;
    return false;
  }
};

Scratch::Stock& Scratch::stock() noexcept {
  thread_local Stock stock;
  return stock;
}

void Scratch::give_back(Buffer& buffer) noexcept {
  if (buffer.capacity() != 0) stock().put(buffer);
  buffer.reset();
}

std::size_t Scratch::rounded(std::size_t size) noexcept {
  const std::size_t step = std::max<std::size_t>(64, std::bit_floor(size) / 8);
  return size > ~std::size_t{0} / 2 ? size : (size + step - 1) / step * step;
}

void Scratch::exchange(Buffer& buffer, std::size_t size) noexcept {
  give_back(buffer);
  Stock& free = stock();
  Buffer* found = std::ranges::lower_bound(free.begin(), free.end(), size, {}, &Buffer::capacity);
  if (found != free.end()) buffer = free.take(found);
}

}  // namespace sherd
