// Objects with two names (hard links): through wrapper stores, the protocol of the file store, and stores without them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "base/buffer.hpp"
#include "sherd/store.hpp"
#include "store/capabilities.hpp"
#include "tests/store/amended.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd {
namespace file_writer_test {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

class LinkedNames : public testing::Test {
 protected:
  [[nodiscard]] Result<void> put(const std::string& text, Store& store, const std::string& first = "a/1",
                                 const std::string& second = "b/2") const {
    auto writer = store.write(first);
    if (!writer) return std::move(writer).error();
    if (auto linked = (*writer)->link(second); !linked) return linked;
    if (auto written = (*writer)->write(0, as_bytes(text)); !written) return written;
    return (*writer)->commit();
  }
  [[nodiscard]] Result<void> put(const std::string& text) const { return put(text, *store_); }
  [[nodiscard]] Generation generation(const std::string& key) const {
    return store_->open(key).value()->generation().value();
  }
  void expect_both(const std::string& text) const {
    EXPECT_EQ(store_->get("a/1").value(), text);
    EXPECT_EQ(store_->get("b/2").value(), text);
    EXPECT_EQ(generation("a/1"), generation("b/2"));
    EXPECT_EQ(fs::hard_link_count(directory_ / "a/1"), 2U);
  }

  TempDir directory_;
  std::shared_ptr<Store> store_ = file_store(directory_.path()).value();
};

TEST_F(LinkedNames, AreOneFileInEveryVersion) {
  put("old").value();
  expect_both("old");
  const Generation before = generation("a/1");
  put("newer").value();
  expect_both("newer");
  EXPECT_NE(generation("b/2"), before);
  EXPECT_THAT(directory_.contents(), UnorderedElementsAre("a", "a/1", "b", "b/2"));
}

TEST_F(LinkedNames, AreUnchangedByAnUncommittedWriter) {
  put("old").value();
  {
    const auto writer = store_->write("a/1").value();
    writer->link("b/2").value();
    writer->write(0, as_bytes("never")).value();
  }
  expect_both("old");
  {
    const auto writer = store_->write("a/1").value();
    writer->link("b/2").value();
    EXPECT_EQ(writer->commit(Condition::absent()).error().code(), ErrorCode::conflict);
  }
  expect_both("old");
  EXPECT_THAT(directory_.contents(), UnorderedElementsAre("a", "a/1", "b", "b/2"));
}

TEST_F(LinkedNames, WorkThroughPrefixedAndRecordedStores) {
  const auto recorder = std::make_shared<Recorder>();
  const auto inside = prefixed_store(recorded_store(store_, recorder), "in/");
  put("text", *inside).value();
  EXPECT_EQ(store_->get("in/b/2").value(), "text");
  EXPECT_EQ(recorder->stats().bytes_written, 4U);
  renaming(*store_, "")->move_all("in/", "").value();
  expect_both("text");
}

TEST_F(LinkedNames, ThatAreDifferentFilesAreNotWritten) {
  put("both").value();
  store_->set("b/2", "by a writer that knows this name only").value();
  const auto refused = put("new");
  EXPECT_EQ(refused.error().code(), ErrorCode::conflict);
  EXPECT_EQ(refused.error().key(), "b/2");
  EXPECT_THAT(refused.error().message(), HasSubstr("'a/1'"));
  EXPECT_EQ(store_->get("a/1").value(), "both");
  store_->erase("a/1").value();
  EXPECT_EQ(put("new").error().code(), ErrorCode::conflict) << "the second name alone";
  EXPECT_EQ(store_->get("b/2").value(), "by a writer that knows this name only");
}

TEST_F(LinkedNames, AreLinkedAgainIfTheSecondIsMissing) {
  store_->set("a/1", "alone").value();
  put("both").value();
  expect_both("both");
}

// What a writer leaves that was killed between the two names: the new version under the first, and on its way to the
// second; and before the first of them: on its way only.
TEST_F(LinkedNames, AreRepairedByTheNextWriterAfterAKill) {
  put("old").value();
  store_->set("a/1", "new").value();
  fs::create_hard_link(directory_ / "a/1", directory_ / "b/.2.sherd-link");
  {
    const auto writer = store_->write("a/1").value();
    writer->link("b/2").value();
  }
  expect_both("new");
  std::ofstream(directory_ / "b/.2.sherd-link") << "never committed";
  {
    const auto writer = store_->write("a/1").value();
    writer->link("b/2").value();
  }
  expect_both("new");
  EXPECT_THAT(directory_.contents(), UnorderedElementsAre("a", "a/1", "b", "b/2"));
}

TEST_F(LinkedNames, AreNotListedWhileBeingCreated) {
  put("both").value();
  fs::create_hard_link(directory_ / "a/1", directory_ / "b/.2.sherd-link");
  EXPECT_EQ(store_->list_dir("b/").value().objects.size(), 1U);
  EXPECT_EQ(store_->open("b/.2.sherd-link").error().code(), ErrorCode::invalid_argument);
  store_->erase_prefix("b/").value();
  EXPECT_FALSE(fs::exists(directory_ / "b"));
}

TEST_F(LinkedNames, AreAmendedUnderOneNameByACopy) {
  put("both").value();
  amend(*store_, "b/2", {{4, " and more"}}).value();
  EXPECT_EQ(store_->get("b/2").value(), "both and more");
  EXPECT_EQ(store_->get("a/1").value(), "both");
}

TEST_F(LinkedNames, AreOneFileAfterConcurrentWrites) {
  put("x").value();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      // Half of them are other processes to each other: they share no locks in memory.
      const auto store = t % 2 == 0 ? store_ : file_store(directory_.path(), {.durable = false}).value();
      for (int i = 0; i < 25; ++i) put(std::to_string(t) + "-" + std::to_string(i), *store).value();
    });
  for (std::thread& thread : threads) thread.join();
  expect_both(store_->get("a/1").value().value());
  EXPECT_THAT(directory_.contents(), UnorderedElementsAre("a", "a/1", "b", "b/2"));
}

TEST_F(LinkedNames, MustBeTwoDifferentNames) {
  const auto writer = store_->write("a/1").value();
  EXPECT_EQ(writer->link("a/1").error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(writer->link("a/../1").error().code(), ErrorCode::invalid_argument);
  writer->link("b/2").value();
  EXPECT_EQ(writer->link("b/3").error().code(), ErrorCode::invalid_argument);
}

TEST(Stores, WithoutHardLinksReportIt) {
  const auto store = memory_store();
  EXPECT_FALSE(store->traits().links);
  const auto refused = store->write("a").value()->link("b");
  EXPECT_EQ(refused.error().code(), ErrorCode::unsupported);
  EXPECT_THAT(refused.error().message(), HasSubstr("hard links"));
}

}  // namespace file_writer_test
}  // namespace sherd
