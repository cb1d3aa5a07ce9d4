// The reading half of what all stores do, over each real server.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <thread>

#include "src/api/registry.hpp"
#include "tests/remote/real_server.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd::remote {
namespace server_reads_test {

std::map<std::string, std::string> contents() {
  std::string large(700'000, '\0');
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>((i * 7 + i / 251) % 256);
  return {{"k", "0123456789"}, {"a b+c&d=é", "name"},       {"folder/x", "1"},  {"folder/y", "22"},
          {"folder/in/z", ""}, {"large", std::move(large)}, {"c/0/0", "chunk"}, {"~tilde-_.x", "t"}};
}

class ServerReads : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const TempDir folder;
    for (const auto& [key, bytes] : contents_) {
      const std::filesystem::path path = std::filesystem::path(folder.path()) / key;
      std::filesystem::create_directories(path.parent_path());
      std::ofstream(path, std::ios::binary) << bytes;
    }
    const auto server = real_server(GetParam(), folder.path());
    if (!server) GTEST_SKIP() << server.error().message();
    std::string url = "s3://" + server->bucket;
    config_.storage_options = {
        {"endpoint", server->url}, {"key", server->key}, {"secret", server->secret}, {"region", server->region}};
    if (GetParam() == "nginx") url = server->url + "/plain/" + server->bucket, config_.storage_options.clear();
    if (GetParam() == "fake_gcs") url = "gs://" + server->bucket, config_.storage_options = {{"endpoint", server->url}};
    store_ = open_store(url, config_).value();
    url_ = url;
  }

  const std::map<std::string, std::string> contents_ = contents();
  Config config_;
  std::string url_;
  std::shared_ptr<Store> store_;
};

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST_P(ServerReads, ReturnsWhatWasPut) {
  for (const auto& [key, bytes] : contents_) {
    EXPECT_EQ(store_->get(key).value(), bytes) << key;
    const auto source = store_->open(key).value();
    ASSERT_NE(source, nullptr) << key;
    EXPECT_EQ(source->size().value(), bytes.size()) << key;
    EXPECT_FALSE(source->generation().value().token.empty()) << key;
  }
  EXPECT_FALSE(store_->get("nothing").value().has_value());
  const auto folder = store_->get("folder");  // nginx redirects to what it calls a directory, and refuses to list that
  EXPECT_TRUE(GetParam() == "nginx" ? !folder && folder.error().is_denied() : !folder.value().has_value());
  EXPECT_FALSE(store_->get("k/below").value().has_value());
  EXPECT_EQ(store_->open("nothing").value(), nullptr);
}

TEST_P(ServerReads, AnswersABatchOfRangesOfManyObjects) {
  const std::vector<ReadRequest> requests = {{.key = "k", .offset = 2, .length = 3},
                                             {.key = "k", .length = 4, .from_end = true},
                                             {.key = "nothing", .length = 4},
                                             {.key = "large", .offset = 300'000, .length = 50'000},
                                             {.key = "folder/in/z", .length = 9},
                                             {.key = "k", .offset = 8, .length = 9},
                                             {.key = "k", .offset = 20, .length = 9},
                                             {.key = "folder/in/z", .length = 9, .from_end = true},
                                             {.key = "k", .length = 99, .from_end = true}};
  const std::string& large = contents_.at("large");
  const std::vector<std::string> expected = {"234", "6789", "absent",    large.substr(300'000, 50'000), "", "89",
                                             "",    "",     "0123456789"};
  std::vector<std::string> answers(requests.size(), "none");
  ASSERT_TRUE(store_->read_all(requests, [&](std::size_t i, Result<ReadReply> reply) -> Result<void> {
    answers[i] = !reply ? std::string(reply.error().text()) : reply->source ? text_of(reply->bytes) : "absent";
    return {};
  }));
  if (GetParam() == "fake_gcs") answers[7].clear();  // it answers 206, "bytes 0--1/0"
  for (std::size_t i = 0; i < requests.size(); ++i)
    EXPECT_TRUE(answers[i] == expected[i]) << i << ": " << answers[i].substr(0, 200);
}

TEST_P(ServerReads, ReadsRangesOfAnOpenVersionInFull) {
  const std::string& large = contents_.at("large");
  const auto source = store_->open("large").value();
  std::string first(1000, ' '), second(200'000, ' ');
  const RangeRead ranges[] = {{5, std::as_writable_bytes(std::span(first))},
                              {500'000, std::as_writable_bytes(std::span(second))}};
  ASSERT_TRUE(source->read(ranges));
  EXPECT_EQ(first, large.substr(5, 1000));
  EXPECT_TRUE(second == large.substr(500'000));
  const RangeRead beyond{large.size() - 10, std::as_writable_bytes(std::span(first))};
  const auto failed = source->read({&beyond, 1});
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().code(), ErrorCode::corrupt);
}

TEST_P(ServerReads, VisitsChildrenOrEverythingIfItCanList) {
  if (GetParam() == "nginx") {
    EXPECT_EQ(store_->visit("", ListDepth::all, [](const ListEntry&) { return true; }).error().code(),
              ErrorCode::unsupported);
    return;
  }
  std::map<std::string, std::uint64_t> all, expected;
  ASSERT_TRUE(store_
                  ->visit("", ListDepth::all,
                          [&](const ListEntry& entry) {
                            all.emplace(entry.name, entry.size);
                            return true;
                          })
                  .has_value());
  for (const auto& [key, bytes] : contents_) expected.emplace(key, bytes.size());
  EXPECT_EQ(all, expected);
  std::set<std::string> children;
  ASSERT_TRUE(store_
                  ->visit("folder/", ListDepth::children,
                          [&](const ListEntry& entry) {
                            children.insert(std::string(entry.name) + (entry.is_prefix ? "/" : ""));
                            return true;
                          })
                  .has_value());
  EXPECT_EQ(children, (std::set<std::string>{"x", "y", "in/"}));
  bool more = true;
  ASSERT_TRUE(store_->visit("nothing/", ListDepth::all, [&](const ListEntry&) { return more = false; }).has_value());
  EXPECT_TRUE(more);
  EXPECT_FALSE(store_->visit("", ListDepth::all, [](const ListEntry&) { return false; }).value());
}

TEST_P(ServerReads, IsReadOnlyUnlessItIsABucketOfS3) {
  const bool is_s3 = url_.starts_with("s3:");
  EXPECT_EQ(store_->read_only(), !is_s3);
  if (is_s3) return;
  EXPECT_EQ(store_->set("k", "x").error().code(), ErrorCode::unsupported);
  EXPECT_EQ(store_->erase("k").error().code(), ErrorCode::unsupported);
  EXPECT_EQ(store_->get("k").value(), "0123456789");
}

/// Reads everything some times, with a new handle now and then; true if all of it was right.
bool reads_all(Store& store, const std::map<std::string, std::string>& contents) {
  for (int i = 0; i < 5; ++i)
    for (const auto& [key, bytes] : contents) {
      const auto value = store.get(key);
      if (!value || *value != bytes) return false;
    }
  return true;
}

TEST_P(ServerReads, IsReadByEightProcessesAndTheirParentAtOnce) {
  EXPECT_EQ(store_->get("k").value(), "0123456789");  // with a connection that the children must not use
  std::vector<pid_t> children;
  std::atomic<bool> ends = false, is_right = true;
  std::thread reader([&] {
    while (!ends) is_right = is_right && reads_all(*store_, contents_);
  });
  for (int i = 0; i < 8; ++i) {
    const pid_t child = ::fork();
    // A thread that is inside a call may hold locks of its handle, and is not in the child.
    if (child == 0) ::_exit(reads_all(*open_store(url_, config_).value(), contents_) ? 0 : 1);
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  ends = true;
  reader.join();
  EXPECT_TRUE(is_right);
  EXPECT_TRUE(reads_all(*store_, contents_));
}

INSTANTIATE_TEST_SUITE_P(Kinds, ServerReads, testing::Values("nginx", "radosgw", "swift", "seaweedfs", "fake_gcs"),
                         [](const auto& each) { return each.param; });

}  // namespace server_reads_test
}  // namespace sherd::remote
