// Shared by the tests of dual-format arrays: the array that most start with, and how both counterparts are read.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "sherd/sharded_store.hpp"
#include "sherd/sherd.hpp"
#include "sherd/tools.hpp"
#include "tests/neuroglancer/precomputed_testing.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd::dual_format_testing {

namespace fs = std::filesystem;
using neuroglancer::json;

inline Config dual_format() {
  Config config{.layout = Layout::zarr_neuroglancer};
  config.durable = false;
  return config;
}

/// z, y, x.
inline CreateOptions array_of(const Shape& shape = {32, 48, 64}) {
  return {
      .shape = shape, .dtype = DType::uint16, .chunks = {8, 8, 16}, .shards = {16, 16, 32}, .config = dual_format()};
}

inline std::vector<std::uint16_t> noise(std::size_t count, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::vector<std::uint16_t> values(count);
  for (auto& value : values) value = static_cast<std::uint16_t>(random() % 7);
  return values;
}

inline Box whole(const Array& array) { return {Shape(array.ndim(), 0), array.shape()}; }

inline std::vector<std::uint16_t> elements(const Array& array) {
  std::vector<std::uint16_t> values(*element_count(array.shape()));
  array.read(whole(array), std::span(values)).value();
  return values;
}

class DualFormat : public testing::Test {
 protected:
  [[nodiscard]] std::string url() const { return directory_ / "a.zarr"; }
  [[nodiscard]] Array open(const std::string& format, bool writable = false) const {
    return open_array(url(), {.writable = writable, .format = format, .config = config_}).value();
  }
  /// The volume's voxels in the order of an array z,y,x.
  [[nodiscard]] std::vector<std::uint16_t> voxels() const {
    const Array volume = open("precomputed");
    const Shape shape = volume.shape();
    std::vector<std::uint16_t> values(*element_count(shape));
    volume
        .read(whole(volume),
              AnyView::dense(reinterpret_cast<std::byte*>(values.data()), DType::uint16, shape, Order::f))
        .value();
    return values;
  }
  void expect_sound(std::uint64_t shards) const {
    for (const char* node : {"", "/1_1_1"}) {
      const CheckReport report = check(url() + node, {.data = true}).value();
      EXPECT_EQ(report.shards, shards);
      for (const Fault& fault : report.faults) ADD_FAILURE() << fault.code << " " << fault.key << " " << fault.message;
    }
    std::uint64_t pairs = 0;
    for (const auto& entry : fs::recursive_directory_iterator(url()))
      if (entry.is_regular_file() && entry.hard_link_count() == 2) ++pairs;
    EXPECT_EQ(pairs, 2 * shards);
  }
  /// The codes of all faults. Damage is reported twice if both counterparts show it.
  [[nodiscard]] std::vector<std::string> faults() const {
    std::vector<std::string> codes;
    const CheckReport report = check(url()).value();
    for (const Fault& fault : report.faults)
      codes.push_back(std::string(fault.severity == Fault::Severity::error ? "" : "warning ") + fault.code + " " +
                      fault.key);
    return codes;
  }

  TempDir directory_;
  Config config_ = [] {
    Config config;
    config.durable = false;
    return config;
  }();
};

/// CreateOptions::volume with a sharding.
inline Json sharding(std::uint64_t preshift, std::uint64_t minishard, std::uint64_t shard,
                     const std::string& hash = "identity", const std::string& data = "gzip") {
  return Json::Object{{"sharding", Json::Object{{"@type", "neuroglancer_uint64_sharded_v1"},
                                                {"preshift_bits", preshift},
                                                {"hash", hash},
                                                {"minishard_bits", minishard},
                                                {"shard_bits", shard},
                                                {"data_encoding", data}}}};
}

}  // namespace sherd::dual_format_testing
