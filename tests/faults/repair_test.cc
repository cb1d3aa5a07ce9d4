// Each system call of a repair or compaction fails in turn, or is the last one before the process is killed or the
// power is cut: an object is the old or the new version, a backup is whole, and the next repair ends what was begun.
#include <gtest/gtest.h>

#include <numeric>

#include "base/buffer.hpp"
#include "sherd/sherd.hpp"
#include "sherd/tools.hpp"
#include "tests/faults/faults.hpp"

namespace faults {
namespace repair_test {

constexpr const char* kShard = "c/0/0";

std::string bytes_of(const std::string& folder, const std::string& key) {
  return sherd::file_store(folder).value()->get(key).value().value_or("");
}

void put(const std::string& folder, const std::string& key, const std::string& bytes) {
  sherd::file_store(folder).value()->set(key, bytes).value();
}

/// An array in one shard of 8 x 8 uint16, stored raw: four chunks of 32 bytes, and an index of 68.
void create(const std::string& folder) {
  const sherd::CreateOptions options{.shape = {8, 8},
                                     .dtype = sherd::DType::uint16,
                                     .chunks = {4, 4},
                                     .shards = {8, 8},
                                     .codecs = std::vector<sherd::Json>{"bytes", "crc32c"}};
  const sherd::Array array = sherd::create_array(folder, options).value();
  std::vector<std::uint16_t> values(64);
  std::iota(values.begin(), values.end(), std::uint16_t{1});
  array.write(sherd::Box{{0, 0}, {8, 8}}, std::span<const std::uint16_t>(values)).value();
}

/// Throws if faults remain.
void repair(const std::string& folder, const sherd::RepairOptions& how) {
  const sherd::CheckReport report = sherd::check(folder, {.repair = how}).value();
  if (!report.ok()) sherd::Result<void>(sherd::io_error(report.faults.back().message)).value();
}

struct Case {
  std::string name;
  std::function<std::string(const std::string& whole)> damage;
  std::function<void(const std::string& folder)> fix;
};

const Case kCases[] = {
    {"TornTail", [](const std::string& whole) { return whole + whole.substr(0, 100); },
     [](const std::string& folder) { repair(folder, {}); }},
    {"TornTailWithoutBackup", [](const std::string& whole) { return whole + "torn"; },
     [](const std::string& folder) { repair(folder, {.backup = false}); }},
    {"DeadBytes",
     [](const std::string& whole) {
       return whole.substr(0, whole.size() - 68) + std::string(500, '\0') + whole.substr(whole.size() - 68);
     },
     [](const std::string& folder) { sherd::compact(folder).value(); }},
};

class RepairedShard : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    create(faults_.clean());
    whole_ = bytes_of(faults_.clean(), kShard);
    damaged_ = GetParam().damage(whole_);
    put(faults_.clean(), kShard, damaged_);
    ASSERT_EQ(faults_.run(), std::nullopt);
    calls_ = faults_.calls();
    ASSERT_EQ(bytes_of(faults_.folder(), kShard), whole_);
  }

  void expect_old_or_new_and_then_new() const {
    const std::string now = bytes_of(faults_.folder(), kShard);
    EXPECT_TRUE(now == damaged_ || now == whole_) << now.size();
    for (const std::string& name : files(faults_.folder()))
      if (name.find("sherd-backup") != name.npos && !name.ends_with("-lock")) {
        EXPECT_EQ(bytes_of(faults_.folder(), name), damaged_) << name;
      }
    GetParam().fix(faults_.folder());
    EXPECT_EQ(bytes_of(faults_.folder(), kShard), whole_);
    repair(faults_.folder(), {});
    for (const std::string& name : files(faults_.folder())) EXPECT_FALSE(name.ends_with(".sherd-lock")) << name;
  }

  void expect_after_failures(Fault::Kind kind) {
    for_each_failure(calls_, kind, [&](const Fault& fault, const Call& call) {
      const auto error = faults_.run(fault);
      expect_bytes_are_not_lost_silently(call, error.has_value());
      expect_old_or_new_and_then_new();
    });
  }

  Faults faults_{[](const std::string& folder) { return [folder] { GetParam().fix(folder); }; }};
  std::string whole_, damaged_;
  std::vector<Call> calls_;
};

TEST_P(RepairedShard, IsOldOrNewWhenACallFails) { expect_after_failures(Fault::Kind::once); }

TEST_P(RepairedShard, IsOldOrNewWhenACallFailsFromThenOn) { expect_after_failures(Fault::Kind::onward); }

TEST_P(RepairedShard, IsOldOrNewWhenKilledAtAnyCall) {
  for_each_kill(calls_, [&](const Fault& fault, const Call&) {
    (void)faults_.run(fault);
    expect_old_or_new_and_then_new();
  });
}

TEST_P(RepairedShard, IsOldOrNewAfterAPowerCut) {
  const Recording recording = faults_.record();
  std::set<std::uint64_t> seen;
  cut_power(recording, [&](const Tree& tree, std::size_t at) {
    if (HasFailure() || !seen.insert(tree.hash()).second) return;
    tree.store(faults_.folder());
    if (at == recording.effects.size()) {
      EXPECT_EQ(bytes_of(faults_.folder(), kShard), whole_);
    }
    expect_old_or_new_and_then_new();
  });
  EXPECT_GT(seen.size(), 2U);
}

INSTANTIATE_TEST_SUITE_P(All, RepairedShard, testing::ValuesIn(kCases),
                         [](const auto& each) { return each.param.name; });

}  // namespace repair_test
}  // namespace faults
