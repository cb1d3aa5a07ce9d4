// The header of NIfTI files: shape, space and units in either version and byte order.
#include "tests/io/nifti_testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sherd::nifti_testing {
namespace nifti_header_test {

TEST(Nifti, ShapeNamesAndSpaceComeFromTheHeader) {
  auto reader = open_file(data("sform.nii")).value();
  const FileArray& array = reader->array();
  EXPECT_EQ(array.shape, (Shape{3, 5, 7}));
  EXPECT_EQ(array.dtype, DType::int16);
  EXPECT_EQ(array.dimension_names, (Names{"z", "y", "x"}));
  EXPECT_FALSE(array.fortran);
  EXPECT_TRUE(reader->random_access());
  EXPECT_EQ(affine_of(array), kAffine);
  EXPECT_EQ(array.attributes.find("units")->dump(), R"(["mm","mm","mm"])");
  EXPECT_EQ(array.attributes.find("nifti")->find("descrip")->text(), "made for a test");
  EXPECT_EQ(array.attributes.find("nifti")->find("time_unit")->text(), "s");
  EXPECT_EQ(array.attributes.find("nifti")->find("intent_code")->as_int(), 1002);
  const auto spacing = array.attributes.find("spacing")->elements();
  EXPECT_FLOAT_EQ(static_cast<float>(spacing[0].as_double().value()), 4);
  EXPECT_FLOAT_EQ(static_cast<float>(spacing[2].as_double().value()), static_cast<float>(std::sqrt(4.25)));
  expect_pattern<std::int16_t>(*reader);
}

TEST(Nifti, AQuaternionMeansTheSameSpaceAsInNibabel) {
  auto reader = open_file(data("qform.nii.gz")).value();
  EXPECT_FALSE(reader->random_access());
  auto known = open_file(data("qform_affine.npy")).value();
  const auto expected = values_of<double>(read_all(*known).value());
  const auto affine = affine_of(reader->array());
  ASSERT_EQ(affine.size(), expected.size());
  for (std::size_t i = 0; i < affine.size(); ++i) EXPECT_NEAR(affine[i], expected[i], 1e-6) << i;
  expect_pattern<float>(*reader);
}

TEST(Nifti, BothVersionsAndByteOrdersHoldTheSame) {
  auto reader = open_file(data("big_4d.nii")).value();
  const FileArray& array = reader->array();
  EXPECT_EQ(array.shape, (Shape{2, 3, 5, 7}));
  EXPECT_EQ(array.dimension_names, (Names{"t", "z", "y", "x"}));
  EXPECT_EQ(array.attributes.find("spacing")->dump(), "[0.5,4.0,3.0,2.0]");
  EXPECT_EQ(array.attributes.find("units")->dump(), R"(["ms","um","um","um"])");
  EXPECT_EQ(affine_of(array), kAffine);
  expect_pattern<std::uint16_t>(*reader);

  auto second = open_file(data("nifti2.nii.gz")).value();
  EXPECT_EQ(second->array().attributes.find("nifti")->find("version")->as_int(), 2);
  EXPECT_EQ(affine_of(second->array()), kAffine);
  expect_pattern<double>(*second);

  auto complex = open_file(data("nifti2_big.nii")).value();
  EXPECT_EQ(complex->array().dtype, DType::complex64);
  EXPECT_EQ(affine_of(complex->array()), kAffine);
  EXPECT_EQ(values_of<std::complex<float>>(read_all(*complex).value())[1], (std::complex<float>{48, 49}));
}

TEST(Nifti, TheQformRoundTripsFieldByField) {
  const Folder folder;
  std::string whole = load(data("sform.nii"));
  whole.replace(252, 2, std::string("\x01\0", 2));       // qform_code, in addition to the sform
  whole.replace(76, 4, std::string("\0\0\x80\xbf", 4));  // qfac -1
  for (std::size_t i = 0; i < 6; ++i)
    whole.replace(256 + 4 * i, 4, std::string("\x9a\x99\x19", 3) + char(0x3e + i % 2));
  save(folder / "both.nii", whole);
  auto both = open_file(folder / "both.nii").value();
  const std::string again = exported(folder, *both, both->array().attributes);
  EXPECT_EQ(again.substr(252, 76), whole.substr(252, 76)) << "codes, quaternion, offsets and rows";
  EXPECT_EQ(again.substr(76, 4), whole.substr(76, 4));

  auto only = open_file(data("qform.nii.gz")).value();
  save(folder / "a.nii", exported(folder, *only, only->array().attributes));
  auto back = open_file(folder / "a.nii").value();
  EXPECT_EQ(affine_of(back->array()), affine_of(only->array())) << "to the last bit";
  const std::string header = load(folder / "a.nii");
  EXPECT_NE(header.substr(252, 2), std::string(2, '\0'));
  EXPECT_EQ(header.substr(254, 2), std::string(2, '\0')) << "no sform where there was none";
}

TEST(Nifti, AnAffineThatWasChangedReplacesTheQformItCameFrom) {
  const Folder folder;
  auto reader = open_file(data("qform.nii.gz")).value();
  Json attributes = reader->array().attributes;
  attributes.find("affine")->elements()[0].elements()[3] = Json(1234.0);
  const std::string header = exported(folder, *reader, attributes);
  EXPECT_EQ(header.substr(252, 2), std::string(2, '\0'));
  auto again = open_file(folder / "out.nii").value();
  EXPECT_EQ(affine_of(again->array())[3], 1234);
}

TEST(Nifti, LongDimensionsAreWrittenAsVersionTwo) {
  const Folder folder;
  FileArray array;
  array.shape = {2, 40000};
  array.dtype = DType::uint8;
  const auto values = pattern_of<std::uint8_t>(80000);
  auto writer = kNiftiFiles.create(folder / "a.nii", array, WriteMode{}).value();
  ASSERT_TRUE(writer->write(0, std::as_bytes(std::span(values))));
  ASSERT_TRUE(writer->finish());
  auto reader = open_file(folder / "a.nii").value();
  EXPECT_EQ(reader->array().attributes.find("nifti")->find("version")->as_int(), 2);
  EXPECT_EQ(reader->array().shape, array.shape);
}

TEST(Nifti, AnInconsistentHeaderIsRefusedBeforeAnythingIsCreated) {
  const Folder folder;
  const Lie lies[] = {
      {0, std::string("\x5d\x01\0\0", 4), ErrorCode::corrupt, "348 or 540"},
      {40, std::string("\x08\0", 2), ErrorCode::corrupt, "dim[0] is 8"},
      {40, std::string("\0\0", 2), ErrorCode::corrupt, "dim[0] is 0"},
      {42, std::string("\xff\xff", 2), ErrorCode::corrupt, "dim[1] is -1"},
      {42, std::string("\xff\x7f\xff\x7f\xff\x7f", 6), ErrorCode::corrupt, "truncated"},
      {70, std::string("\x01\0", 2), ErrorCode::unsupported, "datatype 1"},
      {70, std::string("\0\x06", 2), ErrorCode::unsupported, "datatype 1536"},
      {108, std::string("\0\0\xc0\x7f", 4), ErrorCode::corrupt, "vox_offset"},
      {108, std::string("\0\0\x80\x3f", 4), ErrorCode::corrupt, "vox_offset"},
      {108, std::string("\0\0\x80\x4f", 4), ErrorCode::corrupt, "truncated"},
      {344, std::string("\0\0\0\0", 4), ErrorCode::unsupported, "Analyze"},
  };
  const std::string whole = load(data("sform.nii"));
  for (const Lie& lie : lies) {
    std::string bytes = whole;
    bytes.replace(lie.at, lie.bytes.size(), lie.bytes);
    save(folder / "lie.nii", bytes);
    EXPECT_TRUE(refuses(folder / "lie.nii", lie.code, lie.text)) << lie.at << " " << lie.text;
  }
}

TEST(Nifti, ValuesThatAreNotFiniteAreLeftOut) {
  const Folder folder;
  std::string bytes = load(data("sform.nii"));
  bytes.replace(80, 4, std::string("\0\0\xc0\x7f", 4));   // pixdim[1]
  bytes.replace(280, 4, std::string("\0\0\x80\x7f", 4));  // srow_x[0]
  bytes.replace(112, 4, std::string("\0\0\xc0\x7f", 4));  // scl_slope
  save(folder / "nan.nii", bytes);
  auto reader = open_file(folder / "nan.nii").value();
  EXPECT_EQ(reader->array().attributes.find("affine"), nullptr);
  EXPECT_EQ(reader->array().attributes.find("scl_slope"), nullptr);
  EXPECT_TRUE(reader->array().attributes.find("spacing")->elements()[2].is_null());
}

}  // namespace nifti_header_test
}  // namespace sherd::nifti_testing
