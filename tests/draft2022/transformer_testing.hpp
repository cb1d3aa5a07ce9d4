// An array of the 2022 draft behind its sharding transformer, with a log of the transformer's requests.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sherd/draft2022.hpp"
#include "tests/draft2022/draft2022_testing.hpp"

namespace sherd::draft {

using draft2022::EraseMode;
using draft2022::KeyRange;
using draft2022::KeyStartValue;
using draft2022::KeyValue;
using draft2022::ShardingTransformer;

inline std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

inline std::string words(std::initializer_list<std::uint64_t> numbers) {
  std::string bytes;
  for (const std::uint64_t number : numbers)
    for (int shift = 0; shift < 64; shift += 8) bytes += static_cast<char>(number >> shift);
  return bytes;
}
constexpr std::uint64_t kEmpty = ~std::uint64_t{0};

/// A store that logs its requests, with an array in it and its transformer. Values are written through the transformer.
struct World {
  explicit World(const std::string& document, const std::string& array_path = "a", EraseMode erase = EraseMode::rewrite)
      : store(hierarchy(document, array_path)), path(array_path) {
    transformer.emplace(open(erase));
  }
  [[nodiscard]] ShardingTransformer open(EraseMode erase = EraseMode::rewrite) const {
    return ShardingTransformer::open(recorded_store(store, recorder), path, {.erase = erase, .config = {}}).value();
  }
  ShardingTransformer* operator->() { return &*transformer; }

  [[nodiscard]] std::string key(const std::string& chunk) const { return "data/root/" + path + "/" + chunk; }
  void put(const std::vector<std::pair<std::string, std::string>>& chunks) {
    std::vector<KeyValue> values;
    for (const auto& [chunk, value] : chunks) values.push_back({key(chunk), bytes_of(value)});
    transformer->set_values(values).value();
  }
  [[nodiscard]] std::optional<std::string> value(const std::string& chunk) {
    return transformer->get(key(chunk)).value();
  }
  /// The requests that `act` makes, such as "get c0/0 64+64"; keys by their last segments.
  std::vector<std::string> requests(const std::function<void()>& act) {
    recorder->start();
    act();
    std::vector<std::string> log;
    for (const auto& request : recorder->stop()) {
      const std::string start = "data/root/" + path + "/";
      const std::string name = request.key.starts_with(start) ? request.key.substr(start.size()) : request.key;
      const bool plain = request.op == "list" || request.op == "erase";
      log.push_back(request.op + " " + (name.empty() ? "." : name) +
                    (plain ? "" : " " + std::to_string(request.offset) + "+" + std::to_string(request.length)));
    }
    return log;
  }

  std::shared_ptr<Store> store;
  std::string path;
  std::shared_ptr<Recorder> recorder = std::make_shared<Recorder>();
  std::optional<ShardingTransformer> transformer;
};

/// 7 x 5 elements in 4 x 3 chunks of 16 bytes, in shards of 2 x 2.
inline std::string document(std::string_view shape = "[7, 5]", std::string_view more = "") {
  std::string text = changed(kArray, transformers(indexed("[2, 2]")));
  text = changed(text, R"({"shape": )" + std::string(shape) + "}");
  return more.empty() ? text : changed(text, more);
}
/// A compressor, so that chunks have any length.
constexpr std::string_view kGzip =
    R"({"compressor": {"codec": "https://purl.org/zarr/spec/codec/gzip/1.0", "configuration": {"level": 1}}})";

inline std::vector<std::optional<std::string>> parts(World& world, const std::vector<KeyRange>& ranges) {
  return world->get_partial_values(ranges).value();
}

}  // namespace sherd::draft
