#include "remote/s3_documents.hpp"

#include <gtest/gtest.h>

namespace sherd::remote {
namespace s3_documents_test {

TEST(S3Documents, NamePartsInTheirOrder) {
  const std::string text = complete_document({{10, "\"b\""}, {2, "\"a\""}});
  EXPECT_NE(text.find("<Part><PartNumber>2</PartNumber><ETag>\"a\"</ETag></Part>"
                      "<Part><PartNumber>10</PartNumber><ETag>\"b\"</ETag></Part>"),
            text.npos)
      << text;
}

TEST(S3Documents, EscapeKeys) {
  const std::vector<std::string> keys = {"a&b<c>\"'ü"};
  EXPECT_NE(delete_document(keys).find("<Key>a&amp;b&lt;c&gt;\"'ü</Key>"), std::string::npos) << delete_document(keys);
}

TEST(S3Documents, TellWhichObjectWasNotErased) {
  EXPECT_FALSE(erase_failure("<DeleteResult><Deleted><Key>a</Key></Deleted></DeleteResult>"));
  EXPECT_FALSE(erase_failure("<DeleteResult><Error><Key>a</Key><Code>NoSuchKey</Code></Error></DeleteResult>"));
  const auto failure = erase_failure(
      "<DeleteResult><Error><Key>a/b</Key><Code>AccessDenied</Code><Message>no</Message></Error></DeleteResult>");
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->key + failure->code + failure->message, "a/bAccessDeniedno");
}

TEST(S3Documents, HaveTextsOfReplies) {
  EXPECT_EQ(text_in_reply("<R><UploadId>x&amp;y</UploadId></R>", "UploadId"), "x&y");
  EXPECT_EQ(text_in_reply("<R/>", "UploadId"), "");
  EXPECT_EQ(text_in_reply("not XML", "UploadId"), "");
}

TEST(S3Documents, ListUploadsPageByPage) {
  const auto page = parse_uploads(
                        "<ListMultipartUploadsResult><IsTruncated>true</IsTruncated><NextKeyMarker>k</NextKeyMarker>"
                        "<NextUploadIdMarker>i</NextUploadIdMarker><Upload><Key>a</Key><UploadId>1</UploadId>"
                        "<Initiated>2026-01-02T03:04:05Z</Initiated></Upload></ListMultipartUploadsResult>")
                        .value();
  ASSERT_EQ(page.uploads.size(), 1U);
  EXPECT_EQ(page.uploads[0].key + page.uploads[0].id + page.uploads[0].initiated, "a12026-01-02T03:04:05Z");
  EXPECT_EQ(page.next_key + page.next_id, "ki");
  for (const char* const text :
       {"", "<html/>", "<ListMultipartUploadsResult><IsTruncated>true</IsTruncated></ListMultipartUploadsResult>"})
    EXPECT_EQ(parse_uploads(text).error().code(), ErrorCode::corrupt) << text;
}

}  // namespace s3_documents_test
}  // namespace sherd::remote
