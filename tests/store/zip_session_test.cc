// Where members of a changed archive are stored: what is written once, copied, used again, and put in front.
#include "store/zip_session.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <thread>

#include "base/buffer.hpp"
#include "store/archive_of.hpp"
#include "store/read_into.hpp"
#include "tests/store/zip_write.hpp"

namespace sherd {
namespace zip_session_test {

using testing::ElementsAre;

std::string numbered(std::size_t size, unsigned seed) {
  std::string text(size, ' ');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>((i * 7 + i / 256) * (seed + 1));
  return text;
}

TEST_F(ZipWrite, ManyWritersAreOpenAtOnceInAnySizeAndOrder) {
  const auto store = opened();
  const std::size_t sizes[] = {0, 1, 1000, 1'048'576, 1'048'577, 3'000'000};
  std::vector<std::unique_ptr<ObjectWriter>> writers;
  for (unsigned i = 0; i < 6; ++i) writers.push_back(store->write("c/" + std::to_string(i)).value());
  for (unsigned i = 0; i < 6; ++i) {
    const std::string text = numbered(sizes[i], i);
    const std::size_t half = text.size() / 2;
    writers[i]->write(half, as_bytes(std::string_view(text).substr(half))).value();
    writers[i]->write(0, as_bytes(std::string_view(text).substr(0, half))).value();
  }
  for (auto& writer : writers) writer->commit().value();
  for (const bool finished : {false, true}) {
    if (finished) store->finish().value();
    for (unsigned i = 0; i < 6; ++i)
      EXPECT_TRUE(store->get("c/" + std::to_string(i)).value() == numbered(sizes[i], i)) << i;
  }
  EXPECT_EQ(in_python().size(), 6U);
  EXPECT_THAT(directory_.contents(), ElementsAre("a.zip"));
}

TEST_F(ZipWrite, MembersAreAddedByManyThreads) {
  const auto store = opened();
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (unsigned i = 0; i < 50; ++i) {
        const std::string key = std::to_string(t) + "/" + std::to_string(i);
        store->set(key, numbered(i * 1000, t)).value();
        if (i == 25) store->finish().value();
        EXPECT_TRUE(store->get(key).value() == numbered(i * 1000, t));
      }
    });
  }
  for (auto& thread : threads) thread.join();
  store->finish().value();
  EXPECT_EQ(in_python().size(), 200U);
}

TEST_F(ZipWrite, RewritingAMemberManyTimesDoesNotGrowTheArchive) {
  const auto store = opened();
  const std::string text(100'000, 'x');
  for (int i = 0; i < 50; ++i) store->set("a", text).value();
  store->finish().value();
  EXPECT_LT(bytes().size(), 300'000U);
  EXPECT_THAT(in_python(), ElementsAre("a 100000"));
  for (int i = 0; i < 5; ++i) {
    store->set("a", text).value();
    store->finish().value();
  }
  EXPECT_LT(bytes().size(), 300'000U);
}

TEST_F(ZipWrite, LargeMembersAreCopiedFromFilesAndFromArchives) {
  const std::string large = numbered(5'000'000, 3);
  const auto tree = file_store(directory_ / "tree", {.durable = false}).value();
  tree->set("x", large).value();
  const auto store = opened();
  auto writer = store->write("a").value();
  writer->copy(*tree->open("x").value(), 1, 4'000'000, 10).value();
  writer->commit().value();
  store->finish().value();
  EXPECT_TRUE(store->get("a").value() == std::string(10, '\0') + large.substr(1, 4'000'000));
  writer = store->write("b").value();
  writer->copy(*store->open("a").value(), 10, 3'999'000, 0).value();
  writer->commit().value();
  EXPECT_TRUE(store->get("b").value() == large.substr(1, 3'999'000));
  const auto again = store->write("c").value();
  again->copy(*store->open("b").value(), 0, 3'999'000, 0).value();
  again->commit().value();
  store->finish().value();
  EXPECT_TRUE(store->get("c").value() == large.substr(1, 3'999'000));
}

TEST_F(ZipWrite, DoesNotGiveADamagedMemberOfAnotherArchiveANewChecksum) {
  for (const std::size_t size : {1000U, 3'000'000U}) {  // the kernel copies the larger one
    const auto from = opened("from.zip");
    from->set("a", numbered(size, 3)).value();
    from->finish().value();
    std::string damaged = bytes("from.zip");
    damaged[damaged.size() / 2] ^= 1;
    put(damaged, "from.zip");
    const auto source = opened("from.zip"), store = opened();
    const auto writer = store->write("b").value();
    auto copied = writer->copy(*source->open("a").value(), 0, size, 0);
    if (copied) copied = writer->commit();
    ASSERT_FALSE(copied) << size;
    EXPECT_EQ(copied.error().code(), ErrorCode::corrupt);
    EXPECT_EQ(copied.error().key(), "a");
    EXPECT_EQ(store->get("b").value(), std::nullopt);
  }
}

// The last member begins beyond 4 GiB, too. What is not written takes no space on the disk.
TEST_F(ZipWrite, HasMembersBeyond4GibWhoseHolesTakeNoSpace) {
  for (const std::uint64_t size : {std::uint64_t{1} << 23, (std::uint64_t{1} << 32) + 2}) {
    const auto store = opened();
    {
      const auto writer = store->write("large").value();
      writer->write(size - 1, as_bytes("z")).value();
      writer->write(0, as_bytes("a")).value();
      writer->commit().value();
    }
    store->set("small", "text").value();
    store->finish().value();
    struct stat status{};
    ASSERT_EQ(::stat((directory_ / "a.zip").c_str(), &status), 0);
    EXPECT_GT(static_cast<std::uint64_t>(status.st_size), size);
    EXPECT_LT(status.st_blocks * 512, 1 << 20);
    const auto again = opened();
    const auto large = again->open("large").value();
    EXPECT_EQ(large->size().value(), size);
    for (const auto& [offset, byte] :
         {std::pair(std::uint64_t{0}, 'a'), std::pair(size / 2, '\0'), std::pair(size - 1, 'z')}) {
      char read = '?';
      read_into(*large, offset, std::as_writable_bytes(std::span(&read, 1))).value();
      EXPECT_EQ(read, byte) << offset;
    }
    EXPECT_EQ(again->get("small").value(), "text");
    const bool reads_members = size < std::uint64_t{1} << 30;
    EXPECT_THAT(in_python("a.zip", reads_members), ElementsAre("large " + std::to_string(size), "small 4"));
    std::filesystem::remove(directory_ / "a.zip");
  }
}

TEST_F(ZipWrite, PutsTheFirstMembersInFrontAsFarAsTheyFit) {
  const KeyTest is_document = [](std::string_view key) { return key.ends_with("json"); };
  const auto store = opened();
  archive_of(*store)->set_first(is_document);
  for (const auto* const key : {"claim", "c/0"}) store->set(key, key).value();
  store->set("z/large.json", std::string(65'536, ' ')).value();
  for (const auto* const key : {"a/b/json", "b/json", "a/json", "json"}) store->set(key, key).value();
  store->erase("claim").value();
  store->finish().value();
  EXPECT_THAT(in_python(), ElementsAre("json 4", "a/json 6", "b/json 6", "z/large.json 65536", "a/b/json 8", "c/0 3"));
  EXPECT_THAT(laid_out(), ElementsAre("json", "a/json", "b/json", "a/b/json", "c/0", "z/large.json"));
  EXPECT_TRUE(archive_of(*store)->has_first(is_document).value().in_directory);
  EXPECT_EQ(store->get("a/b/json").value(), "a/b/json") << "it has the rest of the room in front";

  archive_of(*store)->set_first(is_document);
  store->set("d/json", "new").value();
  store->finish().value();
  EXPECT_THAT(laid_out(), ElementsAre("json", "a/json", "b/json", "d/json", "z/large.json", "a/b/json", "c/0"))
      << "those that are known have room";
  EXPECT_TRUE(archive_of(*store)->has_first(is_document).value().in_directory);

  store->set("e/json", "new").value();
  store->finish().value();
  EXPECT_FALSE(archive_of(*opened())->has_first(is_document).value().in_directory)
      << "a change does not sort the directory";
}

TEST_F(ZipWrite, PutsAllFirstMembersInFrontIfTheirSizeIsExpected) {
  const KeyTest is_document = [](std::string_view key) { return key.ends_with("json"); };
  std::uint64_t bytes = 0;
  const std::vector<std::string> keys = {"json", "a/json", "b/json", "a/0/json", "b/0/json"};
  for (const std::string& key : keys) bytes += key.size() + 40'000;
  for (const bool is_expected : {false, true}) {
    const auto store = opened();
    archive_of(*store)->set_first(is_document);
    if (is_expected) archive_of(*store)->expect_first(bytes, keys.size());
    store->set("c/0", std::string(100'000, 'c')).value();
    for (const std::string& key : keys) store->set(key, std::string(40'000, 'j')).value();
    store->finish().value();
    const ArchiveStore::Order order = archive_of(*store)->has_first(is_document).value();
    EXPECT_TRUE(order.in_directory);
    EXPECT_EQ(order.in_file, is_expected);
    std::vector<std::string> wanted = keys;
    if (is_expected)
      wanted.emplace_back("c/0");
    else
      wanted.insert(wanted.begin() + 1, {"c/0", "json"});  // 64 KiB are enough for one, whose former place is not used
    EXPECT_EQ(laid_out(), wanted);
    std::filesystem::remove(directory_ / "a.zip");
  }
}

}  // namespace zip_session_test
}  // namespace sherd
