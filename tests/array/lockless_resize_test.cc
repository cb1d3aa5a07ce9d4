// Changes of shape in a store without locks, while another handle stores elements between any two requests; and writes
// during which the document changes.
#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "sherd/sherd.hpp"
#include "tests/store/lockless.hpp"
#include "tests/store/test_store.hpp"

namespace sherd {
namespace lockless_resize_test {

struct Setting {
  const char* name;
  CreateOptions create;
  bool conditional_erase;
};

std::vector<Setting> settings() {
  std::vector<Setting> all;
  for (const bool conditional_erase : {true, false}) {
    CreateOptions raw{.chunks = {64}};
    raw.codecs = std::vector<Json>();
    all.push_back({"Shards", {.chunks = {4}, .shards = Shape{64}}, conditional_erase});
    all.push_back({"Chunks", {.chunks = {64}}, conditional_erase});
    all.push_back({"RawChunks", raw, conditional_erase});
  }
  return all;
}

constexpr int kMaxRequests = 1000;  ///< no call in these tests makes so many

class LocklessResize : public testing::TestWithParam<Setting> {
 protected:
  /// An array of elements 1, 2, …, in a new store.
  void make(std::uint64_t length) {
    base_ = lockless(GetParam().conditional_erase);
    between_ = std::make_shared<TestStore>(base_);
    between_->of = Op::open | Op::commit | Op::amend | Op::erase | Op::visit;
    failing_ = std::make_shared<TestStore>(between_);
    CreateOptions options = GetParam().create;
    options.shape = {length};
    options.dtype = DType::uint32;
    create_array(base_, "", options).value();
    std::vector<std::uint32_t> values(length);
    std::iota(values.begin(), values.end(), 1U);
    open(base_).write(Box{{0}, {length}}, std::span<const std::uint32_t>(values)).value();
  }
  static Array open(const std::shared_ptr<Store>& store) {
    return open_array(store, {.writable = true, .config = {.threads = 1}}).value();
  }
  static Result<Shape> append(Array& array, std::uint64_t count, std::uint32_t value) {
    const std::vector<std::uint32_t> values(count, value);
    return array.append(StridedView<const std::uint32_t>(values.data(), {count}).untyped());
  }
  std::vector<std::uint32_t> elements() const {
    const Array array = open(base_);
    std::vector<std::uint32_t> values(array.shape()[0]);
    array.read(Box{{0}, array.shape()}, std::span(values)).value();
    return values;
  }

  /// On another thread, as another process would.
  void act_before(int request, std::function<void()> action) {
    between_->at(request, [action = std::move(action)] { std::thread(action).join(); });
  }

  std::shared_ptr<LocklessStore> base_;
  std::shared_ptr<TestStore> between_;
  std::shared_ptr<TestStore> failing_;
};
INSTANTIATE_TEST_SUITE_P(Store, LocklessResize, testing::ValuesIn(settings()), [](const auto& setting) {
  return std::string(setting.param.name) + (setting.param.conditional_erase ? "" : "_WithoutConditionalErase");
});

TEST_P(LocklessResize, AFailedAppendKeepsRowsThatAnotherHandleAppends) {
  bool acted = true;
  for (int request = 0; acted; ++request) {
    ASSERT_LT(request, kMaxRequests);
    make(64);
    failing_->fail_at("c/1", Op::commits);
    Array fails = open(failing_), other = open(base_);
    Shape origin;
    act_before(request, [&] { origin = append(other, 1, 1000).value(); });
    EXPECT_FALSE(append(fails, 96, 7));
    acted = between_->has_acted();
    const auto stored = elements();
    for (std::uint32_t i = 0; i < 64; ++i) ASSERT_EQ(stored[i], i + 1) << "request " << request;
    if (!acted) continue;
    ASSERT_LT(origin[0], stored.size()) << "request " << request;
    EXPECT_EQ(stored[origin[0]], 1000U) << "request " << request;
  }
}

TEST_P(LocklessResize, AppendsKeepTheRowsThatAnotherHandleAppendsMeanwhile) {
  // The next row is in a new shard; in an inner chunk with other rows; in a new inner chunk of a shard with others.
  for (const std::uint64_t length : {64U, 65U, 68U}) {
    bool acted = true;
    for (int request = 0; acted; ++request) {
      ASSERT_LT(request, kMaxRequests);
      make(length);
      Array array = open(between_), other = open(base_);
      Shape others;
      act_before(request, [&] { others = append(other, 1, 1000).value(); });
      const Shape own = append(array, 1, 7).value();
      acted = between_->has_acted();
      const auto stored = elements();
      ASSERT_EQ(stored.size(), length + (acted ? 2 : 1));
      for (std::uint32_t i = 0; i < length; ++i) ASSERT_EQ(stored[i], i + 1) << "request " << request;
      EXPECT_EQ(stored[own[0]], 7U) << "request " << request;
      if (acted) {
        EXPECT_EQ(stored[others[0]], 1000U) << "request " << request;
      }
    }
  }
}

TEST_P(LocklessResize, AShrinkKeepsWhatAnotherHandleWritesBeforeTheNewEnd) {
  bool acted = true;
  for (int request = 0; acted; ++request) {
    ASSERT_LT(request, kMaxRequests);
    make(160);
    Array array = open(between_), other = open(base_);
    const std::uint32_t value = 1000;
    act_before(request, [&] { other.write(Box{{66}, {1}}, std::span<const std::uint32_t>(&value, 1)).value(); });
    array.resize({70}).value();
    acted = between_->has_acted();
    open(base_).resize({200}).value();
    const auto stored = elements();
    for (std::uint32_t i = 0; i < 200; ++i)
      ASSERT_EQ(stored[i], i == 66 && acted ? value : i < 70 ? i + 1 : 0) << "request " << request << ", element " << i;
  }
}

TEST_P(LocklessResize, AWriteSucceedsThoughTheDocumentIsChangedAndBack) {
  bool acted = true;
  for (int request = 0; acted; ++request) {
    ASSERT_LT(request, kMaxRequests);
    make(160);
    Array array = open(between_), other = open(base_);
    act_before(request, [&] {
      other.set_attributes(Json(Json::Object{{"state", "busy"}})).value();
      other.set_attributes(Json(Json::Object{})).value();
      other.resize({170}).value();
      other.resize({160}).value();
    });
    const std::vector<std::uint32_t> values(70, 7);
    const auto written = array.write(Box{{60}, {70}}, std::span(values));
    acted = between_->has_acted();
    ASSERT_TRUE(written) << "request " << request << ": " << written.error().text();
    const auto stored = elements();
    for (std::uint32_t i = 0; i < 160; ++i)
      ASSERT_EQ(stored[i], i >= 60 && i < 130 ? 7 : i + 1) << "request " << request << ", element " << i;
  }
}

}  // namespace lockless_resize_test
}  // namespace sherd
