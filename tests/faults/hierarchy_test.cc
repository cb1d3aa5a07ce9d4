// Nodes that are created by their URL while another process renames the group that was found around them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sherd/sherd.hpp"
#include "tests/faults/faults.hpp"

namespace faults {
namespace {

using sherd::CreateOptions;
using sherd::DType;
using testing::Contains;
using testing::EndsWith;
using testing::Not;

/// A hierarchy of Zarr v2 with the group "g" is made; then an array is created in it, and "g" is renamed before the
/// call number `at`. Returns whether there was such a call.
bool create_while_renamed(const std::string& root, std::size_t at) {
  fs::remove_all(root);
  sherd::create_group(root, {}, false, {}, "zarr2").value();
  sherd::create_group(root + "/g").value();
  const Simulation simulation;
  std::size_t left = at;
  bool is_renamed = false;
  const std::function<void()> count = [&] {
    if (left-- > 0) return simulation.before("openat", count);
    fs::rename(root + "/g", root + "/k");
    is_renamed = true;
  };
  simulation.before("openat", count);
  (void)sherd::create_array(root + "/g/h/b", CreateOptions{.shape = {4}, .dtype = DType::uint8, .chunks = {4}});
  return is_renamed;
}

TEST(NewNode, HasTheFormatOfItsHierarchyIfTheGroupAroundItIsRenamedMeanwhile) {
  const TempDir folder;
  const std::string root = folder / "x.zarr";
  std::size_t at = 0;
  for (; create_while_renamed(root, at); ++at) EXPECT_THAT(files(root), Not(Contains(EndsWith("zarr.json")))) << at;
  EXPECT_GT(at, 10U);
}

}  // namespace
}  // namespace faults
