// Values of a shard of ids are replaced, added or removed, in place or by rewriting the shard, and each system call of
// the writer fails in turn, or is the last one before the writer is killed. Another reader finds every value,
// old or new; the next writer succeeds and removes leftovers.
#include <gtest/gtest.h>

#include "tests/crash/operations.hpp"
#include "tests/faults/faults.hpp"

namespace faults {
namespace ids_test {

using ById = std::map<std::uint64_t, std::string>;

std::function<void()> begin(const std::string& folder, const std::string& operation) {
  return [=, ids = operations::open_ids(folder)] { operations::change_ids(ids, operation, 2); };
}

class WriterOfIds : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    operations::create_ids(faults_.clean());
    before_ = operations::read_ids(faults_.clean());
    ASSERT_EQ(faults_.run(), std::nullopt);
    calls_ = faults_.calls();
    after_ = operations::read_ids(faults_.folder());
    ASSERT_NE(before_, after_);
    ASSERT_GT(before_.size(), 20U);
  }

  void expect_old_or_new(const ById& seen) const {
    std::set<std::uint64_t> ids;
    for (const ById* values : {&before_, &after_, &seen})
      for (const auto& [id, value] : *values) ids.insert(id);
    for (const std::uint64_t id : ids)
      EXPECT_TRUE(value(seen, id) == value(before_, id) || value(seen, id) == value(after_, id)) << id;
  }

  void expect_success_of_the_next() const {
    begin(faults_.folder(), GetParam())();
    EXPECT_EQ(operations::read_ids(faults_.folder()), after_);
    EXPECT_EQ(files(faults_.folder()), files(faults_.clean()));
  }

  void expect_old_or_new_after_failures(Fault::Kind kind);

  Faults faults_{[](const std::string& folder) { return begin(folder, GetParam()); }};
  ById before_, after_;
  std::vector<Call> calls_;

 private:
  static std::string value(const ById& values, std::uint64_t id) {
    const auto found = values.find(id);
    return found == values.end() ? "" : found->second;
  }
};

void WriterOfIds::expect_old_or_new_after_failures(Fault::Kind kind) {
  for_each_failure(calls_, kind, [&](const Fault& fault, const Call& call) {
    // If bytes after the end cannot be cut off again, nothing refers to them.
    if (call.name == "ftruncate") return;
    const auto error = faults_.run(fault);
    const ById seen = operations::read_ids(faults_.folder());
    expect_old_or_new(seen);
    expect_bytes_are_not_lost_silently(call, error.has_value());
    if (!error) {
      EXPECT_EQ(seen, after_);
    } else {
      SCOPED_TRACE(error->text());
      EXPECT_TRUE(error->code() == sherd::ErrorCode::io || error->code() == sherd::ErrorCode::unsupported);
      if (error->text().find("the new version is written") == std::string::npos) {
        EXPECT_EQ(seen, before_);
      }
    }
    const bool is_blind = kind == Fault::Kind::onward && (call.name == "fstat" || call.name == "fstatat");
    if (!is_blind) {
      EXPECT_EQ(files(faults_.folder()), files(faults_.clean()));
    }
    expect_success_of_the_next();
  });
}

TEST_P(WriterOfIds, LeavesEveryValueOldOrNewWhenACallFails) { expect_old_or_new_after_failures(Fault::Kind::once); }

TEST_P(WriterOfIds, LeavesEveryValueOldOrNewWhenACallFailsFromThenOn) {
  expect_old_or_new_after_failures(Fault::Kind::onward);
}

TEST_P(WriterOfIds, LeavesEveryValueOldOrNewWhenKilledAtAnyCall) {
  for_each_kill(calls_, [&](const Fault& fault, const Call& /*call*/) {
    (void)faults_.run(fault);
    expect_old_or_new(operations::read_ids(faults_.folder()));
    expect_success_of_the_next();
  });
}

INSTANTIATE_TEST_SUITE_P(All, WriterOfIds, testing::Values("ids-put", "ids-put-many", "ids-remove", "ids-rewrite"),
                         [](const testing::TestParamInfo<std::string>& operation) {
                           std::string name = operation.param.substr(4);
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace ids_test
}  // namespace faults
