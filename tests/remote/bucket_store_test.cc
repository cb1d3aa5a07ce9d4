// Stores of S3 against a server that refuses, redirects and lies as each test says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "tests/memory.hpp"
#include "tests/remote/bucket_at.hpp"

namespace sherd::remote {
namespace bucket_store_test {

using testing::HasSubstr;
using testing::Not;

TEST(BucketStore, AsksAgainWhateverStatusSaysSlowDown) {
  for (const int status : {503, 429, 400, 403, 500}) {
    FaultProxy proxy;
    proxy.put("b/p/k", "x");
    Fault fault = slow_down("0");
    fault.status = status;
    fault.times = 2;
    proxy.add(fault);
    EXPECT_EQ(bucket_at(proxy)->get("k").value(), "x") << status;
    EXPECT_EQ(proxy.counts().requests, 3U) << status;
  }
}

TEST(BucketStore, GivesUpAServerThatIsAlwaysBusyAndSaysWhy) {
  FaultProxy proxy;
  proxy.add(slow_down("0"));
  const auto value = bucket_at(proxy)->get("k");
  ASSERT_FALSE(value.has_value());
  EXPECT_EQ(value.error().code(), ErrorCode::io);
  EXPECT_THAT(value.error().text(), HasSubstr("SlowDown"));
  EXPECT_EQ(proxy.counts().requests, 3U);
}

TEST(BucketStore, SendsAChangeAsOftenAsItCountsThatItDoes) {
  FaultProxy proxy;
  proxy.put("b/p/k", "x");
  const auto store = bucket_at(proxy, {{"attempts", "1"}, {"conditional", "no"}});
  EXPECT_EQ(store->get("k").value(), "x");
  proxy.set({{.method = "PUT", .times = 1, .lost = true}});
  EXPECT_FALSE(store->set("k", "y").has_value());
  EXPECT_EQ(proxy.counts().requests, 3U) << "the last one looks for what was stored";
}

TEST(BucketStore, SaysThatItDoesNotKnowWhetherAnObjectWasStored) {
  FaultProxy proxy;
  proxy.set({{.method = "PUT", .times = 1, .unheard = true},
             {.method = "PUT", .skip = 1, .status = 412, .body = error_document("PreconditionFailed")},
             {.method = "HEAD", .status = 403}});
  const auto stored = bucket_at(proxy, {{"conditional", "yes"}})->set("k", "x", Condition::matches({"\"1\""}));
  ASSERT_FALSE(stored.has_value());
  EXPECT_EQ(stored.error().code(), ErrorCode::io) << "a conflict would be planned again, and perhaps stored twice";
  EXPECT_THAT(stored.error().text(), HasSubstr("not known whether the object was stored"));
}

TEST(BucketStore, NamesThePermissionThatAChangeNeeds) {
  FaultProxy proxy;
  proxy.add({.status = 403, .body = error_document("AccessDenied")});
  const auto store = bucket_at(proxy);
  EXPECT_THAT(store->set("k", "x").error().text(), HasSubstr("s3:PutObject"));
  EXPECT_THAT(store->erase("k").error().text(), HasSubstr("s3:DeleteObject"));
}

TEST(BucketStore, NamesThePermissionThatIsMissingWhenConditionsAreTriedOut) {
  FaultProxy proxy;
  proxy.add({.status = 403, .body = error_document("AccessDenied")});
  const std::string error = bucket_at(proxy)->set("k", "x", Condition::absent()).error().text();
  EXPECT_THAT(error, HasSubstr("s3:PutObject"));
  EXPECT_THAT(error, testing::Not(HasSubstr("s3:DeleteObject")));
}

TEST(BucketStore, NamesThePermissionToFindOutWhetherAnUploadHasEnded) {
  FaultProxy proxy;
  proxy.set({{.method = "POST", .times = 1, .status = 200, .body = "<X><UploadId>u</UploadId></X>"},
             {.method = "POST", .skip = 1, .times = 1, .unheard = true},
             {.method = "GET", .status = 403, .body = error_document("AccessDenied")}});
  const auto stored = bucket_at(proxy, {{"conditional", "no"}, {"part_bytes", "5242880"}})
                          ->set("k", std::string(std::size_t{6} << 20, 'x'));
  ASSERT_FALSE(stored.has_value());
  EXPECT_THAT(stored.error().text(), HasSubstr("s3:ListMultipartUploadParts"));
}

/// A server to which the end of an upload was sent in vain, which another program has aborted meanwhile. The object is
/// that of another upload.
std::vector<Fault> aborted_upload(const std::string& modified) {
  const std::string no_upload = error_document("NoSuchUpload");
  return {{.method = "POST",
           .times = 1,
           .status = 200,
           .body = "<X><UploadId>u</UploadId></X>",
           .headers = {{"Date", "Mon, 30 Nov 2026 10:00:00 GMT"}}},
          {.method = "PUT", .status = 200, .headers = {{"ETag", "\"part\""}}},
          {.method = "POST", .skip = 1, .times = 1, .unheard = true},
          {.method = "POST", .skip = 2, .status = 404, .body = no_upload},
          {.method = "GET", .status = 404, .body = no_upload},
          {.method = "HEAD",
           .status = 200,
           .headers = {
               {"ETag", "\"there\""}, {"x-amz-meta-sherd-writes", "0123456789abcdef,?"}, {"Last-Modified", modified}}}};
}

TEST(BucketStore, DoesNotTakeAnObjectFromBeforeAnUploadForItsResult) {
  const std::string bytes(std::size_t{6} << 20, 'x');
  FaultProxy proxy;
  const auto store = bucket_at(proxy, {{"conditional", "yes"}, {"part_bytes", "5242880"}});
  proxy.set(aborted_upload("Mon, 30 Nov 2026 09:59:57 GMT"));
  EXPECT_EQ(store->set("k", bytes).error().code(), ErrorCode::conflict);
  proxy.set(aborted_upload("Mon, 30 Nov 2026 10:00:01 GMT"));
  EXPECT_TRUE(store->set("k", bytes)) << "it may have followed";
  proxy.set(aborted_upload("Mon, 30 Nov 2026 10:00:01 GMT"));
  EXPECT_EQ(store->set("k", bytes, Condition::matches({"\"there\""})).error().code(), ErrorCode::conflict);
  proxy.set(aborted_upload("Mon, 30 Nov 2026 09:59:57 GMT"));
  EXPECT_TRUE(store->set("k", bytes, Condition::matches({"\"before\""})));
}

TEST(BucketStore, CreatesAnObjectAgainIfAnotherRequestWasUnderWay) {
  FaultProxy proxy;
  const auto store = bucket_at(proxy, {{"conditional", "yes"}});
  const Fault conflict{
      .method = "PUT", .times = 1, .status = 409, .body = error_document("ConditionalRequestConflict")};
  proxy.set({conflict});
  store->set("k", "x", Condition::absent()).value();
  EXPECT_EQ(proxy.counts().requests, 2U);
  proxy.set({conflict});
  EXPECT_EQ(store->set("k", "y", Condition::matches({"\"v1\""})).error().code(), ErrorCode::conflict)
      << "is planned again";
}

TEST(BucketStore, NamesTheRequestAndWhatToDoAboutItsRefusal) {
  FaultProxy proxy;
  const auto store = bucket_at(proxy);
  const std::map<std::string, std::string> advice = {
      {"AccessDenied", "s3:"},
      {"SignatureDoesNotMatch", "the secret key does not belong to the access key"},
      {"InvalidAccessKeyId", "the endpoint does not know the access key"},
      {"RequestTimeTooSkewed", "the clock of this machine is wrong"},
      {"InvalidToken", "get new credentials"},
      {"AuthorizationHeaderMalformed", "the storage option region"}};
  for (const auto& [code, expected] : advice) {
    proxy.set({{.status = 403, .body = error_document(code)}});
    const auto list = store->visit("", ListDepth::all, [](const ListEntry&) { return true; });
    const auto read = store->get("k");
    const auto stored = store->set("k", "x");
    const std::map<std::string, std::string> texts = {{"GET " + proxy.url("/b/p/k"), read.error().text()},
                                                      {"PUT " + proxy.url("/b/p/k"), stored.error().text()},
                                                      {"GET " + proxy.url("/b/"), list.error().text()}};
    for (const auto& [request, text] : texts) {
      EXPECT_THAT(text, HasSubstr(request)) << code;
      EXPECT_THAT(text, HasSubstr(code));
      EXPECT_THAT(text, HasSubstr(expected));
      EXPECT_THAT(text, Not(HasSubstr("list-type"))) << "a query may have a signature";
      EXPECT_EQ(text.find("permission") != text.npos, code == "AccessDenied") << text;
    }
  }
}

TEST(BucketStore, NamesThePermissionThatAReadNeeds) {
  FaultProxy proxy;
  proxy.add({.status = 403, .body = error_document("AccessDenied")});
  const auto store = bucket_at(proxy);
  EXPECT_THAT(store->get("k").error().text(), HasSubstr("s3:GetObject"));
  EXPECT_THAT(store->visit("", ListDepth::all, [](const ListEntry&) { return true; }).error().text(),
              HasSubstr("s3:ListBucket"));
}

TEST(BucketStore, RefusesWrongOptionsOfWriting) {
  const FaultProxy proxy;
  for (const auto& [name, value] : BucketOptions{{"part_bytes", "5242879"}, {"part_bytes ", "x"}, {"conditional", "maybe"}}) {
    const std::string option = name.substr(0, name.find(' '));
    Config config;
    config.storage_options = {{"endpoint", proxy.url()}, {"anonymous", "true"}, {option, value}};
    const auto store = s3_store({.scheme = "s3", .host = "b", .shown = "s3://b"}, config);
    ASSERT_FALSE(store.has_value()) << option;
    EXPECT_EQ(store.error().member(), "storage_options." + option);
  }
}

TEST(BucketStore, ReadsAnObjectThatIsAnErrorDocument) {
  FaultProxy proxy;
  proxy.put("b/p/k", error_document("InternalError"));
  EXPECT_EQ(bucket_at(proxy)->get("k").value(), error_document("InternalError"));
}

TEST(BucketStore, TakesOnlyAMissingKeyForAbsence) {
  FaultProxy proxy;
  EXPECT_FALSE(bucket_at(proxy)->get("k").value().has_value());
  proxy.set({{.status = 403, .body = error_document("AccessDenied")}});
  const auto denied = bucket_at(proxy)->get("k");
  ASSERT_FALSE(denied.has_value());
  EXPECT_TRUE(denied.error().is_denied());
  EXPECT_THAT(denied.error().text(), HasSubstr("missing_status=403"));
  EXPECT_THAT(bucket_at(proxy, {{"anonymous", "true"}, {"key", ""}, {"secret", ""}})->get("k").error().text(),
              HasSubstr("missing_status=403"));
  EXPECT_FALSE(bucket_at(proxy, {{"missing_status", "403"}})->get("k").value().has_value());
  proxy.set({{.status = 404, .body = error_document("NoSuchBucket")}});
  const auto bucket = bucket_at(proxy)->get("k");
  ASSERT_FALSE(bucket.has_value());
  EXPECT_EQ(bucket.error().code(), ErrorCode::not_found);
  EXPECT_THAT(bucket.error().text(), HasSubstr("bucket of s3://b/p"));
}

TEST(BucketStore, EndsAListThatNeverEnds) {
  FaultProxy proxy;
  proxy.add({.endless_list = true});  // k1, k2, ... k9, and then k10, which comes before k9
  const auto store = s3_store({.scheme = "s3", .host = "b", .shown = "s3://b"},
                              {.storage_options = {{"endpoint", proxy.url()}, {"anonymous", "true"}}})
                         .value();
  const auto all = store->visit("", ListDepth::all, [](const ListEntry&) { return true; });
  ASSERT_FALSE(all.has_value());
  EXPECT_THAT(all.error().text(), HasSubstr("does not advance"));
  EXPECT_LE(proxy.counts().requests, 10U);
  using Page = std::pair<std::string, unsigned>;
  for (const auto& [same, most] : {Page("<Contents><Key>a</Key><Size>1</Size></Contents>", 2), Page("", 101)}) {
    proxy.reset_counts();
    proxy.set({{.status = 200,
                .body = "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>t{count}"
                        "</NextContinuationToken>" +
                        same + "</ListBucketResult>"}});
    EXPECT_THAT(store->visit("", ListDepth::all, [](const ListEntry&) { return true; }).error().text(),
                HasSubstr("does not advance"));
    EXPECT_LE(proxy.counts().requests, most);
  }
}

TEST(BucketStore, ListsBeyondEmptyPages) {
  FaultProxy proxy;
  unsigned pages = 0;
  proxy.set_hook([&](const ServedRequest&) -> std::optional<ServedReply> {
    const std::string key = "<Contents><Key>p/k" + std::to_string(pages) + "</Key><Size>1</Size></Contents>";
    const std::string more =
        "<IsTruncated>true</IsTruncated><NextContinuationToken>t" + std::to_string(pages) + "</NextContinuationToken>";
    ++pages;
    return reply_of(
        200, "<ListBucketResult>" + (pages < 9 ? more : "") + (pages % 3 == 0 ? key : "") + "</ListBucketResult>");
  });
  std::vector<std::string> names;
  const auto add = [&](const ListEntry& entry) { return names.emplace_back(entry.name), true; };
  EXPECT_TRUE(bucket_at(proxy)->visit("", ListDepth::all, add).value());
  EXPECT_EQ(names, (std::vector<std::string>{"k2", "k5", "k8"}));
}

TEST(BucketStore, RefusesAListOfOtherKeysAndWhatIsNoList) {
  FaultProxy proxy;
  for (const char* const body :
       {"<html>", "", "<ListBucketResult><Contents><Key>q/k</Key><Size>1</Size></Contents></ListBucketResult>",
        "<ListBucketResult><Contents><Key>p/k</Key><Size>-1</Size></Contents></ListBucketResult>"}) {
    proxy.set({{.status = 200, .body = body}});
    EXPECT_EQ(bucket_at(proxy)->visit("", ListDepth::all, [](const ListEntry&) { return true; }).error().code(),
              ErrorCode::corrupt)
        << body;
  }
}

TEST(BucketStore, ExpandsNoEntitiesOfAList) {
  FaultProxy proxy;
  std::string bomb = "<?xml version=\"1.0\"?><!DOCTYPE x [<!ENTITY a0 \"ha\">";
  for (int i = 1; i < 30; ++i) {
    const std::string before = "&a" + std::to_string(i - 1) + ";";
    bomb += "<!ENTITY a" + std::to_string(i) + " \"" + before + before + "\">";
  }
  bomb +=
      "<!ENTITY file SYSTEM \"file:///etc/passwd\">]><ListBucketResult><Contents><Key>p/&a29;&file;</Key>"
      "<Size>1</Size></Contents></ListBucketResult>";
  proxy.add({.status = 200, .body = bomb});
  std::string names;
  const auto all = bucket_at(proxy)->visit("", ListDepth::all, [&](const ListEntry& entry) {
    names += entry.name;
    return true;
  });
  EXPECT_THAT(names, Not(HasSubstr("root:")));
  EXPECT_LE(names.size(), 100U);
  EXPECT_TRUE(all.has_value() || all.error().code() == ErrorCode::corrupt);
}

TEST(BucketStore, ListsAHundredThousandKeysInLittleMemory) {
  constexpr std::size_t kKeys = 100'000;
  FaultProxy proxy;
  for (std::size_t i = 0; i < kKeys; ++i) proxy.put("b/p/folder/with/a/rather/long/name/" + std::to_string(i), "");
  const std::uint64_t before = memory_field("VmRSS");
  std::size_t count = 0, prefixes = 0;
  ASSERT_TRUE(bucket_at(proxy)
                  ->visit("", ListDepth::all,
                          [&](const ListEntry& entry) {
                            ++count;
                            return !entry.is_prefix;
                          })
                  .has_value());
  EXPECT_EQ(count, kKeys);
  EXPECT_EQ(proxy.counts().requests, kKeys / 1000);
  if (SHERD_MEASURES_MEMORY != 0) {
    EXPECT_LE(memory_field("VmHWM") - before, std::uint64_t{64} << 20);
  }
  ASSERT_TRUE(bucket_at(proxy)
                  ->visit("", ListDepth::children,
                          [&](const ListEntry& entry) {
                            prefixes += entry.is_prefix;
                            return true;
                          })
                  .has_value());
  EXPECT_EQ(prefixes, 1U);
}

TEST(BucketStore, IsReadByAnyNumberOfThreadsAtOnce) {
  FaultProxy proxy;
  for (int i = 0; i < 50; ++i) proxy.put("b/p/" + std::to_string(i), std::to_string(i));
  proxy.add({.times = 20, .status = 503, .headers = {{"Retry-After", "0"}}});
  const auto store = bucket_at(proxy, {{"attempts", "30"}});
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) right += store->get(std::to_string(i)).value() == std::to_string(i);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 8 * 50);
}

}  // namespace bucket_store_test
}  // namespace sherd::remote
