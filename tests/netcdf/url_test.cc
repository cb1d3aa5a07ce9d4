// URLs of datasets: what the fragment says, what follows from it, and which drivers are refused by name.
#include "api/netcdf.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sherd::netcdf {
namespace url_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

ParsedUrl parse(std::string_view text) { return parse_dataset_url(text).value(); }

TEST(DatasetUrl, IsAPathWithoutFragment) {
  EXPECT_EQ(parse("data/a.zarr").place.shown, "data/a.zarr");
  EXPECT_EQ(parse("file:///data/a.zarr").place.shown, "file:///data/a.zarr");
  EXPECT_EQ(parse("data/a.zarr").mode, Mode());
}

TEST(DatasetUrl, KeepsAHashInAPathThatDoesNotBeginAFragment) {
  EXPECT_EQ(parse("data/a#1.zarr").place.shown, "data/a#1.zarr");
  EXPECT_EQ(parse("data/a#1.zarr#mode=zarr").place.shown, "data/a#1.zarr");
}

TEST(DatasetUrl, IgnoresTheCaseOfModesAndParameters) {
  const ParsedUrl url = parse("file:///a.zarr#MODE=NCZarr,File&log&aws.profile=None");
  EXPECT_EQ(url.place.shown, "file:///a.zarr");
  EXPECT_THAT(url.modes, ElementsAre("file", "nczarr"));
  EXPECT_EQ(url.driver, Driver::file);
  EXPECT_THAT(url.parameters, ElementsAre(Pair("mode", "NCZarr,File"), Pair("log", ""), Pair("aws.profile", "None")));
}

TEST(DatasetUrl, JoinsKeysThatAreGivenTwice) {
  EXPECT_THAT(parse("file:///a#mode=zarr&mode=file").modes, ElementsAre("file", "nczarr", "zarr"));
}

TEST(DatasetUrl, OfAFileHasNoQuery) {
  for (const char* url : {"file:///data/a?b.zarr", "file:///data/a?b.zarr#mode=zarr"}) {
    const auto dataset = Dataset::open(url);
    ASSERT_FALSE(dataset.has_value()) << url;
    EXPECT_EQ(dataset.error().code(), ErrorCode::invalid_argument) << url;
    EXPECT_THAT(dataset.error().text(), HasSubstr("%3F"));
  }
  EXPECT_EQ(parse("file:///data/a%3Fb.zarr#mode=zarr").place.shown, "file:///data/a%3Fb.zarr");
  EXPECT_EQ(parse("data/a?b.zarr").place.shown, "data/a?b.zarr");
}

TEST(DatasetUrl, MayHaveItsFragmentInFront) {
  const ParsedUrl url = parse("[mode=zarr,file]data/a.zarr");
  EXPECT_EQ(url.place.shown, "data/a.zarr");
  EXPECT_TRUE(url.mode.pure);
}

TEST(DatasetUrl, InfersModesFromOthers) {
  EXPECT_TRUE(parse("a#mode=zarr").mode.pure);
  EXPECT_THAT(parse("a#mode=zarr").modes, ElementsAre("nczarr", "zarr"));
  EXPECT_THAT(parse("a#mode=xarray").modes, ElementsAre("nczarr", "xarray", "zarr"));
  EXPECT_THAT(parse("a#mode=noxarray,xarray").modes, ElementsAre("nczarr", "noxarray", "zarr"));
}

TEST(DatasetUrl, DropsOnlyNamesOfDimensionsWithNoxarray) {
  EXPECT_TRUE(parse("a#mode=nczarr,noxarray").mode.noxarray);
  EXPECT_FALSE(parse("a#mode=nczarr,noxarray").mode.pure);
}

TEST(DatasetUrl, ReadsAKeyWithoutValueAsAMode) {
  EXPECT_TRUE(parse("file:///a#zarr").mode.pure);
  EXPECT_TRUE(parse("file:///a#noxarray&file").mode.noxarray);
}

TEST(DatasetUrl, SwitchesToTheLiteralTextOfTheDocumentation) {
  EXPECT_TRUE(parse("a#compat=seed").mode.compat_seed);
  EXPECT_EQ(parse_dataset_url("a#compat=other").error().code(), ErrorCode::invalid_argument);
}

TEST(DatasetUrl, RefusesUnknownModesByName) {
  for (const char* url : {"a#mode=nczarr,zar", "a#mode=zar", "file:///a#mode=zar,file", "[mode=zar]a"}) {
    const auto parsed = parse_dataset_url(url);
    ASSERT_FALSE(parsed) << url;
    EXPECT_EQ(parsed.error().code(), ErrorCode::invalid_argument);
    EXPECT_THAT(parsed.error().text(), HasSubstr("the mode 'zar' is unknown"));
  }
}

TEST(DatasetUrl, RefusesMisspelledFragmentsWithWhatTheyMean) {
  for (const auto& [url, meant] :
       {std::pair("a#mod=zarr", "'mode=zarr'"), std::pair("a#mode:zarr", "'mode=zarr'"),
        std::pair("a#Mdoe=NCzarr,file", "'mode=nczarr,file'"), std::pair("a#mod=zar", "'mode=zarr'"),
        std::pair("a#modes=file", "'mode=file'"), std::pair("a#format=zarr", "'mode=zarr'"),
        std::pair("a#nczarr,file", "'mode=nczarr,file'"), std::pair("a#nczar", "'mode=nczarr'"),
        std::pair("a#mode", "'mode=nczarr'"), std::pair("a#mode=", "'mode=nczarr'"),
        std::pair("a#mode=zarr&compta=seed", "'mode=zarr&compat=seed'"), std::pair("a#compat:seed", "'compat=seed'"),
        std::pair("file:///a#mod=zarr", "'mode=zarr'"), std::pair("[mod=zarr]a", "'mode=zarr'")}) {
    const auto parsed = parse_dataset_url(url);
    ASSERT_FALSE(parsed) << url;
    EXPECT_EQ(parsed.error().code(), ErrorCode::invalid_argument) << url;
    EXPECT_THAT(parsed.error().text(), HasSubstr(std::string("did you mean ") + meant)) << url;
  }
}

TEST(DatasetUrl, KeepsNamesThatOnlyResembleAFragment) {
  for (const char* name : {"a#part", "a#array", "a#files", "a#node=3", "a#node=time", "a#node=3.zarr", "a#2=zip", "a#",
                           "a#b.zarr", "a#zarr.old", "[1]a", "a#case=1/b.zarr", "a#date=2020"})
    EXPECT_EQ(parse(name).place.shown, name);
}

TEST(DatasetUrl, RefusesProtocolsAndDriversThatDoNotFitByName) {
  for (const auto& [url, word] : {std::pair("a#mode=zarr,s3", "mode=s3"), std::pair("a#mode=bytes", "mode=bytes"),
                                  std::pair("https://host/a#mode=dap4", "DAP"), std::pair("ftp://host/a", "ftp")}) {
    const auto parsed = parse_dataset_url(url);
    ASSERT_FALSE(parsed.has_value()) << url;
    EXPECT_THAT(parsed.error().text(), HasSubstr(word));
  }
}

TEST(DatasetUrl, MayNameAServer) {
  EXPECT_EQ(parse_dataset_url("s3://bucket/a").value().place.host, "bucket");
  EXPECT_EQ(parse_dataset_url("https://host/a#mode=nczarr").value().place.path, "/a");
  EXPECT_TRUE(parse_dataset_url("https://host/a.nc#mode=bytes").value().is_file);
  EXPECT_TRUE(parse_dataset_url("https://host/a.nc#bytes").value().is_file);
}

TEST(DatasetUrl, RefusesTwoDriversNoPathAndEndlessFragments) {
  for (const std::string& url :
       {std::string("a#mode=file,zip"), std::string("#mode=file"), "a#mode=" + std::string(10000, 'x')})
    EXPECT_EQ(parse_dataset_url(url).error().code(), ErrorCode::invalid_argument);
}

}  // namespace url_test
}  // namespace sherd::netcdf
