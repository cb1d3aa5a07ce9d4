#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/remote/http_reads.hpp"

namespace sherd::remote {
namespace range_transfer_test {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(RangeTransfer, ReadsEachKindOfPartWithOneRequest) {
  FaultProxy proxy;
  proxy.put("b/a k", "0123456789");
  const auto store = store_at(proxy);
  EXPECT_EQ(read(*store, {.key = "a k"}).text, "0123456789");
  EXPECT_EQ(read(*store, {.key = "a k", .length = 3, .from_end = true}).text, "789");
  EXPECT_EQ(read(*store, {.key = "a k", .length = 30, .from_end = true}).text, "0123456789");
  EXPECT_EQ(read(*store, {.key = "a k", .offset = 8, .length = 5}).text, "89");
  EXPECT_EQ(read(*store, {.key = "a k", .offset = 20, .length = 5}).text, "");
  EXPECT_EQ(read(*store, {.key = "a k", .length = 4}).text, "0123");
  EXPECT_EQ(read(*store, {.key = "a k", .length = 0}).source->size().value(), 10U);
  EXPECT_EQ(read(*store, {.key = "nothing"}).text, "absent");
  EXPECT_EQ(proxy.counts().requests, 8U);
  EXPECT_EQ(store->url(), proxy.url("/b"));
  EXPECT_FALSE(store->traits().can_list);
}

TEST(RangeTransfer, ReadsAnEmptyObject) {
  FaultProxy proxy;
  proxy.put("b/e", "");
  const auto store = store_at(proxy);
  for (const ReadRequest& request :
       std::vector<ReadRequest>{{.key = "e"}, {.key = "e", .length = 9, .from_end = true}, {.key = "e", .length = 0}}) {
    const Outcome outcome = read(*store, request);
    ASSERT_NE(outcome.source, nullptr) << outcome.text;
    EXPECT_EQ(outcome.source->size().value(), 0U);
  }
}

TEST(RangeTransfer, ResumesACutBodyWhereItEnded) {
  FaultProxy proxy;
  proxy.put("b/k", "0123456789");
  const auto store = store_at(proxy);
  proxy.set({{.times = 2, .cut_after = 3}});
  Outcome outcome = read(*store, {.key = "k"});
  EXPECT_EQ(outcome.text, "0123456789");
  EXPECT_EQ(outcome.retries, 2U);
  EXPECT_THAT(ranges_of(proxy), ElementsAre("", "bytes=3-9", "bytes=6-9"));

  proxy.set({{.times = 1, .cut_after = 2, .reset = true}});
  proxy.reset_counts();
  outcome = read(*store, {.key = "k", .length = 6, .from_end = true});
  EXPECT_EQ(outcome.text, "456789");
  EXPECT_EQ(ranges_of(proxy).at(0), "bytes=-6");
}

TEST(RangeTransfer, NeverTakesATruncatedBodyForAWholeOne) {
  FaultProxy proxy;
  proxy.put("b/k", "0123456789");
  proxy.add({.missing = 5});
  const auto store = store_at(proxy, "/b", {{"attempts", "2"}});
  const Outcome outcome = read(*store, {.key = "k"});
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->code(), ErrorCode::io) << outcome.text;
  EXPECT_EQ(outcome.error->key(), "k");
}

TEST(RangeTransfer, RefusesAReplyWithoutALength) {
  FaultProxy proxy;
  proxy.put("b/k", "0123456789");
  proxy.add({.unsized = true});
  EXPECT_THAT(read(*store_at(proxy), {.key = "k"}).text, HasSubstr("no length"));
}

TEST(RangeTransfer, ReadsAReplyInChunks) {
  FaultProxy proxy;
  proxy.put("b/k", "0123456789");
  proxy.add({.chunked = true});
  const Outcome outcome = read(*store_at(proxy), {.key = "k"});
  EXPECT_EQ(outcome.text, "0123456789");
  EXPECT_EQ(outcome.source->size().value(), 10U);
}

TEST(RangeTransfer, IgnoresWhatFollowsTheBody) {
  FaultProxy proxy;
  proxy.put("b/k", "0123456789");
  proxy.add({.surplus = 100});
  const auto store = store_at(proxy);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(read(*store, {.key = "k"}).text, "0123456789");
}

TEST(RangeTransfer, ComparesEachPartWithWhatItAskedFor) {
  for (const char* const wrong : {"bytes 0-2/10", "bytes 8-9/10", "bytes 7-9/11", "bytes 9-7/10", "items 7-9/10",
                                  "bytes 7-9/*", "bytes 7-99999999999999999999/10", ""}) {
    FaultProxy proxy;
    proxy.put("b/k", "0123456789");
    proxy.add({.headers = {{"Content-Range", wrong}}});
    const Outcome outcome = read(*store_at(proxy), {.key = "k", .length = 3, .from_end = true});
    ASSERT_TRUE(outcome.error) << wrong;
    EXPECT_EQ(outcome.error->code(), ErrorCode::io) << outcome.text;
  }
}

TEST(RangeTransfer, UsesASmallObjectOfAServerWithoutRanges) {
  FaultProxy proxy;
  proxy.put("b/k", "0123456789");
  proxy.add({.no_ranges = true});
  const auto store = store_at(proxy);
  EXPECT_EQ(read(*store, {.key = "k", .length = 3, .from_end = true}).text, "789");
  EXPECT_EQ(read(*store, {.key = "k", .offset = 2, .length = 3}).text, "234");
  for (const auto& source : {store->open("k").value(), read(*store, {.key = "k", .length = 1}).source}) {
    std::string into(4, ' ');
    const RangeRead range{6, std::as_writable_bytes(std::span(into))};
    ASSERT_TRUE(source->read({&range, 1}));
    EXPECT_EQ(into, "6789");
    const RangeRead beyond{7, std::as_writable_bytes(std::span(into))};
    EXPECT_FALSE(source->read({&beyond, 1}));
  }
}

TEST(RangeTransfer, SaysThatAServerHasNoRangesOfALargeObject) {
  FaultProxy proxy;
  proxy.put("b/k", digits(17 << 20));
  proxy.add({.no_ranges = true});
  EXPECT_THAT(read(*store_at(proxy), {.key = "k", .length = 3, .from_end = true}).text, HasSubstr("has no ranges"));
}

TEST(RangeTransfer, DecodesAWholeObjectAndReadsNoPartsOfAnEncodedOne) {
  FaultProxy proxy;
  const std::string text = digits(5000);
  proxy.put("b/k", text);
  proxy.add({.gzip = true});
  const auto store = store_at(proxy);
  Outcome outcome = read(*store, {.key = "k"});
  EXPECT_EQ(outcome.text, text);
  EXPECT_EQ(outcome.source->size().value(), 5000U);
  outcome = read(*store, {.key = "k", .length = 10, .from_end = true});
  EXPECT_EQ(outcome.text, text.substr(4990));
  outcome = read(*store, {.of = outcome.source, .offset = 100, .length = 10});  // from memory
  EXPECT_EQ(outcome.text, text.substr(100, 10));
}

TEST(RangeTransfer, NeverTakesEncodedBytesForThePartOfAServerWithoutRanges) {
  FaultProxy proxy;
  const std::string text = digits(5000);
  proxy.put("b/k", text);
  proxy.set({{.no_ranges = true}, {.gzip = true}});
  const auto store = store_at(proxy);
  EXPECT_EQ(read(*store, {.key = "k", .length = 10, .from_end = true}).text, text.substr(4990));
  EXPECT_EQ(read(*store, {.key = "k", .offset = 7, .length = 10}).text, text.substr(7, 10));
  EXPECT_EQ(store->open("k").value()->size().value(), 5000U);
}

TEST(RangeTransfer, ReadsOneVersionOfAnObject) {
  FaultProxy proxy;
  proxy.put("b/k", "0123456789");
  const auto store = store_at(proxy);
  const auto source = store->open("k").value();
  proxy.put("b/k", "abcdefghij");
  Outcome outcome = read(*store, {.of = source, .offset = 2, .length = 3});
  ASSERT_TRUE(outcome.error) << outcome.text;
  EXPECT_EQ(outcome.error->code(), ErrorCode::conflict);
  proxy.objects().erase("b/k");
  outcome = read(*store, {.of = source, .offset = 2, .length = 3});
  ASSERT_TRUE(outcome.error) << outcome.text;
  EXPECT_EQ(outcome.error->code(), ErrorCode::conflict);
}

TEST(RangeTransfer, NeverJoinsABodyFromTwoVersions) {
  FaultProxy proxy;
  proxy.put("b/k", "0123456789");
  proxy.set({{.changes = true}, {.times = 1, .cut_after = 4}});
  const Outcome outcome = read(*store_at(proxy), {.key = "k"});
  EXPECT_EQ(outcome.text, "0123456789");
  EXPECT_THAT(ranges_of(proxy), ElementsAre("", "bytes=4-9", ""));
}

TEST(RangeTransfer, KnowsNoGenerationWithoutAValidator) {
  FaultProxy proxy;
  proxy.put("b/k", "0123456789");
  const auto store = store_at(proxy);
  EXPECT_FALSE(store->open("k").value()->generation().value().token.empty());
  proxy.add(no_validators());
  const auto source = store->open("k").value();
  EXPECT_TRUE(source->generation().value().token.empty());
  EXPECT_EQ(read(*store, {.of = source, .offset = 2, .length = 3}).text, "234");
}

}  // namespace range_transfer_test
}  // namespace sherd::remote
