// Which conditions an endpoint honours is not told by any request, and servers that ignore a condition answer as if it
// held. So an object of our own is created, replaced and copied on conditions that hold and that do not. What a server
// does when two writers come at the same moment cannot be tried out. Conditions at the end of uploads in parts are
// therefore used only where they are documented (AWS) or promised (conditional=yes): SeaweedFS 4.48 compares there, but
// lets both of two writers win in 29 of 100 races, and in none of 220 where they PUT.
#include <map>
#include <mutex>
#include <vector>

#include "base/buffer.hpp"
#include "base/try.hpp"
#include "remote/address.hpp"
#include "remote/aws_settings.hpp"
#include "remote/bucket_objects.hpp"
#include "remote/copy_source.hpp"
#include "store/condition.hpp"
#include "store/probe.hpp"

namespace sherd::remote {
namespace {

constexpr std::string_view kProbe = "a probe of conditional requests";
const std::string kOtherEtag = "\"00000000000000000000000000000000\"";

std::string unquoted(std::string etag) {
  std::erase(etag, '"');
  return etag;
}

class Probe {
 public:
  Probe(const BucketServer& server, std::string key) : server_(server), key_(std::move(key)) {}

  Result<Conditions> run() {
    auto found = compare();
    auto erased = erase_object(server_, key_);
    if (found && !erased) return std::move(erased).error();
    return found;
  }

 private:
  /// The reply to a PUT with this header.
  Result<HttpReply> put(const char* name, const std::string& value) {
    Change change(*server_.service, {"PUT", key_, {}, {{name, value}}, as_bytes(kProbe)});
    return run_change(server_.connection, change);
  }
  /// The ETag of the object, which must be new; nullopt if the server does not compare.
  Result<std::optional<std::string>> create() {
    SHERD_TRY(created, put("If-None-Match", "*"));
    if (created.status == 403) return refusal(created);
    if (created.status != 412 && !is_success(created)) return std::optional<std::string>();
    std::string etag = header_value(created.headers, "ETag");
    if (created.status == 412) {  // by an earlier attempt, whose reply was lost
      SHERD_TRY(present, head_object(server_, key_));
      if (present) etag = header_value(*present, "ETag");
    }
    return etag.empty() ? std::optional<std::string>() : std::optional(std::move(etag));
  }

  Result<Conditions> compare() {
    SHERD_TRY(etag, create());
    if (!etag) return Conditions();
    SHERD_TRY(again, put("If-None-Match", "*"));
    if (again.status != 412) return Conditions();
    SHERD_TRY(other, put("If-Match", kOtherEtag));
    if (other.status != 412) return Conditions();
    Conditions conditions{.on_put = true};
    SHERD_TRY(same, put("If-Match", quoted_etag(*etag)));
    if (!is_success(same)) {
      SHERD_TRY(bare, put("If-Match", unquoted(*etag)));
      conditions.on_put = is_success(bare);
      conditions.is_quoted = false;
    }
    if (!conditions.on_put) return Conditions();
    compare_copies(conditions);
    return conditions;
  }

  /// Of the object onto itself. Who may write may lack the right to read, which a copy needs.
  void compare_copies(Conditions& conditions) const {
    std::vector<ObjectRequest> requests;
    for (const Header& condition : {Header{"If-None-Match", "*"}, Header{"x-amz-copy-source-if-match", kOtherEtag}})
      requests.push_back({.method = "PUT",
                          .key = key_,
                          .headers = {{"x-amz-copy-source", source_of(server_, key_, {}).path},
                                      {"x-amz-metadata-directive", "REPLACE"},
                                      condition}});
    const auto replies = run_together(server_, std::move(requests));
    if (!replies) return;
    conditions.on_new_copy = (*replies)[0].status == 412;
    conditions.on_copy = (*replies)[1].status == 412;
  }

  const BucketServer& server_;
  const std::string key_;
};

struct Known {
  std::mutex mutex;
  std::map<std::string, Conditions> by_bucket;
};
Known& known() {
  static auto* const all = new Known;
  return *all;
}

bool compares(const Conditions& conditions, Ending ending, Condition::Kind kind) {
  switch (ending) {
    case Ending::put:
      return conditions.on_put;
    case Ending::complete:
      return conditions.on_complete;
    case Ending::copy:
      return conditions.on_new_copy && kind == Condition::Kind::absent;
  }
  return false;
}

}  // namespace

std::optional<Conditions> known_conditions(const BucketServer& server) {
  if (server.conditional == Conditional::no) return Conditions();
  const std::string bucket = server.service->bucket().url();
  // Of the servers that compare on other requests, few do when they copy.
  if (const bool is_aws = is_aws_host(host_of(bucket)); is_aws || server.conditional == Conditional::yes)
    return Conditions{.on_put = true, .on_complete = true, .on_copy = true, .on_new_copy = is_aws};
  const std::lock_guard guard(known().mutex);
  const auto found = known().by_bucket.find(bucket);
  return found == known().by_bucket.end() ? std::nullopt : std::optional(found->second);
}

Result<Conditions> conditions_of(const BucketServer& server) {
  if (const auto all = known_conditions(server)) return *all;
  static auto* const one_at_a_time = new std::mutex;
  const std::lock_guard guard(*one_at_a_time);
  if (const auto all = known_conditions(server)) return *all;
  const std::string bucket = server.service->bucket().url();
  const std::string key = std::string(kProbeName) + server.service->marks().next({}, {}).id;
  SHERD_TRY(found, Probe(server, key).run().in([] { return "while trying out which conditions the server compares"; }));
  const std::lock_guard hold(known().mutex);
  known().by_bucket.emplace(bucket, found);
  return found;
}

Result<Headers> condition_headers(const BucketServer& server, const std::string& key, const Condition& condition,
                                  Ending ending) {
  using Kind = Condition::Kind;
  if (condition.kind == Kind::always) return Headers();
  SHERD_TRY(conditions, conditions_of(server));
  if (compares(conditions, ending, condition.kind)) {
    if (condition.kind == Kind::absent) return Headers{{"If-None-Match", "*"}};
    const std::string& etag = condition.generation.token;
    if (!etag.starts_with('"'))
      return unsupported(
          "the server does not say which version of the object this is, so it can only be replaced as a whole");
    return Headers{{"If-Match", conditions.is_quoted ? quoted_etag(etag) : unquoted(etag)}};
  }
  if (condition.kind == Kind::matches && server.conditional != Conditional::no) return no_conditions(server);
  SHERD_TRY(present, head_object(server, key));
  SHERD_TRY(
      check_condition(condition, present.has_value(), [&] { return Generation{header_value(*present, "ETag")}; }));
  return Headers();
}

Error no_conditions(const BucketServer& server) {
  return unsupported("the server of " + server.service->url() +
                     " has no conditional requests, so a change of a part of an object could undo that of another "
                     "writer; the storage option conditional=no promises that there is one writer at a time");
}

}  // namespace sherd::remote
