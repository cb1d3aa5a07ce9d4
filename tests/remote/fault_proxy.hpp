// A server on loopback that answers as it should, except where a Fault says otherwise.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/remote/fault.hpp"
#include "tests/remote/memory_objects.hpp"
#include "tests/remote/socket.hpp"

namespace sherd::remote {

/// What a FaultProxy has been asked so far.
struct ProxyCounts {
  std::uint64_t requests = 0, connections = 0;
  std::uint64_t open_connections = 0, open_requests = 0;            ///< now
  std::uint64_t most_open_connections = 0, most_open_requests = 0;  ///< at a time
  std::uint64_t body_bytes = 0;                                     ///< of replies, as they were sent
  std::uint64_t request_bytes = 0;                                  ///< of bodies of requests
  /// The longest chain of requests that waited for each other's replies. With a delay longer than the client takes
  /// between requests that could be under way together, these are the dependent round trips.
  std::uint64_t round_trips = 0;
};

/// Serves objects of its own, or forwards to another server on loopback, over HTTP/1.1. Has a thread for each
/// connection, and ends all of them when it is destroyed. All functions may be called at any time, from any thread.
class FaultProxy {
 public:
  static constexpr std::size_t most_recorded = 100'000;

  /// Listens on a free port; forwards to `upstream`, or serves objects of its own if it is 0.
  explicit FaultProxy(std::uint16_t upstream = 0);
  ~FaultProxy();
  FaultProxy(const FaultProxy&) = delete;
  FaultProxy& operator=(const FaultProxy&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// "http://127.0.0.1:PORT" and a path, which begins with a slash.
  [[nodiscard]] std::string url(const std::string& path = "") const;
  /// The proxy's own objects.
  [[nodiscard]] MemoryObjects& objects() { return objects_; }
  std::string put(const std::string& key, std::string bytes) { return objects_.put(key, std::move(bytes)); }

  void add(Fault fault);
  /// Replaces all faults.
  void set(std::vector<Fault> faults);
  void clear() { set({}); }

  [[nodiscard]] ProxyCounts counts() const;
  /// The requests since the start or the last reset, in the order in which they came; the first `most_recorded`.
  [[nodiscard]] std::vector<ServedRequest> requests() const;
  /// Forgets counts and requests.
  void reset_counts();

  /// Is called with each request before anything else. A reply that it returns is sent, and the request is not counted.
  /// To be set before the first request.
  using Hook = std::function<std::optional<ServedReply>(const ServedRequest&)>;
  void set_hook(Hook hook) { hook_ = std::move(hook); }

 private:
  struct Connection;
  struct ActiveFault {
    Fault fault;
    std::uint64_t matched = 0, applied = 0;
  };

  void listen();
  void accept_all();
  void serve(Connection& connection);
  /// False ends the connection.
  bool serve_next(Connection& connection);
  void close_request(std::uint64_t round_trip);
  bool serve_request(Connection& connection, const ServedRequest& request);
  std::optional<ServedRequest> receive(Connection& connection);
  struct Begun {
    std::uint64_t count = 0;       ///< of requests so far
    std::uint64_t round_trip = 0;  ///< the length of the longest chain that ends with this request
    std::vector<Fault> faults = {};
  };
  /// Counts a request, and finds the faults that apply.
  [[nodiscard]] Begun begin(const ServedRequest& request);
  void end(std::uint64_t sent);
  ServedReply right_reply(Connection& connection, const ServedRequest& request, const std::vector<Fault>& faults);
  std::optional<ServedReply> forward(Connection& connection, const ServedRequest& request);
  bool ask_upstream(Connection& connection, const ServedRequest& request);
  /// False if the proxy ends first.
  bool wait(std::chrono::milliseconds time);
  using Clock = std::chrono::steady_clock;
  /// Waits until so many more bytes have passed a link whose earlier bytes will have passed at `free`. False if the
  /// proxy ends first.
  bool pass(Clock::time_point& free, std::uint64_t bytes, std::uint64_t rate);
  void track(Connection& connection, Socket&& upstream);

  std::uint16_t port_ = 0, upstream_;
  int listener_ = -1;
  MemoryObjects objects_;
  Hook hook_;
  mutable std::mutex mutex_;
  std::condition_variable ending_;
  bool ends_ = false;
  std::vector<ActiveFault> faults_;
  ProxyCounts counts_;
  std::uint64_t ended_round_trips_ = 0;  ///< of requests that have been answered
  Clock::time_point requests_free_{}, replies_free_{};
  std::vector<ServedRequest> requests_;
  std::list<std::unique_ptr<Connection>> connections_;
  std::thread acceptor_;
};

}  // namespace sherd::remote
