#include "remote/transport.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/buffer.hpp"
#include "base/try.hpp"
#include "os/calls.hpp"
#include "remote/address.hpp"
#include "remote/events.hpp"
#include "remote/handles.hpp"
#include "remote/libraries.hpp"
#include "remote/proxy.hpp"

namespace sherd::remote {
namespace {

/// So many connections are kept after calls in all handles together, or as many as a call may have under way if its
/// user has asked for more.
constexpr std::size_t kKeptConnections = 32;
constexpr long kBufferBytes = 256L << 10;
/// Bytes per second below which a transfer counts as still.
constexpr long kStillBytes = 64;
constexpr std::size_t kMaxHeaderBytes = 256 << 10;

/// A request on a handle of libcurl.
struct Wire {
  Wire(const Connection& settings, Handle& of, CURL* made)
      : curl(of.curl), connection(settings), handle(of), easy(made) {}
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;
  ~Wire() {
    curl.curl_slist_free_all(headers);
    curl.curl_easy_cleanup(easy);
  }

  const Curl& curl;
  const Connection& connection;
  Handle& handle;
  CURL* const easy;
  Exchange* exchange = nullptr;  ///< nullptr if the reply is not wanted any more
  curl_slist* headers = nullptr;
  HttpRequest request;
  Transport::Options options;
  Origin origin;
  std::string proxy;
  bool is_change = false;
  Wire* other = nullptr;  ///< has the same request, and neither has a reply yet
  bool is_repeated = false;
  std::optional<Events::Clock::time_point> sent;
  HttpHead head;
  bool has_head = false;
  std::size_t header_bytes = 0;
  bool has_ended_itself = false, refused_address = false;
  std::optional<Error> failure;
  char reason[CURL_ERROR_SIZE] = {};

  /// Whether the exchange wants more.
  bool continues(Result<bool> wants) {
    const bool more = wants.has_value() && *wants;
    if (!wants.has_value())
      failure = std::move(wants).error();
    else
      has_ended_itself = !more;
    return more;
  }
};

/// A refusal that another request might not meet.
bool may_be_passing(long status) {
  return status == 401 || status == 403 || status == 408 || status == 429 || status >= 500;
}

/// The first of two replies to the same request is used, unless it is a refusal. False for the other one.
bool begin_reply(Wire& wire) {
  if (wire.exchange == nullptr) return false;
  if (wire.other != nullptr && may_be_passing(wire.head.status)) return false;
  if (Wire* const slower = std::exchange(wire.other, nullptr)) {
    slower->other = nullptr;
    slower->exchange = nullptr;
  }
  wire.has_head = true;
  if (wire.sent && !wire.is_change) Handles::get().add_time(wire.origin, Events::Clock::now() - *wire.sent);
  return true;
}

std::size_t on_header(char* data, std::size_t /*one*/, std::size_t size, void* context) {
  Wire& wire = *static_cast<Wire*>(context);
  std::string_view line(data, size);
  wire.header_bytes += size;
  if (wire.header_bytes > kMaxHeaderBytes) {
    wire.failure =
        io_error("the server's reply has more than " + std::to_string(kMaxHeaderBytes) + " bytes of headers");
    return 0;
  }
  while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
  if (line.starts_with("HTTP/")) {
    wire.head = {};
    wire.curl.curl_easy_getinfo(wire.easy, CURLINFO_RESPONSE_CODE, &wire.head.status);
    return size;
  }
  if (line.empty()) {
    if (wire.head.status < 200) return size;  // a final reply follows
    return begin_reply(wire) && wire.continues(wire.exchange->head(std::move(wire.head))) ? size : 0;
  }
  const std::size_t colon = line.find(':');
  if (colon == line.npos) return size;
  std::string_view value = line.substr(colon + 1);
  while (value.starts_with(' ') || value.starts_with('\t')) value.remove_prefix(1);
  while (value.ends_with(' ') || value.ends_with('\t')) value.remove_suffix(1);
  wire.head.headers.push_back({std::string(line.substr(0, colon)), std::string(value)});
  return size;
}

std::size_t on_body(char* data, std::size_t /*one*/, std::size_t size, void* context) {
  Wire& wire = *static_cast<Wire*>(context);
  const auto bytes = std::as_bytes(std::span(data, size));
  return wire.continues(wire.exchange->body(bytes)) ? size : 0;
}

/// Redirects, and names that resolve to them, must not lead to services of this machine or its provider.
bool is_allowed(Wire& wire, const Peer& peer) {
  const bool is_allowed = may_connect(peer.ip, wire.origin.host, wire.options.is_trusted) || is_proxy(peer, wire.proxy);
  wire.refused_address = wire.refused_address || !is_allowed;
  return is_allowed;
}

curl_socket_t on_open_socket(void* context, curlsocktype /*purpose*/, curl_sockaddr* address) {
  Wire& wire = *static_cast<Wire*>(context);
  if (!is_allowed(wire, peer_of(address->addr))) return CURL_SOCKET_BAD;
  const int socket = ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  if (socket >= 0) ++wire.handle.connections;
  return socket;
}

/// Connections outlive the requests for which they were opened.
int on_close_socket(void* context, curl_socket_t socket) {
  --static_cast<Handle*>(context)->connections;
  return os::close(socket);
}

/// A kept connection was opened for another request, whose host the user may have named. If it ends before the reply
/// begins, libcurl sends the request again. One that changes something may have been carried out by then, so its owner
/// has to know that this is another attempt.
int on_sending(void* context, char* ip, char* /*local_ip*/, int port, int /*local_port*/) {
  Wire& wire = *static_cast<Wire*>(context);
  if (!is_allowed(wire, {ip, port})) return CURL_PREREQFUNC_ABORT;
  if (wire.is_change && wire.sent) return CURL_PREREQFUNC_ABORT;
  wire.sent = Events::Clock::now();
  return CURL_PREREQFUNC_OK;
}

void set_up(Wire& wire) {
  const Connection& connection = wire.connection;
  const HttpRequest& request = wire.request;
  const auto set = [&](CURLoption option, auto value) { wire.curl.curl_easy_setopt(wire.easy, option, value); };
  set(CURLOPT_URL, request.url.c_str());
  set(CURLOPT_PATH_AS_IS, 1L);
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_1_1});
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_QUICK_EXIT, 1L);  // the end of a request does not wait for a name that is still being resolved
  set(CURLOPT_TCP_NODELAY, 1L);
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  set(CURLOPT_BUFFERSIZE, kBufferBytes);
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(connection.connect_timeout.count()));
  set(CURLOPT_LOW_SPEED_LIMIT, kStillBytes);
  set(CURLOPT_LOW_SPEED_TIME, static_cast<long>(connection.idle_timeout.count()));
  set(CURLOPT_USERAGENT, "sherd");
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  set(CURLOPT_ERRORBUFFER, wire.reason);
  set(CURLOPT_PRIVATE, static_cast<void*>(&wire));
  set(CURLOPT_HEADERFUNCTION, &on_header);
  set(CURLOPT_HEADERDATA, static_cast<void*>(&wire));
  set(CURLOPT_WRITEFUNCTION, &on_body);
  set(CURLOPT_WRITEDATA, static_cast<void*>(&wire));
  set(CURLOPT_OPENSOCKETFUNCTION, &on_open_socket);
  set(CURLOPT_OPENSOCKETDATA, static_cast<void*>(&wire));
  set(CURLOPT_CLOSESOCKETFUNCTION, &on_close_socket);
  set(CURLOPT_CLOSESOCKETDATA, static_cast<void*>(&wire.handle));
  set(CURLOPT_PREREQFUNCTION, &on_sending);
  set(CURLOPT_PREREQDATA, static_cast<void*>(&wire));
  if (!connection.proxy.empty()) set(CURLOPT_PROXY, connection.proxy.c_str());
  if (!connection.uses_proxy) set(CURLOPT_NOPROXY, "*");
  if (!connection.ca_bundle.empty()) set(CURLOPT_CAINFO, connection.ca_bundle.c_str());
  if (!request.netrc.empty()) {
    set(CURLOPT_NETRC, long{CURL_NETRC_OPTIONAL});
    set(CURLOPT_NETRC_FILE, request.netrc.c_str());
  }
  if (wire.options.decodes) set(CURLOPT_ACCEPT_ENCODING, "gzip, deflate");
  if (request.method == "HEAD") set(CURLOPT_NOBODY, 1L);
  wire.is_change = request.method != "GET" && request.method != "HEAD";
  if (wire.is_change) {
    const auto sent = request.payload.empty() ? as_bytes(request.body) : request.payload;
    set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(sent.size()));
    set(CURLOPT_POSTFIELDS, reinterpret_cast<const char*>(sent.data()));
    set(CURLOPT_UPLOAD_BUFFERSIZE, kBufferBytes);
    wire.headers = wire.curl.curl_slist_append(wire.headers, "Expect:");
    if (find_header(request.headers, "Content-Type") == nullptr)  // that of a form
      wire.headers = wire.curl.curl_slist_append(wire.headers, "Content-Type:");
  }
  for (const auto& [name, value] : request.headers) {
    const std::string line = value.empty() ? name + ";" : name + ": " + value;
    wire.headers = wire.curl.curl_slist_append(wire.headers, line.c_str());
  }
  set(CURLOPT_HTTPHEADER, wire.headers);
}

Error refused(const std::string& host) {
  return io_error("refused to connect to " + host +
                  ": it is an address of this machine or network that the URL does not name");
}

/// Whether libcurl cannot use the URL of the proxy. Its text then has the URL, perhaps with a password, or the
/// beginning of it.
bool blames_proxy(const Wire& wire) {
  constexpr std::size_t kCompared = 100;
  return !wire.proxy.empty() &&
         std::string_view(wire.reason).find("'" + wire.proxy.substr(0, kCompared)) != std::string_view::npos;
}

Error broken_reply(const Wire& wire, CURLcode code) {
  if (code == CURLE_ABORTED_BY_CALLBACK)
    return io_error("no reply from " + wire.origin.host + ": the connection was closed");
  std::string reason = wire.reason[0] != '\0' ? wire.reason : wire.curl.curl_easy_strerror(code);
  if (blames_proxy(wire))
    reason =
        "the URL of the proxy cannot be used; write http://HOST:PORT in the storage option proxy or in the environment";
  if (code == CURLE_PEER_FAILED_VERIFICATION)
    reason += "; the storage option ca_bundle names a file with the certificates that are trusted";
  return io_error("no complete reply from " + wire.origin.host + ": " + reason);
}

/// Failures that another attempt would meet again.
bool is_lasting(const Wire& wire, CURLcode code) {
  constexpr CURLcode kinds[] = {
      CURLE_URL_MALFORMAT, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM,      CURLE_SSL_CACERT_BADFILE,
      CURLE_OUT_OF_MEMORY, CURLE_COULDNT_RESOLVE_HOST,     CURLE_BAD_CONTENT_ENCODING, CURLE_COULDNT_RESOLVE_PROXY};
  return std::ranges::find(kinds, code) != std::end(kinds) || blames_proxy(wire);
}

Ended outcome_of(Wire& wire, CURLcode code) {
  Ended ended{.exchange = wire.exchange, .is_repeated = wire.is_repeated};
  if (wire.failure)
    ended.failure = *std::move(wire.failure);
  else if (code == CURLE_OK || wire.has_ended_itself)
    return ended;
  else if (wire.refused_address)
    ended.failure = refused(wire.origin.host);
  else
    (is_lasting(wire, code) ? ended.failure : ended.broken) = broken_reply(wire, code);
  return ended;
}

/// Makes a handle ready for another request. Its connection stays with the transport.
void reset(Wire& wire) {
  wire.curl.curl_easy_reset(wire.easy);
  wire.curl.curl_slist_free_all(std::exchange(wire.headers, nullptr));
  wire.exchange = nullptr;
  if (wire.other != nullptr) wire.other->other = nullptr;
  wire.other = nullptr;
  wire.request = {};
  wire.sent.reset();
  wire.head = {};
  wire.header_bytes = 0;
  wire.has_head = wire.is_repeated = wire.has_ended_itself = wire.refused_address = false;
  wire.failure.reset();
  wire.reason[0] = '\0';
}

}  // namespace

struct Transport::State {
  const Curl& curl;
  const Connection connection;
  Handles* const home;  // of the process that made this
  std::unique_ptr<Handle> handle;
  CURLM* const multi = handle->multi;
  Events events = {};
  std::vector<std::unique_ptr<Wire>> under_way = {}, idle = {};

  Result<Wire*> begin(const HttpRequest& request, Exchange& exchange, const Options& options);
  void end(std::size_t index) noexcept;
  [[nodiscard]] std::optional<Events::Clock::time_point> late_at(const Wire& wire) const;
  Events::Clock::time_point repeat_late(Events::Clock::time_point now);
  void collect(std::vector<Ended>& ended);
};

Result<Wire*> Transport::State::begin(const HttpRequest& request, Exchange& exchange, const Options& options) {
  std::unique_ptr<Wire> wire;
  if (!idle.empty()) {
    wire = std::move(idle.back());
    idle.pop_back();
  } else {
    CURL* const easy = curl.curl_easy_init();
    if (easy == nullptr) return unavailable("no memory for a request");
    wire = std::make_unique<Wire>(connection, *handle, easy);
  }
  wire->exchange = &exchange;
  wire->request = request;
  wire->options = options;
  wire->origin = origin_of(request.url);
  wire->proxy = proxy_for(connection, wire->origin.scheme);
  set_up(*wire);
  const CURLMcode code = curl.curl_multi_add_handle(multi, wire->easy);
  if (code != CURLM_OK) return unavailable(std::string("libcurl: ") + curl.curl_multi_strerror(code));
  under_way.push_back(std::move(wire));
  return under_way.back().get();
}

void Transport::State::end(std::size_t index) noexcept {
  std::unique_ptr<Wire> wire = std::move(under_way[index]);
  under_way.erase(under_way.begin() + static_cast<std::ptrdiff_t>(index));
  curl.curl_multi_remove_handle(multi, wire->easy);
  reset(*wire);
  idle.push_back(std::move(wire));
}

/// When the reply is late, if another request may then ask for the same.
std::optional<Events::Clock::time_point> Transport::State::late_at(const Wire& wire) const {
  if (wire.is_change || wire.has_head || wire.is_repeated || !wire.sent) return std::nullopt;
  const auto late = home->late(wire.origin);
  return late ? std::optional(*wire.sent + *late) : std::nullopt;
}

/// Sends the requests again whose replies are late, on other connections. Returns when the next one will be late. There
/// is none while all requests that the call may have under way are: another one would delay those that follow.
Events::Clock::time_point Transport::State::repeat_late(Events::Clock::time_point now) {
  auto next = Events::Clock::time_point::max();
  for (std::size_t i = 0; i < under_way.size() && under_way.size() < connection.parallel_requests; ++i) {
    Wire& wire = *under_way[i];
    const auto at = late_at(wire);
    if (at && *at > now) next = std::min(next, *at);
    if (!at || *at > now) continue;
    wire.is_repeated = true;
    const auto other = begin(wire.request, *wire.exchange, wire.options);
    if (!other) continue;
    wire.other = *other;
    wire.other->other = &wire;
    wire.other->is_repeated = true;
  }
  return next;
}

/// Removes what has ended: it is appended to `ended` unless it was the slower one of two, or the other one goes on.
void Transport::State::collect(std::vector<Ended>& ended) {
  int left = 0;
  while (const CURLMsg* const message = curl.curl_multi_info_read(multi, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    const CURLcode result = message->data.result;
    Wire* wire = nullptr;
    curl.curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &wire);
    if (wire->exchange != nullptr && wire->other == nullptr) ended.push_back(outcome_of(*wire, result));
    const auto found = std::ranges::find(under_way, wire, &std::unique_ptr<Wire>::get);
    end(static_cast<std::size_t>(found - under_way.begin()));
  }
  for (std::size_t i = under_way.size(); i-- > 0;)
    if (under_way[i]->exchange == nullptr) end(i);
}

Result<Transport> Transport::make(const Connection& connection) {
  SHERD_TRY(curl, load_curl());
  Handles& home = Handles::get();
  std::unique_ptr<Handle> handle = home.take();
  if (handle == nullptr) {
    CURLM* const multi = curl->curl_multi_init();
    if (multi == nullptr) return unavailable("no memory for a connection");
    handle = std::make_unique<Handle>(*curl, multi);
  }
  curl->curl_multi_setopt(handle->multi, CURLMOPT_MAXCONNECTS, std::max<long>(connection.parallel_requests, 4));
  curl->curl_multi_setopt(handle->multi, CURLMOPT_PIPELINING, long{CURLPIPE_NOTHING});
  Transport transport(std::unique_ptr<State>(new State{*curl, connection, &home, std::move(handle)}));
  transport.state_->events.attach(*curl, transport.state_->multi);
  return transport;
}

Transport::Transport(std::unique_ptr<State> state) : state_(std::move(state)) {}
Transport::Transport(Transport&&) noexcept = default;

Transport::~Transport() {
  if (!state_) return;
  for (const auto& wire : state_->under_way) state_->curl.curl_multi_remove_handle(state_->multi, wire->easy);
  state_->under_way.clear();
  state_->idle.clear();
  Events::release(state_->curl, state_->multi);
  const std::size_t most = std::max<std::size_t>(kKeptConnections, state_->connection.parallel_requests);
  if (state_->home == &Handles::get())
    state_->home->give_back(std::move(state_->handle), most);
  else
    static_cast<void>(state_->handle.release());  // in a forked child: the connections belong to its parent
}

Result<void> Transport::send(const HttpRequest& request, Exchange& exchange, const Options& options) {
  const Origin origin = origin_of(request.url);
  if (!may_connect(origin.host, origin.host, options.is_trusted)) return refused(origin.host);  // before a proxy has it
  SHERD_TRY(wire, state_->begin(request, exchange, options));
  static_cast<void>(wire);
  return {};
}

std::size_t Transport::under_way() const noexcept { return state_->under_way.size(); }

void Transport::drop(Exchange& exchange) noexcept {
  for (std::size_t i = state_->under_way.size(); i-- > 0;)
    if (state_->under_way[i]->exchange == &exchange) state_->end(i);
}

// All sockets that are ready are read before the replies that have ended are returned. Returning them one by one would
// let the threads that decode them compete with this one, which has requests to send.
Result<std::vector<Ended>> Transport::wait(std::chrono::milliseconds longest) {
  const Curl& curl = state_->curl;
  const auto until = Events::Clock::now() + longest;
  std::vector<Ended> all;
  for (bool is_late = false; !is_late;) {
    const auto now = Events::Clock::now();
    is_late = now >= until;
    CURLMcode code = CURLM_OK;
    if (!state_->events.act(curl, state_->multi, code)) {
      if (!all.empty()) break;
      state_->events.wait(std::min(until, state_->repeat_late(now)));
    }
    if (code != CURLM_OK) return io_error(std::string("libcurl: ") + curl.curl_multi_strerror(code));
    state_->collect(all);
  }
  return all;
}

}  // namespace sherd::remote
