// What is read of zip archives, over stores of every kind.
#include "store/zip.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "codec/codec.hpp"
#include "codec/deflate.hpp"
#include "store/reply.hpp"
#include "tests/store/round_trips.hpp"
#include "tests/store/temp_dir.hpp"
#include "tests/store/zip_bytes.hpp"
#include "tests/test_data.hpp"

namespace sherd {

extern const CodecEntry zstd_codec;

namespace zip_test {

using testing::ElementsAre;
using testing::HasSubstr;

/// What the archives are in.
struct Around {
  std::string name;
  std::function<std::shared_ptr<Store>(const std::string& directory)> make;
};

const Around kAround[] = {
    {"Memory", [](const std::string&) { return memory_store(); }},
    {"File", [](const std::string& directory) { return file_store(directory).value(); }},
    {"Delayed", [](const std::string&) { return delayed_store(memory_store(), std::chrono::microseconds(10), 3); }},
    {"RecordedDelayedFile",
     [](const std::string& directory) {
       return recorded_store(delayed_store(file_store(directory).value(), std::chrono::microseconds(10), 3),
                             std::make_shared<Recorder>());
     }},
};

std::string text_of(const ReadReply& reply) {
  return {reinterpret_cast<const char*>(reply.bytes.data()), reply.bytes.size()};
}

/// Deflate without a wrapper, from that of zlib.
std::string deflated(const std::string& text) {
  const DeflateCodec codec(DeflateCodec::Wrapper::zlib, 6);
  std::string to(codec.max_encoded_size(text.size()), ' ');
  to.resize(codec.encode(as_bytes(text), std::as_writable_bytes(std::span(to))).value());
  return to.substr(2, to.size() - 6);
}

std::string zstd(const std::string& text) {
  const auto codec = zstd_codec.bytes_codec({.name = "zstd", .configuration = {}}, {}).value();
  std::string to(codec->max_encoded_size(text.size()), ' ');
  to.resize(codec->encode(as_bytes(text), std::as_writable_bytes(std::span(to))).value());
  return to;
}

ZipPiece compressed(const std::string& name, const std::string& text, std::uint16_t method) {
  return {.name = name,
          .data = method == 8 ? deflated(text) : zstd(text),
          .method = method,
          .size = text.size(),
          .crc = crc32(as_bytes(text))};
}

class ZipIn : public testing::TestWithParam<Around> {
 protected:
  std::shared_ptr<Store> opened(const std::string& archive, const Config& config = {}) {
    outer_->set("a.zip", archive).value();
    return zip_store(outer_, "a.zip", config).value();
  }
  Error refused(const std::string& archive, const std::string& key, const Config& config = {}) {
    const auto store = opened(archive, config);
    auto got = store->get(key);
    EXPECT_FALSE(got);
    auto whole = store->open(key);
    if (whole) {  // the same by a source
      std::string into((*whole)->size().value(), ' ');
      const RangeRead range{0, std::as_writable_bytes(std::span(into))};
      const auto read = (*whole)->read({&range, 1});
      EXPECT_FALSE(read);
      EXPECT_TRUE(read || got || read.error().text() == got.error().text());
    }
    return got ? invalid_argument("nothing was refused") : got.error();
  }

  TempDir directory_;
  std::shared_ptr<Store> outer_ = GetParam().make(directory_.path());
};

INSTANTIATE_TEST_SUITE_P(Stores, ZipIn, testing::ValuesIn(kAround), [](const auto& kind) { return kind.param.name; });

TEST_P(ZipIn, MembersAreObjects) {
  const std::string large(300'000, 'x');
  const auto store = opened(ZipBytes()
                                .add({"zarr.json", "{}"})
                                .add({"c/"})
                                .add({"c/0", large})
                                .add({"c/1", ""})
                                .add(compressed("c/2", large, 8))
                                .add(compressed("c/3", "short", 93))
                                .finish());
  EXPECT_EQ(store->get("zarr.json").value(), "{}");
  EXPECT_EQ(store->get("c/0").value(), large);
  EXPECT_EQ(store->get("c/1").value(), "");
  EXPECT_EQ(store->get("c/2").value(), large);
  EXPECT_EQ(store->get("c/3").value(), "short");
  EXPECT_EQ(store->get("c/4").value(), std::nullopt);
  EXPECT_EQ(store->get("c").value(), std::nullopt);
  EXPECT_EQ(store->open("c/4").value(), nullptr);
  const bool is_local = outer_->url().starts_with("file:");
  EXPECT_EQ(store->read_only(), !is_local);
  EXPECT_EQ(store->traits().parallel_requests, outer_->traits().parallel_requests);
  EXPECT_EQ(store->url(), outer_->url() + (outer_->url().ends_with('/') ? "" : "/") + "a.zip|zip:");
  if (is_local) return;
  EXPECT_EQ(store->set("x", "1").error().code(), ErrorCode::unsupported);
  EXPECT_EQ(store->erase("c/0").error().code(), ErrorCode::unsupported);
}

TEST_P(ZipIn, OtherProgramsArchivesAreRead) {
  std::string numbers(256, ' ');
  for (std::size_t i = 0; i < 256; ++i) numbers[i] = static_cast<char>(i);
  std::string words;
  for (int i = 0; i < 1000; ++i) words += "deflated ";
  for (const char* name : {"python.zip", "python_comment.zip", "python_prefix.zip", "python_streamed.zip",
                           "python_zip64.zip", "info_zip.zip", "info_zip_no_directories.zip", "info_zip_prefix.zip",
                           "info_zip_streamed.zip", "info_zip_names.zip", "info_zip_link.zip"}) {
    SCOPED_TRACE(name);
    std::ifstream file(test_data(std::string("zip/") + name), std::ios::binary);
    const auto store = opened(std::string(std::istreambuf_iterator<char>(file), {}));
    EXPECT_EQ(store->get("a.txt").value(), "stored stored stored\n");
    EXPECT_EQ(store->get("b.txt").value(), words);
    EXPECT_EQ(store->get("c/d.bin").value(), numbers);
  }
  std::ifstream file(test_data("zip/python_duplicates.zip"), std::ios::binary);
  EXPECT_EQ(opened(std::string(std::istreambuf_iterator<char>(file), {}))->get("a.txt").value(), "the last");
}

TEST_P(ZipIn, RangesAreReadFromOpenMembersAndFromKeys) {
  for (const int method : {0, 8, 93}) {
    ZipPiece piece = compressed("a", "0123456789", 8);
    if (method == 0) piece = {"a", "0123456789"};
    if (method == 93) piece = compressed("a", "0123456789", 93);
    const auto store = opened(ZipBytes().add(piece).add({"b", "x"}).finish());
    const auto open = store->open("a").value();
    EXPECT_EQ(open->size().value(), 10U);
    std::string into(3, ' ');
    const std::vector<ReadRequest> requests = {
        {.key = "a"},
        {.key = "a", .offset = 8, .length = 5},
        {.key = "none"},
        {.key = "a", .length = 4, .from_end = true},
        {.key = "a", .offset = 20},
        {.of = open, .offset = 4, .length = 3, .into = std::as_writable_bytes(std::span(into))},
        {.of = open, .offset = 8, .length = 5},
        {.of = open, .offset = 1, .length = ~std::uint64_t{0} - 1},
        {.key = "b", .offset = 0, .length = 1},
        {.of = open}};
    std::vector<std::string> texts(requests.size());
    const auto note = [&](std::size_t i, Result<ReadReply> reply) -> Result<void> {
      EXPECT_EQ(texts[i], "") << "answered twice";
      texts[i] = !reply ? std::string(to_string(reply.error().code()))
                 : reply->source == nullptr
                     ? "absent"
                     : reply->source->name() + "@" + std::to_string(reply->offset) + ":" + text_of(*reply);
      return {};
    };
    store->read_all(requests, note).value();
    EXPECT_THAT(texts, ElementsAre("a@0:0123456789", "a@8:89", "absent", "a@6:6789", "a@10:", "a@4:456", "corrupt",
                                   "corrupt", "b@0:x", "a@0:0123456789"));
    EXPECT_EQ(into, "456");
  }
}

TEST_P(ZipIn, ALocalHeaderOfAnotherSizeThanExpectedIsFound) {
  const std::string large(200'000, 'y');
  ZipBytes bytes;
  for (const std::string& before : {std::string(), std::string(100, 'b'), std::string(70'000, 'b')}) {
    for (const std::size_t extra : {std::size_t{0}, std::size_t{9}, std::size_t{5000}}) {
      const std::string name = std::to_string(before.size()) + "/" + std::to_string(extra);
      bytes.add({.name = name,
                 .data = name + large,
                 .local_extra = extra == 0 ? "" : ZipBytes::field(7, std::string(extra, 'e')),
                 .after = before});
      ZipPiece piece = compressed(name + "/deflated", name + large, 8);
      piece.after = before;
      piece.local_extra = ZipBytes::field(7, std::string(extra, 'e'));
      bytes.add(piece);
    }
  }
  const std::string archive = bytes.finish();
  for (const bool at_the_end : {false, true}) {
    const auto store = opened(archive);
    for (const auto& key : {"0/0", "0/9", "0/5000", "100/0", "100/9", "100/5000", "70000/0", "70000/9", "70000/5000"}) {
      for (const std::string& each : {std::string(key), std::string(key) + "/deflated"}) {
        const std::string whole = key + large;
        std::string into(50, ' ');
        const auto memory = std::as_writable_bytes(std::span(into));
        const ReadRequest request = at_the_end
                                        ? ReadRequest{.key = each, .length = 50, .from_end = true, .into = memory}
                                        : ReadRequest{.key = each, .offset = 1, .length = 50, .into = memory};
        store
            ->read_all({&request, 1},
                       [&](std::size_t, Result<ReadReply> reply) -> Result<void> {
                         EXPECT_EQ(text_of(reply.value()),
                                   at_the_end ? whole.substr(whole.size() - 50) : whole.substr(1, 50));
                         return {};
                       })
            .value();
        EXPECT_EQ(store->get(each).value(), whole) << each;
      }
    }
  }
}

TEST_P(ZipIn, AnOpenStoreShowsOneVersionOfTheArchive) {
  const auto store = opened(ZipBytes().add({"a", "old"}).add({"b", "older"}).finish());
  const auto open = store->open("a").value();
  const auto again = opened(ZipBytes().add({"c", "a newer archive"}).add({"a", "new"}).finish());
  EXPECT_EQ(store->get("a").value(), "old");
  EXPECT_EQ(store->get("b").value(), "older");
  EXPECT_EQ(store->get("c").value(), std::nullopt);
  EXPECT_EQ(again->get("a").value(), "new");
  EXPECT_EQ(open->generation().value(), store->open("a").value()->generation().value());
  EXPECT_NE(open->generation().value(), again->open("a").value()->generation().value());
  EXPECT_NE(open->generation().value(), store->open("b").value()->generation().value());
  outer_->erase("a.zip").value();
  EXPECT_EQ(store->get("b").value(), "older");
}

TEST_P(ZipIn, MembersAreListed) {
  const auto store = opened(ZipBytes()
                                .add({"g/b", "1"})
                                .add({"g/a", "12"})
                                .add({"g/c/1", "1"})
                                .add({"g/c/0", "1"})
                                .add({"g/c.d/0", "1"})
                                .add({"g/c0", "1"})
                                .add({"h", "1"})
                                .add({"empty/"})
                                .finish());
  const auto listing = store->list_dir("g/").value();
  ASSERT_EQ(listing.objects.size(), 3U);
  EXPECT_EQ(listing.objects[0].name, "a");
  EXPECT_EQ(listing.objects[0].size, 2U);
  EXPECT_THAT(listing.prefixes, ElementsAre("c", "c.d"));
  EXPECT_THAT(store->list_dir("").value().prefixes, ElementsAre("g"));
  std::vector<std::string> keys;
  const auto note = [&](const ListEntry& entry) -> Result<bool> {
    keys.emplace_back(entry.name);
    return keys.size() < 6;
  };
  EXPECT_FALSE(store->visit("", ListDepth::all, note).value());
  EXPECT_THAT(keys, ElementsAre("g/a", "g/b", "g/c.d/0", "g/c/0", "g/c/1", "g/c0"));
  EXPECT_FALSE(store->list_dir("g"));
  EXPECT_TRUE(store->list_dir("none/").value().objects.empty());
  EXPECT_EQ(store->open("../x").error().code(), ErrorCode::invalid_argument);
}

TEST_P(ZipIn, ALocalHeaderThatContradictsTheDirectoryIsCorrupt) {
  const std::pair<ZipPiece, std::string> wrong[] = {
      {{.name = "a", .data = "1", .local_name = "b"}, "name"},
      {{.name = "a", .data = "1", .local_name = "aa"}, "name"},
      {{.name = "a", .data = "1", .local_method = 8}, "compression method"},
      {{.name = "a", .data = "1", .local_crc = 7}, "checksum"},
      {{.name = "a", .data = "12", .size = 1, .stored = 1}, "size"},
  };
  for (const auto& [piece, what] : wrong) {
    const Error error = refused(ZipBytes().add(piece).add({"next", "x"}).finish(), "a");
    EXPECT_EQ(error.code(), ErrorCode::corrupt);
    EXPECT_EQ(error.key(), "a");
    EXPECT_THAT(error.message(), HasSubstr("the " + what + " in the member's local header contradicts"));
  }
  std::string archive = ZipBytes().add({"a", "1"}).add({"b", "2"}).finish();
  archive[2] = 'x';
  EXPECT_THAT(refused(archive, "a").message(), HasSubstr("signature"));
  archive = ZipBytes().add({"a", "1"}).add({"b", "2"}).finish();
  archive[28] = 1;  // an extra field of one byte, which the next member does not leave room for
  EXPECT_THAT(refused(archive, "a").message(), HasSubstr("overlap"));
  archive[26] = '\xff';
  EXPECT_EQ(refused(archive, "a").code(), ErrorCode::corrupt);
}

TEST_P(ZipIn, CompressedMembersThatLieAreCorrupt) {
  const std::string text(1000, 'x');
  for (const std::uint16_t method : {std::uint16_t{8}, std::uint16_t{93}}) {
    for (const std::uint64_t size : {1U, 999U, 1001U}) {
      ZipPiece piece = compressed("a", text, method);
      piece.size = size;
      EXPECT_EQ(refused(ZipBytes().add(piece).finish(), "a").code(), ErrorCode::corrupt) << size;
    }
    ZipPiece piece = compressed("a", text, method);
    piece.crc = 1;
    EXPECT_THAT(refused(ZipBytes().add(piece).finish(), "a").message(), HasSubstr("checksum"));
    piece = compressed("a", text, method);
    piece.data[piece.data.size() / 2] ^= 0x55;
    EXPECT_EQ(refused(ZipBytes().add(piece).finish(), "a").code(), ErrorCode::corrupt);
    piece = compressed("a", text, method);
    piece.data += "trailing bytes";
    EXPECT_EQ(refused(ZipBytes().add(piece).finish(), "a").code(), ErrorCode::corrupt);
    piece.size = std::uint64_t{1} << 30;  // more than these bytes can contain
    EXPECT_EQ(refused(ZipBytes().add(piece).finish(), "a").code(), ErrorCode::corrupt);
    piece.size = std::uint64_t{1} << 50;
    const Error huge = refused(ZipBytes().add(piece).finish(), "a");
    EXPECT_EQ(huge.code(), ErrorCode::unsupported);
    EXPECT_THAT(huge.message(), HasSubstr("chunk_bytes"));
  }
}

TEST_P(ZipIn, StoredMembersAreComparedWithTheirChecksumIfTheyAreReadWhole) {
  const std::string text = "0123456789";
  const auto archive = [&](std::uint32_t crc) {
    return ZipBytes().add({.name = "a", .data = text, .crc = crc}).finish();
  };
  const Error error = refused(archive(1), "a");
  EXPECT_EQ(error.code(), ErrorCode::corrupt);
  EXPECT_EQ(error.key(), "a");
  EXPECT_THAT(error.message(), HasSubstr("the checksum of the zip archive's member is wrong"));
  for (const bool is_damaged : {false, true}) {
    const auto store = opened(archive(is_damaged ? 1 : crc32(as_bytes(text))));
    std::string into(5, ' ');
    const auto read = [&](ByteSource& from, std::uint64_t offset) {
      const RangeRead range{offset, std::as_writable_bytes(std::span(into))};
      return from.read({&range, 1}).has_value();
    };
    const auto member = store->open("a").value();
    EXPECT_TRUE(read(*member, 5)) << "a part cannot be compared";
    EXPECT_TRUE(read(*member, 0));
    EXPECT_EQ(read(*member, 5), !is_damaged) << "all of it has been read, in order";
    EXPECT_EQ(into, "56789");
  }
}

TEST_P(ZipIn, MembersThatCannotBeReadAreRefusedByNameAndTheOthersAreRead) {
  const auto file = [](const std::string& name) {
    std::ifstream stream(test_data("zip/" + name), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(stream), {});
  };
  const auto expect = [&](const std::string& archive, const std::string& key, const std::string& why) {
    const Error error = refused(archive, key);
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_EQ(error.key(), key);
    EXPECT_THAT(error.message(), HasSubstr(why));
  };
  expect(file("python_lzma.zip"), "b.txt", "method 14");
  expect(file("info_zip_encrypted.zip"), "c/d.bin", "encrypted");
  expect(file("info_zip_link.zip"), "link", "symbolic link");
  expect(ZipBytes().add({.name = "a", .data = "x", .method = 99}).finish(), "a", "encrypted");
  EXPECT_EQ(opened(file("python_lzma.zip"))->get("a.txt").value(), "stored stored stored\n");
}

TEST_P(ZipIn, NoArchiveIsNotFoundAndADamagedOneIsNamed) {
  const auto none = zip_store(outer_, "a.zip", {});
  if (outer_->url().starts_with("file:"))
    EXPECT_TRUE(none) << "it is made by the first change";
  else
    EXPECT_EQ(none.error().code(), ErrorCode::not_found);
  outer_->set("a.zip", "no archive").value();
  const auto damaged = zip_store(outer_, "a.zip", {});
  EXPECT_EQ(damaged.error().code(), ErrorCode::corrupt);
  EXPECT_EQ(damaged.error().key(), "a.zip");
  outer_->set("a.zip", ZipBytes().add({"../x", "1"}).finish()).value();
  const auto unsafe = zip_store(outer_, "a.zip", {});
  EXPECT_EQ(unsafe.error().key(), "../x");
  EXPECT_THAT(unsafe.error().text(), HasSubstr("a.zip"));
}

class ZipRequests : public testing::Test {
 protected:
  std::shared_ptr<Store> opened(const ZipBytes& bytes, const ZipFinish& end = {}) {
    memory_->set("a.zip", bytes.finish(end)).value();
    return zip_store(slow_, "a.zip", {}).value();
  }
  void expect(std::uint64_t requests, std::uint64_t rounds) {
    EXPECT_EQ(slow_->requests, requests);
    EXPECT_EQ(slow_->batches, rounds);
    slow_->reset();
  }

  std::shared_ptr<Store> memory_ = memory_store();
  std::shared_ptr<RoundTrips> slow_ = slow_store(memory_);
};

TEST_F(ZipRequests, OpeningReadsTheEndAndOnceMoreForALargeDirectory) {
  ZipBytes bytes;
  for (int i = 0; i < 100; ++i) bytes.add({"c/" + std::to_string(i), "x"});
  opened(bytes);
  expect(1, 1);
  for (int i = 100; i < 10'000; ++i) bytes.add({"c/" + std::to_string(i), "x"});
  const auto store = opened(bytes);
  expect(2, 2);
  EXPECT_EQ(store->list_dir("c/").value().objects.size(), 10'000U);
  EXPECT_NE(store->open("c/77").value(), nullptr);
  expect(0, 0);
}

TEST_F(ZipRequests, TheFirstReadOfAMemberIncludesItsLocalHeader) {
  ZipBytes bytes;
  for (int i = 0; i < 100; ++i) bytes.add({"c/" + std::to_string(i), std::string(1000, 'x')});
  bytes.add({"large", std::string(1'000'000, 'y')}).add(compressed("deflated", std::string(1000, 'z'), 8));
  const auto store = opened(bytes);
  slow_->reset();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(store->get("c/" + std::to_string(i)).value(), std::string(1000, 'x'));
  expect(100, 100);
  EXPECT_EQ(store->get("deflated").value(), std::string(1000, 'z'));
  expect(1, 1);
  std::vector<ReadRequest> requests;
  for (int i = 0; i < 100; ++i) requests.push_back({.key = "c/" + std::to_string(i)});
  store
      ->read_all(requests,
                 [](std::size_t, const Result<ReadReply>& reply) {
                   EXPECT_EQ(text_of(reply.value()), std::string(1000, 'x'));
                   return Result<void>{};
                 })
      .value();
  expect(100, 1);
  // At the end of a large member the header is read at the same time.
  const ReadRequest end{.key = "large", .length = 100, .from_end = true};
  for (const std::uint64_t expected : {2U, 1U}) {
    EXPECT_EQ(read_one(*store, end).value().bytes.size(), 100U);
    expect(expected, 1);
  }
}

TEST_F(ZipRequests, AWrongGuessOfWhereDataBeginTakesARoundTripMoreOnce) {
  const auto store = opened(ZipBytes()
                                .add({.name = "a",
                                      .data = std::string(1'000'000, 'a'),
                                      .local_extra = ZipBytes::field(7, std::string(40, 'e')),
                                      .after = std::string(8000, '-')})
                                .add({"b", "2"}));
  slow_->reset();
  const ReadRequest end{.key = "a", .length = 100, .from_end = true};
  EXPECT_EQ(text_of(read_one(*store, end).value()), std::string(100, 'a'));
  EXPECT_LE(slow_->batches, 3U);
  slow_->reset();
  EXPECT_EQ(text_of(read_one(*store, end).value()), std::string(100, 'a'));
  expect(1, 1);
}

TEST(ZipStore, IsCountedByTheRequestsForItsObjectIfTheseAreCounted) {
  const auto recorder = std::make_shared<Recorder>();
  const auto memory = memory_store();
  memory->set("a.zip", ZipBytes().add({.name = "k", .data = "0123456789"}).finish()).value();
  const auto outer = recorded_store(delayed_store(memory, std::chrono::microseconds(10), 3), recorder);
  const auto zip = recorded_store(zip_store(outer, "a.zip", {}).value(), recorder);
  recorder->start();
  EXPECT_EQ(zip->get("k").value(), "0123456789");
  for (const auto& request : recorder->stop()) EXPECT_EQ(request.key, "a.zip");
  EXPECT_EQ(recorder->stats().requests, 2);
  const auto another = std::make_shared<Recorder>();
  EXPECT_EQ(recorded_store(zip, another)->get("k").value(), "0123456789");
  EXPECT_EQ(another->stats().requests, 1);
}

}  // namespace zip_test
}  // namespace sherd
