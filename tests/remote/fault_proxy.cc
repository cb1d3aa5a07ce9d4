#include "tests/remote/fault_proxy.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <utility>

#include "tests/remote/faulty_reply.hpp"

namespace sherd::remote {
namespace {

bool is(const Headers& headers, std::string_view name, std::string_view value) {
  const std::string* found = find_header(headers, name);
  return found && std::ranges::equal(*found, value, {}, [](unsigned char each) { return std::tolower(each); });
}

std::optional<std::uint64_t> length_of(const Headers& headers) {
  const std::string* text = find_header(headers, "Content-Length");
  std::uint64_t length = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), length).ec != std::errc()) return {};
  return length;
}

std::optional<std::string> chunked_body(Socket& from) {
  std::string body;
  while (const auto line = from.read_line()) {
    std::uint64_t size = 0;
    if (std::from_chars(line->data(), line->data() + line->size(), size, 16).ec != std::errc()) return {};
    auto piece = size != 0 ? from.read(size) : std::optional<std::string>("");
    const auto end = piece ? from.read_line() : std::nullopt;
    if (!end) return {};
    if (size == 0) return body;
    body += *piece;
  }
  return {};
}

/// The headers of a message that concern this connection only, or that this proxy writes itself.
void remove_framing(Headers& headers) {
  std::erase_if(headers, [](const Header& each) {
    const Headers one{each};
    return find_header(one, "Connection") || find_header(one, "Keep-Alive") || find_header(one, "Content-Length") ||
           find_header(one, "Transfer-Encoding") || find_header(one, "Expect");
  });
}

void remove_range(Headers& headers) {
  std::erase_if(headers, [](const Header& each) { return find_header({each}, "Range") != nullptr; });
}

void wait_for_end(Socket& client) {
  char byte = 0;
  while (client.read_some({&byte, 1}) != 0) continue;
}

}  // namespace

struct FaultProxy::Connection {
  Socket client;
  Socket upstream{};
  Socket* source = nullptr;  ///< the upstream, while a reply's body is to be read from it
  std::thread thread{};
  bool done = false;
};

FaultProxy::FaultProxy(std::uint16_t upstream) : upstream_(upstream) {
  listen();
  acceptor_ = std::thread([this] { accept_all(); });
}

FaultProxy::~FaultProxy() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    for (const auto& each : connections_) {
      each->client.interrupt();
      each->upstream.interrupt();
    }
  }
  ending_.notify_all();
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  ::close(listener_);
  for (const auto& each : connections_) each->thread.join();
}

void FaultProxy::listen() {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* plain = reinterpret_cast<sockaddr*>(&address);
  if (listener_ < 0 || ::bind(listener_, plain, size) != 0 || ::listen(listener_, 1024) != 0 ||
      ::getsockname(listener_, plain, &size) != 0)
    throw std::runtime_error("the fault proxy cannot listen on loopback");
  port_ = ntohs(address.sin_port);
}

std::string FaultProxy::url(const std::string& path) const {
  return "http://127.0.0.1:" + std::to_string(port_) + path;
}

void FaultProxy::accept_all() {
  while (true) {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    const std::lock_guard lock(mutex_);
    if (ends_ || (fd < 0 && errno != EINTR && errno != ECONNABORTED)) {
      if (fd >= 0) ::close(fd);
      return;
    }
    if (fd < 0) continue;
    std::erase_if(connections_, [](const auto& each) {
      if (each->done) each->thread.join();
      return each->done;
    });
    auto& made = *connections_.emplace_back(std::make_unique<Connection>(Socket(fd)));
    ++counts_.connections;
    counts_.most_open_connections = std::max(counts_.most_open_connections, ++counts_.open_connections);
    made.thread = std::thread([this, &made] { serve(made); });
  }
}

void FaultProxy::serve(Connection& connection) {
  while (serve_next(connection)) continue;
  const std::lock_guard lock(mutex_);
  connection.client.close();
  connection.upstream.close();
  connection.done = true;
  --counts_.open_connections;
}

std::optional<ServedRequest> FaultProxy::receive(Connection& connection) {
  auto head = connection.client.read_head();
  if (!head) return {};
  const std::size_t method = head->line.find(' '), target = head->line.find(' ', method + 1);
  if (target == std::string::npos) return {};
  ServedRequest request{head->line.substr(0, method), head->line.substr(method + 1, target - method - 1),
                        std::move(head->headers)};
  if (is(request.headers, "Expect", "100-continue") && !connection.client.send("HTTP/1.1 100 Continue\r\n\r\n"))
    return {};
  const std::uint64_t length = length_of(request.headers).value_or(0);
  auto body = length <= std::uint64_t{1} << 31 ? connection.client.read(length) : std::nullopt;
  if (is(request.headers, "Transfer-Encoding", "chunked")) body = chunked_body(connection.client);
  if (!body) return {};
  request.body = std::move(*body);
  return request;
}

bool FaultProxy::serve_next(Connection& connection) {
  const auto request = receive(connection);
  if (!request) return false;
  if (const auto reply = hook_ ? hook_(*request) : std::nullopt)
    return Sending{.client = connection.client, .wait = {}}.send(*reply, {});
  return serve_request(connection, *request) && !is(request->headers, "Connection", "close");
}

FaultProxy::Begun FaultProxy::begin(const ServedRequest& request) {
  const std::lock_guard lock(mutex_);
  ++counts_.requests;
  counts_.request_bytes += request.body.size();
  counts_.most_open_requests = std::max(counts_.most_open_requests, ++counts_.open_requests);
  if (requests_.size() < most_recorded) requests_.push_back(request);
  Begun begun{.count = counts_.requests, .round_trip = ended_round_trips_ + 1};
  counts_.round_trips = std::max(counts_.round_trips, begun.round_trip);
  for (ActiveFault& each : faults_) {
    const Fault& fault = each.fault;
    if ((!fault.method.empty() && fault.method != request.method) ||
        request.url.find(fault.target) == std::string::npos)
      continue;
    if (each.matched++ < fault.skip || each.applied >= fault.times) continue;
    ++each.applied;
    begun.faults.push_back(fault);
    if (fault.tail_every != 0 && each.applied % fault.tail_every == 0) begun.faults.back().delay = fault.tail;
  }
  return begun;
}

void FaultProxy::end(std::uint64_t sent) {
  const std::lock_guard lock(mutex_);
  counts_.body_bytes += sent;
}

void FaultProxy::close_request(std::uint64_t round_trip) {
  const std::lock_guard lock(mutex_);
  ended_round_trips_ = std::max(ended_round_trips_, round_trip);
  --counts_.open_requests;
}

bool FaultProxy::serve_request(Connection& connection, const ServedRequest& request) {
  const auto [count, round_trip, faults] = begin(request);
  std::chrono::milliseconds delay{0};
  std::uint64_t rate = 0;
  for (const Fault& each : faults) {
    delay += each.delay;
    if (each.rate != 0) rate = each.rate;
  }
  Sending sending{.client = connection.client, .wait = [this](auto time) { return wait(time); }};
  if (rate != 0) sending.pass = [this, rate](std::uint64_t bytes) { return pass(replies_free_, bytes, rate); };
  bool goes_on = rate == 0 || pass(requests_free_, request.body.size(), rate);
  goes_on = goes_on && (delay.count() == 0 || wait(delay));
  if (goes_on && std::ranges::any_of(faults, &Fault::silent)) {
    wait_for_end(connection.client);
    goes_on = false;
  }
  if (goes_on && std::ranges::any_of(faults, [](const Fault& each) { return each.unheard || each.lost; })) {
    if (std::ranges::none_of(faults, &Fault::unheard)) {
      const ServedReply reply = right_reply(connection, request, faults);
      if (connection.source) connection.source->read(reply.length);
    }
    connection.source = nullptr;
    track(connection, Socket());
    connection.client.reset_at_close();
    goes_on = false;
  }
  if (goes_on) {
    auto reply = replacement(faults, request, count);
    if (!reply) reply = right_reply(connection, request, faults);
    amend(*reply, faults, request, count);
    sending.source = std::exchange(connection.source, nullptr);
    const bool is_waited_for = !connection.client.is_abandoned();
    close_request(is_waited_for ? round_trip : 0);  // before the client has its reply and may send another
    goes_on = sending.send(*reply, faults);
    if (!sending.is_source_clean) track(connection, Socket());
  } else {
    close_request(round_trip);
  }
  end(sending.sent);
  return goes_on;
}

ServedReply FaultProxy::right_reply(Connection& connection, const ServedRequest& request,
                                    const std::vector<Fault>& faults) {
  ServedRequest asked = request;
  if (std::ranges::any_of(faults, &Fault::no_ranges)) remove_range(asked.headers);
  if (upstream_ == 0) return objects_.answer(asked);
  auto reply = forward(connection, asked);
  if (!reply) return reply_of(502, "the proxy has no reply from the server behind it");
  if (connection.source && std::ranges::any_of(faults, &Fault::gzip)) {
    auto body = std::exchange(connection.source, nullptr)->read(reply->length);
    return reply_of(reply->status, body.value_or(""), std::move(reply->headers));
  }
  return *reply;
}

bool FaultProxy::ask_upstream(Connection& connection, const ServedRequest& request) {
  std::string message = request.method + " " + request.url + " HTTP/1.1\r\n";
  Headers headers = request.headers;
  remove_framing(headers);
  for (const Header& each : headers) message.append(each.name).append(": ").append(each.value).append("\r\n");
  if (!request.body.empty() || request.method == "PUT" || request.method == "POST")
    message += "Content-Length: " + std::to_string(request.body.size()) + "\r\n";
  message += "\r\n";
  if (!connection.upstream) track(connection, Socket::connect(upstream_));
  return connection.upstream && connection.upstream.send(message, !request.body.empty()) &&
         connection.upstream.send(request.body);
}

std::optional<ServedReply> FaultProxy::forward(Connection& connection, const ServedRequest& request) {
  const bool is_kept = static_cast<bool>(connection.upstream);
  auto head = ask_upstream(connection, request) ? connection.upstream.read_head() : std::nullopt;
  if (!head && is_kept) {  // the server may have closed it meanwhile
    track(connection, Socket());
    head = ask_upstream(connection, request) ? connection.upstream.read_head() : std::nullopt;
  }
  while (head && head->line.find(" 100 ") != std::string::npos) head = connection.upstream.read_head();
  ServedReply reply;
  if (!head || head->line.size() < 12 ||
      std::from_chars(&head->line[9], &head->line[12], reply.status).ec != std::errc()) {
    track(connection, Socket());
    return {};
  }
  reply.headers = head->headers;
  remove_framing(reply.headers);
  reply.has_body = request.method != "HEAD" && reply.status != 204 && reply.status != 304;
  const auto length = length_of(head->headers);
  std::optional<std::string> body;
  if (!reply.has_body || length) {
    reply.length = length.value_or(0);
    if (reply.has_body) connection.source = &connection.upstream;
    return reply;
  }
  const bool is_chunked = is(head->headers, "Transfer-Encoding", "chunked");
  body = is_chunked ? chunked_body(connection.upstream) : connection.upstream.read_all();
  if (!is_chunked || !body) track(connection, Socket());
  if (!body) return {};
  return reply_of(reply.status, std::move(*body), reply.headers);
}

void FaultProxy::track(Connection& connection, Socket&& upstream) {
  const std::lock_guard lock(mutex_);
  connection.upstream = ends_ ? Socket() : std::move(upstream);
}

bool FaultProxy::wait(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return !ending_.wait_for(lock, time, [this] { return ends_; });
}

bool FaultProxy::pass(Clock::time_point& free, std::uint64_t bytes, std::uint64_t rate) {
  const std::chrono::duration<double> time(static_cast<double>(bytes) / static_cast<double>(rate));
  std::unique_lock lock(mutex_);
  free = std::max(free, Clock::now()) + std::chrono::duration_cast<Clock::duration>(time);
  return !ending_.wait_until(lock, Clock::time_point(free), [this] { return ends_; });
}

void FaultProxy::add(Fault fault) {
  const std::lock_guard lock(mutex_);
  faults_.push_back({std::move(fault)});
}

void FaultProxy::set(std::vector<Fault> faults) {
  const std::lock_guard lock(mutex_);
  faults_.clear();
  for (Fault& each : faults) faults_.push_back({std::move(each)});
}

ProxyCounts FaultProxy::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

std::vector<ServedRequest> FaultProxy::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void FaultProxy::reset_counts() {
  const std::lock_guard lock(mutex_);
  const ProxyCounts before = std::exchange(counts_, {});
  counts_.open_connections = counts_.most_open_connections = before.open_connections;
  counts_.open_requests = counts_.most_open_requests = before.open_requests;
  requests_.clear();
  ended_round_trips_ = 0;
}

}  // namespace sherd::remote
