// Operations on a store during which calls fail or the process is killed: tests/crash/writer.cc runs them in its own
// process, tests/faults with simulated system calls. Failures are thrown as sherd::Exception.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "sherd/sherd.hpp"

namespace operations {

using Values = std::vector<std::uint16_t>;

inline sherd::Config config_of(unsigned threads) {
  sherd::Config config;
  config.threads = threads;
  return config;
}

// ---- a Zarr array of nine shards ----

inline sherd::Array open(const std::string& directory, const sherd::Config& config) {
  return sherd::open_array(directory, {.path = "a", .writable = true, .config = config}).value();
}

/// One value for the whole box, so that a mixture of two versions would show.
inline void write(const sherd::Array& array, const sherd::Box& box, std::uint16_t value) {
  const Values values(sherd::element_count(box.shape).value(), value);
  array.write(box, std::span(values)).value();
}

inline void create(const std::string& directory, const std::string& index_location, const sherd::Config& config) {
  sherd::CreateOptions options{.shape = {44, 40}, .dtype = sherd::DType::uint16, .chunks = {8, 8}, .shards = {16, 16}};
  options.codecs = {sherd::Json("zstd:1")};
  options.index_location = index_location == "start" ? sherd::IndexLocation::start : sherd::IndexLocation::end;
  options.overwrite = true;
  options.config = config;
  write(sherd::create_array(sherd::file_store(directory, config).value(), "a", options).value(), {{0, 0}, {44, 40}}, 1);
}

using Change = std::function<void(sherd::Array&, std::uint16_t)>;

/// The changes of an existing array, by name.
inline const std::map<std::string, Change>& changes() {
  using sherd::Array;
  static const std::map<std::string, Change> all{
      {"shard", [](Array& a, std::uint16_t v) { write(a, {{16, 16}, {16, 16}}, v); }},
      {"edge", [](Array& a, std::uint16_t v) { write(a, {{32, 32}, {12, 8}}, v); }},
      {"part", [](Array& a, std::uint16_t v) { write(a, {{17, 18}, {9, 5}}, v); }},
      {"two", [](Array& a, std::uint16_t v) { write(a, {{15, 3}, {2, 8}}, v); }},
      {"all", [](Array& a, std::uint16_t v) { write(a, {{0, 0}, {44, 40}}, v); }},
      {"attributes",
       [](Array& a, std::uint16_t v) {
         a.update_attributes(sherd::Json::parse("{\"value\": " + std::to_string(v) + "}").value()).value();
       }},
      {"shrink", [](Array& a, std::uint16_t v) { a.resize({static_cast<std::uint64_t>(18 + v % 2), 19}).value(); }},
      {"grow", [](Array& a, std::uint16_t v) { a.resize({static_cast<std::uint64_t>(60 + v), 50}).value(); }},
      {"append",
       [](Array& a, std::uint16_t v) {
         const Values rows(5 * 40, v);
         a.append(sherd::StridedView<const std::uint16_t>(rows.data(), {5, 40}).untyped()).value();
       }},
      {"erase", [](Array& a, std::uint16_t) { write(a, {{16, 16}, {16, 16}}, 0); }},
  };
  return all;
}

// ---- an array to which streams append rows that hold their numbers ----

inline constexpr std::uint64_t kRowsBefore = 12, kColumns = 8, kRowsOfFlush = 5, kFlushes = 2;

inline Values numbered_rows(std::uint64_t first, std::uint64_t count) {
  Values rows;
  for (std::uint64_t row = first; row < first + count; ++row)
    rows.insert(rows.end(), kColumns, static_cast<std::uint16_t>(row));
  return rows;
}

/// As long as a few flushes need shards that they begin, continue and complete.
inline void create_streamed(const std::string& directory, sherd::Technique technique) {
  sherd::CreateOptions options{.shape = {kRowsBefore, kColumns}, .dtype = sherd::DType::uint16, .chunks = {4, 8}};
  options.shards = {8, 8};
  if (technique == sherd::Technique::whole_shards) options.chunks = options.shards = {1, 8};
  if (technique == sherd::Technique::preallocated) options.codecs = std::vector<sherd::Json>{};
  const sherd::Array array = sherd::create_array(sherd::file_store(directory).value(), "a", options).value();
  const Values rows = numbered_rows(0, kRowsBefore);
  array.write(sherd::Box{{0, 0}, {kRowsBefore, kColumns}}, std::span(rows)).value();
}

/// Appends the rows of one flush.
inline void append_rows(sherd::Appender& appender, std::uint64_t first) {
  const Values rows = numbered_rows(first, kRowsOfFlush);
  appender.append(std::span(rows)).value();
}

/// Calls flushed(length) when rows are stored up to there.
inline void stream(sherd::Array& array, sherd::Technique technique, const std::function<void(std::uint64_t)>& flushed) {
  sherd::Appender appender = array.appender({.technique = technique, .auto_flush = false}).value();
  std::uint64_t length = array.shape()[0];
  for (std::uint64_t i = 0; i < kFlushes; ++i) {
    append_rows(appender, length);
    appender.flush().value();
    flushed(length += kRowsOfFlush);
  }
  appender.close().value();
}

// ---- a dual-format array of four shards ----

inline constexpr std::uint64_t kDualElements = std::uint64_t{16} * 16 * 16;

inline void create_dual(const std::string& directory) {
  sherd::CreateOptions options{.shape = {16, 16, 16},
                               .dtype = sherd::DType::uint16,
                               .chunks = {8, 8, 8},
                               .shards = {8, 8, 16},
                               .config = config_of(1)};
  options.config.layout = sherd::Layout::zarr_neuroglancer;
  Values values(kDualElements);
  std::iota(values.begin(), values.end(), std::uint16_t{1});
  sherd::create_array(directory, options)
      .value()
      .write(sherd::Box{{0, 0, 0}, {16, 16, 16}}, std::span(std::as_const(values)))
      .value();
}

/// The elements as readers of one format see them, in the order of the array.
inline Values read_dual(const std::string& directory, const std::string& format) {
  const sherd::Array array = sherd::open_array(directory, {.format = format, .config = config_of(1)}).value();
  Values values(kDualElements);
  const sherd::Shape shape = array.shape();
  array
      .read(sherd::Box{sherd::Shape(shape.size(), 0), shape},
            sherd::AnyView::dense(reinterpret_cast<std::byte*>(values.data()), sherd::DType::uint16, shape,
                                  array.ndim() == 4 ? sherd::Order::f : sherd::Order::c))
      .value();
  return values;
}

inline sherd::Array open_dual(const std::string& directory, const std::string& operation) {
  return sherd::open_array(directory, {.writable = true,
                                       .format = operation == "dual-format-volume" ? "precomputed" : "zarr3",
                                       .config = config_of(1)})
      .value();
}

inline void change_dual(const sherd::Array& array, const std::string& operation, std::uint16_t value) {
  if (operation == "dual-format-erase") value = 0;
  const sherd::Box box = operation == "dual-format-volume" ? sherd::Box{{3, 2, 1, 0}, {9, 4, 12, 1}}
                         : operation == "dual-format-part" ? sherd::Box{{2, 3, 4}, {4, 9, 5}}
                                                           : sherd::Box{{8, 0, 0}, {8, 8, 16}};
  array.fill(box, std::as_bytes(std::span(&value, 1))).value();
}

// ---- a shard of values by id, changed in place or rewritten ----

using Ids = sherd::neuroglancer::ShardedStore;

inline Ids open_ids(const std::string& directory) {
  sherd::neuroglancer::ShardedStoreOptions options{.writable = true, .config = config_of(1)};
  options.config.max_unused = 0.9;
  const auto sharding = sherd::Json::parse(
                            R"({"@type": "neuroglancer_uint64_sharded_v1", "preshift_bits": 0, "hash": "identity",
          "minishard_bits": 2, "shard_bits": 0, "minishard_index_encoding": "raw", "data_encoding": "raw"})")
                            .value();
  return Ids::open(directory, sharding, options).value();
}

inline void put_ids(const Ids& ids, const std::map<std::uint64_t, std::string>& values) {
  std::vector<Ids::Item> items;
  for (const auto& [id, value] : values) items.push_back({id, std::as_bytes(std::span(value))});
  ids.put_many(items).value();
}

inline void create_ids(const std::string& directory) {
  std::map<std::uint64_t, std::string> values;
  for (std::uint64_t id = 0; id < 30; ++id) values[id] = std::to_string(id) + std::string(200, 'o');
  put_ids(open_ids(directory), values);
}

inline std::map<std::uint64_t, std::string> read_ids(const std::string& directory) {
  const Ids ids = open_ids(directory);
  std::map<std::uint64_t, std::string> values;
  ids.list([&](std::uint64_t id, std::uint64_t) { return values[id] = ids.get(id).value().value(), true; }).value();
  return values;
}

inline void change_ids(const Ids& ids, const std::string& operation, std::uint16_t value) {
  const std::string text = std::to_string(value) + std::string(300, 'n');
  if (operation == "ids-put") put_ids(ids, {{7, text}});
  if (operation == "ids-put-many") put_ids(ids, {{7, text}, {8, text}, {100, text}});
  if (operation == "ids-remove") ids.erase(7).value();
  if (operation == "ids-rewrite") {
    std::vector<std::uint64_t> most(28);
    std::iota(most.begin(), most.end(), 0);
    ids.erase_many(most).value();
  }
}

}  // namespace operations
