// A bucket on a FaultProxy.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "src/remote/s3_store.hpp"
#include "tests/remote/fault_proxy.hpp"

namespace sherd::remote {

using BucketOptions = std::map<std::string, std::string>;

/// The store s3://b/p at the proxy, with credentials unless the configuration has a function for them.
inline std::shared_ptr<Store> bucket_at(const FaultProxy& proxy, BucketOptions options = {}, Config config = {}) {
  for (const auto& [name, value] : BucketOptions{
           {"endpoint", proxy.url()}, {"region", "us-east-1"}, {"key", "AK"}, {"secret", "SK"}, {"attempts", "3"}})
    options.emplace(name, value);
  if (config.credentials) options.erase("key"), options.erase("secret");
  config.storage_options = std::move(options);
  return s3_store({.scheme = "s3", .host = "b", .path = "/p", .shown = "s3://b/p"}, config).value();
}

inline std::string error_document(const std::string& code, const std::string& more = "") {
  return "<?xml version=\"1.0\"?><Error><Code>" + code + "</Code><Message>why</Message>" + more + "</Error>";
}

}  // namespace sherd::remote
