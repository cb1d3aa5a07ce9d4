// A file is written, and each system call of the writer fails in turn, or is the last one before the writer is killed.
// Its name refers to the old file or the new one; the next writer succeeds and removes leftovers.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "base/buffer.hpp"
#include "io/files.hpp"
#include "tests/faults/faults.hpp"

namespace faults {
namespace output_file_test {

const std::string kOld(5000, 'o'), kNew(3000, 'n');

void write(const std::string& folder) {
  auto file = sherd::OutputFile::create(folder + "/f", {}).value();
  file->append(sherd::as_bytes(kNew).first(1000)).value();
  file->append(sherd::as_bytes(kNew).subspan(1000)).value();
  file->commit().value();
}

std::string content(const std::string& folder) {
  std::ifstream file(folder + "/f", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class WriterOfAFile : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam()) std::ofstream(faults_.clean() + "/f", std::ios::binary) << kOld;
    before_ = GetParam() ? kOld : "";
    ASSERT_EQ(faults_.run(), std::nullopt);
    ASSERT_EQ(content(faults_.folder()), kNew);
    calls_ = faults_.calls();
  }

  void expect_success_of_the_next() const {
    write(faults_.folder());
    EXPECT_EQ(content(faults_.folder()), kNew);
    EXPECT_EQ(files(faults_.folder()), std::set<std::string>{"f"});
  }

  void expect_old_or_new_after_failures(Fault::Kind kind) {
    for_each_failure(calls_, kind, [&](const Fault& fault, const Call& call) {
      const auto error = faults_.run(fault);
      const std::string seen = content(faults_.folder());
      expect_bytes_are_not_lost_silently(call, error.has_value());
      if (!error) {
        EXPECT_EQ(seen, kNew);
      } else {
        EXPECT_EQ(error->code(), sherd::ErrorCode::io) << error->text();
        EXPECT_TRUE(seen == before_ || seen == kNew);
      }
      expect_success_of_the_next();
    });
  }

  Faults faults_{[](const std::string& folder) { return [folder] { write(folder); }; }};
  std::string before_;
  std::vector<Call> calls_;
};

TEST_P(WriterOfAFile, LeavesTheOldFileOrTheNewOneWhenACallFails) {
  expect_old_or_new_after_failures(Fault::Kind::once);
}

TEST_P(WriterOfAFile, LeavesTheOldFileOrTheNewOneWhenACallFailsFromThenOn) {
  expect_old_or_new_after_failures(Fault::Kind::onward);
}

TEST_P(WriterOfAFile, LeavesTheOldFileOrTheNewOneWhenKilledAtAnyCall) {
  for_each_kill(calls_, [&](const Fault& fault, const Call& /*call*/) {
    (void)faults_.run(fault);
    const std::string seen = content(faults_.folder());
    EXPECT_TRUE(seen == before_ || seen == kNew);
    expect_success_of_the_next();
  });
}

INSTANTIATE_TEST_SUITE_P(All, WriterOfAFile, testing::Bool(),
                         [](const testing::TestParamInfo<bool>& exists) { return exists.param ? "Replacing" : "New"; });

}  // namespace output_file_test
}  // namespace faults
