#include "tests/remote/memory_objects.hpp"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <optional>
#include <utility>

namespace sherd::remote {
namespace {

std::string decoded(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    unsigned value = 0;
    if (text[at] == '%' && at + 2 < text.size() &&
        std::from_chars(&text[at + 1], &text[at + 1] + 2, value, 16).ptr == &text[at + 1] + 2) {
      plain += static_cast<char>(value);
      at += 2;
    } else {
      plain += text[at];
    }
  }
  return plain;
}

std::string encoded(std::string_view text) {
  std::string done;
  for (const char each : text) {
    if (std::isalnum(static_cast<unsigned char>(each)) || std::string_view("-_.~/").find(each) != std::string::npos) {
      done += each;
    } else {
      const char* digits = "0123456789ABCDEF";
      const auto byte = static_cast<unsigned char>(each);
      done += {'%', digits[byte >> 4], digits[byte & 15]};
    }
  }
  return done;
}

std::string escaped(std::string_view text) {
  std::string done;
  for (const char each : text) {
    if (each == '&' || each == '<' || each == '>')
      done += each == '&' ? "&amp;" : each == '<' ? "&lt;" : "&gt;";
    else
      done += each;
  }
  return done;
}

std::string date_of(std::uint64_t version) {
  const auto seconds = static_cast<std::time_t>(1600000000 + version);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[64];
  return {text, std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts)};
}

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// The first byte and the number of bytes; no bytes if there are none of them. None: the whole object.
std::optional<std::pair<std::uint64_t, std::uint64_t>> range_of(std::string_view text, std::uint64_t size) {
  if (!text.starts_with("bytes=")) return {};
  text.remove_prefix(6);
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return {};
  const auto from = number(text.substr(0, dash)), to = number(text.substr(dash + 1));
  if (!from && !to) return {};
  if (!from) return {{size - std::min(*to, size), std::min(*to, size)}};
  if (*from >= size) return {{0, 0}};
  return {{*from, std::min(to.value_or(size - 1), size - 1) - *from + 1}};
}

bool names(const std::string& tags, const std::string& etag) { return tags == "*" || tags.find(etag) != tags.npos; }

std::map<std::string, std::string> parameters(std::string_view query) {
  std::map<std::string, std::string> found;
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), part.size() + 1));
    const std::size_t equals = std::min(part.find('='), part.size());
    found[decoded(part.substr(0, equals))] = decoded(part.substr(std::min(equals + 1, part.size())));
  }
  return found;
}

}  // namespace

ServedReply reply_of(int status, std::string body, Headers headers) {
  const std::uint64_t length = body.size();
  return {.status = status,
          .headers = std::move(headers),
          .bytes = std::make_shared<const std::string>(std::move(body)),
          .length = length};
}

std::string MemoryObjects::put(const std::string& key, std::string bytes) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t version = ++versions_;
  std::string etag = "\"v" + std::to_string(version) + "\"";
  objects_[key] = {std::make_shared<const std::string>(std::move(bytes)), etag, date_of(version)};
  return etag;
}

void MemoryObjects::erase(const std::string& key) {
  const std::lock_guard lock(mutex_);
  objects_.erase(key);
}

ServedReply MemoryObjects::answer(const ServedRequest& request) {
  const std::string_view target = request.url;
  const std::size_t mark = std::min(target.find('?'), target.size());
  const std::string key = decoded(target.substr(std::min<std::size_t>(1, mark), mark - std::min<std::size_t>(1, mark)));
  const std::string_view query = target.substr(std::min(mark + 1, target.size()));
  if (request.method == "PUT") return reply_of(200, "", {{"ETag", put(key, request.body)}});
  if (request.method == "DELETE") {
    erase(key);
    return reply_of(204, "");
  }
  if (request.method != "GET" && request.method != "HEAD") return reply_of(405, "");
  if (query.find("list-type=2") != std::string_view::npos) return list(key.substr(0, key.find('/')), query);
  std::optional<Object> object;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = objects_.find(key); found != objects_.end()) object = found->second;
  }
  if (!object) return reply_of(404, "<Error><Code>NoSuchKey</Code></Error>", {{"Content-Type", "application/xml"}});
  return read(request, *object);
}

ServedReply MemoryObjects::read(const ServedRequest& request, const Object& object) const {
  const Headers validators = {{"ETag", object.etag}, {"Last-Modified", object.modified}, {"Accept-Ranges", "bytes"}};
  const std::string* match = find_header(request.headers, "If-Match");
  if (match && !names(*match, object.etag)) return reply_of(412, "", validators);
  const std::string* none = find_header(request.headers, "If-None-Match");
  if (none && names(*none, object.etag)) return reply_of(304, "", validators);
  const std::uint64_t size = object.bytes->size();
  ServedReply reply = {.headers = validators, .bytes = object.bytes, .length = size};
  const std::string* wanted = find_header(request.headers, "Range");
  if (const auto range = wanted ? range_of(*wanted, size) : std::nullopt) {
    if (range->second == 0) return reply_of(416, "", {{"Content-Range", "bytes */" + std::to_string(size)}});
    reply.status = 206;
    std::tie(reply.first, reply.length) = *range;
    const std::uint64_t last = reply.first + reply.length - 1;
    reply.headers.push_back({"Content-Range", "bytes " + std::to_string(reply.first) + "-" + std::to_string(last) +
                                                  "/" + std::to_string(size)});
  }
  reply.has_body = request.method != "HEAD";
  return reply;
}

ServedReply MemoryObjects::list(std::string_view bucket, std::string_view query) {
  auto asked = parameters(query);
  const std::string start = std::string(bucket) + "/", delimiter = asked["delimiter"], prefix = asked["prefix"];
  const auto spelled = [&](const std::string& key) {
    return asked["encoding-type"] == "url" ? encoded(key) : escaped(key);
  };
  const std::string after = asked.contains("continuation-token") ? asked["continuation-token"] : asked["start-after"];
  const std::uint64_t most = number(asked["max-keys"]).value_or(1000);
  std::string contents, last, folder;
  std::uint64_t count = 0;
  bool more = false;
  const std::lock_guard lock(mutex_);
  for (auto each = objects_.lower_bound(start + std::max(prefix, after)); each != objects_.end(); ++each) {
    if (!each->first.starts_with(start + prefix)) break;
    const std::string key = each->first.substr(start.size());
    const std::size_t end = delimiter.empty() ? key.npos : key.find(delimiter, prefix.size());
    const std::string name = end == key.npos ? key : key.substr(0, end + delimiter.size());
    if (name <= after || name == folder) continue;
    if ((more = count == most)) break;
    ++count;
    last = name;
    if (end != key.npos) {
      folder = name;
      contents += "<CommonPrefixes><Prefix>" + spelled(name) + "</Prefix></CommonPrefixes>";
    } else {
      contents += "<Contents><Key>" + spelled(key) + "</Key><ETag>" + escaped(each->second.etag) + "</ETag><Size>" +
                  std::to_string(each->second.bytes->size()) + "</Size></Contents>";
    }
  }
  std::string text =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ListBucketResult "
      "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
  text +=
      "<KeyCount>" + std::to_string(count) + "</KeyCount><IsTruncated>" + (more ? "true" : "false") + "</IsTruncated>";
  if (more) text += "<NextContinuationToken>" + escaped(last) + "</NextContinuationToken>";
  return reply_of(200, text + contents + "</ListBucketResult>", {{"Content-Type", "application/xml"}});
}

}  // namespace sherd::remote
