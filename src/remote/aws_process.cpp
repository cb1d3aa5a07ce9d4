#include "remote/aws_process.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <optional>
#include <thread>
#include <utility>

#include "base/call.hpp"
#include "base/try.hpp"
#include "os/calls.hpp"
#include "os/fd.hpp"
#include "os/interrupted.hpp"
#include "store/file_tree.hpp"

namespace sherd::remote {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPollPause{5};
constexpr std::string_view kWordSpace = " \t\r\n";

/// A program that was started; it is killed if it has not ended.
class Child {
 public:
  Child(pid_t process, os::Fd output, std::string name)
      : process_(process), output_(std::move(output)), name_(std::move(name)) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (process_ == 0) return;
    kill(process_, SIGKILL);
    (void)os::repeat_interrupted([&] { return waitpid(process_, nullptr, 0); });
  }

  /// All of its stdout; waits until it has ended.
  Result<std::string> output(const ProcessLimits& limits);

 private:
  Result<void> wait_for_end(SteadyClock::time_point deadline, const ProcessLimits& limits);
  [[nodiscard]] Error too_slow(const ProcessLimits& limits) const {
    return unsupported("'" + name_ + "' took longer than " + std::to_string(limits.time.count()) + " ms");
  }

  pid_t process_;
  os::Fd output_;
  std::string name_;
};

Result<std::string> Child::output(const ProcessLimits& limits) {
  const SteadyClock::time_point deadline = SteadyClock::now() + limits.time;
  std::string text;
  for (;;) {
    SHERD_TRY(check_interrupted());
    if (SteadyClock::now() >= deadline) return too_slow(limits);
    pollfd waiting{.fd = output_.get(), .events = POLLIN, .revents = 0};
    const int ready = poll(&waiting, 1, static_cast<int>(kBetweenPolls.count()));
    if (ready < 0 && errno != EINTR) return system_error("wait for", name_, errno);
    if (ready <= 0) continue;
    std::array<char, 4096> buffer;
    const ssize_t count = os::repeat_interrupted([&] { return read(output_.get(), buffer.data(), buffer.size()); });
    if (count < 0) return system_error("read from", name_, errno);
    if (count == 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(count));
    if (text.size() > limits.bytes)
      return unsupported("'" + name_ + "' printed more than " + std::to_string(limits.bytes) + " bytes");
  }
  SHERD_TRY(wait_for_end(deadline, limits));
  return text;
}

Result<void> Child::wait_for_end(SteadyClock::time_point deadline, const ProcessLimits& limits) {
  for (;;) {
    int status = 0;
    const pid_t ended = os::repeat_interrupted([&] { return waitpid(process_, &status, WNOHANG); });
    if (ended == 0) {
      SHERD_TRY(check_interrupted());
      if (SteadyClock::now() >= deadline) return too_slow(limits);
      std::this_thread::sleep_for(kPollPause);
      continue;
    }
    process_ = 0;
    // If the program ignores SIGCHLD, the system has forgotten the child's status (ECHILD); its output counts.
    if (ended < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) return {};
    if (WIFSIGNALED(status)) return io_error("'" + name_ + "' was ended by signal " + std::to_string(WTERMSIG(status)));
    return io_error("'" + name_ + "' failed with exit code " + std::to_string(WEXITSTATUS(status)));
  }
}

/// A program that is to be started.
struct Program {
  char* const* arguments;
  int input, output;  ///< become its stdin and stdout
  pid_t parent;       ///< this process
};

/// Becomes the program, with signals as they are for a new one and without stdin. Returns an errno. Only makes system
/// calls: the memory is that of the process that called vfork().
int become(const Program& program) noexcept {
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return errno;
  if (getppid() != program.parent) return ESRCH;  // it has ended before
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action{};
    // Ignored signals stay ignored, except the one that Python ignores.
    if (sigaction(number, nullptr, &action) != 0 || (action.sa_handler == SIG_IGN && number != SIGPIPE)) continue;
    action = {};
    action.sa_handler = SIG_DFL;
    (void)sigaction(number, &action, nullptr);
  }
  const int output = dup(program.output);  // stays open in the program, whatever its number
  if (output < 0 || dup2(output, STDOUT_FILENO) < 0 || dup2(program.input, STDIN_FILENO) < 0) return errno;
  if (output > STDERR_FILENO) close(output);
  sigset_t none;
  sigemptyset(&none);
  (void)sigprocmask(SIG_SETMASK, &none, nullptr);
  execvp(program.arguments[0], program.arguments);
  return errno;
}

/// Starts a program that the system kills when this thread ends, and so however this process ends. Returns 0 or an
/// errno. posix_spawn() cannot do this, and fork() would copy the process and run its handlers of pthread_atfork().
int start(const Program& program, pid_t& process) {
  sigset_t all, before;
  sigfillset(&all);
  // A handler must not run in the new process while it has the memory of this one.
  (void)pthread_sigmask(SIG_SETMASK, &all, &before);
  volatile int failure = 0;
  const pid_t made = vfork();  // NOLINT(clang-analyzer-security.insecureAPI.vfork)
  if (made == 0) {
    failure = become(program);
    _exit(127);
  }
  const int code = made < 0 ? errno : failure;
  (void)pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (made > 0 && code != 0) (void)os::repeat_interrupted([&] { return waitpid(made, nullptr, 0); });
  process = made;
  return code;
}

/// Reads the characters of a command and collects its words.
class WordReader {
 public:
  explicit WordReader(std::string_view text) : text_(text) {}

  Result<std::vector<std::string>> words() {
    while (!text_.empty()) {
      const char c = next();
      if (kWordSpace.find(c) != std::string_view::npos) {
        if (word_) words_.push_back(*std::exchange(word_, std::nullopt));
        continue;
      }
      if (!word_) word_.emplace();
      if (c == '\'' || c == '"') {
        SHERD_TRY(add_quoted(c));
      } else if (c == '\\') {
        SHERD_TRY(add_escaped());
      } else {
        *word_ += c;
      }
    }
    if (word_) words_.push_back(*std::move(word_));
    if (words_.empty()) return invalid_argument("the command is empty");
    return std::move(words_);
  }

 private:
  char next() {
    const char c = text_.front();
    text_.remove_prefix(1);
    return c;
  }
  Result<void> add_escaped() {
    if (text_.empty()) return invalid_argument("the command ends with a backslash");
    *word_ += next();
    return {};
  }
  /// Inside "…", a backslash escapes only a quote and itself.
  Result<void> add_quoted(char quote) {
    while (!text_.empty()) {
      const char c = next();
      if (c == quote) return {};
      if (c == '\\' && quote == '"' && !text_.empty() && (text_.front() == '"' || text_.front() == '\\')) {
        SHERD_TRY(add_escaped());
      } else {
        *word_ += c;
      }
    }
    return invalid_argument("a quote in the command is not closed");
  }

  std::string_view text_;
  std::optional<std::string> word_;  ///< that is being read
  std::vector<std::string> words_;
};

}  // namespace

Result<std::vector<std::string>> command_words(std::string_view command) { return WordReader(command).words(); }

Result<std::string> run_process(const std::vector<std::string>& words, const ProcessLimits& limits) {
  SHERD_TRY(check_interrupted());
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return system_error("make a pipe for", words.front(), errno);
  os::Fd from(ends[0]);
  os::Fd to(ends[1]);
  const os::Fd nothing(os::openat(AT_FDCWD, "/dev/null", O_RDONLY | O_CLOEXEC));
  if (!nothing) return system_error("open", "/dev/null", errno);
  std::vector<std::string> texts = words;
  std::vector<char*> arguments;
  for (std::string& text : texts) arguments.push_back(text.data());
  arguments.push_back(nullptr);
  pid_t process = 0;
  const int code =
      start({.arguments = arguments.data(), .input = nothing.get(), .output = to.get(), .parent = getpid()}, process);
  if (code != 0) return system_error("start", words.front(), code);
  Child child(process, std::move(from), words.front());
  (void)to.close();  // so that the output ends with the program
  return child.output(limits);
}

}  // namespace sherd::remote
