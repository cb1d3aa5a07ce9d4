// A file store when the disk is full or files run out.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/buffer.hpp"
#include "sherd/store.hpp"
#include "tests/child.hpp"
#include "tests/store/amended.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd {
namespace full_disk_test {

using testing::ElementsAre;

class FileStoreOnFullDisk : public testing::Test {
 protected:
  TempDir root_;
  std::shared_ptr<Store> store_ = file_store(root_.path()).value();
};

TEST_F(FileStoreOnFullDisk, KeepsTheOldValueAndNothingElse) {
  store_->set("c/0", "old").value();
  const int status = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 64 << 10, .rlim_max = 64 << 10};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    auto writer = store_->write("c/0").value();
    writer->write(0, as_bytes(std::string(60'000, 'x'))).value();
    const auto written = writer->write(60'000, as_bytes(std::string(60'000, 'x')));
    const auto committed = writer->commit();
    writer.reset();
    const auto source = memory_store();
    source->set("s", std::string(100'000, 'x')).value();
    auto copier = store_->write("c/0").value();
    const auto copied = copier->copy(*source->open("s").value(), 0, 100'000, 0);
    copier.reset();
    const bool as_expected = !written && written.error().code() == ErrorCode::io && !committed &&
                             committed.error().code() == ErrorCode::io && !copied &&
                             copied.error().code() == ErrorCode::io && !store_->set("d/e", std::string(70'000, 'x'));
    ::_exit(as_expected ? 0 : 1);
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(store_->get("c/0").value(), "old");
  EXPECT_THAT(root_.contents(), ElementsAre("c", "c/0"));
}

TEST_F(FileStoreOnFullDisk, UndoesAFailedAmendment) {
  store_->set("c/0", "old").value();
  const int status = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 64 << 10, .rlim_max = 64 << 10};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto amended = amend(*store_, "c/0", {{0, "new"}, {3, std::string(70'000, 'x')}});
    ::_exit(!amended && amended.error().code() == ErrorCode::io ? 0 : 1);
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(store_->get("c/0").value(), "old");
  EXPECT_THAT(root_.contents(), ElementsAre("c", "c/0"));
}

TEST_F(FileStoreOnFullDisk, RefusesToWriteWithoutAnySpace) {
  store_->set("c/0", "old").value();
  const int status = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit none{.rlim_cur = 0, .rlim_max = 0};
    ::setrlimit(RLIMIT_FSIZE, &none);
    const auto written = store_->set("c/0", "new");
    ::_exit(!written && written.error().code() == ErrorCode::io ? 0 : 1);
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(store_->get("c/0").value(), "old");
  EXPECT_THAT(root_.contents(), ElementsAre("c", "c/0"));
}

// The undefined-behaviour sanitizer itself needs two free descriptors where it looks at an object's type.
#if defined(__has_feature)
#if __has_feature(undefined_behavior_sanitizer)
#define SHERD_SANITIZER_NEEDS_FILES
#endif
#endif
#ifndef SHERD_SANITIZER_NEEDS_FILES
TEST_F(FileStoreOnFullDisk, TooManyOpenFilesAreNotMistakenForAbsence) {
  store_->set("k", "x").value();
  const int status = in_child([&] {
    const rlimit few{.rlim_cur = 3, .rlim_max = 3};
    ::setrlimit(RLIMIT_NOFILE, &few);
    const auto source = store_->open("k");
    const auto listed = store_->list_dir("");
    ::_exit(!source && source.error().code() == ErrorCode::unavailable && !listed ? 0 : 1);
  });
  EXPECT_EQ(status, 0);
}
#endif

}  // namespace full_disk_test
}  // namespace sherd
