// Copies that run out of file descriptors, at any point: what they leave is completed by the next run, and
// nothing of it stays.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>

#include "sherd/sherd.hpp"
#include "sherd/tools.hpp"
#include "tests/copy/copy_testing.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd {
namespace descriptors_test {

using namespace copy_testing;
namespace fs = std::filesystem;

std::vector<std::string> scratch_below(const std::string& directory) {
  std::vector<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(directory))
    if (entry.path().filename().string().find(".sherd-") != std::string::npos) found.push_back(entry.path());
  return found;
}

CopyOptions options_of(bool overwrite, bool resume) {
  CopyOptions options{.codecs = std::vector<Json>{Json("zstd:1")}, .resume = resume, .overwrite = overwrite};
  options.config.threads = 1;
  options.config.durable = false;
  return options;
}

/// Copies in a process of its own that can open only this many files; returns whether it succeeded.
bool copy_with_descriptors(rlim_t descriptors, const std::string& from, const std::string& to, bool overwrite) {
  const int status = in_child([&] {
    const rlimit few{descriptors, descriptors};
    ::setrlimit(RLIMIT_NOFILE, &few);
    ::_exit(sherd::copy(from, to, options_of(overwrite, false)) ? 0 : 1);
  });
  return WIFEXITED(status);
}

class CopyWithFewDescriptors : public testing::TestWithParam<bool> {
 protected:
  const TempDir folder_;
  const std::string from_ = folder_ / "from", to_ = folder_ / "to";
};
INSTANTIATE_TEST_SUITE_P(To, CopyWithFewDescriptors, testing::Bool(),
                         [](const auto& each) { return each.param ? "AnotherArray" : "Nothing"; });

TEST_P(CopyWithFewDescriptors, LeavesNothingAfterTheNextRun) {
  const Array source = filled(file_store(from_).value(), "", {.chunks = {6, 4}, .shards = {12, 8}});
  for (rlim_t descriptors = 4; descriptors < 24; ++descriptors) {
    SCOPED_TRACE(descriptors);
    fs::remove_all(to_);
    if (GetParam()) create_array(to_, {.shape = {8}, .dtype = DType::uint8, .chunks = {4}}).value();
    ASSERT_TRUE(copy_with_descriptors(descriptors, from_, to_, GetParam()));
    const auto resumed = sherd::copy(from_, to_, options_of(GetParam(), true));
    ASSERT_TRUE(resumed) << resumed.error().text();
    EXPECT_EQ(elements(open_array(to_).value()), elements(source));
    EXPECT_EQ(scratch_below(to_), std::vector<std::string>());
  }
}

/// A copy whose source has other elements by now.
class CopyAgain : public testing::Test {
 protected:
  void SetUp() override {
    const Array source = filled(file_store(from_).value(), "", {.chunks = {6, 4}, .shards = {12, 8}});
    sherd::copy(from_, to_, options_of(false, false)).value();
    source.write(Box{{0, 0}, kShape}, std::span(newer_)).value();
  }

  const TempDir folder_;
  const std::string from_ = folder_ / "from", to_ = folder_ / "to";
  const std::vector<std::uint16_t> newer_ = std::vector<std::uint16_t>(*element_count(kShape), 3);
};

TEST_F(CopyAgain, OverAnOlderCopyStoresTheNewElementsAlsoWithResume) {
  sherd::copy(from_, to_, options_of(true, true)).value();
  EXPECT_EQ(elements(open_array(to_).value()), newer_);
}

// The documents of the old and the new copy are equal, so only leftovers of the previous run show which one exists.
TEST_F(CopyAgain, OverAnOlderCopyResumesWhereItStopped) {
  CopyOptions interrupted = options_of(true, false);
  interrupted.config.interrupted = [&] { return fs::exists(to_ + "/.sherd-new-00000000/node/c"); };
  ASSERT_FALSE(sherd::copy(from_, to_, interrupted));
  ASSERT_NE(scratch_below(to_), std::vector<std::string>());
  sherd::copy(from_, to_, options_of(true, true)).value();
  EXPECT_EQ(elements(open_array(to_).value()), newer_);
  EXPECT_EQ(scratch_below(to_), std::vector<std::string>());
}

}  // namespace descriptors_test
}  // namespace sherd
