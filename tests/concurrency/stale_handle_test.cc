// Writers that have read their array's document just before another process erases, replaces or shrinks the array:
// nothing that they store afterwards remains.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <thread>

#include "sherd/sherd.hpp"
#include "sherd/tools.hpp"
#include "tests/store/temp_dir.hpp"
#include "tests/store/test_store.hpp"
#include "tests/store/tree.hpp"

namespace sherd {
namespace stale_handle_test {

using testing::Each;
using testing::IsEmpty;
using Values = std::vector<std::uint16_t>;

/// A separate file store, as in another process.
std::shared_ptr<TestStore> store_in(const std::string& directory) {
  auto store = std::make_shared<TestStore>(file_store(directory, {.durable = false}).value());
  store->of = Op::commit | Op::erase | Op::wait;
  return store;
}

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
    writing_->before = [&](const Asked& asked) {
      if (asked.op != Op::commit) return;
      std::call_once(once, [&] { arrived.set_value(); });
      has_changed.wait();
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
    other_->after = [&](const Asked& asked) {
      if (asked.op == Op::wait) begin();
      if (asked.op != Op::wait && asked.key == document()) std::call_once(twice, [&] { changed.set_value(); });
    };
    change();
    writer.join();
    other_->after = nullptr;
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
  std::shared_ptr<TestStore> writing_ = store_in(directory_.path());
  std::shared_ptr<TestStore> other_ = store_in(directory_.path());
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
  other_->after = [&](const Asked& asked) {  // the first change is that of the chunk across the new end
    if (asked.op == Op::wait) return;
    std::call_once(once, [&] { array.write(Box{{5}, {1}}, std::span(values).first(1)).value(); });
  };
  open_array(other_, {.path = GetParam(), .writable = true}).value().resize({4}).value();
  other_->after = nullptr;
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
    const auto erased = group.erase("a");
    EXPECT_TRUE(erased) << erased.error().text();
  }
  done = true;
  for (auto& writer : writers) writer.join();
  EXPECT_THAT(keys_of(*store()), testing::ElementsAre("zarr.json"));
}

}  // namespace stale_handle_test
}  // namespace sherd
