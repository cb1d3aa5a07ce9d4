// Requests with their retries. A request that gets no complete reply, or one that says "later", is sent again after a
// delay that grows and is partly random, until its attempts or the budget of the call are used up.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "remote/transport.hpp"
#include "sherd/result.hpp"

namespace sherd::remote {

/// What to do after a reply that is not the wanted one.
struct Verdict {
  enum class Next : std::uint8_t {
    fails,      ///< the error is the outcome
    absent,     ///< the object does not exist
    later,      ///< the server is busy: again after a delay
    again,      ///< at once, with a new request; counts as an attempt
    elsewhere,  ///< at once, at `location`
    done,       ///< the reply was an answer
  } next = Next::fails;
  std::optional<Error> error = {};     ///< of `fails`, and of `later` when no attempt is left
  std::chrono::milliseconds delay{0};  ///< the least one that the server asks for
  std::string location = {};           ///< of `elsewhere`: a URL, or a path on the same server
};

/// A request to be sent until it is answered. The functions are called on the thread that runs the Transfers.
class Transfer : private Exchange {
 public:
  ~Transfer() override = default;
  Transfer() = default;
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  /// How many requests were sent, and how many of them repeated another.
  [[nodiscard]] unsigned requests() const noexcept { return requests_; }
  [[nodiscard]] unsigned retries() const noexcept { return retries_; }
  /// Method and URL of the last attempt, for errors.
  [[nodiscard]] const std::string& asked() const noexcept { return asked_; }

 protected:
  struct Attempt {
    HttpRequest request;
    Transport::Options options = {};
  };
  /// The request of the next attempt, signed now.
  virtual Result<Attempt> attempt() = 0;
  /// Whether the body of this reply is wanted: otherwise its first bytes are collected for judge().
  enum class Wants : std::uint8_t { body, verdict, nothing };
  virtual Result<Wants> accept(const HttpHead& head) = 0;
  /// The next bytes of a wanted body. False: no more are needed.
  virtual Result<bool> receive(std::span<const std::byte> bytes) = 0;
  /// What a reply means whose body is not wanted.
  virtual Verdict judge(const HttpReply& reply) = 0;
  /// The reply is complete, if accept() wanted its body or nothing.
  virtual Verdict complete() { return {.next = Verdict::Next::done}; }
  /// Called once, at the end. `exists` is false if the verdict was `absent`.
  virtual void finish(Result<bool> exists) = 0;

 private:
  friend class Transfers;
  Result<bool> head(HttpHead head) final;
  Result<bool> body(std::span<const std::byte> bytes) final;

  Wants wants_ = Wants::verdict;
  HttpReply reply_;
  std::string asked_;
  unsigned requests_ = 0, retries_ = 0, failures_ = 0;
  std::uint64_t received_ = 0;  ///< in this attempt
};

/// The transfers of one call.
class Transfers {
 public:
  explicit Transfers(const Connection& connection) : connection_(connection) {}
  ~Transfers();
  Transfers(const Transfers&) = delete;
  Transfers& operator=(const Transfers&) = delete;

  /// Begins a transfer, which must live until finish() was called, or this is destroyed.
  void start(Transfer& transfer);
  /// Requests under way, and those that wait for their next attempt.
  [[nodiscard]] std::size_t count() const noexcept { return under_way_.size() + waiting_.size(); }
  /// Advances all, and calls Transfer::finish() of those that end. Returns after the first of them, or `longest`.
  /// `unavailable` if the call is interrupted.
  Result<void> advance(std::chrono::milliseconds longest);

 private:
  using Clock = std::chrono::steady_clock;
  struct Waiting {
    Transfer* transfer;
    Clock::time_point until;
  };
  Result<void> send(Transfer& transfer);
  void end(Transfer& transfer, Result<bool> outcome);
  static void count_request(Transfer& transfer);
  static void count_retry(Transfer& transfer);
  void retry(Transfer& transfer, Error error, std::chrono::milliseconds least);
  void act_on(Transfer& transfer, Verdict verdict);
  void settle(Ended ended);

  const Connection connection_;
  std::optional<Transport> transport_;
  std::vector<Transfer*> under_way_;
  std::vector<Waiting> waiting_;
  unsigned retries_left_ = 64;
  bool has_ended_one_ = false;
};

/// Runs transfers to their ends, at the same time.
Result<void> run(const Connection& connection, std::span<Transfer* const> all);
Result<void> run(const Connection& connection, Transfer& transfer);

/// Sends a request whose reply is a document, with retries, and returns the reply, whatever its status. `make` is
/// called for each attempt. `judge` may ask for another attempt.
Result<HttpReply> fetch(const Connection& connection, const std::function<Result<HttpRequest>()>& make,
                        const std::function<Verdict(const HttpReply&)>& judge, std::uint64_t max_bytes);

/// The delay that a server asks for, in seconds or up to a date by its own clock; at most one minute, zero if it does
/// not ask.
[[nodiscard]] std::chrono::milliseconds retry_after(const Headers& headers);

}  // namespace sherd::remote
