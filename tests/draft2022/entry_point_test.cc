// Damaged entry points of the draft: for any damage, no node of the hierarchy is reported as one that does not
// exist, and `check` reports a fault.
#include <gtest/gtest.h>

#include "sherd/sherd.hpp"
#include "sherd/tools.hpp"

namespace sherd {
namespace entry_point_test {

constexpr std::string_view kUri = "https://purl.org/zarr/spec/protocol/core/3.0";

class EntryPoint : public testing::Test {
 protected:
  EntryPoint() {
    CreateOptions options{.shape = {4}, .dtype = DType::uint8, .chunks = {2}, .format = "draft2022"};
    const Array array = create_array(store_, "a", options).value();
    array.fill(Box{{0}, {4}}, std::vector{std::byte{7}}).value();
    text_ = store_->get("zarr.json").value().value();
  }

  /// Whether the array is found, or every way to open it reports what is wrong.
  void expect_no_silence(const std::string& text, const std::string& how) const {
    store_->set("zarr.json", text).value();
    const auto array = open_array(store_, {.path = "a"});
    const auto root = open(store_, {});
    if (array) {
      EXPECT_TRUE(root) << how;
      std::uint8_t value = 0;
      EXPECT_TRUE(array->read(Box{{0}, {1}}, std::span(&value, 1))) << how;
      EXPECT_EQ(value, 7) << how;
      return;
    }
    EXPECT_NE(array.error().code(), ErrorCode::not_found) << how << ": " << array.error().text();
    EXPECT_EQ(array.error().key(), "zarr.json") << how;
    if (!root) {
      EXPECT_NE(root.error().code(), ErrorCode::not_found) << how;
    }
    const auto checked = check(store_, {});
    EXPECT_TRUE(!checked || !checked->ok()) << how;
  }

  std::shared_ptr<Store> store_ = memory_store();
  std::string text_;
};

TEST_F(EntryPoint, DamagedInAnyByteIsAnError) {
  for (std::size_t i = 0; i < text_.size(); ++i)
    for (const int byte : {0x00, 0x20, 0x41, text_[i] ^ 0x01, text_[i] ^ 0x20, text_[i] ^ 0x80}) {
      std::string damaged = text_;
      damaged[i] = static_cast<char>(byte);
      expect_no_silence(damaged, "byte " + std::to_string(i) + " is " + std::to_string(byte));
    }
}

TEST_F(EntryPoint, TruncatedAnywhereIsAnError) {
  for (std::size_t size = 0; size < text_.size(); ++size)
    expect_no_silence(text_.substr(0, size), "cut to " + std::to_string(size));
}

TEST_F(EntryPoint, WithAnyMemberReplacedIsAnError) {
  const Json values[] = {nullptr, true,         0,           2,         3, "", "x", "3", Json::Array{}, Json::Object{},
                         ".json", ".zarr.json", "http://x/", Json(kUri)};
  for (const char* member : {"zarr_format", "metadata_encoding", "metadata_key_suffix", "extensions"}) {
    Json document = Json::parse(text_).value();
    for (const Json& value : values) {
      document.set(member, value);
      expect_no_silence(document.dump(), std::string(member) + " is " + value.dump());
    }
    document.erase(member);
    expect_no_silence(document.dump(), std::string("without ") + member);
  }
  for (const Json& value : values) expect_no_silence(value.dump(), "all of it is " + value.dump());
}

TEST_F(EntryPoint, IsNotNeededByZarr3NextToADirectoryOfTheSameName) {
  const auto store = memory_store();
  create_array(store, "meta/root", {.shape = {1}, .dtype = DType::uint8}).value();
  EXPECT_TRUE(open_array(store, {.path = "meta/root"}));
  EXPECT_EQ(open_array(store, {.path = "a"}).error().code(), ErrorCode::not_found);
}

}  // namespace entry_point_test
}  // namespace sherd
