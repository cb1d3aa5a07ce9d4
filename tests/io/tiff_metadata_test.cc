// TIFF files with metadata whose bytes are damaged.
#include "tests/io/hyperstack_testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sherd::hyperstack_testing {
namespace tiff_metadata_test {

TEST(Hyperstack, ADamagedFileWithMetadataIsReadOrRefused) {
  for (const char* name : {"imagej_hyperstack.tif", "hyperstack.ome.tif"}) {
    expect_cuts_refused(name);
    expect_damage_survived(name);
  }
}

}  // namespace tiff_metadata_test
}  // namespace sherd::hyperstack_testing
