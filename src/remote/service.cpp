#include "remote/service.hpp"

namespace sherd::remote {

Result<HttpRequest> Service::list_request(const std::string&, ListDepth, const std::string&) {
  return unsupported("the server does not list objects");
}
Result<ListPage> Service::parse_list(const std::string&, const std::string&) {
  return unsupported("the server does not list objects");
}

Verdict judge_status(const HttpReply& reply, const std::string& detail) {
  const std::string status = "status " + std::to_string(reply.status) + (detail.empty() ? "" : ", " + detail);
  switch (reply.status) {
    case 404:
    case 410:
      return {.next = Verdict::Next::absent};
    case 401:
    case 403:
      return {.next = Verdict::Next::fails,
              .error = io_error("the server does not allow this (" + status + ")").denied()};
    case 412:
      return {.next = Verdict::Next::fails, .error = conflict("the object has changed (" + status + ")")};
    case 429:
    case 500:
    case 502:
    case 503:
    case 504:
      return {.next = Verdict::Next::later,
              .error = io_error("the server is busy or has failed (" + status + ")"),
              .delay = retry_after(reply.headers)};
    default:
      return {.next = Verdict::Next::fails, .error = io_error("the server refused the request (" + status + ")")};
  }
}

}  // namespace sherd::remote
