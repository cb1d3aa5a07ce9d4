// Batches of requests, over every store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sherd/store.hpp"
#include "tests/store/every_store.hpp"

namespace sherd {
namespace batch_test {

using testing::ElementsAre;

class EveryStoreOfBatches : public EveryStore {};

INSTANTIATE_TEST_SUITE_P(Stores, EveryStoreOfBatches, testing::ValuesIn(all_kinds()),
                         [](const auto& kind) { return kind.param.name; });

/// A reply as text: "KEY@OFFSET:BYTES/SIZE", or "absent", or the name of the error's code.
std::string text_of(const Result<ReadReply>& reply) {
  if (!reply) return std::string(to_string(reply.error().code()));
  if (!reply->source) return "absent";
  const std::string bytes(reinterpret_cast<const char*>(reply->bytes.data()), reply->bytes.size());
  return reply->source->name() + "@" + std::to_string(reply->offset) + ":" + bytes + "/" +
         std::to_string(reply->source->size().value());
}

std::vector<std::string> replies(Store& store, std::span<const ReadRequest> requests) {
  std::vector<std::string> texts(requests.size());
  store
      .read_all(requests,
                [&](std::size_t i, Result<ReadReply> reply) -> Result<void> {
                  EXPECT_EQ(texts[i], "") << "answered twice";
                  texts[i] = text_of(reply);
                  return {};
                })
      .value();
  return texts;
}

TEST_P(EveryStoreOfBatches, AnswersABatchOfRangesOfManyObjects) {
  set("a", "0123456789");
  set("b/c", "xyz");
  set("empty", "");
  const ReadRequest requests[] = {{.key = "a"},     {.key = "b/c", .offset = 1, .length = 1},
                                  {.key = "none"},  {.key = "a", .length = 4, .from_end = true},
                                  {.key = "empty"}, {.key = "a", .offset = 3, .length = 0}};
  EXPECT_THAT(replies(*store_, requests),
              ElementsAre("a@0:0123456789/10", "b/c@1:y/3", "absent", "a@6:6789/10", "empty@0:/0", "a@3:/10"));
}

TEST_P(EveryStoreOfBatches, AnswersABatchWithWhatExistsOfRangesBeyondTheEnd) {
  set("a", "0123456789");
  const ReadRequest requests[] = {{.key = "a", .offset = 8, .length = 5},
                                  {.key = "a", .offset = 20, .length = 5},
                                  {.key = "a", .offset = ~std::uint64_t{0}},
                                  {.key = "a", .length = 11, .from_end = true}};
  EXPECT_THAT(replies(*store_, requests), ElementsAre("a@8:89/10", "a@10:/10", "a@10:/10", "a@0:0123456789/10"));
}

TEST_P(EveryStoreOfBatches, AnswersABatchFromTheVersionsThatAreOpen) {
  set("a", "old old");
  const auto open = store_->open("a").value();
  set("a", "new");
  const ReadRequest requests[] = {{.key = "a"}, {.of = open, .offset = 4, .length = 3}, {.of = open}};
  const bool is_lost = GetParam().is_server;
  EXPECT_THAT(replies(*store_, requests),
              ElementsAre("a@0:new/3", is_lost ? "conflict" : "a@4:old/7", is_lost ? "conflict" : "a@0:old old/7"));
}

TEST_P(EveryStoreOfBatches, ReportsARangeBeyondTheEndAndAnswersTheRest) {
  set("a", "0123456789");
  const auto open = store_->open("a").value();
  const ReadRequest requests[] = {{.of = open, .offset = 8, .length = 5},
                                  {.of = open, .offset = 8, .length = 2},
                                  {.of = open, .offset = ~std::uint64_t{0}, .length = 2},
                                  {.of = open, .offset = 1, .length = ~std::uint64_t{0} - 1}};
  EXPECT_THAT(replies(*store_, requests), ElementsAre("corrupt", "a@8:89/10", "corrupt", "corrupt"));
}

TEST_P(EveryStoreOfBatches, PutsTheRepliesOfABatchIntoTheCallersMemory) {
  set("a", "0123456789");
  std::string into(6, ' ');
  const auto bytes = std::as_writable_bytes(std::span(into));
  const ReadRequest requests[] = {{.key = "a", .offset = 1, .length = 2, .into = bytes.first(2)},
                                  {.key = "a", .length = 3, .from_end = true, .into = bytes.subspan(3, 3)}};
  EXPECT_THAT(replies(*store_, requests), ElementsAre("a@1:12/10", "a@7:789/10"));
  EXPECT_EQ(into, "12 789");
}

TEST_P(EveryStoreOfBatches, EndsABatchWithTheFailureOfItsCaller) {
  set("a", "0123456789");
  const std::vector<ReadRequest> requests(100, {.key = "a"});
  int replied = 0;
  const auto read = store_->read_all(requests, [&](std::size_t, Result<ReadReply>) -> Result<void> {
    return ++replied < 3 ? Result<void>{} : unavailable("enough");
  });
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message(), "enough");
  EXPECT_EQ(replied, 3);
}

TEST_P(EveryStoreOfBatches, KeepsTheBytesOfAReplyForAsLongAsTheirOwner) {
  set("a", "0123456789");
  const ReadRequest request{.key = "a", .offset = 2, .length = 4};
  std::vector<ReadReply> kept;
  store_
      ->read_all({&request, 1},
                 [&](std::size_t, Result<ReadReply> reply) -> Result<void> {
                   kept.push_back(std::move(reply).value());
                   kept.back().source.reset();
                   return {};
                 })
      .value();
  store_->erase("a").value();
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(kept[0].bytes.data()), kept[0].bytes.size()), "2345");
}

}  // namespace batch_test
}  // namespace sherd
