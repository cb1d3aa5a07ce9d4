#include "remote/aws_config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

namespace sherd::remote {
namespace aws_config_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;
using testing::UnorderedElementsAre;

AwsConfig parsed(std::string_view text, AwsFile kind = AwsFile::config) {
  AwsConfig config;
  parse_aws_file(text, kind, config).value();
  return config;
}

Error refused(std::string_view text, AwsFile kind = AwsFile::config) {
  AwsConfig config;
  const auto result = parse_aws_file(text, kind, config);
  EXPECT_FALSE(result) << text;
  return result ? Error(ErrorCode::io, "none") : result.error();
}

class AwsFiles : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              (testing::UnitTest::GetInstance()->current_test_info()->name() + std::to_string(getpid()));
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_ / ".aws");
    variables_["HOME"] = folder_.string();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) { std::ofstream(folder_ / name) << text; }
  Environment environment() {
    return [this](const char* name) -> std::optional<std::string> {
      const auto found = variables_.find(name);
      return found == variables_.end() ? std::nullopt : std::optional(found->second);
    };
  }

  std::filesystem::path folder_;
  std::map<std::string, std::string> variables_;
};

TEST(AwsConfigText, HasProfilesAndServices) {
  const AwsConfig config = parsed(
      "[default]\nregion = eu-west-1\n[profile dev]\nRegion=us-east-2\noutput : json\n"
      "[services local]\ns3 =\n  endpoint_url = http://127.0.0.1:9000\n[sso-session s]\nsso_region = us-east-1\n"
      "[plugins]\ncli = x\n[dev2]\nregion = nowhere\n");
  EXPECT_THAT(
      config.profiles,
      UnorderedElementsAre(Pair("default", UnorderedElementsAre(Pair("region", "eu-west-1"))),
                           Pair("dev", UnorderedElementsAre(Pair("region", "us-east-2"), Pair("output", "json")))));
  EXPECT_THAT(
      config.services,
      ElementsAre(Pair("local", ElementsAre(Pair("s3", ""), Pair("s3.endpoint_url", "http://127.0.0.1:9000")))));
}

TEST(AwsConfigText, OfCredentialsNamesProfilesWithoutAWord) {
  const AwsConfig config =
      parsed("[dev]\naws_access_key_id = A\n[ b c ]\naws_access_key_id = B\n", AwsFile::credentials);
  EXPECT_EQ(*config.find("dev", "aws_access_key_id"), "A");
  EXPECT_EQ(*config.find("b c", "aws_access_key_id"), "B");
}

TEST(AwsConfigText, MayQuoteTheNameOfAProfile) {
  const AwsConfig config =
      parsed("[profile \"a b\"]\nregion = one\n[profile 'c']\nregion = two\n[profile\td]\nregion = 3");
  EXPECT_EQ(*config.find("a b", "region"), "one");
  EXPECT_EQ(*config.find("c", "region"), "two");
  EXPECT_EQ(*config.find("d", "region"), "3");
}

TEST(AwsConfigText, MayHaveCommentsBlankLinesAndCarriageReturns) {
  const AwsConfig config = parsed(
      "# a comment\r\n; another\r\n\r\n[default] # the rest of a section's line\r\n  # indented\r\n"
      "region = us-east-1\r\n\r\ns3=\r\n\r\n  # inside\r\n  addressing_style=path\r\noutput = a # b ; c\r\n");
  EXPECT_EQ(*config.find("default", "region"), "us-east-1");
  EXPECT_EQ(*config.find("default", "s3.addressing_style"), "path");
  EXPECT_EQ(*config.find("default", "output"), "a # b ; c");
}

TEST(AwsConfigText, ContinuesValuesOnIndentedLines) {
  const AwsConfig config = parsed("[default]\n  region = a\n  command = one\n    two = 2\n  output = b\n");
  EXPECT_EQ(*config.find("default", "region"), "a");
  EXPECT_EQ(*config.find("default", "command"), "one\ntwo = 2");
  EXPECT_EQ(*config.find("default", "output"), "b");
}

TEST(AwsConfigText, JoinsSectionsAndKeepsTheLaterSetting) {
  const AwsConfig config = parsed("[default]\na = 1\nb = 1\n[profile default]\nb = 2\n[default]\nc = 3\n");
  EXPECT_THAT(config.profiles,
              ElementsAre(Pair("default", ElementsAre(Pair("a", "1"), Pair("b", "2"), Pair("c", "3")))));
}

TEST(AwsConfigText, WithoutASettingsValueHasNoSetting) {
  const AwsConfig config = parsed("[default]\nregion =\n");
  EXPECT_EQ(config.find("default", "region"), nullptr);
  EXPECT_EQ(config.find("other", "region"), nullptr);
  EXPECT_EQ(config.profile("other"), nullptr);
  EXPECT_NE(config.profile("default"), nullptr);
}

TEST(AwsConfigText, IsRefusedWithTheLineButNotItsText) {
  for (const std::string_view text : {"secret = x\n", "\n[default\nsecret = x", "[default]\n\nsecret\n",
                                      "[default]\n= secret\n", "[default]\ns3 =\n  secret\n"}) {
    const Error error = refused(text);
    EXPECT_EQ(error.code(), ErrorCode::corrupt);
    EXPECT_THAT(error.text(), HasSubstr("line "));
    EXPECT_THAT(error.text(), Not(HasSubstr("secret")));
  }
  EXPECT_THAT(refused("[default]\n\n\nx\n").text(), HasSubstr("line 4"));
}

TEST(AwsConfigText, OfAMillionLinesIsRefused) {
  std::string text = "[default]\n";
  for (int i = 0; i < 1000000; ++i) text += "a=1\n";
  EXPECT_EQ(refused(text).code(), ErrorCode::unsupported);
  EXPECT_THAT(refused(text).text(), HasSubstr("100000 lines"));
}

TEST_F(AwsFiles, AreReadFromHomeAndCredentialsWin) {
  write(".aws/config", "[default]\nregion = a\naws_access_key_id = config\n[profile p]\nregion = b\n");
  write(".aws/credentials", "[default]\naws_access_key_id = credentials\n[p]\naws_access_key_id = P\n");
  const AwsConfig config = read_aws_config(environment()).value();
  EXPECT_EQ(*config.find("default", "region"), "a");
  EXPECT_EQ(*config.find("default", "aws_access_key_id"), "credentials");
  EXPECT_EQ(*config.find("p", "region"), "b");
  EXPECT_EQ(*config.find("p", "aws_access_key_id"), "P");
}

TEST_F(AwsFiles, AreThoseThatTheEnvironmentNames) {
  write(".aws/config", "[default]\nregion = wrong\n");
  write("mine", "[default]\nregion = right\n");
  write("keys", "[default]\naws_access_key_id = K\n");
  variables_["AWS_CONFIG_FILE"] = "~/mine";
  variables_["AWS_SHARED_CREDENTIALS_FILE"] = (folder_ / "keys").string();
  const AwsConfig config = read_aws_config(environment()).value();
  EXPECT_EQ(*config.find("default", "region"), "right");
  EXPECT_EQ(*config.find("default", "aws_access_key_id"), "K");
}

TEST_F(AwsFiles, ThatDoNotExistHaveNoSettings) {
  EXPECT_TRUE(read_aws_config(environment()).value().profiles.empty());
  variables_["AWS_CONFIG_FILE"] = "/dev/null";
  variables_["AWS_SHARED_CREDENTIALS_FILE"] = (folder_ / "absent/file").string();
  EXPECT_TRUE(read_aws_config(environment()).value().profiles.empty());
  variables_.clear();
  EXPECT_TRUE(read_aws_config(environment()).value().profiles.empty());
}

TEST_F(AwsFiles, ThatCannotBeReadAreNamed) {
  variables_["AWS_CONFIG_FILE"] = (folder_ / ".aws").string();
  EXPECT_THAT(read_aws_config(environment()).error().text(), HasSubstr(".aws' is not a file"));
  const std::string pipe = (folder_ / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  variables_["AWS_CONFIG_FILE"] = pipe;
  EXPECT_THAT(read_aws_config(environment()).error().text(), HasSubstr("pipe' is not a file"));
  write("wrong", "[default]\nsecret\n");
  variables_["AWS_CONFIG_FILE"] = (folder_ / "wrong").string();
  EXPECT_THAT(read_aws_config(environment()).error().text(), HasSubstr("wrong: line 2: "));
}

TEST_F(AwsFiles, BeyondFourMebibytesAreNotRead) {
  write("large", "");
  std::filesystem::resize_file(folder_ / "large", (std::uintmax_t{4} << 20) + 1);
  variables_["AWS_CONFIG_FILE"] = (folder_ / "large").string();
  const Error error = read_aws_config(environment()).error();
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_THAT(error.text(), HasSubstr("4194304"));
}

TEST_F(AwsFiles, HaveTheProfileInUse) {
  EXPECT_EQ(profile_in_use("", environment()), "default");
  variables_["AWS_DEFAULT_PROFILE"] = "second";
  EXPECT_EQ(profile_in_use("", environment()), "second");
  variables_["AWS_PROFILE"] = "first";
  EXPECT_EQ(profile_in_use("", environment()), "first");
  EXPECT_EQ(profile_in_use("option", environment()), "option");
}

TEST(ProcessEnvironment, HasNoEmptyVariables) {
  const Environment environment = process_environment();
  EXPECT_EQ(environment("SHERD_TEST_OF_NO_VARIABLE"), std::nullopt);
  ASSERT_EQ(setenv("SHERD_TEST_VARIABLE", "", 1), 0);
  EXPECT_EQ(environment("SHERD_TEST_VARIABLE"), std::nullopt);
  ASSERT_EQ(setenv("SHERD_TEST_VARIABLE", "x", 1), 0);
  EXPECT_EQ(environment("SHERD_TEST_VARIABLE"), "x");
  unsetenv("SHERD_TEST_VARIABLE");
}

}  // namespace aws_config_test
}  // namespace sherd::remote
