// OutputFile: a file appears whole under its name, and is as private as the one that it replaces.
#include <sys/stat.h>

#include "tests/io/files_testing.hpp"

namespace sherd {
namespace output_file_test {

using namespace files_testing;
using testing::ElementsAre;

void write(const std::string& path, std::string_view text, WriteMode mode) {
  const auto file = OutputFile::create(path, mode).value();
  file->append(as_bytes(text)).value();
  file->commit().value();
}

mode_t access_of(const std::string& path) {
  struct stat status{};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status.st_mode & 07777;
}

TEST(OutputFile, KeepsTheModeOfTheFileThatItReplaces) {
  const Folder folder;
  const mode_t umask = ::umask(022);
  for (const mode_t mode : {0600, 0640, 0666}) {
    save(folder / "f", "old");
    ASSERT_EQ(::chmod((folder / "f").c_str(), mode), 0);
    const auto file = OutputFile::create(folder / "f", {}).value();
    for (const std::string& name : folder.names()) EXPECT_EQ(access_of(folder / name), mode) << name;
    file->append(as_bytes("new")).value();
    file->commit().value();
    EXPECT_EQ(load(folder / "f"), "new");
    EXPECT_EQ(access_of(folder / "f"), mode);
  }
  write(folder / "g", "first", {});
  EXPECT_EQ(access_of(folder / "g"), 0644U);
  ::umask(umask);
}

TEST(OutputFile, WithoutOverwriteKeepsAFileCreatedInTheMeantime) {
  const Folder folder;
  for (const bool durable : {true, false}) {
    const WriteMode mode{.overwrite = false, .durable = durable};
    const auto file = OutputFile::create(folder / "f", mode).value();
    file->append(as_bytes("mine")).value();
    save(folder / "f", "theirs");
    EXPECT_EQ(file->commit().error().code(), ErrorCode::conflict);
    EXPECT_EQ(load(folder / "f"), "theirs");
    EXPECT_EQ(OutputFile::create(folder / "f", mode).error().code(), ErrorCode::conflict);
    std::filesystem::remove(folder / "f");
    write(folder / "f", "mine", mode);
    EXPECT_EQ(load(folder / "f"), "mine");
    std::filesystem::remove(folder / "f");
  }
  EXPECT_THAT(folder.names(), ElementsAre());
}

TEST(OutputFile, MayHaveTheLongestNameThatFileSystemsAllow) {
  const Folder folder;
  const std::string name(255, 'n');
  write(folder / name, "text", {});
  EXPECT_THAT(folder.names(), ElementsAre(name));
}

}  // namespace output_file_test
}  // namespace sherd
