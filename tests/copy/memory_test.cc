// Copies that make many objects with codecs that allocate a lot of memory in each call.
#include <gtest/gtest.h>

#include "sherd/sherd.hpp"
#include "sherd/tools.hpp"
#include "tests/copy/copy_testing.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd {
namespace {

using namespace copy_testing;

#if SHERD_MEASURES_MEMORY
TEST(CopyMemory, DoesNotGrowWithTheNumberOfObjects) {
  const TempDir folder;
  make_sharded(folder / "a", {512, 512, 256}, {64, 64, 64});
  const CopyOptions options{.chunks = Shape{32, 64, 64}, .shards = Shape(), .codecs = std::vector<Json>{Json("blosc")}};
  EXPECT_LE(growth_of_copy(folder / "a", folder / "b", options, 512), 44U);
}
#endif

}  // namespace
}  // namespace sherd
