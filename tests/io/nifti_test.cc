// NIfTI files: what nibabel wrote is read with its space and units, and what is written reads back the same.
#include <zlib.h>

#include <cmath>

#include "tests/io/files_testing.hpp"

namespace sherd {
namespace {

using namespace files_testing;

std::vector<double> affine_of(const FileArray& array) {
  std::vector<double> values;
  for (const Json& row : array.attributes.find("affine")->elements())
    for (const Json& value : row.elements()) values.push_back(value.as_double().value());
  return values;
}
const std::vector<double> kAffine = {-2, 0.25, 0, 90, 0, 3, 0, -126, 0.5, 0, 4, -72, 0, 0, 0, 1};

using Names = std::vector<std::optional<std::string>>;

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

class NiftiRoundTrip : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

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

std::string exported(const Folder& folder, const ArrayFileReader& reader, const Json& attributes) {
  FileArray array = reader.array();
  array.attributes = attributes;
  auto writer = kNiftiFiles.create(folder / "out.nii", array, WriteMode{}).value();
  EXPECT_TRUE(writer->write(0, std::vector<std::byte>(*element_count(array.shape) * array.dtype.size())));
  EXPECT_TRUE(writer->finish());
  return load(folder / "out.nii");
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

struct Lie {
  std::size_t at;
  std::string bytes;
  ErrorCode code;
  const char* text;
};

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

std::string gzip(std::string_view bytes) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, bytes.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
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

}  // namespace
}  // namespace sherd
