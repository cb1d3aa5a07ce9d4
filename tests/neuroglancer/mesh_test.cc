// Legacy meshes, manifests of multi-resolution meshes and the location of their fragments.
#include <gmock/gmock.h>

#include "tests/neuroglancer/precomputed_testing.hpp"

namespace sherd::neuroglancer {
namespace mesh_test {

using testing::ElementsAre;
using testing::HasSubstr;

std::string golden_mesh() { return Packed().u32({3}).f32({0, 0, 0, 1, 0, 0, 0, 1, 0}).u32({0, 1, 2, 2, 1, 0}).text(); }

TEST(Mesh, IsReadAndWrittenAsSpecified) {
  const auto mesh = Mesh::parse(bytes_of(golden_mesh())).value();
  EXPECT_THAT(mesh.vertices, ElementsAre(Position{0, 0, 0}, Position{1, 0, 0}, Position{0, 1, 0}));
  EXPECT_THAT(mesh.triangles, ElementsAre(Triangle{0, 1, 2}, Triangle{2, 1, 0}));
  EXPECT_EQ(mesh.print().value(), golden_mesh());
}

TEST(Mesh, LengthMustBeWholeTriangles) {
  const std::string whole = golden_mesh();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto mesh = Mesh::parse(bytes_of(whole).first(size));
    EXPECT_EQ(mesh.has_value(), size >= 40 && (size - 40) % 12 == 0) << size;
    EXPECT_TRUE(mesh || mesh.error().code() == ErrorCode::corrupt) << size;
  }
}

TEST(Mesh, SaysWhatIsWrong) {
  const auto says = [](const std::string& bytes) { return refusal(Mesh::parse(bytes_of(bytes)), ErrorCode::corrupt); };
  EXPECT_EQ(says(Packed().u32({0xFFFFFFFF}).text()), "mesh: 4294967295 vertices need 51539607540 bytes, 0 are left");
  EXPECT_EQ(says(Packed().u32({0, 1, 2}).text()), "mesh: 8 bytes follow 0 vertices, but a triangle is 12 bytes");
  EXPECT_EQ(says(Packed().u32({0, 0, 0, 0}).text()), "mesh: triangle 0 names vertex 0, but there are 0");
  EXPECT_THAT(refusal(Mesh{{}, {{0, 0, 0}}}.print(), ErrorCode::invalid_argument), HasSubstr("triangle 0"));
}

TEST(LegacyMesh, DocumentsKeepMembersThatAreNotKnown) {
  const Json info = json(R"({"@type": "neuroglancer_legacy_mesh", "segment_properties": "p", "mip": 2})");
  EXPECT_EQ(LegacyMeshInfo::parse(info).value().print().value(), info);
  const Json manifest = json(R"({"fragments": ["1:0:a", "b"], "lod": [0]})");
  const auto parsed = LegacyMeshManifest::parse(manifest).value();
  EXPECT_THAT(parsed.fragments, ElementsAre("1:0:a", "b"));
  EXPECT_EQ(parsed.print().value(), manifest);
  EXPECT_EQ(LegacyMeshManifest::key(18446744073709551615U), "18446744073709551615:0");
  for (const char* wrong : {"{}", R"({"fragments": "a"})", R"({"fragments": [1]})", "[]"})
    EXPECT_FALSE(LegacyMeshManifest::parse(json(wrong))) << wrong;
}

// Two levels: two nodes at (0,0,0) and (1,0,0), and their parent, which is empty.
std::string golden_manifest() {
  return Packed()
      .f32({64, 32, 16, -8, 0, 8})
      .u32({2})
      .f32({1, 2})
      .f32({0, 0, 0, 0.5, 0.25, 0.125})
      .u32({2, 1})
      .u32({0, 1, 0, 0, 0, 0, 100, 23})
      .u32({0, 0, 0, 0})
      .text();
}

TEST(MeshManifest, IsReadAndWrittenAsSpecified) {
  const auto manifest = MultiscaleMeshManifest::parse(bytes_of(golden_manifest())).value();
  EXPECT_EQ(manifest.chunk_shape, (Position{64, 32, 16}));
  EXPECT_EQ(manifest.grid_origin, (Position{-8, 0, 8}));
  ASSERT_EQ(manifest.levels.size(), 2);
  EXPECT_EQ(manifest.levels[1].scale, 2);
  EXPECT_EQ(manifest.levels[1].vertex_offset, (Position{0.5, 0.25, 0.125}));
  EXPECT_THAT(manifest.levels[0].fragments, ElementsAre(MeshFragment{{0, 0, 0}, 100}, MeshFragment{{1, 0, 0}, 23}));
  EXPECT_THAT(manifest.levels[1].fragments, ElementsAre(MeshFragment{{0, 0, 0}, 0}));
  EXPECT_EQ(manifest.print().value(), golden_manifest());
}

TEST(MeshManifest, OfAnyOtherLengthIsCorrupt) {
  expect_exact_length(golden_manifest(), [](Bytes bytes) { return MultiscaleMeshManifest::parse(bytes); });
}

TEST(MeshManifest, FindsItsFragmentsBeforeItself) {
  const auto manifest = MultiscaleMeshManifest::parse(bytes_of(golden_manifest())).value();
  EXPECT_EQ(manifest.fragments_size(), 123);
  EXPECT_EQ(manifest.fragments_before(1123).value(), (ByteRange{1000, 123}));
  EXPECT_EQ(manifest.fragments_before(123).value(), (ByteRange{0, 123}));
  EXPECT_EQ(refusal(manifest.fragments_before(122), ErrorCode::corrupt),
            "mesh manifest: its fragments have 123 bytes, but it begins at byte 122 of the shard");
  EXPECT_EQ(manifest.fragment_range(0, 0).value(), (ByteRange{0, 100}));
  EXPECT_EQ(manifest.fragment_range(0, 1).value(), (ByteRange{100, 23}));
  EXPECT_EQ(manifest.fragment_range(1, 0).value(), (ByteRange{123, 0}));
  EXPECT_EQ(manifest.fragment_range(1, 1).error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(manifest.fragment_range(2, 0).error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(MultiscaleMeshManifest::key(42), "42.index");
  EXPECT_EQ(MultiscaleMeshManifest::fragments_key(42), "42");
}

TEST(MeshManifest, SumsSizesBeyondThirtyTwoBits) {
  MultiscaleMeshManifest manifest;
  manifest.levels = {{1, {}, {{{0, 0, 0}, 0xFFFFFFFF}, {{1, 0, 0}, 0xFFFFFFFF}}}};
  EXPECT_EQ(manifest.fragments_size(), 0x1FFFFFFFEU);
  EXPECT_EQ(manifest.fragment_range(0, 1).value(), (ByteRange{0xFFFFFFFF, 0xFFFFFFFF}));
}

TEST(MeshManifest, ReportsTheExpectedAndTheActualLength) {
  const auto says = [](const Packed& packed) {
    return refusal(MultiscaleMeshManifest::parse(bytes_of(packed.text())), ErrorCode::corrupt);
  };
  const auto head = [] { return Packed().f32({1, 1, 1, 0, 0, 0}); };
  EXPECT_EQ(says(head().u32({0xFFFFFFFF})), "mesh manifest: 4294967295 levels need 85899345900 bytes, 0 are left");
  EXPECT_EQ(says(head().u32({1}).f32({1, 0, 0, 0}).u32({0x10000001})),
            "mesh manifest: level 0: 268435457 fragments need 4294967312 bytes, 0 are left");
  EXPECT_EQ(says(head().u32({0, 7})), "mesh manifest: 4 bytes follow the end");
  EXPECT_EQ(says(Packed().f32({1, 2})), "mesh manifest: 3 words of chunk_shape need 12 bytes, 8 are left");
}

TEST(MeshManifest, IsReadInAnyOrderAndWrittenInZCurveOrder) {
  using At = std::array<std::uint32_t, 3>;
  // The eight children of a node, then the next of x = 2; x is the lowest bit of three.
  const std::vector<At> curve{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0, 0, 1},
                              {1, 0, 1}, {0, 1, 1}, {1, 1, 1}, {2, 0, 0}, {0, 0xFFFFFFFF, 1}};
  MultiscaleMeshManifest manifest{{1, 1, 1}, {}, {{1, {}, {}}}};
  for (const At& at : curve) manifest.levels[0].fragments.push_back({at, 1});
  EXPECT_TRUE(manifest.check_order());
  for (std::size_t i = 1; i < curve.size(); ++i) {
    auto swapped = manifest;
    std::swap(swapped.levels[0].fragments[i - 1], swapped.levels[0].fragments[i]);
    EXPECT_FALSE(swapped.check_order()) << i;
    EXPECT_FALSE(swapped.print()) << i;
  }
  auto twice = manifest;
  twice.levels[0].fragments[1] = twice.levels[0].fragments[0];
  EXPECT_THAT(refusal(twice.print(), ErrorCode::invalid_argument), HasSubstr("level 0: fragment 1 at (0, 0, 0)"));
  const std::string unordered =
      Packed().f32({1, 1, 1, 0, 0, 0}).u32({1}).f32({1, 0, 0, 0}).u32({2, 1, 0, 0, 0, 0, 0, 5, 6}).text();
  EXPECT_FALSE(MultiscaleMeshManifest::parse(bytes_of(unordered)).value().check_order());
}

TEST(MeshManifest, PlacesFragmentsInStoredModelCoordinates) {
  auto manifest = MultiscaleMeshManifest::parse(bytes_of(golden_manifest())).value();
  const QuantizedMesh quantized{{{0, 1023, 1023}}, {{0, 0, 0}}};
  const Mesh fine = manifest.place(quantized, 0, 1, 10).value();
  EXPECT_EQ(fine.vertices[0], (Position{-8 + 64, 32, 8 + 16}));
  EXPECT_EQ(fine.triangles, quantized.triangles);
  const Mesh coarse = manifest.place(quantized, 1, 0, 10).value();
  EXPECT_EQ(coarse.vertices[0], (Position{-8 + 0.5F, 64 + 0.25F, 8 + 32 + 0.125F}));
  EXPECT_EQ(refusal(manifest.place({{{1024, 0, 0}}, {}}, 0, 0, 10), ErrorCode::corrupt),
            "mesh fragment: position (1024, 0, 0) does not fit 10 bits");
  EXPECT_EQ(manifest.place(quantized, 0, 2, 10).error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(manifest.place(quantized, 0, 0, 11).error().code(), ErrorCode::invalid_argument);
}

TEST(MultiscaleMeshInfo, KeepsMembersThatItDoesNotKnow) {
  const Json document = json(R"({"@type": "neuroglancer_multilod_draco", "vertex_quantization_bits": 10,
    "transform": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0], "lod_scale_multiplier": 0.5, "mip": 1,
    "sharding": {"@type": "neuroglancer_uint64_sharded_v1"}, "chunk_size": [448, 448, 448]})");
  const auto info = MultiscaleMeshInfo::parse(document).value();
  EXPECT_EQ(info.vertex_quantization_bits, 10);
  EXPECT_EQ(info.lod_scale_multiplier, 0.5);
  EXPECT_EQ(info.print().value(), document);
  for (const char* wrong :
       {R"({"vertex_quantization_bits": 11, "lod_scale_multiplier": 1})",
        R"({"vertex_quantization_bits": 17, "lod_scale_multiplier": 1})", R"({"lod_scale_multiplier": 1})",
        R"({"vertex_quantization_bits": 16})", R"({"vertex_quantization_bits": 16, "lod_scale_multiplier": 0})"}) {
    Json spoiled = json(wrong);
    spoiled.set("@type", "neuroglancer_multilod_draco");
    EXPECT_FALSE(MultiscaleMeshInfo::parse(spoiled)) << wrong;
  }
}

}  // namespace mesh_test
}  // namespace sherd::neuroglancer
