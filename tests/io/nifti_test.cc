// NIfTI files: what nibabel wrote is read, what is written reads back the same, and damaged files are refused.
#include "tests/io/nifti_testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sherd::nifti_testing {
namespace nifti_test {

TEST(Nifti, APairIsFoundByEitherName) {
  for (const char* name : {"pair.hdr", "pair.img"}) {
    auto reader = open_file(data(name));
    ASSERT_TRUE(reader) << reader.error().text();
    EXPECT_EQ((*reader)->array().dtype, DType::int8);
    EXPECT_EQ(values_of<std::int8_t>(read_all(**reader).value())[0], 11);
  }
  const Folder folder;
  save(folder / "alone.hdr", load(data("pair.hdr")));
  EXPECT_TRUE(fails(open_file(folder / "alone.hdr"), ErrorCode::not_found, "alone.img"));
}

TEST(Nifti, OneDimensionIsEnoughAndColoursAreALastDimension) {
  auto line = open_file(data("one_dimension.nii")).value();
  EXPECT_EQ(line->array().shape, (Shape{6}));
  EXPECT_EQ(line->array().dimension_names, (Names{"x"}));
  expect_pattern<std::uint32_t>(*line);
  auto colours = open_file(data("rgb.nii")).value();
  EXPECT_EQ(colours->array().shape, (Shape{3, 5, 7, 3}));
  EXPECT_EQ(colours->array().dimension_names, (Names{"z", "y", "x", "c"}));
  EXPECT_EQ(colours->array().attributes.find("spacing")->size(), 4u);
  expect_pattern<std::uint8_t>(*colours);
}

TEST(Nifti, ScalingIsRecordedAndAppliedOnlyWhenAsked) {
  auto stored = open_file(data("scaled.nii")).value();
  EXPECT_EQ(stored->array().dtype, DType::int16);
  EXPECT_EQ(stored->array().attributes.find("scl_slope")->as_double(), 0.5);
  EXPECT_EQ(stored->array().attributes.find("scl_inter")->as_double(), 10.0);
  expect_pattern<std::int16_t>(*stored);

  ImportOptions options;
  options.apply_scale = true;
  auto scaled = open_file(data("scaled.nii"), options).value();
  EXPECT_EQ(scaled->array().dtype, DType::float32);
  EXPECT_EQ(scaled->array().attributes.find("scl_slope"), nullptr);
  const auto values = values_of<float>(read_all(*scaled, 13).value());
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], static_cast<float>(pattern(i)) * 0.5f + 10);
  EXPECT_TRUE(fails(open_file(data("nifti2_big.nii"), options), ErrorCode::unsupported, "complex") ||
              open_file(data("nifti2_big.nii"), options)->get()->array().attributes.find("scl_slope") == nullptr);
}

TEST_P(NiftiRoundTrip, KeepsElementsSpaceAndUnits) {
  const Folder folder;
  const auto [name, written] = GetParam();
  auto first = open_file(data(name)).value();
  const auto bytes = read_all(*first).value();
  auto writer = kNiftiFiles.create(folder / written, first->array(), WriteMode{}).value();
  const std::size_t half = bytes.size() / 2 / first->array().dtype.size() * first->array().dtype.size();
  ASSERT_TRUE(writer->write(0, std::span(bytes).first(half)));
  ASSERT_TRUE(writer->write(half / first->array().dtype.size(), std::span(bytes).subspan(half)));
  ASSERT_TRUE(writer->finish());
  auto again = open_file(folder / written).value();
  EXPECT_EQ(again->array().shape, first->array().shape);
  EXPECT_EQ(again->array().dtype, first->array().dtype);
  EXPECT_EQ(read_all(*again).value(), bytes);
  Json before = first->array().attributes, after = again->array().attributes;
  // Where a file said nothing of scaling, 1 and 0 are written.
  if (before.find("scl_slope") == nullptr)
    for (const char* key : {"scl_slope", "scl_inter"}) after.erase(key);
  const auto affine = affine_of(first->array()), affine_again = affine_of(again->array());
  for (std::size_t i = 0; i < affine.size(); ++i)
    EXPECT_EQ(static_cast<float>(affine[i]), static_cast<float>(affine_again[i]));
  for (Json* attributes : {&before, &after}) attributes->erase("affine");
  EXPECT_EQ(before, after) << before.dump() << "\n" << after.dump();
  EXPECT_EQ(folder.names(), std::vector<std::string>{written});
}

INSTANTIATE_TEST_SUITE_P(Files, NiftiRoundTrip,
                         ::testing::Values(std::pair("sform.nii", "a.nii"), std::pair("sform.nii", "a.nii.gz"),
                                           std::pair("qform.nii.gz", "a.nii"), std::pair("big_4d.nii", "a.nii.gz"),
                                           std::pair("nifti2_big.nii", "a.nii"), std::pair("rgb.nii", "a.nii"),
                                           std::pair("scaled.nii", "a.nii"), std::pair("one_dimension.nii", "a.nii")));

TEST(Nifti, TypesTheFormatCannotStoreAreRefused) {
  const Folder folder;
  const auto create = [&](Shape shape, const DType& dtype, Json attributes = {}) {
    return kNiftiFiles.create(folder / "a.nii", FileArray{std::move(shape), dtype, {}, std::move(attributes), false},
                              WriteMode{});
  };
  EXPECT_TRUE(fails(create({2}, DType::float16), ErrorCode::unsupported, "float16"));
  EXPECT_TRUE(fails(create({}, DType::uint8), ErrorCode::unsupported, "1 to 7"));
  EXPECT_TRUE(fails(create(Shape(8, 1), DType::uint8), ErrorCode::unsupported, "1 to 7"));
  for (const char* bad :
       {R"({"affine": [[1, 2], [3, 4]]})", R"({"affine": {"a": 1, "b": 2, "c": 3, "d": 4}})",
        R"({"affine": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], {"a": 1, "b": 2, "c": 3, "d": 4}]})"})
    EXPECT_TRUE(fails(create({2}, DType::uint8, Json::parse(bad).value()), ErrorCode::invalid_argument, "affine"));
  EXPECT_TRUE(folder.names().empty());
}

TEST(Nifti, SeveralGzipMembersAreOneFileAndZerosBehindThemPadding) {
  const Folder folder;
  const std::string whole = load(data("sform.nii"));
  save(folder / "a.nii.gz", gzip(whole.substr(0, 353)) + gzip("") + gzip(whole.substr(353)) + std::string(512, '\0'));
  auto reader = open_file(folder / "a.nii.gz").value();
  expect_pattern<std::int16_t>(*reader);
}

TEST(Nifti, ADamagedGzipStreamNamesTheByte) {
  const Folder folder;
  const std::string packed = gzip(load(data("sform.nii")));
  std::string wrong_sum = packed;
  wrong_sum[packed.size() - 6] ^= 1;
  save(folder / "sum.nii.gz", wrong_sum);
  EXPECT_TRUE(refuses(folder / "sum.nii.gz", ErrorCode::corrupt, "incorrect data check at byte"));
  save(folder / "cut.nii.gz", std::string_view(packed).substr(0, packed.size() - 9));
  EXPECT_TRUE(
      refuses(folder / "cut.nii.gz", ErrorCode::corrupt, "cut off at byte " + std::to_string(packed.size() - 9)));
  save(folder / "tail.nii.gz", packed + "tail");
  EXPECT_TRUE(refuses(folder / "tail.nii.gz", ErrorCode::corrupt, "gzip"));
  save(folder / "short.nii.gz", gzip(load(data("sform.nii")).substr(0, 500)));
  EXPECT_TRUE(refuses(folder / "short.nii.gz", ErrorCode::corrupt, "it inflates to 500 bytes"));
  save(folder / "header.nii.gz", gzip("too short"));
  EXPECT_TRUE(refuses(folder / "header.nii.gz", ErrorCode::corrupt, "it inflates to 9 bytes"));
}

TEST(Nifti, AShapeThatTheCompressedBytesCannotHoldIsRefusedAtOnce) {
  const Folder folder;
  std::string whole = load(data("sform.nii"));
  whole.replace(42, 6, std::string("\xff\x7f\xff\x7f\xff\x7f", 6));
  save(folder / "bomb.nii.gz", gzip(whole));
  EXPECT_TRUE(fails(open_file(folder / "bomb.nii.gz"), ErrorCode::corrupt, "truncated"));
}

TEST(Nifti, CutAndDamagedFilesAreRefused) {
  expect_cuts_refused("qform.nii.gz");
  expect_cuts_refused("nifti2_big.nii");
  expect_damage_survived("qform.nii.gz");
  expect_damage_survived("big_4d.nii");
  expect_damage_survived("nifti2_big.nii");
}

}  // namespace nifti_test
}  // namespace sherd::nifti_testing
