// Forms are tried in the order of the header, the fragment before the parts. A part that begins with no known word
// makes the whole text a path, unless it has the form of a URL: a misspelled scheme should not create a directory.
#include "store/store_url.hpp"

#include <algorithm>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "os/calls.hpp"

namespace sherd {
namespace {

/// No fragment has so many parameters.
constexpr std::size_t kMaxFragment = 4096;

bool has(std::span<const std::string_view> words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

const UrlWords::FormatWord* format_word(const UrlWords& words, std::string_view scheme) {
  const auto found = std::ranges::find(words.formats, scheme, &UrlWords::FormatWord::scheme);
  return found == words.formats.end() ? nullptr : &*found;
}

std::string without_slashes(std::string_view path) {
  while (path.starts_with('/')) path.remove_prefix(1);
  while (path.ends_with('/')) path.remove_suffix(1);
  return std::string(path);
}

void replace_all(std::string& text, const std::string& secret, std::string_view shown) {
  for (std::size_t at = 0; (at = text.find(secret, at)) != text.npos; at += shown.size())
    text.replace(at, secret.size(), shown);
}

/// With `...` in place of what is before the `@` of a host, and of a query.
std::string without_secrets(std::string text, const StoreUrl& url) {
  if (!url.query.empty()) replace_all(text, "?" + url.query, "?...");
  if (!url.userinfo.empty()) replace_all(text, "//" + url.userinfo + "@", "//...@");
  return text;
}

Error unknown_scheme(std::string_view text, const std::string& scheme, const UrlWords& words) {
  std::vector<std::string_view> known(words.stores.begin(), words.stores.end());
  known.insert(known.end(), words.layers.begin(), words.layers.end());
  std::string names;
  for (const std::string_view each : known) names += ", " + std::string(each) + ":";
  for (const auto& each : words.formats) known.push_back(each.scheme);
  return unsupported("no store for '" + shown_name(text).substr(0, 200) + "'; tried\n  a path: it does not exist\n" +
                     "  the scheme '" + scheme + "': known are plain paths" + names + did_you_mean(scheme, known));
}

/// Text without its fragment, which may also be in front: `[mode=zarr]path`.
Result<std::string_view> take_fragment(std::string_view text, const UrlWords& words, StoreUrl& url) {
  if (words.is_fragment == nullptr) return text;
  if (const std::size_t end = text.find(']'); text.starts_with('[') && end != text.npos) {
    SHERD_TRY(in_front, words.is_fragment(text.substr(1, end - 1), false));
    if (in_front) {
      url.fragment = text.substr(1, end - 1);
      text.remove_prefix(end + 1);
    }
  }
  if (const std::size_t hash = text.rfind('#'); hash != text.npos) {
    const std::string_view after = text.substr(hash + 1);
    SHERD_TRY(behind, words.is_fragment(after, is_url(text)));
    if (behind) {
      url.fragment += (url.fragment.empty() || after.empty() ? "" : "&") + std::string(after);
      text = text.substr(0, hash);
    }
  }
  if (url.fragment.size() > kMaxFragment)
    return invalid_argument("the fragment of a URL is longer than " + std::to_string(kMaxFragment) + " bytes");
  return text;
}

/// `scheme:path` or `scheme://path`, of a layer or a format.
struct Part {
  std::string scheme;
  std::string_view rest;
};
Part part_of(std::string_view text) {
  Part part{scheme_of(text), text};
  if (part.scheme.empty()) return part;
  part.rest.remove_prefix(part.scheme.size() + 1);
  if (part.rest.starts_with("//")) part.rest.remove_prefix(2);
  return part;
}

/// Whether a text is a path although it looks like more: it exists, or is below something that does.
bool is_existing_path(std::string_view text) {
  if (os::exists(std::string(text).c_str())) return true;
  const std::size_t sign = std::min({text.find('|'), text.find("::"), text.find('#')});
  for (std::size_t end = text.find('/', sign); end < text.size(); end = text.find('/', end + 1))
    if (os::exists(std::string(text.substr(0, end)).c_str())) return true;
  return false;
}

class Parser {
 public:
  explicit Parser(const UrlWords& words) : words_(words) {}

  Result<StoreUrl> parse(std::string_view text) {
    if (text.empty()) return invalid_argument("the path of a store is empty");
    if (text.find('\0') != text.npos) return invalid_argument("the path of a store contains a NUL byte");
    StoreUrl url{.shown = std::string(text)};
    if (is_existing_path(text)) {
      SHERD_TRY(set_path(text, url));
      return url;
    }
    SHERD_TRY(name, take_fragment(text, words_, url));
    if (name.empty()) return invalid_argument("the URL of a dataset has no path");
    url.shown = name;
    SHERD_TRY(parse_name(name, url));
    url.shown = without_secrets(std::move(url.shown), url);
    return url;
  }

 private:
  /// A name without a fragment.
  Result<void> parse_name(std::string_view text, StoreUrl& url) {  // NOLINT(misc-no-recursion): text gets shorter
    if (is_existing_path(text)) return set_path(text, url);
    if (const std::size_t colons = text.find("::"); colons != text.npos) {
      SHERD_TRY(is_chain, parse_chain(text.substr(0, colons), text.substr(colons + 2), url));
      if (is_chain) return {};
    }
    if (const std::size_t bar = text.rfind('|'); bar != text.npos) {
      SHERD_TRY(is_part, parse_part(text.substr(0, bar), text.substr(bar + 1), url));
      if (is_part) return {};
    }
    const Part part = part_of(text);
    if (is_url(text) && !has(words_.stores, part.scheme)) {
      const auto* const format = format_word(words_, part.scheme);
      if (format == nullptr || part.rest.empty()) return unknown_scheme(text, part.scheme, words_);
      SHERD_TRY(set_format(*format, url));
      return parse_name(part.rest, url);
    }
    return has(words_.stores, part.scheme) ? parse_base(text, part.scheme, url) : set_path(text, url);
  }

  /// `inner::outer`.
  Result<bool> parse_chain(std::string_view inner, std::string_view outer,
                           StoreUrl& url) {  // NOLINT(misc-no-recursion)
    Part part = part_of(inner);
    if (part.scheme.empty()) part = {std::string(inner), {}};
    if (!has(words_.layers, part.scheme)) {
      if (!is_url(outer) && !os::exists(std::string(outer).c_str())) return false;
      return unknown_scheme(std::string(inner) + "::" + std::string(outer), part.scheme, words_);
    }
    SHERD_TRY(parse_name(outer, url));
    return add_layer(part, url);
  }

  /// `outer|scheme:path`.
  Result<bool> parse_part(std::string_view outer, std::string_view inner, StoreUrl& url) {  // NOLINT(misc-no-recursion)
    const Part part = part_of(inner);
    const auto* const format = format_word(words_, part.scheme);
    if (!has(words_.layers, part.scheme) && format == nullptr) {
      const std::string_view last = outer.substr(std::min(outer.size(), outer.rfind('|') + 1));
      const bool is_pipeline = outer.find('|') != outer.npos && has(words_.layers, part_of(last).scheme);
      const bool is_outer = is_pipeline || is_url(outer) || os::exists(std::string(outer).c_str());
      if (part.scheme.empty() || !is_outer) return false;
      return unknown_scheme(std::string(outer) + "|" + std::string(inner), part.scheme, words_);
    }
    if (outer.empty()) return invalid_argument("nothing comes before '|" + std::string(inner) + "'");
    if (format == nullptr) {
      SHERD_TRY(parse_name(outer, url));
      return add_layer(part, url);
    }
    SHERD_TRY(set_format(*format, url));
    SHERD_TRY(parse_name(outer, url));
    return add_path(part.rest, url);
  }

  Result<bool> add_layer(const Part& part, StoreUrl& url) const {
    SHERD_TRY(path, percent_decode(part.rest));
    url.layers.push_back({part.scheme, without_slashes(path)});
    return true;
  }

  /// The path of a node in what the name has so far.
  static Result<bool> add_path(std::string_view path, StoreUrl& url) {
    SHERD_TRY(decoded, percent_decode(path));
    const std::string inner = without_slashes(decoded);
    if (inner.empty()) return true;
    std::string& whole = url.layers.empty() ? url.path : url.layers.back().path;
    whole += (whole.empty() || whole.ends_with('/') ? "" : "/") + inner;
    return true;
  }

  static Result<void> set_format(const UrlWords::FormatWord& word, StoreUrl& url) {
    if (!url.format.empty() && url.format != word.format)
      return invalid_argument("names two formats, " + url.format + " and " + std::string(word.format));
    url.format = word.format;
    return {};
  }

  static Result<void> set_path(std::string_view path, StoreUrl& url) {
    url.scheme = "file";
    url.path = path;
    return {};
  }

  /// RFC 3986, and RFC 8089 for files.
  static Result<void> parse_base(std::string_view text, const std::string& scheme, StoreUrl& url) {
    if (scheme == "file") {
      SHERD_TRY(path, file_path(text));
      return set_path(path, url);
    }
    url.scheme = scheme;
    std::string_view rest = text.substr(scheme.size() + 1);
    if (const std::size_t question = rest.find('?'); question != rest.npos) {
      url.query = rest.substr(question + 1);
      rest = rest.substr(0, question);
    }
    if (rest.starts_with("//")) {
      rest.remove_prefix(2);
      const std::size_t slash = std::min(rest.find('/'), rest.size());
      SHERD_TRY(parse_authority(rest.substr(0, slash), url));
      rest.remove_prefix(slash);
    }
    url.path = rest;
    return {};
  }

  static Result<void> parse_authority(std::string_view text, StoreUrl& url) {
    if (const std::size_t at = text.rfind('@'); at != text.npos) {
      url.userinfo = text.substr(0, at);
      text.remove_prefix(at + 1);
    }
    const std::size_t colon = text.rfind(':');
    if (colon != text.npos && text.find(']', colon) == text.npos) {  // not inside [::1]
      url.port = text.substr(colon + 1);
      if (!std::ranges::all_of(url.port, is_digit))
        return invalid_argument("the port of a URL is not a number; in a password '/' is written %2F");
      text = text.substr(0, colon);
    }
    url.host = text;
    return {};
  }

  const UrlWords& words_;
};

}  // namespace

std::string with_hidden_query(std::string store_url) {
  const std::size_t layers = std::min(store_url.find('|'), store_url.size());
  return store_url.insert(layers, "?" + std::string(kHiddenQuery));
}

std::string shown_name(std::string_view text) {
  std::string shown;
  for (std::size_t slashes = 0; (slashes = text.find("://")) != text.npos;) {
    const std::size_t host = slashes + 3;
    const std::size_t at = text.substr(0, text.find_first_of("/?|#", host)).rfind('@');
    const bool has_user = at != text.npos && at >= host;
    shown += std::string(text.substr(0, host)) + (has_user ? "..." : "");
    text.remove_prefix(has_user ? at : host);
  }
  const std::size_t question = shown.empty() ? text.npos : text.find('?');
  return shown + std::string(text.substr(0, question)) + (question == text.npos ? "" : "?...");
}

Result<StoreUrl> parse_store_url(std::string_view text, const UrlWords& words) { return Parser(words).parse(text); }

std::optional<ObjectUrl> parent_of(StoreUrl url) {
  std::string& path = url.layers.empty() ? url.path : url.layers.back().path;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  const std::size_t slash = path.rfind('/');
  std::string key = path.substr(slash == path.npos ? 0 : slash + 1);
  if (key.empty()) return std::nullopt;
  if (url.layers.empty() && url.scheme != "file")
    if (auto decoded = percent_decode(key)) key = *std::move(decoded);
  if (slash == path.npos)
    path = url.layers.empty() && url.scheme == "file" ? "." : "";
  else
    path.resize(std::max<std::size_t>(slash, url.layers.empty() ? 1 : 0));
  return ObjectUrl{std::move(url), std::move(key)};
}

}  // namespace sherd
