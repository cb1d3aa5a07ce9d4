#include "remote/range_transfer.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "remote/address.hpp"
#include "remote/reply_block.hpp"

namespace sherd::remote {
namespace {

/// A server without ranges sends the whole object, which is accepted up to this size.
constexpr std::uint64_t kMaxIgnoredRange = std::uint64_t{16} << 20;
/// Of a body whose size the server does not tell, because it is compressed or chunked.
constexpr std::uint64_t kMaxUnsized = std::uint64_t{2} << 30;
constexpr std::uint64_t kFirstGrowth = std::uint64_t{64} << 10;
constexpr unsigned kMaxRedirects = 5;

/// `bytes 0-9/100`, or `bytes */100` of a range that cannot be satisfied.
struct ContentRange {
  std::uint64_t first = 0, last = 0, total = 0;
};
std::optional<ContentRange> content_range(const Headers& headers, bool is_satisfied) {
  const std::string text = header_value(headers, "Content-Range");
  const std::string_view view = text;
  const std::size_t slash = view.find('/'), minus = view.find('-');
  if (!view.starts_with("bytes ") || slash == view.npos) return std::nullopt;
  const auto total = parse_number<std::uint64_t>(view.substr(slash + 1));
  if (!is_satisfied) return total ? std::optional(ContentRange{.total = *total}) : std::nullopt;
  if (minus == view.npos || minus > slash) return std::nullopt;
  const auto first = parse_number<std::uint64_t>(view.substr(6, minus - 6)),
             last = parse_number<std::uint64_t>(view.substr(minus + 1, slash - minus - 1));
  if (!first || !last || !total || *last < *first || *last >= *total) return std::nullopt;
  return ContentRange{*first, *last, *total};
}

bool is_encoded(const Headers& headers) {
  const std::string encoding = header_value(headers, "Content-Encoding");
  return !encoding.empty() && encoding != "identity" && encoding != "aws-chunked";
}

Version version_of(const Headers& headers, std::uint64_t size) {
  return {.etag = header_value(headers, "ETag"), .modified = header_value(headers, "Last-Modified"), .size = size};
}

std::string range_text(std::uint64_t offset, std::uint64_t length) {
  const auto end = length == 0 ? std::nullopt : checked_add(offset, length);
  return "bytes=" + std::to_string(offset) + "-" + (end ? std::to_string(*end - 1) : "");
}

}  // namespace

std::span<const std::byte> RangeTransfer::bytes() const noexcept {
  if (!into_.empty()) return into_.first(received_);
  return buffer_.span().subspan(skipped_, received_);
}

Result<Transfer::Attempt> RangeTransfer::attempt() {
  const bool resumes = is_sized_ && has_ranges_ && received_ > 0;
  if (!resumes) start_over();
  Headers headers;
  if (resumes)
    headers.push_back({"Range", range_text(first_ + received_, wanted_ - received_)});
  else if (has_ranges_ && part_.kind == Part::Kind::suffix)
    headers.push_back({"Range", "bytes=-" + std::to_string(part_.length)});
  else if (has_ranges_ && part_.kind != Part::Kind::whole)
    headers.push_back({"Range", range_text(part_.offset, part_.kind == Part::Kind::head ? 1 : part_.length)});
  asks_range_ = !headers.empty();
  const bool is_strong = version_ && !version_->etag.empty() && !version_->etag.starts_with("W/");
  asks_version_ = is_strong && server_.service->compares_versions();
  if (asks_version_) headers.push_back({"If-Match", version_->etag});
  SHERD_TRY(addressed, server_.service->request(key_, std::move(headers), location_));
  url_ = addressed.request.url;
  return Attempt{std::move(addressed.request), {.decodes = !asks_range_, .is_trusted = addressed.is_trusted}};
}

void RangeTransfer::start_over() noexcept {
  if (!is_pinned_) version_.reset();
  release_block();
  is_sized_ = false;
  received_ = skipped_ = 0;
}

void RangeTransfer::release_block() noexcept {
  if (block_) into_ = {};
  block_.reset();
}

Result<Transfer::Wants> RangeTransfer::accept(const HttpHead& head) {
  has_changed_ = false;
  if (head.status == 200 || head.status == 206) server_.service->saw(key_, head.headers);
  if (head.status == 206) return accept_part(head);
  if (head.status == 200) return accept_whole(head);
  return Wants::verdict;
}

/// Whether a reply is of another version than earlier ones. Without version yet, this is it.
bool RangeTransfer::differs(Version version) {
  if (!version_)
    version_ = std::move(version);
  else
    has_changed_ = !version_->is_like(version);
  return has_changed_;
}

/// An object with a Content-Encoding can be decoded only as a whole.
Result<Transfer::Wants> RangeTransfer::not_in_parts() {
  has_ranges_ = has_ranges_ && is_pinned_;
  has_changed_ = true;
  return Wants::verdict;
}

Result<Transfer::Wants> RangeTransfer::accept_part(const HttpHead& head) {
  const auto range = content_range(head.headers, true);
  if (!asks_range_ || !range) return io_error("the server sent a part of the object, and does not say which");
  if (is_encoded(head.headers)) return not_in_parts();
  if (differs(version_of(head.headers, range->total))) return Wants::verdict;
  const bool resumes = received_ > 0;
  std::uint64_t first = part_.offset, length = part_.kind == Part::Kind::head ? 1 : part_.length;
  if (resumes) {
    first = first_ + received_;
    length = wanted_ - received_;
  } else if (part_.kind == Part::Kind::suffix) {
    first = range->total - std::min(length, range->total);
  }
  length = first < range->total ? std::min(length, range->total - first) : 0;
  if (range->first != first || range->last - range->first + 1 != length)
    return io_error("the server sent the bytes " + std::to_string(range->first) + "-" + std::to_string(range->last) +
                    " instead of " + std::to_string(length) + " at " + std::to_string(first));
  if (part_.kind == Part::Kind::head) return Wants::nothing;
  return resumes ? Wants::body : begin(first, length);
}

/// The whole object; also of a server that has no ranges.
Result<Transfer::Wants> RangeTransfer::accept_whole(const HttpHead& head) {
  const auto size = parse_number<std::uint64_t>(header_value(head.headers, "Content-Length"));
  const bool is_decoded = is_encoded(head.headers);
  if (is_decoded && asks_range_) return not_in_parts();  // libcurl decodes only what was asked for so
  if (!size && find_header(head.headers, "Transfer-Encoding") == nullptr)
    return io_error("the server's reply has no length, so a cut one would look like a whole one");
  Version version = version_of(head.headers, size.value_or(version_ ? version_->size : 0));
  if (differs(std::move(version))) return Wants::verdict;
  if (size && !is_decoded && part_.kind == Part::Kind::whole) return begin(0, std::min(*size, part_.length));
  if (size && !is_decoded && part_.kind == Part::Kind::head) return Wants::nothing;
  has_ranges_ = part_.kind == Part::Kind::whole;
  if (size.value_or(0) > unsized_limit())
    return unsupported("the server has no ranges of this object, and sends all of its " + std::to_string(*size) +
                       " bytes");
  release_block();
  is_sized_ = false;
  received_ = 0;
  return Wants::body;
}

std::uint64_t RangeTransfer::unsized_limit() const noexcept {
  return part_.kind == Part::Kind::whole ? std::clamp(part_.length, kMaxIgnoredRange, kMaxUnsized) : kMaxIgnoredRange;
}

Result<Transfer::Wants> RangeTransfer::begin(std::uint64_t first, std::uint64_t length) {
  is_sized_ = true;
  first_ = first;
  wanted_ = length;
  received_ = 0;
  if (into_.empty()) {
    SHERD_TRY(block, reply_block(length));
    block_ = std::move(block);
    into_ = {block_.get(), length};
  }
  return Wants::body;
}

Result<bool> RangeTransfer::receive(std::span<const std::byte> bytes) {
  if (!is_sized_) return receive_unsized(bytes);
  const std::size_t used = std::min<std::uint64_t>(bytes.size(), wanted_ - received_);
  if (used > 0) std::memcpy(into_.data() + received_, bytes.data(), used);
  received_ += used;
  return used == bytes.size();
}

/// Bytes whose number is unknown until the reply ends.
Result<bool> RangeTransfer::receive_unsized(std::span<const std::byte> bytes) {
  if (bytes.empty()) return true;
  if (bytes.size() > unsized_limit() - received_)
    return unsupported("the server sends more than " + std::to_string(unsized_limit()) + " bytes");
  if (received_ + bytes.size() > buffer_.size()) {
    const std::uint64_t size = std::max<std::uint64_t>({2 * buffer_.size(), received_ + bytes.size(), kFirstGrowth});
    SHERD_TRY(buffer_.grow(size));
  }
  std::memcpy(buffer_.data() + received_, bytes.data(), bytes.size());
  received_ += bytes.size();
  return true;
}

Verdict RangeTransfer::complete() {
  if (part_.kind == Part::Kind::head && has_ranges_) return {.next = Verdict::Next::done};
  if (is_sized_ && received_ < wanted_)
    return {.next = Verdict::Next::later, .error = io_error("the server's reply ended early")};
  if (!is_sized_) {
    if (is_pinned_ && received_ != version_->size) return changed();
    version_->size = received_;
    buffer_.truncate(received_);
    has_whole_ = true;
    take_part();
  }
  return {.next = Verdict::Next::done};
}

/// The part of the whole object that is in the buffer.
void RangeTransfer::take_part() {
  const std::uint64_t size = received_;
  const std::uint64_t wanted = part_.kind == Part::Kind::head ? 0 : part_.length;
  first_ = part_.kind == Part::Kind::suffix ? size - std::min(wanted, size) : std::min(part_.offset, size);
  received_ = std::min(wanted, size - first_);
  skipped_ = first_;
  if (!into_.empty() && received_ > 0) std::memcpy(into_.data(), buffer_.data() + skipped_, received_);
}

Verdict RangeTransfer::changed() {
  if (is_pinned_) return {.next = Verdict::Next::fails, .error = conflict("the object was replaced while it was read")};
  start_over();
  return {.next = Verdict::Next::again, .error = conflict("the object was replaced again and again while it was read")};
}

Verdict RangeTransfer::judge(const HttpReply& reply) {
  if (has_changed_) return changed();
  if (reply.status == 416 && asks_range_) return judge_no_range(reply);
  if (reply.status == 412 && asks_version_) return changed();
  Verdict verdict = server_.service->judge(reply, Access::read);
  const auto& missing = server_.connection.missing_statuses;
  if (std::ranges::find(missing, reply.status) != missing.end()) verdict = {.next = Verdict::Next::absent};
  if (verdict.next == Verdict::Next::absent && is_pinned_) return changed();
  if (verdict.next == Verdict::Next::elsewhere) {
    if (++redirects_ > kMaxRedirects)
      return {.error = io_error("the server redirects more than " + std::to_string(kMaxRedirects) + " times")};
    auto location = redirected(url_, verdict.location);
    if (!location) return {.error = std::move(location).error()};
    location_ = *std::move(location);
  }
  return verdict;
}

/// The part begins beyond the end, which an empty object's does.
Verdict RangeTransfer::judge_no_range(const HttpReply& reply) {
  const auto range = content_range(reply.headers, false);
  if (is_pinned_) return changed();
  if (!range) {
    has_ranges_ = false;
    return {.next = Verdict::Next::again, .error = io_error("the server refused a range (status 416)")};
  }
  if (part_.kind != Part::Kind::range && range->total > 0)
    return {.error = io_error("the server refused a range (status 416)")};
  if (range->total == 0 && header_value(reply.headers, "ETag").empty() && server_.service->compares_versions()) {
    has_ranges_ = false;  // a reply of success names the version
    return {.next = Verdict::Next::elsewhere};
  }
  version_ = version_of(reply.headers, range->total);
  is_sized_ = true;
  first_ = range->total;
  received_ = 0;
  return {.next = Verdict::Next::done};
}

}  // namespace sherd::remote
