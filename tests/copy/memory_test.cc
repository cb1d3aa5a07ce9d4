// Copies that make many objects with codecs that allocate a lot of memory in each call.
#include <gtest/gtest.h>

#include "sherd/sherd.hpp"
#include "sherd/tools.hpp"
#include "tests/copy/copy_testing.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd {
namespace memory_test {

using namespace copy_testing;

#if SHERD_MEASURES_MEMORY
TEST(CopyMemory, DoesNotGrowWithTheNumberOfObjects) {
  const TempDir folder;
  make_sharded(folder / "a", {512, 512, 256}, {64, 64, 64});
  const CopyOptions options{.chunks = Shape{32, 64, 64}, .shards = Shape(), .codecs = std::vector<Json>{Json("blosc")}};
  EXPECT_LE(growth_of_copy(folder / "a", folder / "b", options, 512), 44U);
}

// Such as the coordinates of a dataset whose dimension has no end yet: few elements, in a chunk for many.
TEST(CopyMemory, HoldsOneLargeChunkOfSmallArraysAtATime) {
  const TempDir folder;
  Group group = create_group(folder / "from").value();
  const CreateOptions few{.shape = {4},
                          .dtype = DType::uint8,
                          .chunks = {std::uint64_t{48} << 20},
                          .codecs = std::vector<Json>{Json("zstd:1")}};
  const std::vector<std::uint8_t> values(4, 1);
  for (const char* const name : {"a", "b", "c", "d", "e", "f"})
    group.create_array(name, few).value().write(Box{{0}, {4}}, std::span<const std::uint8_t>(values)).value();
  const CopyOptions options{.codecs = std::vector<Json>{Json("gzip:1")}};
  EXPECT_LE(growth_of_copy(folder / "from", folder / "to", options, 6), 160U);
}
#endif

}  // namespace memory_test
}  // namespace sherd
