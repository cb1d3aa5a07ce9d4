#include "remote/aws_process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "src/base/call.hpp"

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

TEST(Process, WithTooMuchOutputIsKilled) {
  const Error error = run_process({"sh", "-c", "while :; do echo aaaaaaaaaaaaaaaaaaaaaaa; done"}).error();
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_THAT(error.text(), HasSubstr("65536 bytes"));
}

}  // namespace aws_process_test
}  // namespace sherd::remote
