// Draco fragments of multi-resolution meshes, made by others (tests/data/precomputed/make_fragments.py).
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>

#include "tests/neuroglancer/precomputed_testing.hpp"
#include "tests/test_data.hpp"

namespace sherd::neuroglancer {
namespace draco_test {

using testing::HasSubstr;

std::string fragment(const std::string& name) {
  std::ifstream file(test_data("precomputed/" + name), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Result<QuantizedMesh> decode(const std::string& bytes) { return QuantizedMesh::decode_draco(bytes_of(bytes)); }

class Draco : public testing::Test {
 protected:
  void SetUp() override {
    if (QuantizedMesh::can_decode_draco()) return;
    if (std::getenv("SHERD_CI") != nullptr) FAIL() << "libdraco-dev is not installed; run script/bootstrap";
    GTEST_SKIP() << "libdraco-dev is not installed; run script/bootstrap";
  }
};

TEST_F(Draco, FragmentsDecodeToTheStoredIntegers) {
  for (const char* name : {"edgebreaker.drc", "sequential.drc", "metadata.drc", "quantized.drc"}) {
    const auto mesh = decode(fragment(name));
    ASSERT_TRUE(mesh) << name << ": " << mesh.error().text();
    EXPECT_EQ(mesh->vertices.size(), 98) << name;
    EXPECT_EQ(mesh->triangles.size(), 192) << name;
    std::set<std::array<std::uint32_t, 3>> points(mesh->vertices.begin(), mesh->vertices.end());
    EXPECT_EQ(points.size(), 98) << name;
    for (const auto& point : points) {
      EXPECT_TRUE(point[0] % 255 == 0 && point[1] % 255 == 0 && point[2] % 255 == 0) << name;
      EXPECT_LE(*std::max_element(point.begin(), point.end()), 1020) << name;
    }
    for (const Triangle& triangle : mesh->triangles)
      for (const std::uint32_t vertex : triangle) EXPECT_LT(vertex, 98) << name;
  }
}

TEST_F(Draco, FragmentsThatNeuroglancerCannotReadAreRefused) {
  EXPECT_EQ(refusal(decode(fragment("floats.drc")), ErrorCode::unsupported),
            "mesh fragment: has positions that are not integers, which Neuroglancer cannot read");
  EXPECT_EQ(refusal(decode(fragment("cloud.drc")), ErrorCode::corrupt), "mesh fragment: contains no mesh");
  EXPECT_EQ(refusal(decode(""), ErrorCode::corrupt), "mesh fragment: has no Draco header");
  std::string old = fragment("sequential.drc");
  old[6] = 1;
  EXPECT_THAT(refusal(decode(old), ErrorCode::unsupported), HasSubstr("2.1"));
}

TEST_F(Draco, FragmentsOfAnyOtherLengthAreCorrupt) {
  for (const char* name : {"edgebreaker.drc", "sequential.drc", "metadata.drc", "quantized.drc"})
    expect_exact_length(fragment(name), [](Bytes bytes) { return QuantizedMesh::decode_draco(bytes); });
}

TEST_F(Draco, FragmentsWithAnyBitFlippedAreAMeshOrAnError) {
  for (const char* name : {"edgebreaker.drc", "sequential.drc", "metadata.drc", "quantized.drc"}) {
    const std::string whole = fragment(name);
    for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
      std::string turned = whole;
      turned[bit / 8] = static_cast<char>(turned[bit / 8] ^ (1 << bit % 8));
      const auto mesh = decode(turned);
      if (!mesh) continue;
      for (const Triangle& triangle : mesh->triangles)
        for (const std::uint32_t vertex : triangle) ASSERT_LT(vertex, mesh->vertices.size()) << name << " bit " << bit;
    }
  }
}

TEST_F(Draco, FragmentsSayHowLargeTheyAreBeforeAnythingIsAllocated) {
  // Sequential: 2^32-1 faces, 1 point.
  const std::string huge("DRACO\2\2\1\0\0\0\xFF\xFF\xFF\xFF\x0F\1", 17);
  EXPECT_EQ(refusal(decode(huge), ErrorCode::unsupported),
            "mesh fragment: decodes to 51539607552 bytes, more than the limit chunk_bytes = 2147483648");
  Limits limits;
  limits.chunk_bytes = 98 * 12 + 192 * 12 - 1;
  const std::string whole = fragment("sequential.drc");
  EXPECT_EQ(QuantizedMesh::decode_draco(bytes_of(whole), limits).error().code(), ErrorCode::unsupported);
  limits.chunk_bytes += 1;
  EXPECT_TRUE(QuantizedMesh::decode_draco(bytes_of(whole), limits));
}

TEST(WithoutDraco, FragmentsAreUnsupportedAndTheErrorSaysWhatToInstall) {
  if (QuantizedMesh::can_decode_draco()) return;
  EXPECT_THAT(refusal(decode(fragment("sequential.drc")), ErrorCode::unsupported), HasSubstr("libdraco-dev"));
}

}  // namespace draco_test
}  // namespace sherd::neuroglancer
