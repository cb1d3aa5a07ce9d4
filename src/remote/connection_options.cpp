#include "remote/connection_options.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "base/try.hpp"
#include "remote/http.hpp"

namespace sherd::remote {
namespace {

constexpr unsigned kMostRequests = 1024, kMostAttempts = 100;
constexpr double kLongestTimeout = 3600;

Result<void> read_count(const Config& config, std::string_view name, unsigned most, unsigned& to) {
  const std::string text = option(config, name);
  if (text.empty()) return {};
  const auto value = parse_number<unsigned>(text);
  if (!value || *value < 1 || *value > most)
    return wrong_option(name, "must be a number from 1 to " + std::to_string(most));
  to = *value;
  return {};
}

template <class Duration>
Result<void> read_seconds(const Config& config, std::string_view name, Duration& to) {
  const std::string text = option(config, name);
  if (text.empty()) return {};
  const auto value = parse_number<double>(text);
  if (!value || !(*value > 0) || *value > kLongestTimeout)
    return wrong_option(name, "must be a number of seconds, such as 30");
  to = std::chrono::ceil<Duration>(std::chrono::duration<double>(*value));
  return {};
}

}  // namespace

std::string option(const Config& config, std::string_view name) {
  const auto found = config.storage_options.find(std::string(name));
  return found == config.storage_options.end() ? std::string() : found->second;
}

Error wrong_option(std::string_view name, std::string_view expected) {
  return invalid_argument(std::string(expected)).in_member("storage_options." + std::string(name));
}

Result<std::string> header_option(const Config& config, std::string_view name) {
  std::string text = option(config, name);
  if (!is_header_text(text)) return wrong_option(name, "must be one line of text");
  return text;
}

Result<bool> switch_option(const Config& config, std::string_view name, bool otherwise) {
  const std::string text = option(config, name);
  if (text.empty()) return otherwise;
  if (text != "true" && text != "false") return wrong_option(name, "must be true or false");
  return text == "true";
}

Result<Connection> connection_of(const Config& config) {
  Connection connection;
  if (config.parallel_requests > 0) connection.parallel_requests = std::min(config.parallel_requests, kMostRequests);
  SHERD_TRY(read_count(config, "parallel_requests", kMostRequests, connection.parallel_requests));
  SHERD_TRY(read_count(config, "attempts", kMostAttempts, connection.attempts));
  SHERD_TRY(read_seconds(config, "connect_timeout", connection.connect_timeout));
  SHERD_TRY(read_seconds(config, "timeout", connection.idle_timeout));
  connection.proxy = option(config, "proxy");
  connection.ca_bundle = option(config, "ca_bundle");
  if (const std::string statuses = option(config, "missing_status"); !statuses.empty()) {
    for (const std::string_view each : split(statuses, ',')) {
      const auto status = parse_number<unsigned>(each);
      if (!status || *status < 400 || *status > 499)
        return wrong_option("missing_status", "must be statuses from 400 to 499, such as 403");
      connection.missing_statuses.push_back(static_cast<long>(*status));
    }
  }
  return connection;
}

}  // namespace sherd::remote
