#include "remote/aws_signature.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "base/try.hpp"
#include "remote/libraries.hpp"

namespace sherd::remote {
namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";
constexpr std::string_view kDate = "x-amz-date", kToken = "x-amz-security-token", kHash = "x-amz-content-sha256";
// Headers that a proxy or the transport may change or drop.
constexpr std::array<std::string_view, 15> kNotSigned = {"authorization",
                                                         "baggage",
                                                         "connection",
                                                         "expect",
                                                         "keep-alive",
                                                         "proxy-authenticate",
                                                         "proxy-authorization",
                                                         "te",
                                                         "traceparent",
                                                         "tracestate",
                                                         "trailer",
                                                         "transfer-encoding",
                                                         "upgrade",
                                                         "user-agent",
                                                         "x-amzn-trace-id"};

constexpr char kLowerDigits[] = "0123456789abcdef";
constexpr char kUpperDigits[] = "0123456789ABCDEF";

std::string hexadecimal(std::string_view bytes) {
  std::string digits;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    digits += kLowerDigits[byte >> 4];
    digits += kLowerDigits[byte & 15];
  }
  return digits;
}

std::string percent_encode(std::string_view text, std::string_view also) {
  std::string encoded;
  for (const char c : text) {
    const bool is_plain = is_letter(c) || is_digit(c) || also.find(c) != std::string_view::npos;
    if (is_plain) {
      encoded += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    encoded += '%';
    encoded += kUpperDigits[byte >> 4];
    encoded += kUpperDigits[byte & 15];
  }
  return encoded;
}

std::string hmac(const Crypto& crypto, std::string_view key, std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  crypto.HMAC(crypto.EVP_sha256(), key.data(), static_cast<int>(key.size()),
              reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data(), &length);
  return {reinterpret_cast<const char*>(digest.data()), length};
}

/// 20261128T213000Z.
std::string timestamp(std::chrono::system_clock::time_point time) {
  using namespace std::chrono;
  const auto day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(floor<seconds>(time - day));
  std::string text;
  const auto digits = [&](auto value, int count) {
    const std::string number = std::to_string(value);
    text.append(static_cast<std::size_t>(std::max(0, count - static_cast<int>(number.size()))), '0').append(number);
  };
  digits(static_cast<int>(date.year()), 4);
  digits(static_cast<unsigned>(date.month()), 2);
  digits(static_cast<unsigned>(date.day()), 2);
  text += 'T';
  digits(clock.hours().count(), 2);
  digits(clock.minutes().count(), 2);
  digits(clock.seconds().count(), 2);
  return text + 'Z';
}

/// The parts of a URL that are signed.
struct SignedUrl {
  std::string host;
  std::string_view path, query;
};

SignedUrl parts_of(std::string_view url) {
  const auto colon = url.find("://");
  const std::string_view scheme = url.substr(0, colon);
  url.remove_prefix(colon == std::string_view::npos ? 0 : colon + 3);
  std::string_view authority = url.substr(0, url.find_first_of("/?"));
  url.remove_prefix(authority.size());
  authority.remove_prefix(authority.rfind('@') + 1);
  // The transport leaves out the port of the scheme from the Host header.
  const std::string_view port = scheme == "https" ? ":443" : ":80";
  if (authority.ends_with(port)) authority.remove_suffix(port.size());
  const auto mark = url.find('?');
  const std::string_view path = url.substr(0, mark);
  return {std::string(authority), path.empty() ? "/" : path,
          mark == std::string_view::npos ? std::string_view() : url.substr(mark + 1)};
}

std::string canonical_query(std::string_view query) {
  if (query.empty()) return {};
  std::vector<std::pair<std::string_view, std::string_view>> pairs;
  for (const std::string_view pair : split(query, '&')) {
    const auto equals = pair.find('=');
    pairs.emplace_back(pair.substr(0, equals),
                       equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1));
  }
  std::ranges::sort(pairs);
  std::string text;
  for (const auto& [key, value] : pairs) {
    if (!text.empty()) text += '&';
    text.append(key).append("=").append(value);
  }
  return text;
}

/// Without white space at the ends, and with one space in place of each run of it.
std::string collapsed(std::string_view value) {
  std::string text;
  for (std::size_t at = 0; (at = value.find_first_not_of(" \t", at)) != std::string_view::npos;) {
    const auto end = std::min(value.find_first_of(" \t", at), value.size());
    if (!text.empty()) text += ' ';
    text += value.substr(at, end - at);
    at = end;
  }
  return text;
}

/// The headers that are signed, by their names in lower case. The values of a header that occurs twice are joined.
std::map<std::string, std::string> signed_headers(const HttpRequest& request, std::string host) {
  std::map<std::string, std::string> headers;
  for (const Header& header : request.headers) {
    std::string name = lowered(header.name);
    if (std::ranges::find(kNotSigned, name) != kNotSigned.end()) continue;
    const auto [at, is_new] = headers.try_emplace(std::move(name), collapsed(header.value));
    if (!is_new) at->second += ',' + collapsed(header.value);
  }
  headers.try_emplace("host", std::move(host));
  return headers;
}

void set_header(Headers& headers, std::string_view name, std::string value) {
  std::erase_if(headers, [&](const Header& header) { return lowered(header.name) == lowered(name); });
  headers.push_back({std::string(name), std::move(value)});
}

}  // namespace

std::string encode_key(std::string_view key) { return percent_encode(key, "-._~/"); }

std::string encode_query(std::string_view text) { return percent_encode(text, "-._~"); }

Result<std::string> sha256_hex(std::string_view bytes) {
  SHERD_TRY(crypto, load_crypto());
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  crypto->SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  return hexadecimal({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

Result<void> sign(HttpRequest& request, const Credentials& credentials, const SigningScope& scope,
                  std::string_view payload_hash) {
  SHERD_TRY(crypto, load_crypto());
  const std::string time = timestamp(scope.time);
  const std::string day = time.substr(0, time.find('T'));
  set_header(request.headers, kDate, time);
  if (!credentials.session_token.empty()) set_header(request.headers, kToken, credentials.session_token);
  if (scope.service == "s3") set_header(request.headers, kHash, std::string(payload_hash));

  SignedUrl url = parts_of(request.url);
  std::string canonical = request.method + '\n' + std::string(url.path) + '\n' + canonical_query(url.query) + '\n';
  std::string names;
  for (const auto& [name, value] : signed_headers(request, std::move(url.host))) {
    canonical.append(name).append(":").append(value).append("\n");
    if (!names.empty()) names += ';';
    names += name;
  }
  canonical.append("\n").append(names).append("\n").append(payload_hash);

  const std::string range = day + '/' + std::string(scope.region) + '/' + std::string(scope.service) + "/aws4_request";
  SHERD_TRY(hash, sha256_hex(canonical));
  const std::string text = std::string(kAlgorithm) + '\n' + time + '\n' + range + '\n' + hash;
  std::string key = "AWS4" + credentials.secret_key;
  for (const std::string_view part : split(range, '/')) key = hmac(*crypto, key, part);
  set_header(request.headers, "Authorization",
             std::string(kAlgorithm) + " Credential=" + credentials.key_id + '/' + range + ", SignedHeaders=" + names +
                 ", Signature=" + hexadecimal(hmac(*crypto, key, text)));
  return {};
}

}  // namespace sherd::remote
