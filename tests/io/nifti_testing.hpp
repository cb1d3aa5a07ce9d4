// NIfTI files, for their tests.
#pragma once

#include <zlib.h>

#include <cmath>

#include "tests/io/files_testing.hpp"

namespace sherd::nifti_testing {

using namespace files_testing;

inline std::vector<double> affine_of(const FileArray& array) {
  std::vector<double> values;
  for (const Json& row : array.attributes.find("affine")->elements())
    for (const Json& value : row.elements()) values.push_back(value.as_double().value());
  return values;
}

inline const std::vector<double> kAffine = {-2, 0.25, 0, 90, 0, 3, 0, -126, 0.5, 0, 4, -72, 0, 0, 0, 1};

using Names = std::vector<std::optional<std::string>>;

class NiftiRoundTrip : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};
inline std::string exported(const Folder& folder, const ArrayFileReader& reader, const Json& attributes) {
  FileArray array = reader.array();
  array.attributes = attributes;
  auto writer = kNiftiFiles.create(folder / "out.nii", array, WriteMode{}).value();
  EXPECT_TRUE(writer->write(0, std::vector<std::byte>(*element_count(array.shape) * array.dtype.size())));
  EXPECT_TRUE(writer->finish());
  return load(folder / "out.nii");
}

struct Lie {
  std::size_t at;
  std::string bytes;
  ErrorCode code;
  const char* text;
};

inline std::string gzip(std::string_view bytes) {
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

}  // namespace sherd::nifti_testing
