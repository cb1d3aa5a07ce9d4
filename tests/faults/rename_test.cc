// An array is renamed, and each system call fails in turn, or is the last before the process is killed. Readers find
// the array, whole, at the old path or at the new one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/crash/operations.hpp"
#include "tests/faults/faults.hpp"
#include "tests/faults/power_cuts.hpp"

namespace faults {
namespace rename_test {

using operations::Values;

class RenamedArray : public testing::Test {
 protected:
  void SetUp() override {
    const std::string& folder = faults_.clean();
    sherd::create_group(folder).value();
    for (const char* name : {"/a", "/other"}) {
      sherd::CreateOptions options{.shape = {8, 8}, .dtype = sherd::DType::uint16, .chunks = {4, 4}};
      auto array = sherd::create_array(folder + name, options).value();
      array.fill(sherd::Box{{0, 0}, {8, 8}}, as_element(7)).value();
    }
    sherd::open_group(folder, {.writable = true}).value().consolidate().value();
    ASSERT_EQ(faults_.run(), std::nullopt);
    EXPECT_EQ(where(), "new/b");
    calls_ = faults_.calls();
  }

  static std::vector<std::byte> as_element(std::uint16_t value) {
    std::vector<std::byte> bytes(2);
    bytes[0] = static_cast<std::byte>(value);
    return bytes;
  }

  /// The paths at which the complete array is found.
  [[nodiscard]] std::string where() const {
    std::string paths;
    for (const std::string path : {"a", "new/b"}) {
      const auto array = sherd::open_array(faults_.folder(), {.path = path, .config = operations::config_of(1)});
      if (!array) {
        EXPECT_EQ(array.error().code(), sherd::ErrorCode::not_found) << array.error().text();
        continue;
      }
      Values values(64);
      array->read(sherd::Box{{0, 0}, {8, 8}}, std::span(values)).value();
      EXPECT_THAT(values, testing::Each(7)) << path;
      paths += path;
    }
    return paths;
  }

  void expect_promises(bool is_acknowledged) const {
    const std::string found = where();
    EXPECT_TRUE(found == "new/b" || (!is_acknowledged && found == "a")) << found;
    if (found != "a") return;
    sherd::rename(faults_.folder() + "/a", "new/b", {.config = operations::config_of(1)}).value();
    EXPECT_EQ(where(), "new/b");
  }

  Faults faults_{[](const std::string& folder) {
    return [=] { sherd::rename(folder + "/a", "new/b", {.config = operations::config_of(1)}).value(); };
  }};
  std::vector<Call> calls_;
};

TEST_F(RenamedArray, IsAtOneOfTheTwoPathsWhenKilledAtAnyCall) {
  for_each_kill(calls_, [&](const Fault& fault, const Call&) {
    (void)faults_.run(fault);
    EXPECT_THAT(where(), testing::AnyOf("a", "new/b"));
  });
}

TEST_F(RenamedArray, IsAtOneOfTheTwoPathsWhenACallFails) {
  for_each_failure(calls_, Fault::Kind::once, [&](const Fault& fault, const Call&) {
    const auto error = faults_.run(fault);
    EXPECT_THAT(where(), error ? testing::AnyOf("a", "new/b") : testing::AnyOf("new/b", "new/b"));
    if (!error) return;
    // What was not moved can be moved again, and is listed like what was.
    const auto again = sherd::rename(faults_.folder() + "/a", "new/b", {.config = operations::config_of(1)});
    EXPECT_TRUE(again || again.error().code() == sherd::ErrorCode::not_found) << again.error().text();
    EXPECT_EQ(where(), "new/b");
  });
}

TEST_F(RenamedArray, IsAtOneOfTheTwoPathsAfterAPowerCut) {
  expect_after_power_cuts(faults_, [&](bool is_acknowledged) { expect_promises(is_acknowledged); });
}

TEST_F(RenamedArray, BreaksItsPromisesWithoutSyncs) {
  expect_syncs_to_matter(faults_, [&](bool is_acknowledged) { expect_promises(is_acknowledged); });
}

TEST_F(RenamedArray, IsRefusedOnAnotherFileSystem) {
  int refused = 0;
  for (std::size_t at = 0; at < calls_.size(); ++at) {
    if (calls_[at].name != "renameat") continue;
    const auto error = faults_.run({.kind = Fault::Kind::once, .at = at, .code = EXDEV});
    if (!error || error->code() != sherd::ErrorCode::unsupported) continue;
    ++refused;
    EXPECT_THAT(error->text(), testing::HasSubstr("cannot rename a node; copy it ('sherd copy')"));
    EXPECT_EQ(where(), "a");
  }
  EXPECT_EQ(refused, 1);
}

TEST(RenamedLink, LeavesTheEmptyDirectoryAtTheNewPathWhenACallFails) {
  Faults faults([](const std::string& folder) {
    return [=] { sherd::rename(folder + "/a", "b", {.config = operations::config_of(1)}).value(); };
  });
  sherd::create_group(faults.clean()).value();
  sherd::create_array(faults.clean() + "/disk", {.shape = {8}, .dtype = sherd::DType::uint16}).value();
  fs::create_directory_symlink("disk", faults.clean() + "/a");
  fs::create_directory(faults.clean() + "/b");
  const auto is_link = [&](const char* path) { return fs::is_symlink(faults.folder() + path); };
  ASSERT_EQ(faults.run(), std::nullopt);
  EXPECT_TRUE(is_link("/b") && !fs::exists(faults.folder() + "/a"));
  const auto calls = faults.calls();
  for_each_failure(calls, Fault::Kind::once, [&](const Fault& fault, const Call&) {
    const auto error = faults.run(fault);
    EXPECT_NE(is_link("/a"), is_link("/b"));
    EXPECT_TRUE(error || is_link("/b"));
    EXPECT_TRUE(fs::is_directory(faults.folder() + "/b"));
  });
}

}  // namespace rename_test
}  // namespace faults
