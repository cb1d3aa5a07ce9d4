// What the error says if a name leads to no node: what is there instead, and what is missing.
#include "api/open_hints.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "sherd/sherd.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd {
namespace open_hints_test {

using testing::HasSubstr;

class OpenHints : public ::testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return dir_ / name; }
  [[nodiscard]] Error opening(const std::string& name) const { return open_array(path(name)).error(); }
  void save(const std::string& name, std::string_view text) const {
    std::ofstream(path(name), std::ios::binary) << text;
  }

  const TempDir dir_;
};

TEST_F(OpenHints, NameADirectoryThatDoesNotExist) {
  const Error error = opening("missing");
  EXPECT_EQ(error.code(), ErrorCode::not_found);
  EXPECT_THAT(error.text(), HasSubstr("directory does not exist: " + path("missing")));
}

TEST_F(OpenHints, NameAnArchiveThatDoesNotExist) {
  for (const char* name : {"missing.zip", "missing.ozx", "missing|zip:", "missing.zip/inner", "missing.zip|zip:a/b"}) {
    const Error error = opening(name);
    EXPECT_EQ(error.code(), ErrorCode::not_found) << name;
    EXPECT_THAT(error.text(), HasSubstr("zip archive does not exist: ")) << name;
    EXPECT_THAT(error.text(), HasSubstr("missing")) << name;
    EXPECT_THAT(error.text(), testing::Not(HasSubstr("|zip:"))) << name;
  }
  EXPECT_TRUE(std::filesystem::is_empty(dir_.path()));
}

TEST_F(OpenHints, ListTheDocumentsThatWereLookedFor) {
  create_array(path("a.zip"), {.shape = {1}, .dtype = DType::uint8}).value().store()->finish().value();
  EXPECT_THAT(opening("a.zip|zip:none").text(), HasSubstr("; tried\n  zarr3: zarr.json\n  zarr2: .zarray, .zgroup"));
  std::filesystem::create_directory(path("empty"));
  EXPECT_THAT(opening("empty").text(), HasSubstr("directory exists, but contains no array or group"));
}

TEST_F(OpenHints, TellWhatAFileIs) {
  save("x.npy", "\x93NUMPY");
  EXPECT_THAT(opening("x.npy").text(), HasSubstr("make an array of it with 'sherd import FILE URL'"));
  create_array(path("a"), {.shape = {1}, .dtype = DType::uint8}).value();
  EXPECT_THAT(opening("a/zarr.json").text(), HasSubstr("is a metadata document; open its directory"));
}

TEST_F(OpenHints, TellWhatAnObjectIs) {
  const auto outer = memory_store();
  const auto opening_in = [&](const std::string& key) { return open_array(prefixed_store(outer, key + "/")).error(); };
  outer->set("x.nc", "CDF\x01....").value();
  outer->set("x", "PK\x03\x04....").value();
  outer->set("y", "text").value();
  EXPECT_EQ(opening_in("x.nc").code(), ErrorCode::unsupported);
  EXPECT_THAT(opening_in("x.nc").text(),
              HasSubstr("x.nc is a netCDF file; ncdump, nccopy and xarray read it with '#mode"));
  EXPECT_THAT(opening_in("x").text(), HasSubstr("write '|zip:' after its URL"));
  for (const char* key : {"y", "none"}) EXPECT_EQ(opening_in(key).code(), ErrorCode::not_found);
}

}  // namespace open_hints_test
}  // namespace sherd
