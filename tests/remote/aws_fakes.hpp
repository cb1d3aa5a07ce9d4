// An environment and the services of AWS that give credentials, as values and functions: no process, no socket.
#pragma once

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "remote/aws_credentials.hpp"

namespace sherd::remote {

/// Variables and files below a home of their own.
class FakeHome {
 public:
  explicit FakeHome(const std::string& name)
      : folder_(std::filesystem::temp_directory_path() / ("sherd_" + name + std::to_string(getpid()))) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_ / ".aws");
    variables["HOME"] = folder_.string();
    variables["AWS_EC2_METADATA_DISABLED"] = "true";
  }
  FakeHome(const FakeHome&) = delete;
  FakeHome& operator=(const FakeHome&) = delete;
  ~FakeHome() { std::filesystem::remove_all(folder_); }

  /// Writes a file and returns its path.
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  [[nodiscard]] Environment environment() const {
    return [this](const char* name) -> std::optional<std::string> {
      const auto found = variables.find(name);
      return found == variables.end() || found->second.empty() ? std::nullopt : std::optional(found->second);
    };
  }

  std::map<std::string, std::string> variables;

 private:
  std::filesystem::path folder_;
};

/// STS, the endpoint of a container and the metadata service of an instance. Each issues credentials whose key id is
/// its name and a number, and which are valid for an hour on the fake's clock.
class FakeAws {
 public:
  using Time = std::chrono::system_clock::time_point;

  [[nodiscard]] AwsFetch fetch() {
    return {.service = [this](const HttpRequest& request) { return answer(request, sts(request)); },
            .metadata = [this](const HttpRequest& request) { return answer(request, metadata(request)); },
            .now = [this] { return now; }};
  }

  Time now{std::chrono::seconds(1795901405)};  // 2026-11-28T21:30:05Z
  std::vector<HttpRequest> requests = {};
  std::map<std::string, long> refusals = {};  ///< a part of a URL, and the status that it has
  std::string role = "role one";
  std::string container_token = {};  ///< that the container's endpoint wants
  bool is_reachable = true;          ///< the instance's service

 private:
  Result<HttpReply> answer(const HttpRequest& request, HttpReply reply) {
    requests.push_back(request);
    if (!is_reachable && request.url.starts_with("http://169.254.169.254")) return io_error("timed out");
    for (const auto& [part, status] : refusals) {
      if (request.url.find(part) != std::string::npos)
        return HttpReply{.status = status,
                         .body = "<ErrorResponse><Error><Code>AccessDenied</Code><Message>SECRET</Message></Error>"};
    }
    return reply;
  }

  [[nodiscard]] std::string expiration() const {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count() + 3600;
    const std::time_t time = seconds;
    std::tm parts{};
    gmtime_r(&time, &parts);
    std::string text(32, '\0');
    text.resize(std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts));
    return text;
  }

  HttpReply sts(const HttpRequest& request) {
    const bool by_token = request.body.find("Action=AssumeRoleWithWebIdentity&") != std::string::npos;
    const bool is_signed = find_header(request.headers, "Authorization") != nullptr;
    if (request.method != "POST" || by_token == is_signed) return {.status = 400};
    const std::string key_id = (by_token ? "WEB" : "ROLE") + std::to_string(++issued_);
    return {.status = 200,
            .body = "<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>" + key_id +
                    "</AccessKeyId><SecretAccessKey>SECRET</SecretAccessKey><SessionToken>SESSION</SessionToken>"
                    "<Expiration>" +
                    expiration() + "</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>"};
  }

  HttpReply metadata(const HttpRequest& request) {
    const std::string& url = request.url;
    const std::string roles = "/latest/meta-data/iam/security-credentials/";
    if (const auto at = url.find("/latest/"); at != std::string::npos) {
      const std::string path = url.substr(at);
      const std::string* const ttl = find_header(request.headers, "X-aws-ec2-metadata-token-ttl-seconds");
      if (path == "/latest/api/token")
        return {.status = request.method == "PUT" && ttl != nullptr ? 200 : 405, .body = "TOKEN\n"};
      const std::string* const token = find_header(request.headers, "X-aws-ec2-metadata-token");
      if (request.method != "GET" || token == nullptr || *token != "TOKEN") return {.status = 401};
      if (path == roles) return {.status = role.empty() ? 404 : 200, .body = role + "\nrole two\n"};
      return path == roles + "role%20one" ? issue("INSTANCE") : HttpReply{.status = 404};
    }
    const std::string* const token = find_header(request.headers, "Authorization");
    if ((token != nullptr ? *token : "") != container_token) return {.status = 401};
    return issue("CONTAINER");
  }

  HttpReply issue(const std::string& name) {
    return {.status = 200,
            .body = R"({"Code": "Success", "AccessKeyId": ")" + name + std::to_string(++issued_) +
                    R"(", "SecretAccessKey": "SECRET", "Token": "SESSION", "Expiration": ")" + expiration() + "\"}"};
  }

  int issued_ = 0;
};

}  // namespace sherd::remote
