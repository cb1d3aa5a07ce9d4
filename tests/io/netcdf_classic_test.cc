// Classic netCDF files that are made byte by byte: how they are recognized, and when one is shorter than its header
// says.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "io/netcdf_file.hpp"
#include "tests/io/files_testing.hpp"

namespace sherd::files_testing {
namespace netcdf_classic_test {

/// A classic file. Numbers are as wide as its version says.
class Classic {
 public:
  explicit Classic(char version = 1) : version_(version) {
    bytes_ = "CDF";
    bytes_ += version;
  }

  Classic& number(std::uint64_t value, std::size_t size) {
    for (std::size_t i = size; i-- > 0;) bytes_ += static_cast<char>(value >> (8 * i));
    return *this;
  }
  Classic& word(std::uint64_t value) { return number(value, 4); }
  Classic& count(std::uint64_t value) { return number(value, version_ == 5 ? 8 : 4); }
  Classic& offset(std::uint64_t value) { return number(value, version_ == 1 ? 4 : 8); }
  Classic& name(const std::string& text) {
    count(text.size());
    bytes_ += text;
    bytes_.resize((bytes_.size() + 3) / 4 * 4, '\0');
    return *this;
  }
  Classic& list(std::uint64_t tag, std::uint64_t entries) { return word(tag).count(entries); }
  Classic& nothing() { return list(0, 0); }
  Classic& dimension(const std::string& called, std::uint64_t length) { return name(called).count(length); }
  /// Of a type, with its dimensions, at an offset.
  Classic& variable(const std::string& called, std::uint64_t type, const std::vector<std::uint64_t>& dimensions,
                    std::uint64_t begin) {
    name(called).count(dimensions.size());
    for (const std::uint64_t each : dimensions) count(each);
    return nothing().word(type).count(0).offset(begin);
  }
  Classic& grown_to(std::size_t size) {
    bytes_.resize(size, '\1');
    return *this;
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  char version_;
  std::string bytes_;
};

constexpr std::uint64_t kDimensions = 10, kVariables = 11, kAttributes = 12;
constexpr std::uint64_t kByte = 1, kInt = 4, kDouble = 6, kUint64 = 11;
constexpr std::uint64_t kBegin = 512;
constexpr std::uint64_t kOpenRecords = std::numeric_limits<std::uint32_t>::max();

class ClassicFiles : public ::testing::Test {
 protected:
  Result<std::optional<ClassicFile>> check(const std::string& bytes) {
    save(path_, bytes);
    return check_classic_file(*InputFile::open(path_).value());
  }
  /// Five integers at kBegin.
  static Classic fixed(char version = 1) {
    Classic file(version);
    file.count(0).list(kDimensions, 1).dimension("x", 5).nothing();
    return file.list(kVariables, 1).variable("v", kInt, {0}, kBegin);
  }
  /// One record variable of three bytes, or two of them.
  static Classic records(std::uint64_t count, std::uint64_t variables) {
    Classic file;
    file.count(count).list(kDimensions, 2).dimension("t", 0).dimension("x", 3).nothing().list(kVariables, variables);
    for (std::uint64_t i = 0; i < variables; ++i) file.variable({1, char('a' + i)}, kByte, {0, 1}, kBegin + 4 * i);
    return file;
  }

  const Folder folder_;
  const std::string path_ = folder_ / "f.nc";
};

TEST_F(ClassicFiles, AreAsLongAsTheirHeaderSays) {
  for (const char version : {char(1), char(2), char(5)}) {
    const Classic file = fixed(version).grown_to(kBegin + 20);
    const auto checked = check(file.bytes());
    ASSERT_TRUE(checked) << int(version) << ": " << checked.error().text();
    ASSERT_TRUE(checked->has_value());
    EXPECT_EQ((*checked)->records, std::nullopt);
    EXPECT_TRUE(fails(check(file.bytes().substr(0, kBegin + 19)), ErrorCode::corrupt, "its header requires 532"));
  }
}

TEST_F(ClassicFiles, AreNeverCutInsideTheirHeader) {
  const std::string header = fixed().bytes();
  for (std::size_t size = 4; size < header.size(); ++size)
    EXPECT_TRUE(fails(check(header.substr(0, size)), ErrorCode::corrupt, "truncated")) << size;
}

TEST_F(ClassicFiles, PadRecordsUnlessOneVariableHasThem) {
  EXPECT_TRUE(check(records(4, 1).grown_to(kBegin + 12).bytes()));
  EXPECT_TRUE(fails(check(records(4, 1).grown_to(kBegin + 11).bytes()), ErrorCode::corrupt, "truncated"));
  // Of two variables each record has 8 bytes, and the last one needs no padding.
  EXPECT_TRUE(check(records(4, 2).grown_to(kBegin + 3 * 8 + 7).bytes()));
  EXPECT_TRUE(fails(check(records(4, 2).grown_to(kBegin + 3 * 8 + 6).bytes()), ErrorCode::corrupt, "truncated"));
  EXPECT_TRUE(check(records(0, 2).bytes()));
}

TEST_F(ClassicFiles, LeaveTheNumberOfRecordsOpenInAPipe) {
  for (const auto& [size, whole] : {std::pair(0U, 0U), {2U, 0U}, {3U, 1U}, {11U, 3U}, {12U, 4U}})
    EXPECT_EQ(check(records(kOpenRecords, 1).grown_to(kBegin + size).bytes()).value()->records, whole) << size;
  // A record counts if each of its variables is there.
  EXPECT_EQ(check(records(kOpenRecords, 2).grown_to(kBegin + 8 + 6).bytes()).value()->records, 1U);
  EXPECT_EQ(check(records(kOpenRecords, 2).grown_to(kBegin + 8 + 7).bytes()).value()->records, 2U);
}

TEST_F(ClassicFiles, WithTypesOfCdf5AreMeasured) {
  Classic file(5);
  file.count(0).list(kDimensions, 1).dimension("x", 3).list(kAttributes, 1).name("a").word(kUint64).count(2);
  file.offset(1).offset(2).list(kVariables, 1).variable("v", kUint64, {0}, kBegin);
  EXPECT_TRUE(check(file.grown_to(kBegin + 24).bytes()));
  EXPECT_TRUE(fails(check(file.bytes().substr(0, kBegin + 23)), ErrorCode::corrupt, "its header requires 536"));
}

TEST_F(ClassicFiles, WithImpossibleNumbersAreRefused) {
  const auto of = [](std::uint64_t type, std::uint64_t dimension) {
    return Classic()
        .count(0)
        .list(kDimensions, 2)
        .dimension("x", 1U << 31U)
        .dimension("y", 1U << 31U)
        .nothing()
        .list(kVariables, 1)
        .variable("v", type, {dimension, 1, 1}, kBegin);
  };
  const auto attribute = [](std::uint64_t type, std::uint64_t count) {
    return Classic().count(0).nothing().list(kAttributes, 1).name("a").word(type).count(count);
  };
  const struct {
    std::string bytes;
    const char* error;
  } cases[] = {
      {of(kDouble, 0).bytes(), "larger than any file"},
      {of(kDouble, 2).bytes(), "a dimension that does not exist"},
      {of(12, 0).bytes(), "unknown type 12"},
      {of(0, 0).bytes(), "unknown type 0"},
      {attribute(13, 1).bytes(), "unknown type 13"},
      {attribute(kDouble, kOpenRecords).bytes(), "longer than the file"},
      {Classic().count(0).list(kVariables, 1).bytes(), "the tag 11 where 10 belongs"},
      {Classic().count(0).list(0, 1).bytes(), "the tag 0 where 10 belongs"},
      {Classic().count(0).list(kDimensions, kOpenRecords).bytes(), "truncated"},
      {Classic().count(0).list(kDimensions, 1).count(kOpenRecords).bytes(), "a name is longer than the file"},
  };
  for (const auto& each : cases) EXPECT_TRUE(fails(check(each.bytes), ErrorCode::corrupt, each.error)) << each.error;
}

TEST_F(ClassicFiles, AreToldFromOtherFiles) {
  for (const char* bytes : {"\x89HDF\r\n\x1a\n........", "CDF\3........", "CDF\4........"})
    EXPECT_EQ(check(bytes).value().has_value(), false);
}

TEST_F(ClassicFiles, AndHdf5AreNetcdfFilesByTheirFirstBytes) {
  const std::string hdf5 = "\x89HDF\r\n\x1a\n";
  const auto is_one = [&](const std::string& bytes) {
    save(path_, bytes);
    return is_netcdf_file(*InputFile::open(path_).value()).value();
  };
  for (const char version : {char(1), char(2), char(5)}) EXPECT_TRUE(is_one(Classic(version).word(0).bytes()));
  for (const std::size_t block : {0U, 512U, 1024U, 4096U}) EXPECT_TRUE(is_one(std::string(block, 'u') + hdf5)) << block;
  for (const std::size_t block : {1U, 256U, 1536U}) EXPECT_FALSE(is_one(std::string(block, 'u') + hdf5)) << block;
  EXPECT_FALSE(is_one("CDF\1"));  // shorter than any header
  EXPECT_FALSE(is_one(Classic(char(4)).word(0).bytes()));
  EXPECT_FALSE(is_one(""));
}

TEST(NetcdfKind, HasTheNamesThatNccopyAndNcgenHave) {
  const std::pair<const char*, const char*> names[] = {
      {"1", "classic"},  {"nc3", "classic"},     {"2", "64-bit offset"},          {"64-bit-offset", "64-bit offset"},
      {"3", "netCDF-4"}, {"hdf5", "netCDF-4"},   {"4", "netCDF-4 classic model"}, {"nc7", "netCDF-4 classic model"},
      {"5", "cdf5"},     {"64-bit data", "cdf5"}};
  for (const auto& [name, kind] : names) EXPECT_EQ(netcdf_kind(name).value(), kind) << name;
  for (const char* name : {"", "8", "NC4", "zarr"})
    EXPECT_TRUE(fails(netcdf_kind(name), ErrorCode::invalid_argument, "choose classic")) << name;
}

}  // namespace netcdf_classic_test
}  // namespace sherd::files_testing
