// Writers that have read their array's document just before another process erases, replaces or shrinks the array:
// nothing that they store afterwards remains.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <thread>

#include "sherd/sherd.hpp"
#include "sherd/tools.hpp"
#include "store/forwarding.hpp"
#include "tests/store/temp_dir.hpp"
#include "tests/store/tree.hpp"

namespace sherd {
namespace {

using testing::Each;
using testing::IsEmpty;
using Values = std::vector<std::uint16_t>;

/// Actions before and after changes of objects.
struct Events {
  std::function<void(const std::string& key)> before_commit = [](const std::string&) {};
  std::function<void(const std::string& key)> after_change = [](const std::string&) {};
  std::function<void()> after_wait = [] {};
};

class WatchedWriter final : public ForwardingWriter {
 public:
  WatchedWriter(std::string key, std::unique_ptr<ObjectWriter> writer, const Events& events)
      : ForwardingWriter(std::move(writer)), key_(std::move(key)), events_(events) {}
  Result<void> commit(const Condition& condition) override {
    events_.before_commit(key_);
    auto done = writer_->commit(condition);
    events_.after_change(key_);
    return done;
  }

 private:
  const std::string key_;
  const Events& events_;
};

/// A separate file store, as in another process.
class WatchedStore final : public ForwardingStore {
 public:
  explicit WatchedStore(const std::string& directory)
      : ForwardingStore(file_store(directory, {.durable = false}).value()) {}
  Result<std::unique_ptr<ObjectWriter>> write(const std::string& key, const WriteHints& hints) override {
    auto writer = store_->write(key, hints);
    if (!writer) return writer;
    return std::unique_ptr<ObjectWriter>(std::make_unique<WatchedWriter>(key, std::move(*writer), events));
  }
  Result<Erased> erase(const std::string& key, const Condition& condition) override {
    auto erased = store_->erase(key, condition);
    events.after_change(key);
    return erased;
  }
  Result<void> wait_for_writers(const std::string& prefix) override {
    auto done = store_->wait_for_writers(prefix);
    events.after_wait();
    return done;
  }
  Events events;
};

class ConcurrentWriter : public testing::TestWithParam<const char*> {
 protected:
  ConcurrentWriter() { create(DType::uint16, false); }

  Array create(DType dtype, bool overwrite) const {
    const std::string path = GetParam();
    CreateOptions options{.shape = {8}, .dtype = dtype, .chunks = {3}, .overwrite = overwrite};
    // At the root, chunks are stored next to the document.
    if (path.empty()) options.chunk_key_encoding = Json::parse(R"({"name": "v2"})").value();
    return create_array(other_, path, options).value();
  }
  [[nodiscard]] std::string document() const {
    return *GetParam() != 0 ? std::string(GetParam()) + "/zarr.json" : "zarr.json";
  }

  /// When a writer reads the document: before it is changed, or after the change has waited for writers once.
  enum class Begins : std::uint8_t { before, after_wait };

  /// Runs `change` while a writer of the elements from `first` on is about to store them; the writer continues as soon
  /// as the document has changed.
  void meet(Begins begins, std::uint64_t first, const std::function<void()>& change) {
    std::promise<void> arrived, changed;
    std::once_flag once, twice;
    const auto has_changed = changed.get_future().share();
    writing_->events.before_commit = [&](const std::string&) {
      std::call_once(once, [&] { arrived.set_value(); });
      has_changed.wait();
    };
    other_->events.after_change = [&](const std::string& key) {
      if (key == document()) std::call_once(twice, [&] { changed.set_value(); });
    };
    const Array array = open_array(writing_, {.path = GetParam(), .writable = true, .config = {.threads = 1}}).value();
    std::thread writer;
    const auto begin = [&] {
      if (writer.joinable()) return;
      writer = std::thread([&] {
        const Values values(8 - first, 7);
        (void)array.write(Box{{first}, {8 - first}}, std::span(values));
      });
      arrived.get_future().wait();
    };
    if (begins == Begins::before) begin();
    other_->events.after_wait = begin;
    change();
    writer.join();
    other_->events = {};
  }
  [[nodiscard]] std::vector<std::string> chunks() const {
    std::vector<std::string> keys = keys_of(*file_store(directory_.path()).value());
    std::erase_if(keys, [](const std::string& key) { return key.ends_with("zarr.json"); });
    return keys;
  }
  [[nodiscard]] Values elements() const {
    const Array array = open_array(other_, {.path = GetParam()}).value();
    Values values(array.shape()[0]);
    array.read(Box{{0}, array.shape()}, std::span(values)).value();
    return values;
  }

  TempDir directory_;
  std::shared_ptr<WatchedStore> writing_ = std::make_shared<WatchedStore>(directory_.path());
  std::shared_ptr<WatchedStore> other_ = std::make_shared<WatchedStore>(directory_.path());
};

class WriterInGroup : public ConcurrentWriter {};

TEST_P(WriterInGroup, LeavesNoChunkOfAnArrayThatIsErased) {
  meet(Begins::after_wait, 0, [&] { open_group(other_, {.writable = true}).value().erase(GetParam()).value(); });
  EXPECT_THAT(chunks(), IsEmpty());
}

TEST_P(ConcurrentWriter, LeavesNoChunkInTheArrayThatReplacesIts) {
  meet(Begins::after_wait, 0, [&] { create(DType::float16, true); });
  EXPECT_THAT(chunks(), IsEmpty());
}

TEST_P(ConcurrentWriter, LeavesNothingBeyondTheEndOfAnArrayThatShrinks) {
  for (const std::uint64_t first : {0, 3, 6}) {
    meet(Begins::before, first,
         [&] { open_array(other_, {.path = GetParam(), .writable = true}).value().resize({4}).value(); });
    open_array(other_, {.path = GetParam(), .writable = true}).value().resize({8}).value();
    const Values values = elements();
    EXPECT_THAT(Values(values.begin() + 4, values.end()), Each(0)) << first;
  }
}

TEST_P(ConcurrentWriter, LeavesNothingBeyondTheEndInAChunkThatWasClipped) {
  const Array array = open_array(writing_, {.path = GetParam(), .writable = true}).value();
  const Values values(3, 7);
  array.write(Box{{3}, {3}}, std::span(values)).value();
  std::once_flag once;
  other_->events.after_change = [&](const std::string&) {  // the first change is that of the chunk across the new end
    std::call_once(once, [&] { array.write(Box{{5}, {1}}, std::span(values).first(1)).value(); });
  };
  open_array(other_, {.path = GetParam(), .writable = true}).value().resize({4}).value();
  other_->events = {};
  open_array(other_, {.path = GetParam(), .writable = true}).value().resize({8}).value();
  EXPECT_EQ(elements(), (Values{0, 0, 0, 7, 0, 0, 0, 0}));
}

INSTANTIATE_TEST_SUITE_P(Of, WriterInGroup, testing::Values("a"), [](const auto&) { return "Path"; });
INSTANTIATE_TEST_SUITE_P(At, ConcurrentWriter, testing::Values("", "a"),
                         [](const auto& path) { return *path.param != 0 ? "Path" : "Root"; });

TEST(ArraysErasedDuringWrites, LeaveNothingBehind) {
  const TempDir directory;
  const auto store = [&] { return file_store(directory.path(), {.durable = false}).value(); };
  create_group(store(), "").value();
  std::atomic<bool> done = false;
  std::vector<std::thread> writers;
  for (int i = 0; i < 3; ++i)
    writers.emplace_back([&, own = store()] {
      const Values values(64, 5);
      while (!done) {
        const auto array = open_array(own, {.path = "a", .writable = true});
        for (int round = 0; array && round < 5; ++round) (void)array->write(Box{{0}, {64}}, std::span(values));
      }
    });
  Group group = open_group(store(), {.writable = true}).value();
  for (int round = 0; round < 40; ++round) {
    auto made =
        group.create_array("a", {.shape = {64}, .dtype = round % 2 ? DType::uint16 : DType::int16, .chunks = {8}});
    if (!made) continue;  // a writer that is refused may hold a directory for a moment
    std::this_thread::yield();
    group.erase("a").value();
  }
  done = true;
  for (auto& writer : writers) writer.join();
  EXPECT_THAT(keys_of(*store()), testing::ElementsAre("zarr.json"));
}

}  // namespace
}  // namespace sherd
