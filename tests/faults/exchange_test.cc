// A node is overwritten by another one, and each system call fails in turn, or is the last before the process is
// killed. Readers find the old node or the new one, whole, also if the node is the root of its store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/crash/operations.hpp"
#include "tests/faults/faults.hpp"
#include "tests/faults/power_cuts.hpp"

namespace faults {
namespace exchange_test {

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

  void expect_promises(bool is_acknowledged) const {
    const std::uint16_t value = found();
    EXPECT_TRUE(value == kNew || (!is_acknowledged && value == kOld)) << value;
    expect_tidy_after_the_next();
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
  const auto exchange = std::ranges::find(calls_, "exchange", &Call::name);
  ASSERT_NE(exchange, calls_.end());
  int kept = 0;
  for_each_failure(calls_, Fault::Kind::once, [&](const Fault& fault, const Call&) {
    const auto error = faults_.run(fault);
    const std::uint16_t value = found();
    EXPECT_TRUE(value == kNew || (error && value == kOld));
    if (error && fault.at > static_cast<std::size_t>(exchange - calls_.begin())) {
      EXPECT_THAT(error->text(), testing::Not(testing::HasSubstr("the rest of it is below")));
      kept += error->text().find("the new node is in place; what it replaced is below") != std::string::npos;
    }
    if (error) expect_tidy_after_the_next();
  });
  EXPECT_GT(kept, 0);
}

TEST_P(OverwrittenNode, IsOldOrNewAfterAPowerCut) {
  faults_.record_around();
  expect_after_power_cuts(faults_, [&](bool is_acknowledged) { expect_promises(is_acknowledged); });
}

TEST_P(OverwrittenNode, BreaksItsPromisesWithoutSyncs) {
  faults_.record_around();
  expect_syncs_to_matter(faults_, [&](bool is_acknowledged) { expect_promises(is_acknowledged); });
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

TEST_P(OverwrittenNode, KeepsTheGroupOfItsDirectory) {
  const fs::path directory = fs::path(faults_.folder()) / GetParam();
  std::vector<gid_t> groups(static_cast<std::size_t>(::getgroups(0, nullptr)));
  ASSERT_GE(::getgroups(static_cast<int>(groups.size()), groups.data()), 0);
  if (::geteuid() == 0) groups = {12345};  // any other user can only choose among his groups
  for (const gid_t group : groups) {
    ASSERT_EQ(::chown(directory.c_str(), static_cast<uid_t>(-1), group), 0);
    overwrite(faults_.folder(), GetParam(), kNew);
    struct stat status{};
    ASSERT_EQ(::stat(directory.c_str(), &status), 0);
    EXPECT_EQ(status.st_gid, group);
    const Simulation simulation({.kind = Fault::Kind::named, .code = EPERM, .name = "chgrpat"});
    ASSERT_EQ(::chown(directory.c_str(), static_cast<uid_t>(-1), group), 0);
    overwrite(faults_.folder(), GetParam(), kNew);
    EXPECT_EQ(found(), kNew);
  }
}

INSTANTIATE_TEST_SUITE_P(All, OverwrittenNode, testing::Values("", "a", "g/a"),
                         [](const testing::TestParamInfo<std::string>& path) {
                           return path.param.empty() ? "root" : path.param == "a" ? "member" : "member_of_a_group";
                         });

/// A member of a group with consolidated metadata is overwritten by a copy.
class OverwrittenByACopy : public testing::Test {
 protected:
  void SetUp() override {
    overwrite(other_, "x", kNew);
    const auto attributes = sherd::Json::parse(R"({"new": true})").value();
    sherd::open_array(other_ + "/x", {.writable = true}).value().update_attributes(attributes).value();
    overwrite(faults_.clean(), "g/a", kOld);
    sherd::open_group(faults_.clean() + "/g", {.writable = true}).value().consolidate().value();
    ASSERT_EQ(faults_.run(), std::nullopt);
    expect_new();
    calls_ = faults_.calls();
  }

  void copy(const std::string& folder) const {
    const sherd::CopyOptions options{.resume = true, .overwrite = true, .config = operations::config_of(1)};
    sherd::copy(other_ + "/x", folder + "/g/a", options).value();
  }

  /// In the list of its group, too.
  void expect_new() const {
    EXPECT_TRUE(is_listed());
    const auto array = sherd::open_array(faults_.folder() + "/g/a", {.config = operations::config_of(1)}).value();
    Values values(64);
    array.read(sherd::Box{{0, 0}, {8, 8}}, std::span(values)).value();
    EXPECT_THAT(values, testing::Each(kNew));
  }

  [[nodiscard]] bool is_listed() const {
    const auto group = sherd::open_group(faults_.folder() + "/g").value().metadata();
    return group.find("consolidated_metadata")->find("metadata")->find("a") != nullptr;
  }

  TempDir folder_;
  const std::string other_ = folder_ / "other";
  Faults faults_{[this](const std::string& folder) { return [=, this] { copy(folder); }; }};
  std::vector<Call> calls_;
};

TEST_F(OverwrittenByACopy, IsListedAfterTheNextCopyWhenKilledAtAnyCall) {
  int unlisted = 0;
  for_each_kill(calls_, [&](const Fault& fault, const Call&) {
    (void)faults_.run(fault);
    const auto left = files(faults_.folder());
    const auto whole = std::ranges::count_if(left, [](const std::string& name) { return name.ends_with("/c/0/0"); });
    EXPECT_TRUE(is_listed() || whole == 2) << "it is not listed while the old one is erased";
    unlisted += is_listed() ? 0 : 1;
    copy(faults_.folder());
    expect_new();
  });
  EXPECT_GT(unlisted, 0);
}

}  // namespace exchange_test
}  // namespace faults
