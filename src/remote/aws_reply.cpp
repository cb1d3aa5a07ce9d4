#include "remote/aws_reply.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "base/try.hpp"
#include "sherd/json.hpp"

namespace sherd::remote {
namespace {

constexpr int kLastYear = 2200;  // a time_point of nanoseconds ends in 2262
constexpr std::size_t kLongestCode = 64;

/// Reads numbers and marks from the beginning of a timestamp.
class TimestampReader {
 public:
  explicit TimestampReader(std::string_view text) : text_(text) {}

  /// `count` digits; fails after a failure.
  unsigned digits(std::size_t count) {
    unsigned value = 0;
    if (text_.size() < count || !std::ranges::all_of(text_.substr(0, count), is_digit)) has_failed_ = true;
    if (has_failed_) return 0;
    for (const char c : text_.substr(0, count)) value = value * 10 + static_cast<unsigned>(c - '0');
    text_.remove_prefix(count);
    return value;
  }
  void mark(std::string_view allowed) {
    if (!skip(allowed)) has_failed_ = true;
  }
  bool skip(std::string_view allowed) {
    if (text_.empty() || allowed.find(text_.front()) == std::string_view::npos) return false;
    text_.remove_prefix(1);
    return true;
  }
  void skip_digits() {
    while (!text_.empty() && is_digit(text_.front())) text_.remove_prefix(1);
  }
  /// The time zone's distance from UTC.
  std::chrono::minutes zone() {
    if (skip("Zz") || text_.empty()) return {};
    const bool is_west = skip("-");
    if (!is_west) mark("+");
    const unsigned hours = digits(2);
    (void)skip(":");
    const std::chrono::minutes distance(hours * 60 + digits(2));
    return is_west ? -distance : distance;
  }
  [[nodiscard]] bool is_done() const { return !has_failed_ && text_.empty(); }

 private:
  std::string_view text_;
  bool has_failed_ = false;
};

/// The text of the first element of this name; empty if there is none.
std::string_view element_text(std::string_view xml, std::string_view name) {
  const std::string open = "<" + std::string(name) + ">", close = "</" + std::string(name) + ">";
  const auto begin = xml.find(open);
  if (begin == std::string_view::npos) return {};
  xml.remove_prefix(begin + open.size());
  const auto end = xml.find(close);
  return end == std::string_view::npos ? std::string_view() : trimmed(xml.substr(0, end));
}

/// The credentials from texts. The token and the time may be empty.
Result<Credentials> credentials_of(std::string_view key_id, std::string_view secret_key, std::string_view token,
                                   std::string_view expiration) {
  if (key_id.empty() || secret_key.empty()) return io_error("the reply has no AccessKeyId and SecretAccessKey");
  Credentials credentials{
      .key_id = std::string(key_id), .secret_key = std::string(secret_key), .session_token = std::string(token)};
  if (expiration.empty()) return credentials;
  credentials.expires = parse_timestamp(expiration);
  if (!credentials.expires) return io_error("the Expiration in the reply is not a time");
  return credentials;
}

}  // namespace

std::optional<std::chrono::system_clock::time_point> parse_timestamp(std::string_view text) {
  using namespace std::chrono;
  TimestampReader reader(text);
  const unsigned number = reader.digits(4);
  reader.mark("-");
  const unsigned month_number = reader.digits(2);
  reader.mark("-");
  const unsigned day_number = reader.digits(2);
  reader.mark("Tt ");
  const unsigned hour = reader.digits(2);
  reader.mark(":");
  const unsigned minute = reader.digits(2);
  reader.mark(":");
  const unsigned second = reader.digits(2);
  if (reader.skip(".,")) reader.skip_digits();
  const minutes zone = reader.zone();
  const year_month_day date(year(static_cast<int>(number)), month(month_number), day(day_number));
  if (!reader.is_done() || number < 1970 || !date.ok() || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  if (number >= kLastYear) return sys_days(year(kLastYear) / 1 / 1);
  return sys_days(date) + hours(hour) + minutes(minute) + seconds(second) - zone;
}

Result<Credentials> credentials_of_json(std::string_view text) {
  const auto json = Json::parse(text);
  if (!json || !json->is_object()) return io_error("the reply is not a JSON object");
  const auto member = [&](std::string_view name) -> std::string_view {
    const Json* const value = json->find(name);
    return value != nullptr && value->is_string() ? std::string_view(value->text()) : std::string_view();
  };
  const Json* const version = json->find("Version");
  if (version != nullptr && version->as_int() != 1) return io_error("the Version of the reply is not 1");
  const Json* const code = json->find("Code");
  if (code != nullptr && code->text() != "Success") return io_error("the Code of the reply is not Success");
  const std::string_view session = member("SessionToken");
  return credentials_of(member("AccessKeyId"), member("SecretAccessKey"), session.empty() ? member("Token") : session,
                        member("Expiration"));
}

Result<Credentials> credentials_of_sts(std::string_view xml) {
  const std::string_view element = element_text(xml, "Credentials");
  return credentials_of(element_text(element, "AccessKeyId"), element_text(element, "SecretAccessKey"),
                        element_text(element, "SessionToken"), element_text(element, "Expiration"));
}

std::string error_code_of_sts(std::string_view xml) {
  const std::string_view code = element_text(xml, "Code");
  const bool is_name = code.size() <= kLongestCode &&
                       std::ranges::all_of(code, [](char c) { return is_letter(c) || is_digit(c) || c == '.'; });
  return is_name ? std::string(code) : std::string();
}

Result<void> check_credentials(const Credentials& credentials) {
  for (const auto& [name, value] : {std::pair<std::string_view, std::string_view>("key id", credentials.key_id),
                                    {"session token", credentials.session_token},
                                    {"bearer token", credentials.bearer_token}}) {
    if (std::ranges::any_of(value, [](char c) { return c <= ' ' || c >= 0x7f; }))
      return io_error("the " + std::string(name) + " contains a character that headers do not allow");
  }
  return {};
}

}  // namespace sherd::remote
