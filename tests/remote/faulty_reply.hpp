// Replies with faults, and how they are sent.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "tests/remote/fault.hpp"
#include "tests/remote/memory_objects.hpp"
#include "tests/remote/socket.hpp"

namespace sherd::remote {

/// The reply to a request that faults ask for instead of the right one, if any of them does. `count`: requests so far.
std::optional<ServedReply> replacement(const std::vector<Fault>& faults, const ServedRequest& request,
                                       std::uint64_t count);

/// Changes the headers and the bytes of a reply.
void amend(ServedReply& reply, const std::vector<Fault>& faults, const ServedRequest& request, std::uint64_t count);

/// Sends a reply to `client`. Its bytes come from `source` if there is one.
struct Sending {
  Socket& client;
  Socket* source = nullptr;
  std::function<bool(std::chrono::milliseconds)> wait;  ///< false: stop
  std::function<bool(std::uint64_t)> pass = {};         ///< waits until so many bytes may be sent; false: stop
  std::uint64_t sent = 0;                               ///< bytes of the body so far
  bool is_source_clean = true;                          ///< all of the reply has been read from it

  /// False if the connection has to end.
  bool send(const ServedReply& reply, const std::vector<Fault>& faults);

 private:
  struct Manner;
  bool send_body(const ServedReply& reply, std::uint64_t length, const Manner& manner);
  bool send_piece(std::string_view piece, const Manner& manner);
};

}  // namespace sherd::remote
