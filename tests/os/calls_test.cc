// What src/os adds to the system calls: complete reads and writes, and listing without allocation.
#include "os/calls.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <fstream>
#include <thread>

#include "base/buffer.hpp"
#include "os/directory.hpp"
#include "os/interrupted.hpp"
#include "tests/child.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd {
namespace calls_test {

class Calls : public testing::Test {
 protected:
  [[nodiscard]] os::Fd open(const std::string& name) const {
    return os::Fd(os::openat(AT_FDCWD, (folder_ / name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC));
  }

  TempDir folder_;
};

TEST(InterruptedCalls, AreMadeAgainUntilTheySucceedOrFailOtherwise) {
  for (const int end : {0, ENOENT}) {
    int made = 0;
    const int result = os::repeat_interrupted([&] {
      errno = ++made < 3 ? EINTR : end;
      return made < 3 || end != 0 ? -1 : 7;
    });
    EXPECT_EQ(result, end == 0 ? 7 : -1);
    EXPECT_EQ(made, 3);
    EXPECT_EQ(errno, end);
  }
}

TEST_F(Calls, ReadFewerBytesOnlyWhereTheFileEnds) {
  const os::Fd file = open("f");
  ASSERT_EQ(os::pwrite_all(file.get(), as_bytes("0123456789"), 2), 0);
  std::array<std::byte, 8> bytes{};
  EXPECT_EQ(os::pread_all(file.get(), bytes, 0), 8);
  EXPECT_EQ(bytes[2], std::byte{'0'});
  EXPECT_EQ(os::pread_all(file.get(), bytes, 7), 5);
  EXPECT_EQ(os::pread_all(file.get(), bytes, 100), 0);
  EXPECT_EQ(os::pread_all(-1, bytes, 0), -1);
  EXPECT_EQ(errno, EBADF);
}

TEST_F(Calls, FailWhereOnlyAPartCouldBeWritten) {
  const os::Fd file = open("f");
  const int status = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 1000, .rlim_max = 1000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const bool failed = os::pwrite_all(file.get(), as_bytes(std::string(1500, 'x')), 0) == -1 && errno == EFBIG;
    ::_exit(failed ? 0 : 1);
  });
  EXPECT_EQ(status, 0);
  struct stat after{};
  ASSERT_EQ(os::fstat(file.get(), after), 0);
  EXPECT_EQ(after.st_size, 1000);
}

void ignore(int /*signal*/) {}

TEST_F(Calls, WriteEverythingIntoAPipeAlthoughSignalsInterrupt) {
  struct sigaction action{};
  action.sa_handler = ignore;  // without SA_RESTART
  ASSERT_EQ(::sigaction(SIGUSR1, &action, nullptr), 0);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const std::string bytes(1 << 20, 'x');
  int written = -1;
  std::thread writer([&] { written = os::write_all(ends[1], as_bytes(bytes)); });
  std::size_t received = 0;
  std::array<char, 10000> part;
  while (received < bytes.size()) {
    ::pthread_kill(writer.native_handle(), SIGUSR1);
    const ssize_t count = ::read(ends[0], part.data(), part.size());
    if (count > 0) received += static_cast<std::size_t>(count);
  }
  writer.join();
  EXPECT_EQ(written, 0);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(Calls, ListADirectoryThatDoesNotFitOneBuffer) {
  std::vector<std::string> names, found;
  for (int i = 0; i < 2000; ++i) names.push_back(std::to_string(i) + std::string(20, 'n'));
  for (const auto& name : names) std::ofstream(folder_ / name);
  os::Directory entries(AT_FDCWD, folder_.path().c_str());
  while (const dirent64* entry = entries.next()) found.emplace_back(entry->d_name);
  EXPECT_EQ(entries.error(), 0);
  std::ranges::sort(names);
  std::ranges::sort(found);
  EXPECT_EQ(found, names);
}

TEST_F(Calls, ListNothingInADirectoryThatIsRemovedMeanwhile) {
  const std::string path = folder_ / "d";
  std::filesystem::create_directory(path);
  os::Directory entries(AT_FDCWD, path.c_str());
  std::filesystem::remove(path);
  EXPECT_EQ(entries.next(), nullptr);
  EXPECT_EQ(entries.error(), 0);
}

TEST_F(Calls, SayWhyADirectoryCannotBeListed) {
  os::Directory missing(AT_FDCWD, (folder_ / "missing").c_str());
  EXPECT_EQ(missing.next(), nullptr);
  EXPECT_EQ(missing.error(), ENOENT);
}

TEST_F(Calls, RenameOverAnotherFileOnlyWhereThatIsAllowed) {
  (void)open("a");
  (void)open("b");
  const std::string a = folder_ / "a", b = folder_ / "b";
  EXPECT_EQ(os::renameat(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_NOREPLACE), -1);
  EXPECT_EQ(errno, EEXIST);
  EXPECT_EQ(os::renameat(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str()), 0);
  EXPECT_FALSE(os::exists(a.c_str()));
}

}  // namespace calls_test
}  // namespace sherd
