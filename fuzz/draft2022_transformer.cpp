// Any bytes as a shard under the draft's sharding transformer, with the index at its end: an array of 4 x 4 in one
// shard of 2 x 2 chunks of four bytes. Every listed key can be read or is rejected; after a successful change, the new
// value is read, and every other chunk is as it was, even if it cannot be read.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "base/buffer.hpp"
#include "fuzz/nodes.hpp"
#include "sherd/draft2022.hpp"
#include "sherd/sherd.hpp"

namespace {

using namespace sherd;
using draft2022::ShardingTransformer;

void expect(bool holds) {
  if (!holds) std::abort();
}

constexpr std::string_view kDocument = R"({"shape": [4, 4], "data_type": "|u1", "fill_value": 0,
  "chunk_grid": {"type": "regular", "separator": "/", "chunk_shape": [2, 2]}, "chunk_memory_layout": "C",
  "extensions": [], "attributes": {}, "storage_transformers": [{
    "extension": "https://purl.org/zarr/spec/storage_transformers/sharding/1.0", "type": "indexed",
    "configuration": {"chunks_per_shard": [2, 2]}}]})";
constexpr const char* kShard = "data/root/a/c0/0";

const std::array<std::string, 4> kKeys{"data/root/a/c0/0", "data/root/a/c0/1", "data/root/a/c1/0", "data/root/a/c1/1"};

/// Empty if it cannot be read; otherwise its value, which is empty if it is missing.
using Value = std::optional<std::optional<std::string>>;

std::array<Value, 4> read_all(const ShardingTransformer& chunks) {
  std::array<Value, 4> values;
  for (std::size_t i = 0; i < kKeys.size(); ++i)
    if (auto value = chunks.get(kKeys[i])) values[i] = *std::move(value);
  return values;
}

/// Makes one of the transformer's changes to chunk `at`; returns the value expected afterwards.
struct Changed {
  Result<void> done;
  std::optional<std::string> value;
};
Changed change(ShardingTransformer& chunks, std::size_t at, unsigned how) {
  const std::string value = "wxyz";
  if (how == 0) return {chunks.set(kKeys[at], as_bytes(value)), value};
  if (how == 1) return {chunks.erase(kKeys[at]), std::nullopt};
  const draft2022::KeyStartValue part{kKeys[at], 0, as_bytes(value)};
  return {chunks.set_partial_values({&part, 1}), value};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const unsigned choice = data[0];
  const auto store = memory_store();
  store->set(kShard, std::string_view(reinterpret_cast<const char*>(data) + 1, size - 1)).value();
  const draft2022::TransformerOptions options{
      .erase = (choice & 16U) != 0 ? draft2022::EraseMode::in_place : draft2022::EraseMode::rewrite,
      .config = fuzz::small_config()};
  auto chunks = ShardingTransformer::make(store, Json::parse(kDocument).value(), "a", options).value();
  (void)chunks.list();
  (void)chunks.list_dir("data/root/a/");
  const draft2022::KeyRange range{kKeys[choice & 3U], {1, 2}};
  (void)chunks.get_partial_values({&range, 1});
  const auto before = read_all(chunks);
  const std::size_t at = choice & 3U;
  const Changed changed = change(chunks, at, choice >> 2U & 3U);
  if (!changed.done) return 0;
  const auto after = read_all(chunks);
  for (std::size_t i = 0; i < kKeys.size(); ++i) expect(after[i] == (i == at ? Value(changed.value) : before[i]));
  return 0;
}
