// Durable writes of whole chunks, whose commits are made by threads of their own, from several threads at a time.
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <span>
#include <thread>
#include <vector>

#include "sherd/sherd.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd {
namespace durable_writes_test {

constexpr std::uint64_t kLength = 64, kBands = 4, kRows = kLength / kBands;

TEST(DurableWrites, OfThreadsThatWriteManyChunksAreAllStored) {
  for (const bool sharded : {false, true}) {
    const TempDir folder;
    CreateOptions options{.shape = {kLength, kLength}, .dtype = DType::uint32, .chunks = {2, 4}};
    if (sharded) options.shards = Shape{8, 8};
    const Array array = create_array(folder / "a", options).value();
    std::vector<std::uint32_t> expected(kLength * kLength);
    for (std::uint32_t round = 0; round < 5; ++round) {
      std::iota(expected.begin(), expected.end(), round);
      std::vector<std::thread> threads;
      for (std::uint64_t band = 0; band < kBands; ++band)
        threads.emplace_back([&, band] {
          const std::span all(std::as_const(expected));
          array.write(Box{{band * kRows, 0}, {kRows, kLength}}, all.subspan(band * kRows * kLength, kRows * kLength))
              .value();
        });
      for (std::thread& thread : threads) thread.join();
      std::vector<std::uint32_t> stored(expected.size());
      array.read(Box{{0, 0}, {kLength, kLength}}, std::span(stored)).value();
      ASSERT_EQ(stored, expected) << "round " << round;
    }
  }
}

}  // namespace durable_writes_test
}  // namespace sherd
