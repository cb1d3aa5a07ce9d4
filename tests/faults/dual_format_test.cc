// Shards of a dual-format array are changed through one of its formats, and each system call of the writer fails in
// turn, or is the last one before the writer is killed. Readers of either format find each shard in its old or its new
// version; the next writer makes the two names of each shard one file again.
#include <gtest/gtest.h>

#include "tests/crash/operations.hpp"
#include "tests/faults/faults.hpp"
#include "tests/faults/power_cuts.hpp"

namespace faults {
namespace dual_format_test {

using operations::Values;

constexpr std::uint16_t kValue = 9000;
constexpr std::size_t kSide = 16, kShard = 8;  // shards of 8 x 8 x 16 elements

std::function<void()> begin(const std::string& folder, const std::string& operation) {
  return [=, array = operations::open_dual(folder, operation)] { operations::change_dual(array, operation, kValue); };
}

class WriterOfADualFormatArray : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    operations::create_dual(faults_.clean());
    before_ = operations::read_dual(faults_.clean(), "zarr3");
    ASSERT_EQ(faults_.run(), std::nullopt);
    calls_ = faults_.calls();
    after_ = operations::read_dual(faults_.folder(), "zarr3");
    files_after_ = files(faults_.folder());
    ASSERT_NE(before_, after_);
  }

  void expect_old_or_new() const {
    for (const char* format : {"zarr3", "precomputed"}) {
      const Values seen = operations::read_dual(faults_.folder(), format);
      for (std::size_t top = 0; top < kSide; top += kShard)
        for (std::size_t left = 0; left < kSide; left += kShard)
          EXPECT_TRUE(is_same(seen, before_, top, left) || is_same(seen, after_, top, left)) << format;
    }
  }

  /// Both versions of a shard are whole. A shard that was being erased may have one name.
  void expect_no_error() const {
    const sherd::CheckReport report = sherd::check(faults_.folder()).value();
    for (const sherd::Fault& fault : report.faults)
      EXPECT_TRUE(fault.severity == sherd::Fault::Severity::warning || fault.code == "counterpart_missing")
          << fault.message;
  }

  void expect_one_file_after_the_next() const {
    begin(faults_.folder(), GetParam())();
    for (const char* format : {"zarr3", "precomputed"})
      EXPECT_EQ(operations::read_dual(faults_.folder(), format), after_);
    EXPECT_EQ(files(faults_.folder()), files_after_);
    for (const std::string& name : files_after_) {
      const fs::path path = fs::path(faults_.folder()) / name;
      if (path.filename() == "zarr.json" || path.filename() == "info") continue;
      EXPECT_EQ(fs::hard_link_count(path), 2U) << name;
    }
  }

  void expect_promises(bool is_acknowledged) const {
    expect_old_or_new();
    expect_no_error();
    for (const char* format : {"zarr3", "precomputed"})
      EXPECT_TRUE(!is_acknowledged || operations::read_dual(faults_.folder(), format) == after_) << format;
    expect_one_file_after_the_next();
  }

  void expect_old_or_new_after_failures(Fault::Kind kind) {
    for_each_failure(calls_, kind, [&](const Fault& fault, const Call& call) {
      const auto error = faults_.run(fault);
      expect_old_or_new();
      expect_bytes_are_not_lost_silently(call, error.has_value());
      if (error) {
        SCOPED_TRACE(error->text());
        EXPECT_TRUE(error->code() == sherd::ErrorCode::io || error->code() == sherd::ErrorCode::unsupported);
      }
      expect_one_file_after_the_next();
    });
  }

  Faults faults_{[](const std::string& folder) { return begin(folder, GetParam()); }};
  Values before_, after_;
  std::set<std::string> files_after_;
  std::vector<Call> calls_;

 private:
  static bool is_same(const Values& a, const Values& b, std::size_t top, std::size_t left) {
    for (std::size_t z = top; z < top + kShard; ++z) {
      const std::size_t first = (z * kSide + left) * kSide, last = first + kShard * kSide;
      if (!std::equal(&a[first], &a[first] + (last - first), &b[first])) return false;
    }
    return true;
  }
};

TEST_P(WriterOfADualFormatArray, LeavesOldOrNewUnderEachNameWhenACallFails) {
  expect_old_or_new_after_failures(Fault::Kind::once);
}

TEST_P(WriterOfADualFormatArray, LeavesOldOrNewWhenACallFailsFromThenOn) {
  expect_old_or_new_after_failures(Fault::Kind::onward);
}

TEST_P(WriterOfADualFormatArray, LeavesOldOrNewWhenKilledAtAnyCall) {
  for_each_kill(calls_, [&](const Fault& fault, const Call& /*call*/) {
    (void)faults_.run(fault);
    expect_old_or_new();
    expect_no_error();
    expect_one_file_after_the_next();
  });
}

TEST_P(WriterOfADualFormatArray, LeavesOldOrNewAfterAPowerCut) {
  expect_after_power_cuts(faults_, [&](bool is_acknowledged) { expect_promises(is_acknowledged); });
}

/// Of one shard: the states of several are many.
class WriterOfADualFormatShard : public WriterOfADualFormatArray {};

TEST_P(WriterOfADualFormatShard, BreaksItsPromisesWithoutSyncs) {
  expect_syncs_to_matter(faults_, [&](bool is_acknowledged) { expect_promises(is_acknowledged); });
}

INSTANTIATE_TEST_SUITE_P(All, WriterOfADualFormatArray,
                         testing::Values("dual-format-part", "dual-format-volume", "dual-format-shard",
                                         "dual-format-erase"),
                         [](const testing::TestParamInfo<std::string>& operation) {
                           return operation.param.substr(sizeof "dual-format-" - 1);
                         });
INSTANTIATE_TEST_SUITE_P(All, WriterOfADualFormatShard, testing::Values("dual-format-shard"));

}  // namespace dual_format_test
}  // namespace faults
