#include "netcdf/rc_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

namespace sherd::netcdf {
namespace rc_file_test {

StoreUrl url_of(std::string host, std::string port, std::string path) {
  StoreUrl url{.scheme = "https"};
  url.host = std::move(host);
  url.port = std::move(port);
  url.path = std::move(path);
  return url;
}

std::string value(const RcFile& file, std::string_view key, const StoreUrl& url = {}) {
  return file.find(key, url).value_or("(none)");
}

TEST(RcFile, HasTheLaterLineOfAKeyInAnyCase) {
  RcFile file;
  file.add("# AWS.PROFILE=comment\nAWS.PROFILE=first\nHTTP.PROXYSERVER=x\n aws.profile = second \r\nAWS.REGION\n");
  EXPECT_EQ(value(file, "AWS.PROFILE"), "second");
  EXPECT_EQ(value(file, "AWS.REGION"), "(none)");
  EXPECT_EQ(value(file, "HTTP.PROXYSERVER"), "(none)");
  file.add("AWS.PROFILE=\n");
  EXPECT_EQ(value(file, "AWS.PROFILE"), "(none)");
}

TEST(RcFile, PrefersLinesForTheUrl) {
  RcFile file;
  file.add(
      "[https://Host.org:81/data]AWS.PROFILE=below\n[https://host.org]AWS.PROFILE=host\nAWS.PROFILE=any\n"
      "[unclosed AWS.PROFILE=x\n");
  EXPECT_EQ(value(file, "AWS.PROFILE", url_of("host.org", "81", "/data/a")), "below");
  EXPECT_EQ(value(file, "AWS.PROFILE", url_of("host.org", "81", "/other")), "any");
  EXPECT_EQ(value(file, "AWS.PROFILE", url_of("HOST.org", "", "/other")), "host");
  EXPECT_EQ(value(file, "AWS.PROFILE", url_of("elsewhere.org", "", "/data")), "any");
}

TEST(RcFile, IsFoundAtHomeOrWhereTheEnvironmentSays) {
  const auto folder = std::filesystem::path(testing::TempDir()) / ("rc_file_test" + std::to_string(getpid()));
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder / "other");
  std::ofstream(folder / ".ncrc") << "AWS.PROFILE=ncrc\nAWS.REGION=ncrc\n";
  std::ofstream(folder / ".dodsrc") << "AWS.REGION=dodsrc\n";
  std::ofstream(folder / "other/.ncrc") << "AWS.PROFILE=other\n";
  std::ofstream(folder / "named") << "AWS.PROFILE=named\n";
  std::map<std::string, std::string> variables{{"HOME", folder.string()}};
  const auto profile = [&](std::string_view key) {
    return value(read_rc_files([&](const char* name) -> std::optional<std::string> {
                   const auto found = variables.find(name);
                   return found == variables.end() ? std::nullopt : std::optional(found->second);
                 }).value(),
                 key);
  };
  EXPECT_EQ(profile("AWS.PROFILE"), "ncrc");
  EXPECT_EQ(profile("AWS.REGION"), "dodsrc");
  variables["NCRCENV_HOME"] = (folder / "other").string();
  EXPECT_EQ(profile("AWS.PROFILE"), "other");
  variables["NCRCENV_RC"] = (folder / "named").string();
  EXPECT_EQ(profile("AWS.PROFILE"), "named");
  variables["NCRCENV_IGNORE"] = "1";
  EXPECT_EQ(profile("AWS.PROFILE"), "(none)");
  std::filesystem::remove_all(folder);
}

}  // namespace rc_file_test
}  // namespace sherd::netcdf
