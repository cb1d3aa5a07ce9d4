// Any bytes as the only object of a small sharded array. The first byte chooses the layout: where the index is, how it
// and the chunks are encoded, and whether shards are nested. A read is rejected or returns elements, the same whether
// the object is in memory or read in ranges; after a successful write the data can be read back.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "sherd/sherd.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

using namespace sherd;
using Elements = std::vector<std::uint16_t>;

constexpr const char* kLittle = R"({"name": "bytes", "configuration": {"endian": "little"}})";
constexpr const char* kBig = R"({"name": "bytes", "configuration": {"endian": "big"}})";
constexpr const char* kZstd = R"({"name": "zstd", "configuration": {"level": 1, "checksum": false}})";
constexpr const char* kCrc = R"({"name": "crc32c"})";
constexpr const char* kTranspose = R"({"name": "transpose", "configuration": {"order": [2, 0, 1]}})";
constexpr unsigned kLayouts = 64;

std::string sharding(const std::string& shape, const std::string& inner, const std::string& index, bool at_start) {
  return R"({"name": "sharding_indexed", "configuration": {"chunk_shape": )" + shape + R"(, "codecs": [)" + inner +
         R"(], "index_codecs": [)" + index + R"(], "index_location": ")" + (at_start ? "start" : "end") + "\"}}";
}

std::string codecs_of(unsigned layout) {
  const bool at_start = (layout & 1U) != 0;
  std::string index = (layout & 2U) != 0 ? kBig : kLittle;
  if ((layout & 4U) != 0) index = std::string(kTranspose) + ", " + index;
  if ((layout & 32U) != 0) index += std::string(", ") + kCrc;
  std::string inner = kLittle;
  if ((layout & 8U) != 0) inner += std::string(", ") + kZstd;
  if ((layout & 16U) != 0) inner = sharding("[2, 2]", inner, index, at_start);
  return "[" + sharding("[4, 4]", inner, index, at_start) + "]";
}

Array open_with(const std::shared_ptr<Store>& store) {
  Config config;
  config.threads = 1;
  config.coalesce_gap = 16;
  config.cache_bytes = 4096;
  return open_array(store, {.writable = true, .config = config}).value();
}

// One array for each layout, and a valid object of it.
struct ShardShape {
  std::shared_ptr<Store> store = memory_store();
  std::string object;
  std::optional<Array> in_memory;
  std::optional<Array> in_ranges;

  explicit ShardShape(unsigned number) {
    CreateOptions options{.shape = {8, 12}, .dtype = DType::uint16};
    options.chunk_grid = Json::parse(R"({"name": "regular", "configuration": {"chunk_shape": [8, 12]}})").value();
    options.raw_codecs = Json::parse(codecs_of(number)).value();
    options.config.threads = 1;
    const Array array = create_array(store, "", options).value();
    Elements elements(96);
    std::iota(elements.begin(), elements.begin() + 60, std::uint16_t{1});
    array.write(Box{{0, 0}, {8, 12}}, std::span<const std::uint16_t>(elements)).value();
    object = store->get("c/0/0").value().value();
    in_memory = open_with(store);
    in_ranges = open_with(recorded_store(store, std::make_shared<Recorder>()));
  }
};

ShardShape& layout_of(std::uint8_t byte) {
  static std::vector<std::unique_ptr<ShardShape>> layouts(kLayouts);
  auto& layout = layouts[byte % kLayouts];
  if (!layout) layout = std::make_unique<ShardShape>(byte % kLayouts);
  return *layout;
}

Result<Elements> read_all(const Array& array) {
  Elements elements(96);
  auto done = array.read(Box{{0, 0}, {8, 12}}, std::span(elements));
  if (!done) return std::move(done).error();
  return elements;
}

void check_element(const Array& array, const Result<Elements>& all, std::uint64_t number) {
  std::uint16_t element = 0;
  const Box where{{number / 12, number % 12}, {1, 1}};
  const auto read = array.read(where, std::span(&element, 1));
  if (all && (!read || element != (*all)[number])) std::abort();
  element = 777;
  if (!array.write(where, std::span<const std::uint16_t>(&element, 1))) return;
  element = 0;
  if (!array.read(where, std::span(&element, 1)) || element != 777) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  ShardShape& layout = layout_of(data[0]);
  layout.store->set("c/0/0", std::string_view(reinterpret_cast<const char*>(data) + 2, size - 2)).value();
  const auto in_memory = read_all(*layout.in_memory);
  const auto in_ranges = read_all(*layout.in_ranges);
  if (in_memory.has_value() != in_ranges.has_value()) std::abort();
  if (in_memory && *in_memory != *in_ranges) std::abort();
  check_element(*layout.in_ranges, in_ranges, data[1] % 96);
  return 0;
}

// Sometimes starts again from a valid object of the layout, which mutation alone would hardly ever find.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  if (size < 2 || seed % 32 == 0) {
    const std::string& object = layout_of(static_cast<std::uint8_t>(seed / 32)).object;
    if (object.size() + 2 <= max_size) {
      data[0] = static_cast<std::uint8_t>(seed / 32);
      data[1] = static_cast<std::uint8_t>(seed / 4096);
      std::memcpy(data + 2, object.data(), object.size());
      size = object.size() + 2;
    }
  }
  return LLVMFuzzerMutate(data, size, max_size);
}
