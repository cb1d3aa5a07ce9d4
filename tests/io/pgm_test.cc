// PGM and PPM images: headers that do not fit.
#include "tests/io/image_files_testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sherd::image_files_testing {
namespace pgm_test {

TEST(Images, AnInconsistentPixmapIsRefusedBeforeAnythingIsCreated) {
  const Folder folder;
  const std::pair<const char*, const char*> lies[] = {{"P5 2000000000 2000000000 255\nx", "truncated"},
                                                      {"P5 4 4 255\nx", "truncated"},
                                                      {"P5 0 4 255\n", "no pixels"},
                                                      {"P5 99999999999999999999 4 255\n", "a number is expected"},
                                                      {"P5 -1 4 255\n", "a number is expected"},
                                                      {"P5 1 1 65536\nxx", "65536"},
                                                      {"P5 1 1 0\nxx", "1 to 65535"},
                                                      {"P2 2 1 100\n5 101\n", "exceeds the maximum, 100"},
                                                      {"P2 2 1 100\n5 x\n", "a number is expected at byte"},
                                                      {"P2 2 1 100\n   5\n", "a number is expected at byte"},
                                                      {"P5", "a number is expected"}};
  for (const auto& [bytes, text] : lies) {
    save(folder / "lie.pgm", bytes);
    EXPECT_TRUE(refuses(folder / "lie.pgm", ErrorCode::corrupt, text)) << bytes;
  }
  save(folder / "lie.pgm", "P4 8 1\nx");
  EXPECT_TRUE(refuses(folder / "lie.pgm", ErrorCode::unsupported, "P2, P3, P5 or P6"));
  save(folder / "lie.pgm", "P5 1 1 255\nxP5 1 1 255\nx");
  EXPECT_TRUE(refuses(folder / "lie.pgm", ErrorCode::unsupported, "follow the image"));
}

}  // namespace pgm_test
}  // namespace sherd::image_files_testing
