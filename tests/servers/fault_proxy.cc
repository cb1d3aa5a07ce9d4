// The fault proxy as a program, for tests in Python and for the benchmark.
//   fault_proxy [--upstream PORT] [--faults JSON]
// Prints {"port": N} and ends when its input does. Requests to it that are not counted:
//   PUT /__control/faults        replaces the faults by a JSON array; each member is named as in
//   tests/remote/fault.hpp,
//                                times are in ms, and headers is an object
//   PUT /__control/objects/KEY   stores an object
//   GET /__control/counts, GET /__control/requests, POST /__control/reset
#include <charconv>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sherd/json.hpp"
#include "tests/remote/fault_proxy.hpp"

namespace {

using sherd::Json;
using sherd::remote::Fault;
using sherd::remote::FaultProxy;
using sherd::remote::ServedReply;
using sherd::remote::ServedRequest;

constexpr std::string_view control = "/__control/";

bool set(std::string& field, const Json& value) {
  field = value.text();
  return value.is_string();
}

bool set(bool& field, const Json& value) {
  field = value.as_bool().value_or(false);
  return value.is_bool();
}

bool set(std::uint64_t& field, const Json& value) {
  field = value.as_uint().value_or(0);
  return value.as_uint().has_value();
}

bool set(std::optional<std::uint64_t>& field, const Json& value) { return set(field.emplace(), value); }

bool set(int& field, const Json& value) {
  field = static_cast<int>(value.as_int().value_or(0));
  return value.as_int().has_value();
}

bool set(Fault::milliseconds& field, const Json& value) {
  field = Fault::milliseconds(value.as_int().value_or(0));
  return value.as_int().has_value();
}

bool set(sherd::remote::Headers& field, const Json& value) {
  for (const auto& [name, text] : value.members()) field.push_back({name, text.text()});
  return value.is_object();
}

/// A function that sets a member of a Fault.
template <auto kMember>
bool set_member(Fault& fault, const Json& value) {
  return set(fault.*kMember, value);
}

/// Sets the member with this name; false if there is none, or if the value has another type.
bool set(Fault& fault, const std::string& name, const Json& value) {
  static const std::map<std::string, bool (*)(Fault&, const Json&), std::less<>> members = {
      {"method", set_member<&Fault::method>},
      {"target", set_member<&Fault::target>},
      {"skip", set_member<&Fault::skip>},
      {"times", set_member<&Fault::times>},
      {"delay", set_member<&Fault::delay>},
      {"tail", set_member<&Fault::tail>},
      {"tail_every", set_member<&Fault::tail_every>},
      {"rate", set_member<&Fault::rate>},
      {"silent", set_member<&Fault::silent>},
      {"unheard", set_member<&Fault::unheard>},
      {"lost", set_member<&Fault::lost>},
      {"status", set_member<&Fault::status>},
      {"body", set_member<&Fault::body>},
      {"headers", set_member<&Fault::headers>},
      {"no_ranges", set_member<&Fault::no_ranges>},
      {"endless_list", set_member<&Fault::endless_list>},
      {"changes", set_member<&Fault::changes>},
      {"gzip", set_member<&Fault::gzip>},
      {"header_bytes", set_member<&Fault::header_bytes>},
      {"cut_after", set_member<&Fault::cut_after>},
      {"reset", set_member<&Fault::reset>},
      {"missing", set_member<&Fault::missing>},
      {"surplus", set_member<&Fault::surplus>},
      {"chunked", set_member<&Fault::chunked>},
      {"unsized", set_member<&Fault::unsized>},
      {"drip", set_member<&Fault::drip>},
      {"drip_every", set_member<&Fault::drip_every>},
  };
  const auto found = members.find(name);
  return found != members.end() && found->second(fault, value);
}

/// Replaces the proxy's faults; returns what is wrong with the text, or nothing.
std::string set_faults(FaultProxy& proxy, const std::string& text) {
  const auto parsed = Json::parse(text);
  if (!parsed) return parsed.error().text();
  std::vector<Fault> faults;
  for (const Json& each : parsed->elements()) {
    Fault& fault = faults.emplace_back();
    for (const auto& [name, value] : each.members())
      if (!set(fault, name, value)) return "a fault has no member '" + name + "' with the value " + value.dump();
  }
  if (!parsed->is_array()) return "the faults are not an array";
  proxy.set(std::move(faults));
  return {};
}

Json counts_of(const FaultProxy& proxy) {
  const sherd::remote::ProxyCounts counts = proxy.counts();
  return Json::Object{{"requests", counts.requests},
                      {"connections", counts.connections},
                      {"open_requests", counts.open_requests},
                      {"open_connections", counts.open_connections},
                      {"most_open_requests", counts.most_open_requests},
                      {"round_trips", counts.round_trips},
                      {"most_open_connections", counts.most_open_connections},
                      {"body_bytes", counts.body_bytes},
                      {"request_bytes", counts.request_bytes}};
}

Json requests_of(const FaultProxy& proxy) {
  Json::Array all;
  for (const ServedRequest& each : proxy.requests()) {
    Json::Array headers;
    for (const auto& header : each.headers) headers.emplace_back(Json::Array{header.name, header.value});
    all.emplace_back(Json::Object{{"method", each.method}, {"target", each.url}, {"headers", std::move(headers)}});
  }
  return all;
}

std::optional<ServedReply> answer(FaultProxy& proxy, const ServedRequest& request) {
  if (!request.url.starts_with(control)) return {};
  const std::string_view what = std::string_view(request.url).substr(control.size());
  if (what == "counts") return sherd::remote::reply_of(200, counts_of(proxy).dump());
  if (what == "requests") return sherd::remote::reply_of(200, requests_of(proxy).dump());
  if (what == "reset") {
    proxy.reset_counts();
    return sherd::remote::reply_of(200, "");
  }
  if (what == "faults") {
    const std::string wrong = set_faults(proxy, request.body);
    return sherd::remote::reply_of(wrong.empty() ? 200 : 400, wrong);
  }
  if (what.starts_with("objects/")) {
    ServedRequest put = request;
    put.method = "PUT";
    put.url = what.substr(std::string_view("objects").size());
    return proxy.objects().answer(put);
  }
  return sherd::remote::reply_of(404, "");
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> options(arguments + 1, arguments + count);
  std::uint16_t upstream = 0;
  std::string faults = "[]";
  for (std::size_t each = 0; each + 1 < options.size(); each += 2) {
    const std::string& value = options[each + 1];
    if (options[each] == "--upstream") std::from_chars(value.data(), value.data() + value.size(), upstream);
    if (options[each] == "--faults") faults = value;
  }
  FaultProxy proxy(upstream);
  const std::string wrong = set_faults(proxy, faults);
  if (!wrong.empty()) {
    std::cerr << "fault_proxy: " << wrong << '\n';
    return 2;
  }
  proxy.set_hook([&](const ServedRequest& request) { return answer(proxy, request); });
  std::cout << "{\"port\": " << proxy.port() << "}" << std::endl;
  std::string ignored;
  while (std::getline(std::cin, ignored)) continue;
}
