#include "tests/remote/real_server.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "src/base/try.hpp"
#include "tests/test_data.hpp"

namespace sherd::remote {
namespace {

/// ctest runs each test in a process of its own.
pid_t process_of_run() {
  std::string parent;
  std::ifstream("/proc/" + std::to_string(::getppid()) + "/comm") >> parent;
  return parent == "ctest" ? ::getppid() : ::getpid();
}

std::string quoted(const std::string& text) { return "'" + text + "'"; }

/// What a command prints on its standard output and error; `io` if it fails.
Result<std::string> output_of(const std::string& command) {
  std::FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (!pipe) return io_error("cannot run " + command);
  std::string text;
  char piece[4096];
  for (std::size_t got = 0; (got = std::fread(piece, 1, sizeof piece, pipe)) > 0;) text.append(piece, got);
  if (::pclose(pipe) != 0) return io_error(text);
  return text;
}

std::string member(const Json& object, std::string_view name) {
  const Json* found = object.find(name);
  return found ? found->text() : "";
}

}  // namespace

std::uint16_t RealServer::port() const {
  return static_cast<std::uint16_t>(std::strtoul(url.c_str() + url.rfind(':') + 1, nullptr, 10));
}

Result<RealServer> real_server(const std::string& name, const std::string& folder) {
  const std::filesystem::path tests = std::filesystem::path(test_data("x")).parent_path().parent_path();
  std::string command = "PYTHONPATH=" + quoted(tests) + " " + quoted(tests.parent_path() / ".venv/bin/python") +
                        " -m servers " + name + " --share " + std::to_string(process_of_run());
  if (!folder.empty()) command += " --fill " + quoted(folder);
  const auto text = output_of(command);
  if (!text) {
    const bool is_absent = text.error().message().starts_with("absent:");
    // Only after a fatal failure in SetUp() is a test not run.
    if (!is_absent || std::getenv("SHERD_CI")) [&] { FAIL() << text.error().message(); }();
    return not_found(text.error().message());
  }
  SHERD_TRY(all, Json::parse(*text));
  const Json* found = all.find(name);
  if (!found) return corrupt("no server in " + *text);
  const Json* more = found->find("more");
  return RealServer{member(*found, "url"),    member(*found, "key"),    member(*found, "secret"),
                    member(*found, "region"), member(*found, "bucket"), more ? *more : Json()};
}

}  // namespace sherd::remote
