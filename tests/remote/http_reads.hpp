// Reads of an http store from a server that does wrong what a test says.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/remote/http_service.hpp"
#include "tests/remote/fault_proxy.hpp"

namespace sherd::remote {

using Options = std::map<std::string, std::string>;

inline std::shared_ptr<Store> store_at(const FaultProxy& proxy, const std::string& path = "/b", Options options = {},
                                       const std::string& scheme = "http") {
  StoreUrl url{.scheme = scheme, .host = "127.0.0.1", .port = std::to_string(proxy.port()), .path = path};
  options.emplace("netrc", "false");
  return http_store(url, {.storage_options = std::move(options)}).value();
}

inline std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// One read, and what came of it.
struct Outcome {
  std::string text = {};  ///< of the bytes; "absent", or the error
  std::uint64_t offset = 0;
  unsigned requests = 0, retries = 0;
  std::shared_ptr<ByteSource> source = {};
  std::optional<Error> error = {};
};
inline Outcome read(Store& store, const ReadRequest& request) {
  Outcome outcome;
  const auto done = store.read_all({&request, 1}, [&](std::size_t, Result<ReadReply> reply) -> Result<void> {
    if (!reply) {
      outcome.error = reply.error();
      outcome.text = reply.error().text();
      return {};
    }
    outcome = {.text = reply->source ? text_of(reply->bytes) : "absent",
               .offset = reply->offset,
               .requests = reply->requests,
               .retries = reply->retries,
               .source = reply->source};
    return {};
  });
  if (!done) {
    outcome.error = done.error();
    outcome.text = done.error().text();
  }
  return outcome;
}

inline std::string range_of(const ServedRequest& request) {
  const std::string* const range = find_header(request.headers, "Range");
  return range != nullptr ? *range : "";
}

inline std::vector<std::string> ranges_of(const FaultProxy& proxy) {
  std::vector<std::string> ranges;
  for (const ServedRequest& request : proxy.requests()) ranges.push_back(range_of(request));
  return ranges;
}

inline std::string digits(std::size_t size) {
  std::string text(size, '0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('0' + (i * 7 + i / 10) % 10);
  return text;
}

}  // namespace sherd::remote
