#include "remote/aws_process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include "src/base/call.hpp"
#include "tests/child.hpp"

namespace sherd::remote {
namespace aws_process_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

using Words = std::vector<std::string>;

Words words_of(std::string_view command) { return command_words(command).value(); }

TEST(CommandWords, AreThoseOfAPosixShell) {
  EXPECT_THAT(words_of("/opt/get keys --user me"), ElementsAre("/opt/get", "keys", "--user", "me"));
  EXPECT_THAT(words_of(" \t'a b' \"c 'd'\"  e\\ f "), ElementsAre("a b", "c 'd'", "e f"));
  EXPECT_THAT(words_of(R"("a\"b\\c\d" 'a\b' x"y"'z')"), ElementsAre(R"(a"b\c\d)", R"(a\b)", "xyz"));
  EXPECT_THAT(words_of("a '' \"\""), ElementsAre("a", "", ""));
  EXPECT_THAT(words_of("a\nb"), ElementsAre("a", "b"));
}

TEST(CommandWords, HaveNoOtherSpecialCharacters) {
  EXPECT_THAT(words_of("a;b $HOME `c` | d > e # f ~ * &"),
              ElementsAre("a;b", "$HOME", "`c`", "|", "d", ">", "e", "#", "f", "~", "*", "&"));
}

TEST(CommandWords, OfAnIncompleteCommandAreRefused) {
  for (const char* const command : {"", "  ", "a 'b", "a \"b", "a \\", "a \"b\\"})
    EXPECT_EQ(command_words(command).error().code(), ErrorCode::invalid_argument) << command;
}

TEST(Process, ReturnsItsOutput) {
  EXPECT_EQ(run_process({"printf", "%s;", "a b", "$HOME"}).value(), "a b;$HOME;");
  EXPECT_EQ(run_process({"true"}).value(), "");
}

TEST(Process, InheritsTheEnvironmentButNotStdin) {
  ASSERT_EQ(setenv("SHERD_TEST_VARIABLE", "x", 1), 0);
  EXPECT_EQ(run_process({"sh", "-c", "cat; printf %s \"$SHERD_TEST_VARIABLE\""}).value(), "x");
  unsetenv("SHERD_TEST_VARIABLE");
}

TEST(Process, ThatFailsIsNamedWithoutItsArguments) {
  const Error exited = run_process({"sh", "-c", "exit 7 # secret"}).error();
  EXPECT_EQ(exited.code(), ErrorCode::io);
  EXPECT_THAT(exited.text(), HasSubstr("'sh' failed with exit code 7"));
  EXPECT_THAT(run_process({"sh", "-c", "kill -9 $$ # secret"}).error().text(), HasSubstr("signal 9"));
  const Error absent = run_process({"/absent/program", "secret"}).error();
  EXPECT_EQ(absent.code(), ErrorCode::io);
  EXPECT_THAT(absent.text(), HasSubstr("/absent/program"));
  for (const Error& error : {exited, absent}) EXPECT_THAT(error.text(), Not(HasSubstr("secret")));
}

TEST(Process, BeyondItsTimeIsKilled) {
  const Error error = run_process({"sleep", "600"}, {.time = std::chrono::milliseconds(100)}).error();
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_THAT(error.text(), HasSubstr("'sleep' took longer than 100 ms"));
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
}

TEST(Process, ThatClosesItsOutputIsWaitedForUntilItsTime) {
  EXPECT_EQ(run_process({"sh", "-c", "echo a; exec >&-; sleep 0.05"}).value(), "a\n");
  const auto late = run_process({"sh", "-c", "exec >&-; exec sleep 600"}, {.time = std::chrono::milliseconds(200)});
  EXPECT_EQ(late.error().code(), ErrorCode::unsupported);
}

TEST(Process, IsKilledWhenTheCallIsInterrupted) {
  for (const char* const command : {"exec sleep 600", "exec >&-; exec sleep 600"}) {
    int polls = 0;
    const Config config{.interrupted = [&] { return ++polls > 3; }};
    const auto output = as_call(config, [&] { return run_process({"sh", "-c", command}); });
    EXPECT_EQ(output.error().code(), ErrorCode::unavailable) << command;
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
  }
}

/// What is written into a pipe until no process has its other end open.
std::string all_from(int pipe) {
  std::string text;
  char buffer[64];
  for (ssize_t count = 0; (count = read(pipe, buffer, sizeof buffer)) > 0;) text.append(buffer, count);
  return text;
}

TEST(Process, IsKilledWithTheProcessThatWaitsForIt) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t waits = fork();
  if (waits == 0) {
    dup2(ends[1], 9);
    close(ends[0]), close(ends[1]);
    (void)run_process({"sh", "-c", "echo begun >&9; sleep 3 9>&-; echo ended >&9"});
    _exit(0);
  }
  close(ends[1]);
  char first = 0;
  ASSERT_EQ(read(ends[0], &first, 1), 1);
  kill(waits, SIGKILL);
  EXPECT_EQ(all_from(ends[0]), "egun\n");
  close(ends[0]);
  waitpid(waits, nullptr, 0);
}

TEST(Process, HasTheSignalsOfANewProgram) {
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &blocked, &before), 0);
  const auto pipes = std::signal(SIGPIPE, SIG_IGN);
  const auto handled = std::signal(SIGUSR1, [](int) {});
  const std::string status = run_process({"cat", "/proc/self/status"}).value();
  const Error ended = run_process({"sh", "-c", "kill -PIPE $$"}).error();
  std::signal(SIGUSR1, handled);
  std::signal(SIGPIPE, pipes);
  EXPECT_THAT(status, HasSubstr("SigBlk:\t0000000000000000\n"));
  EXPECT_THAT(status, HasSubstr("SigCgt:\t0000000000000000\n"));
  EXPECT_THAT(ended.text(), HasSubstr("signal 13"));
  ASSERT_EQ(pthread_sigmask(SIG_SETMASK, &before, &blocked), 0);
  EXPECT_EQ(sigismember(&blocked, SIGTERM), 1) << "the mask of the thread that started the programs has changed";
}

TEST(Process, IsStartedWhereStandardStreamsAreClosed) {
  const int status = in_child([] {
    close(STDIN_FILENO), close(STDOUT_FILENO);
    const auto output = run_process({"sh", "-c", "cat; echo a"});
    _exit(output && *output == "a\n" ? 7 : 8);
  });
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(Process, WithTooMuchOutputIsKilled) {
  const Error error = run_process({"sh", "-c", "while :; do echo aaaaaaaaaaaaaaaaaaaaaaa; done"}).error();
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_THAT(error.text(), HasSubstr("65536 bytes"));
}

}  // namespace aws_process_test
}  // namespace sherd::remote
