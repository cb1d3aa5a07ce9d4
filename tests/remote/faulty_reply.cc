#include "tests/remote/faulty_reply.hpp"

#include <libdeflate.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

namespace sherd::remote {
namespace {

constexpr std::size_t piece_bytes = std::size_t{256} << 10;

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

std::string filled(std::string text, const ServedRequest& request, std::uint64_t count) {
  replace_all(text, "{target}", request.url);
  replace_all(text, "{count}", std::to_string(count));
  return text;
}

void set_header(Headers& headers, const std::string& name, const std::string& value) {
  std::erase_if(headers, [&](const Header& each) { return find_header({each}, name) != nullptr; });
  if (!value.empty()) headers.push_back({name, value});
}

std::string compressed(std::string_view bytes) {
  libdeflate_compressor* compressor = ::libdeflate_alloc_compressor(1);
  std::string packed(::libdeflate_gzip_compress_bound(compressor, bytes.size()), '\0');
  packed.resize(::libdeflate_gzip_compress(compressor, bytes.data(), bytes.size(), packed.data(), packed.size()));
  ::libdeflate_free_compressor(compressor);
  return packed;
}

std::string endless_page(std::uint64_t count) {
  const std::string key = "k" + std::to_string(count);
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ListBucketResult "
         "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
         "<KeyCount>1</KeyCount><IsTruncated>true</IsTruncated><NextContinuationToken>t" +
         std::to_string(count) + "</NextContinuationToken><Contents><Key>" + key +
         "</Key><ETag>\"e\"</ETag><Size>1</Size></Contents></ListBucketResult>";
}

void amend_by(ServedReply& reply, const Fault& fault, const ServedRequest& request, std::uint64_t count) {
  if (fault.gzip && reply.has_body) {
    const auto packed = compressed(std::string_view(*reply.bytes).substr(reply.first, reply.length));
    reply.bytes = std::make_shared<const std::string>(packed);
    reply.first = 0;
    reply.length = packed.size();
    set_header(reply.headers, "Content-Encoding", "gzip");
  }
  if (fault.changes) {
    set_header(reply.headers, "ETag", "\"changed-" + std::to_string(count) + "\"");
    set_header(reply.headers, "Last-Modified", "Thu, 01 Jan 1970 00:00:" + std::to_string(10 + count % 50) + " GMT");
  }
  for (const Header& each : fault.headers) set_header(reply.headers, each.name, filled(each.value, request, count));
  for (std::uint64_t left = fault.header_bytes; left > 0; left -= std::min<std::uint64_t>(left, 4096))
    reply.headers.push_back({"X-Padding", std::string(std::min<std::uint64_t>(left, 4096), 'x')});
}

}  // namespace

std::optional<ServedReply> replacement(const std::vector<Fault>& faults, const ServedRequest& request,
                                       std::uint64_t count) {
  std::optional<ServedReply> reply;
  for (const Fault& fault : faults) {
    if (fault.status != 0) reply = reply_of(fault.status, filled(fault.body, request, count));
    if (fault.endless_list) reply = reply_of(200, endless_page(count), {{"Content-Type", "application/xml"}});
  }
  if (reply && request.method == "HEAD") reply->has_body = false;
  return reply;
}

void amend(ServedReply& reply, const std::vector<Fault>& faults, const ServedRequest& request, std::uint64_t count) {
  for (const Fault& fault : faults) amend_by(reply, fault, request, count);
}

/// The faults of sending, together.
struct Sending::Manner {
  std::optional<std::uint64_t> cut_after = {};
  std::uint64_t missing = 0, surplus = 0, drip = 0;
  std::chrono::milliseconds drip_every{0};
  bool reset = false, chunked = false, unsized = false;

  explicit Manner(const std::vector<Fault>& faults) {
    for (const Fault& fault : faults) {
      if (fault.cut_after) cut_after = std::min(*fault.cut_after, cut_after.value_or(*fault.cut_after));
      missing += fault.missing;
      surplus += fault.surplus;
      if (fault.drip != 0) drip = fault.drip, drip_every = fault.drip_every;
      reset |= fault.reset;
      chunked |= fault.chunked;
      unsized |= fault.unsized;
    }
  }
};

bool Sending::send(const ServedReply& reply, const std::vector<Fault>& faults) {
  const Manner manner(faults);
  std::string head = "HTTP/1.1 " + std::to_string(reply.status) + " OK\r\n";
  for (const Header& each : reply.headers) head.append(each.name).append(": ").append(each.value).append("\r\n");
  const bool no_length = reply.status == 304 || reply.status == 204;
  if (manner.chunked)
    head += "Transfer-Encoding: chunked\r\n";
  else if (!manner.unsized && !no_length)
    head += "Content-Length: " + std::to_string(reply.length + manner.missing) + "\r\n";
  head += "\r\n";
  const bool bodiless = no_length || !reply.has_body;
  const std::uint64_t length = bodiless ? 0 : std::min(reply.length, manner.cut_after.value_or(reply.length));
  is_source_clean = !source || bodiless || length == reply.length;
  const bool is_cut = !bodiless && (length < reply.length || manner.missing != 0);
  if (!client.send(head, length > 0) || !send_body(reply, length, manner)) return is_source_clean = false;
  if (is_cut && manner.reset) client.reset_at_close();
  if (is_cut || bodiless) return !is_cut;
  if (manner.chunked && !client.send("0\r\n\r\n")) return false;
  return (manner.surplus == 0 || client.send(std::string(manner.surplus, '!'))) && !manner.unsized;
}

bool Sending::send_body(const ServedReply& reply, std::uint64_t length, const Manner& manner) {
  if (!source) return send_piece(std::string_view(*reply.bytes).substr(reply.first, length), manner);
  thread_local const auto piece = std::make_unique<char[]>(piece_bytes);
  while (length > 0) {
    const std::size_t got = source->read_some({piece.get(), std::min<std::size_t>(length, piece_bytes)});
    if (got == 0 || !send_piece({piece.get(), got}, manner)) return false;
    length -= got;
  }
  return true;
}

bool Sending::send_piece(std::string_view piece, const Manner& manner) {
  while (!piece.empty()) {
    const std::string_view next = piece.substr(0, manner.drip != 0 ? manner.drip : piece.size());
    if (manner.drip != 0 && !wait(manner.drip_every)) return false;
    if (pass && !pass(next.size())) return false;
    char size[32];
    if (manner.chunked &&
        !client.send({size, static_cast<std::size_t>(std::snprintf(size, sizeof size, "%zx\r\n", next.size()))}, true))
      return false;
    if (!client.send(next) || (manner.chunked && !client.send("\r\n"))) return false;
    piece.remove_prefix(next.size());
    sent += next.size();
  }
  return true;
}

}  // namespace sherd::remote
