// An array is renamed, and each system call fails in turn, or is the last before the process is killed. Readers find
// the array, whole, at the old path or at the new one; if it cannot be renamed at once, they may find it at neither
// until it is renamed again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/crash/operations.hpp"
#include "tests/faults/faults.hpp"

namespace faults {
namespace {

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
    prepare(folder);
    ASSERT_EQ(faults_.run(), std::nullopt);
    EXPECT_EQ(where(), "new/b");
    calls_ = faults_.calls();
  }

  virtual void prepare(const std::string&) {}

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
        not_found_ += array.error().text() + "\n";
        hints_ += array.error().text().find("rename it again") != std::string::npos;
        continue;
      }
      Values values(64);
      array->read(sherd::Box{{0, 0}, {8, 8}}, std::span(values)).value();
      EXPECT_THAT(values, testing::Each(7)) << path;
      paths += path;
    }
    return paths;
  }

  Faults faults_{[](const std::string& folder) {
    return [=] { sherd::rename(folder + "/a", "new/b", {.config = operations::config_of(1)}).value(); };
  }};
  std::vector<Call> calls_;
  mutable int hints_ = 0;
  mutable std::string not_found_;
};

/// Through a link that leads to another place from the new path.
class LinkedArray : public RenamedArray {
 protected:
  void prepare(const std::string& folder) override {
    fs::create_directory(folder + "/.disk");
    fs::rename(folder + "/a", folder + "/.disk/a");
    fs::create_directory_symlink(".disk/a", folder + "/a");
  }

  void expect_complete_after_another_rename() {
    hints_ = 0;
    not_found_.clear();
    const std::string paths = where();
    EXPECT_THAT(paths, testing::AnyOf("a", "new/b", ""));
    if (paths.empty()) {
      EXPECT_EQ(hints_, 2) << not_found_;
      ++cut_short_;
    }
    const auto again = sherd::rename(faults_.folder() + "/a", "new/b", {.config = operations::config_of(1)});
    EXPECT_TRUE(again || again.error().code() == sherd::ErrorCode::not_found) << again.error().text();
    EXPECT_EQ(where(), "new/b");
    for (const std::string& file : files(faults_.folder()))
      EXPECT_THAT(file, testing::Not(testing::EndsWith("/rename.json")));
  }

  int cut_short_ = 0;
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

TEST_F(LinkedArray, IsWholeAfterAnotherRenameWhenKilledAtAnyCall) {
  for_each_kill(calls_, [&](const Fault& fault, const Call&) {
    (void)faults_.run(fault);
    expect_complete_after_another_rename();
  });
  EXPECT_GT(cut_short_, 0);
}

TEST_F(LinkedArray, IsAtOneOfTheTwoPathsWhenACallFails) {
  for_each_failure(calls_, Fault::Kind::once, [&](const Fault& fault, const Call&) {
    const auto error = faults_.run(fault);
    if (!error) {
      EXPECT_EQ(where(), "new/b");
    } else if (error->text().find("rename it again") == std::string::npos) {
      EXPECT_THAT(where(), testing::AnyOf("a", "new/b"));
    }
    expect_complete_after_another_rename();
  });
}

}  // namespace
}  // namespace faults
