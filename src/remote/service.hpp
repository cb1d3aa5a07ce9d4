// What distinguishes one kind of server from another: how an object is named and the request for it signed, what its
// refusals mean, and how its objects are listed. Everything else is RemoteStore.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "remote/transfer.hpp"
#include "sherd/store.hpp"

namespace sherd::remote {

/// A page of a list.
struct ListPage {
  struct Object {
    std::string key;
    std::uint64_t size = 0;
    Generation generation = {};
    std::optional<std::chrono::system_clock::time_point> modified = {};
  };
  std::vector<Object> objects;
  std::vector<std::string> prefixes;  ///< each ends in `/`
  std::string next = {};              ///< where the next page begins; empty: there is none
};

/// What a request is for, which decides what a user can do about its refusal.
enum class Access : std::uint8_t { read, list, change };

/// Thread-safe.
class Service {
 public:
  virtual ~Service() = default;
  /// The store's URL for users, without secrets.
  [[nodiscard]] virtual const std::string& url() const noexcept = 0;
  /// Whether the URL has a query, which url() does not show.
  [[nodiscard]] virtual bool has_query() const noexcept { return false; }
  struct Addressed {
    HttpRequest request;
    bool is_trusted = true;  ///< the user named the host
  };
  /// A request for an object with these headers, signed. May ask for credentials first. `location`: where a redirect
  /// leads, or empty.
  virtual Result<Addressed> request(const std::string& key, Headers headers, const std::string& location) = 0;
  /// What a reply means that is no success. Learns from it what the next request needs, such as the region of a bucket.
  virtual Verdict judge(const HttpReply& reply, Access access) = 0;
  /// The headers of a reply with a version of an object.
  virtual void saw(const std::string& /*key*/, const Headers& /*headers*/) {}
  /// Whether requests name the version that they want (If-Match), so that another one is refused.
  [[nodiscard]] virtual bool compares_versions() const noexcept { return false; }
  /// This server one directory higher, and the name of the present directory there; nullopt at the root.
  struct Parent {
    std::shared_ptr<Service> service;
    std::string name;
  };
  [[nodiscard]] virtual std::optional<Parent> parent() const { return std::nullopt; }

  [[nodiscard]] virtual bool can_list() const noexcept { return false; }
  /// Whether lists are known to be in the order of the keys.
  [[nodiscard]] virtual bool sorts_lists() const { return false; }
  /// The request for a page of a list that begins at `from` (of the previous page, or empty).
  virtual Result<HttpRequest> list_request(const std::string& prefix, ListDepth depth, const std::string& from);
  virtual Result<ListPage> parse_list(const std::string& body, const std::string& prefix);
};

/// A verdict about a status that means the same everywhere: `later` for 429, 500, 502, 503 and 504, `absent` for 404
/// and 410, and an error for others. `detail` is what the server says, for the message.
[[nodiscard]] Verdict judge_status(const HttpReply& reply, const std::string& detail);

}  // namespace sherd::remote
