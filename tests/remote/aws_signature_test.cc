#include "remote/aws_signature.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "codec/deflate.hpp"
#include "sherd/json.hpp"
#include "tests/test_data.hpp"

namespace sherd::remote {
namespace aws_signature_test {

using testing::HasSubstr;
using testing::Not;

constexpr std::chrono::system_clock::time_point kTime{std::chrono::seconds(1369353600)};  // 2013-05-24
const Credentials kCredentials{.key_id = "AKIAIOSFODNN7EXAMPLE",
                               .secret_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"};

std::string header(const HttpRequest& request, std::string_view name) {
  const std::string* const value = find_header(request.headers, name);
  return value != nullptr ? *value : "(absent)";
}

std::string unpacked(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string packed{std::istreambuf_iterator<char>(file), {}};
  std::string text(std::size_t{16} << 20, '\0');
  const auto size = DeflateCodec(DeflateCodec::Wrapper::gzip, 6)
                        .decode(std::as_bytes(std::span(packed)), std::as_writable_bytes(std::span(text)))
                        .value();
  text.resize(size.value());
  return text;
}

/// One line of signatures.jsonl.gz.
struct Example {
  explicit Example(std::string_view line) : json(Json::parse(line).value()) {}
  [[nodiscard]] const Json& at(std::size_t index) const { return json.elements()[index]; }
  [[nodiscard]] std::string text(std::size_t index) const { return at(index).text(); }

  [[nodiscard]] std::string url() const {
    std::string url = text(1) + encode_key(text(2));
    char mark = '?';
    for (const Json& pair : at(3).elements()) {
      url += mark + encode_query(pair.elements()[0].text());
      if (!pair.elements()[1].is_null()) url += '=' + encode_query(pair.elements()[1].text());
      mark = '&';
    }
    return url;
  }
  [[nodiscard]] HttpRequest request() const {
    HttpRequest request{.method = text(0), .url = url()};
    for (const Json& pair : at(4).elements())
      request.headers.push_back({pair.elements()[0].text(), pair.elements()[1].text()});
    return request;
  }
  [[nodiscard]] Credentials credentials() const {
    const auto& parts = at(5).elements();
    return {.key_id = parts[0].text(), .secret_key = parts[1].text(), .session_token = parts[2].text()};
  }

  Json json;
};

// botocore's signatures of 5,000 requests: keys with every odd character, queries, tokens, headers, hosts.
TEST(AwsSignature, EqualsBotocoresForEveryGeneratedRequest) {
  const std::string lines = unpacked(test_data("aws/signatures.jsonl.gz"));
  std::size_t count = 0;
  for (const std::string_view line : split(lines, '\n')) {
    const Example example(line);
    HttpRequest request = example.request();
    ASSERT_EQ(request.url, example.text(10)) << line;
    const std::string region = example.text(6), service = example.text(7);
    const std::chrono::system_clock::time_point time{std::chrono::seconds(example.at(8).as_int().value())};
    const std::string hash =
        example.at(9).is_null() ? std::string(kUnsignedPayload) : sha256_hex(example.text(9)).value();
    sign(request, example.credentials(), {.region = region, .service = service, .time = time}, hash).value();
    const std::string authorization = header(request, "Authorization");
    ASSERT_EQ(authorization.substr(authorization.find("SignedHeaders=")), example.text(11)) << line;
    ++count;
  }
  EXPECT_EQ(count, 5000U);
}

// "GET Object" of AWS's documentation of signature version 4 for S3.
TEST(AwsSignature, EqualsTheExampleOfTheSpecification) {
  HttpRequest request{.url = "https://examplebucket.s3.amazonaws.com/test.txt", .headers = {{"Range", "bytes=0-9"}}};
  sign(request, kCredentials, {.region = "us-east-1", .service = "s3", .time = kTime}, kEmptyPayload).value();
  EXPECT_EQ(header(request, "Authorization"),
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
            "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, "
            "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
  EXPECT_EQ(header(request, "x-amz-date"), "20130524T000000Z");
  EXPECT_EQ(header(request, "x-amz-content-sha256"), kEmptyPayload);
  EXPECT_EQ(header(request, "x-amz-security-token"), "(absent)");
}

TEST(AwsSignature, OfARequestSentAgainReplacesTheFirst) {
  HttpRequest request{.url = "https://b.s3.us-east-1.amazonaws.com/a?uploads"};
  Credentials credentials = kCredentials;
  credentials.session_token = "first";
  sign(request, credentials, {.region = "us-east-1", .service = "s3", .time = kTime}, kUnsignedPayload).value();
  HttpRequest fresh{.url = request.url};
  credentials.session_token = "second";
  for (HttpRequest* each : {&request, &fresh}) {
    sign(*each, credentials, {.region = "eu-west-1", .service = "s3", .time = kTime + std::chrono::hours(30)},
         kEmptyPayload)
        .value();
  }
  EXPECT_EQ(request.headers, fresh.headers);
  EXPECT_EQ(header(request, "x-amz-security-token"), "second");
  EXPECT_EQ(header(request, "x-amz-date"), "20130525T060000Z");
}

TEST(AwsSignature, DoesNotContainTheSecret) {
  HttpRequest request{.url = "https://b.s3.us-east-1.amazonaws.com/a"};
  sign(request, kCredentials, {.region = "us-east-1", .service = "s3", .time = kTime}, kEmptyPayload).value();
  for (const Header& each : request.headers) EXPECT_THAT(each.value, Not(HasSubstr(kCredentials.secret_key)));
}

TEST(AwsSignature, HashOfAnEmptyPayloadIsThatOfNoBytes) { EXPECT_EQ(sha256_hex("").value(), kEmptyPayload); }

TEST(UrlEncoding, KeepsUnreservedCharactersAndSlashesOfKeys) {
  EXPECT_EQ(encode_key("a/../b//c%2F~-._ +\xc3\xa4"), "a/../b//c%252F~-._%20%2B%C3%A4");
  EXPECT_EQ(encode_query("a/b =&\x01"), "a%2Fb%20%3D%26%01");
  EXPECT_EQ(encode_key(""), "");
}

}  // namespace aws_signature_test
}  // namespace sherd::remote
