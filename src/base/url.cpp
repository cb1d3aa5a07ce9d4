// The names of stores: RFC 3986 as far as needed for files, and RFC 8089 for file URLs. A text is a URL if it begins
// with a scheme and `://`, or with a scheme of the table of stores and `:`. Everything else is a path, in which `%`,
// `#` and `?` are ordinary characters. Escapes are decoded exactly once.
#include "base/url.hpp"
#include "base/text.hpp"

namespace sherd {
namespace {

constexpr std::string_view kFileScheme = "file";

std::optional<unsigned> hex_digit(char c) {
  if (is_digit(c)) return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return std::nullopt;
}

constexpr std::string_view kPathCharacters = "-._~/!$&'()*+,;=:@";

std::string percent_encode(std::string_view path, std::string_view plain = kPathCharacters) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : path) {
    if (is_letter(c) || is_digit(c) || plain.find(c) != std::string_view::npos) {
      encoded.push_back(c);
    } else {
      const auto byte = static_cast<unsigned char>(c);
      encoded.push_back('%');
      encoded.push_back(kHex[byte >> 4]);
      encoded.push_back(kHex[byte & 15]);
    }
  }
  return encoded;
}

Result<std::string> parse_file_url(std::string_view rest) {
  if (rest.starts_with("//")) {
    rest.remove_prefix(2);
    if (rest.starts_with("localhost/")) rest.remove_prefix(std::string_view("localhost").size());
  }
  if (!rest.starts_with('/')) {
    return invalid_argument("a file URL needs an absolute path and no host, such as file:///data/a.zarr");
  }
  if (rest.find_first_of("?#") != std::string_view::npos) {
    return invalid_argument("a file URL cannot have a query or a fragment; in a name, write ? as %3F and # as %23");
  }
  return percent_decode(rest);
}

}  // namespace

Result<std::string> percent_decode(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded.push_back(text[i]);
      continue;
    }
    const auto high = i + 2 < text.size() ? hex_digit(text[i + 1]) : std::nullopt;
    const auto low = i + 2 < text.size() ? hex_digit(text[i + 2]) : std::nullopt;
    if (!high || !low)
      return invalid_argument("the URL has a '%' without two hexadecimal digits; a literal one is %25");
    decoded.push_back(static_cast<char>(*high * 16 + *low));
    i += 2;
  }
  return decoded;
}

std::string escape_invalid(std::string_view text) { return percent_encode(text, std::string(kPathCharacters) + "?%"); }

std::string scheme_of(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0 || !is_letter(text[0])) return {};
  const std::string_view scheme = text.substr(0, colon);
  const auto may_have = [](char c) { return is_letter(c) || is_digit(c) || c == '+' || c == '-' || c == '.'; };
  return std::ranges::all_of(scheme, may_have) ? lowered(scheme) : std::string();
}

bool is_url(std::string_view text) {
  const std::string scheme = scheme_of(text);
  return !scheme.empty() && text.substr(scheme.size()).starts_with("://");
}

bool is_anonymous(std::string_view store_url) {
  const std::string scheme = scheme_of(store_url);
  if (scheme.empty()) return false;
  const std::string_view rest = store_url.substr(scheme.size() + 1);
  return rest.empty() || rest == "//";
}

Result<std::string> file_path(std::string_view text) {
  if (text.empty()) return invalid_argument("the path of a store is empty");
  Result<std::string> path = std::string(text);
  if (scheme_of(text) == kFileScheme)
    path = parse_file_url(text.substr(kFileScheme.size() + 1));
  else if (is_url(text))
    return invalid_argument("is not a path or a file URL: " + std::string(text));
  if (path && path->find('\0') != std::string::npos) return invalid_argument("the path of a store contains a NUL byte");
  return path;
}

std::optional<std::string> path_of_store(std::string_view store_url) {
  const bool is_inside_file = store_url.find('|') != std::string_view::npos;  // in a path it would be %7C
  if (scheme_of(store_url) != kFileScheme || is_inside_file) return std::nullopt;
  auto path = file_path(store_url);
  return path ? std::optional(*std::move(path)) : std::nullopt;
}

std::string file_url(std::string_view path) { return std::string(kFileScheme) + "://" + percent_encode(path); }

Error in_store(Error error, std::string_view url) {
  const bool told_already =
      error.message().find(url) != std::string::npos || error.message().find(" (in ") != std::string::npos;
  if (error.key().empty() || told_already) return error;
  Error complete = Error(error.code(), error.message() + " (in " + std::string(url) + ")")
                       .in_key(error.key())
                       .in_member(error.member());
  return error.slot() ? std::move(complete).in_slot(*error.slot()) : complete;
}

std::string url_below(std::string_view root, std::string_view path) {
  std::string url(root);
  if (path.empty()) return url;
  const bool is_root_inside = url.ends_with(':') && url.find('|') != url.npos;  // a.zip|zip:
  if (!url.ends_with('/') && !is_root_inside) url += '/';
  return url + percent_encode(path);
}

}  // namespace sherd
