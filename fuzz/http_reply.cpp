// Any statuses, headers and bodies as replies to the read of a part of an object, one after the other: the read ends or
// is repeated, its bytes are in the part that was asked for, and a pinned version is never another one. A reply is a
// line `STATUS`, lines `Name: value`, an empty line, and a body up to a byte 0.
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "remote/range_transfer.hpp"

namespace {

using namespace sherd;
using namespace sherd::remote;

class Answers final : public Service {
 public:
  [[nodiscard]] const std::string& url() const noexcept override { return url_; }
  Result<Addressed> request(const std::string& key, Headers headers, const std::string& location) override {
    return Addressed{.request = {.url = location.empty() ? url_ + "/" + key : location, .headers = std::move(headers)}};
  }
  Verdict judge(const HttpReply& reply, Access /*access*/) override {
    const std::string* const location = find_header(reply.headers, "Location");
    if (reply.status / 100 == 3 && location != nullptr)
      return {.next = Verdict::Next::elsewhere, .location = *location};
    return judge_status(reply, {});
  }

 private:
  const std::string url_ = "http://a.example/b";
};

struct Reply {
  HttpHead head;
  std::string_view body;
};

std::string_view take(std::string_view& text, char end) {
  const std::size_t size = std::min(text.find(end), text.size());
  const std::string_view part = text.substr(0, size);
  text.remove_prefix(std::min(size + 1, text.size()));
  return part;
}

Reply next_reply(std::string_view& text) {
  std::string_view reply = take(text, '\0');
  Reply made;
  const std::string_view status = take(reply, '\n');
  std::from_chars(status.data(), status.data() + status.size(), made.head.status);
  for (std::string_view line = take(reply, '\n'); !line.empty(); line = take(reply, '\n')) {
    const std::string name(take(line, ':'));
    while (line.starts_with(' ')) line.remove_prefix(1);
    made.head.headers.push_back({name, std::string(line)});
  }
  made.body = reply;
  return made;
}

class Fed final : public RangeTransfer {
 public:
  using RangeTransfer::RangeTransfer;

  /// False if the transfer has ended. As Transfer and Transfers do with a reply.
  bool feed(const Reply& reply) {
    if (!attempt()) return false;
    const auto wants = accept(reply.head);
    if (!wants) return false;
    Verdict verdict;
    if (*wants == Wants::verdict) {
      verdict = judge({.status = reply.head.status, .headers = reply.head.headers, .body = std::string(reply.body)});
    } else {
      if (*wants == Wants::body) {
        const auto all = std::as_bytes(std::span(reply.body));
        const auto first = receive(all.first(all.size() / 2));
        if (!first.has_value()) return false;
        if (*first && !receive(all.subspan(all.size() / 2)).has_value()) return false;
      }
      verdict = complete();
    }
    is_done = verdict.next == Verdict::Next::done;
    return verdict.next == Verdict::Next::later || verdict.next == Verdict::Next::again ||
           verdict.next == Verdict::Next::elsewhere;
  }

  bool is_done = false;
};

void run(const Server& server, std::string_view replies, Part part, std::optional<Version> version, bool has_into) {
  std::array<std::byte, 64> room{};
  const std::span<std::byte> into = has_into ? std::span(room).first(part.length) : std::span<std::byte>();
  const std::string key = "k";
  Fed fed(server, key, part, version, into);
  for (int i = 0; i < 20 && !replies.empty(); ++i)
    if (!fed.feed(next_reply(replies))) break;
  if (!fed.is_done) return;
  if (version && !version->is_like(fed.version())) std::abort();
  if (part.kind == Part::Kind::head) return;
  if (fed.bytes().size() > part.length) std::abort();
  if (fed.offset() > fed.version().size || fed.bytes().size() > fed.version().size - fed.offset()) std::abort();
  if (part.kind == Part::Kind::range && !fed.bytes().empty() && fed.offset() != part.offset) std::abort();
  if (version && fed.bytes().size() != part.length) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Server server{std::make_shared<Answers>(), {}};
  std::string_view first = text;
  static_cast<void>(retry_after(next_reply(first).head.headers));
  const Version pinned{.etag = "\"e\"", .modified = "", .size = 10};
  for (const bool has_into : {false, true}) {
    run(server, text, {.kind = Part::Kind::range, .offset = 3, .length = 5}, std::nullopt, has_into);
    run(server, text, {.kind = Part::Kind::suffix, .length = 4}, std::nullopt, has_into);
    run(server, text, {.kind = Part::Kind::range, .offset = 3, .length = 5}, pinned, has_into);
  }
  run(server, text, {.kind = Part::Kind::whole, .length = 7}, std::nullopt, false);
  run(server, text, {.kind = Part::Kind::head}, std::nullopt, false);
  return 0;
}
