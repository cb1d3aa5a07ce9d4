#include "api/trace.hpp"

#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>

namespace sherd {

namespace {

/// Keys are printed as one line, whatever they contain.
std::string printed(const std::string& key) {
  std::string text;
  for (const char c : key) text += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  return text;
}

}  // namespace

unsigned trace_level() noexcept {
  const char* text = std::getenv("NCTRACING");  // NOLINT(concurrency-mt-unsafe)
  if (text == nullptr || *text == '\0') return 0;
  const std::string_view digits(text);
  unsigned level = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), level);
  if (parsed.ec == std::errc::result_out_of_range) return std::numeric_limits<unsigned>::max();
  if (parsed.ec == std::errc() && parsed.ptr == digits.data() + digits.size()) return level;
  // netcdf-c takes such a value for 0 without a word.
  static std::atomic_flag warned;
  if (!warned.test_and_set())
    std::fputs("warning: NCTRACING is not a number, so nothing is traced; 9 traces all requests, 1 only changes\n",
               stderr);
  return 0;
}

void trace(Recorder& recorder, unsigned level) {
  if (level == 0) return;
  recorder.follow([level](const Recorder::Request& request) {
    if (level < 2 && (request.op == "get" || request.op == "list")) return;
    std::string line = "trace: " + request.op + " /" + printed(request.key);
    if (request.op == "get" || request.op == "put")
      line += " " + std::to_string(request.offset) + "+" + std::to_string(request.length);
    line += '\n';
    std::fputs(line.c_str(), stderr);
  });
}

Config traced(Config config) {
  const unsigned level = config.recorder ? 0 : trace_level();
  if (level == 0) return config;
  config.recorder = std::make_shared<Recorder>();
  trace(*config.recorder, level);
  return config;
}

}  // namespace sherd
