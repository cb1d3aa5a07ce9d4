// A node is overwritten by another one, and each system call fails in turn, or is the last before the process is
// killed. Readers find the old node or the new one, whole, also if the node is the root of its store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/crash/operations.hpp"
#include "tests/faults/faults.hpp"

namespace faults {
namespace {

using operations::Values;

constexpr std::uint16_t kOld = 7, kNew = 8;

void overwrite(const std::string& folder, const std::string& path, std::uint16_t value) {
  const auto store = sherd::file_store(folder, operations::config_of(1)).value();
  sherd::CreateOptions options{.shape = {8, 8}, .dtype = sherd::DType::uint16, .chunks = {8, 8}, .overwrite = true};
  options.config = operations::config_of(1);
  options.contents = [value](const sherd::Array& array) {
    return array.fill(sherd::Box{{0, 0}, {8, 8}}, std::as_bytes(std::span(&value, 1)));
  };
  sherd::create_array(store, path, options).value();
}

class OverwrittenNode : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    overwrite(faults_.clean(), GetParam(), kOld);
    ASSERT_EQ(faults_.run(), std::nullopt);
    EXPECT_EQ(found(), kNew);
    files_after_ = files(faults_.folder());
    calls_ = faults_.calls();
  }

  /// The value of all elements.
  [[nodiscard]] std::uint16_t found() const {
    const auto array =
        sherd::open_array(faults_.folder(), {.path = GetParam(), .config = operations::config_of(1)}).value();
    Values values(64);
    array.read(sherd::Box{{0, 0}, {8, 8}}, std::span(values)).value();
    EXPECT_THAT(values, testing::Each(values.front()));
    return values.front();
  }

  void expect_tidy_after_the_next() const {
    overwrite(faults_.folder(), GetParam(), kNew);
    EXPECT_EQ(found(), kNew);
    EXPECT_EQ(files(faults_.folder()), files_after_);
    EXPECT_FALSE(fs::exists(fs::path(faults_.folder()).parent_path() / ".sherd-new-store-root"));
  }

  Faults faults_{[](const std::string& folder) { return [=] { overwrite(folder, GetParam(), kNew); }; }};
  std::set<std::string> files_after_;
  std::vector<Call> calls_;
};

TEST_P(OverwrittenNode, IsOldOrNewWhenKilledAtAnyCall) {
  int old = 0;
  for_each_kill(calls_, [&](const Fault& fault, const Call&) {
    (void)faults_.run(fault);
    const std::uint16_t value = found();
    EXPECT_TRUE(value == kOld || value == kNew);
    old += value == kOld;
    expect_tidy_after_the_next();
  });
  EXPECT_GT(old, 0);
}

TEST_P(OverwrittenNode, IsOldOrNewWhenACallFails) {
  for_each_failure(calls_, Fault::Kind::once, [&](const Fault& fault, const Call&) {
    const auto error = faults_.run(fault);
    const std::uint16_t value = found();
    EXPECT_TRUE(value == kNew || (error && value == kOld));
    if (error) expect_tidy_after_the_next();
  });
}

TEST_P(OverwrittenNode, IsReplacedAlsoWhereDirectoriesCannotBeExchanged) {
  ASSERT_THAT(calls_, testing::Contains(testing::Field(&Call::name, "exchange")));
  EXPECT_EQ(faults_.run({.kind = Fault::Kind::named, .code = EINVAL, .name = "exchange"}), std::nullopt);
  EXPECT_EQ(found(), kNew);
  EXPECT_EQ(files(faults_.folder()), files_after_);
  expect_tidy_after_the_next();
}

TEST_P(OverwrittenNode, KeepsThePermissionsOfItsDirectory) {
  const fs::path directory = fs::path(faults_.folder()) / GetParam();
  const auto mode = fs::perms{0750};
  fs::permissions(directory, mode);
  overwrite(faults_.folder(), GetParam(), kNew);
  EXPECT_EQ(fs::status(directory).permissions(), mode);
}

INSTANTIATE_TEST_SUITE_P(All, OverwrittenNode, testing::Values("", "a", "g/a"),
                         [](const testing::TestParamInfo<std::string>& path) {
                           return path.param.empty() ? "root" : path.param == "a" ? "member" : "member_of_a_group";
                         });

}  // namespace
}  // namespace faults
