#include "remote/list_objects.hpp"

#include <gtest/gtest.h>

namespace sherd::remote {
namespace list_objects_test {

TEST(ListObjects, HasObjectsAndPrefixes) {
  const auto page = parse_list_objects(R"(<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>b</Name><Prefix>a/</Prefix>
<IsTruncated>true</IsTruncated><NextContinuationToken>1ueGcx/+=</NextContinuationToken>
<Contents><Key>a/x &amp; y</Key><LastModified>2009-10-12T17:50:30.000Z</LastModified><ETag>&quot;fba9&quot;</ETag>
<Size>434234</Size></Contents><Contents><Key>a/ü</Key><Size>0</Size></Contents>
<CommonPrefixes><Prefix>a/c/</Prefix></CommonPrefixes></ListBucketResult>)")
                        .value();
  ASSERT_EQ(page.objects.size(), 2U);
  EXPECT_EQ(page.objects[0].key, "a/x & y");
  EXPECT_EQ(page.objects[0].size, 434234U);
  EXPECT_EQ(page.objects[0].generation.token, "\"fba9\"");
  EXPECT_EQ(std::chrono::system_clock::to_time_t(page.objects[0].modified.value()), 1255369830);
  EXPECT_EQ(page.objects[1].key, "a/ü");
  EXPECT_FALSE(page.objects[1].modified);
  EXPECT_EQ(page.prefixes, std::vector<std::string>{"a/c/"});
  EXPECT_EQ(page.next, "1ueGcx/+=");
}

TEST(ListObjects, HasTimesThatAreFarAway) {
  const auto page = parse_list_objects(
                        "<ListBucketResult><Contents><Key>a</Key><Size>1</Size>"
                        "<LastModified>9999-10-12T17:50:30Z</LastModified></Contents></ListBucketResult>")
                        .value();
  EXPECT_GT(page.objects.at(0).modified.value(), std::chrono::system_clock::now());
}

TEST(ListObjects, EndsWithoutAToken) {
  EXPECT_EQ(parse_list_objects("<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>").value().next,
            "");
  EXPECT_FALSE(parse_list_objects("<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>").has_value());
}

TEST(ListObjects, RefusesOtherDocuments) {
  for (const char* const text :
       {"", "<html>", "<Error><Code>X</Code></Error>", "{}",
        "<ListBucketResult><Contents><Key>a</Key><Size>-1</Size></Contents></ListBucketResult>",
        "<ListBucketResult><Contents><Size>1</Size></Contents></ListBucketResult>"})
    EXPECT_EQ(parse_list_objects(text).error().code(), ErrorCode::corrupt) << text;
}

TEST(ListObjects, ExpandsNoEntitiesOfTheDocument) {
  std::string bomb = "<!DOCTYPE x [<!ENTITY a \"aaaaaaaaaa\">";
  for (char c = 'b'; c <= 'i'; ++c) {
    bomb += std::string("<!ENTITY ") + c + " \"";
    for (int i = 0; i < 10; ++i) bomb += std::string("&") + static_cast<char>(c - 1) + ";";
    bomb += "\">";
  }
  bomb += "]><ListBucketResult><Contents><Key>&i;</Key><Size>1</Size></Contents></ListBucketResult>";
  EXPECT_EQ(parse_list_objects(bomb).value().objects.at(0).key, "&i;");
}

TEST(S3Error, HasCodeMessageAndRegion) {
  const auto error = parse_s3_error(
      "<?xml version=\"1.0\"?><Error><Code>AuthorizationHeaderMalformed</Code>"
      "<Message>the region 'x' is wrong</Message><Region>eu-west-1</Region></Error>");
  EXPECT_EQ(error.code, "AuthorizationHeaderMalformed");
  EXPECT_EQ(error.message, "the region 'x' is wrong");
  EXPECT_EQ(error.region, "eu-west-1");
  EXPECT_EQ(parse_s3_error("<html>no").code, "");
}

}  // namespace list_objects_test
}  // namespace sherd::remote
