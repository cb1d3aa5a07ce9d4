// Which conditions an endpoint honours is not told by any request, and servers that ignore a condition answer as if it
// held. So an object of our own is created, replaced and uploaded on conditions that hold and that do not.
#include <map>
#include <mutex>

#include "base/buffer.hpp"
#include "base/call.hpp"
#include "base/try.hpp"
#include "remote/address.hpp"
#include "remote/aws_settings.hpp"
#include "remote/bucket_objects.hpp"
#include "remote/multipart_upload.hpp"
#include "store/condition.hpp"
#include "store/request_count.hpp"

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
    SHERD_TRY(erase_object(server_, key_));
    return found;
  }

 private:
  /// The reply to a PUT with this header.
  Result<HttpReply> put(const char* name, const std::string& value) {
    Change change(*server_.service, {"PUT", key_, {}, {{name, value}}, as_bytes(kProbe)});
    return run_change(server_.connection, change);
  }
  /// Whether the object is not copied onto itself on condition that it does not exist.
  [[nodiscard]] bool refuses_copy() const {
    const Headers headers{{"x-amz-copy-source", source_of(server_, key_, {}).path},
                          {"x-amz-metadata-directive", "REPLACE"},
                          {"If-None-Match", "*"}};
    Change change(*server_.service, {"PUT", key_, {}, headers});
    const auto reply = run_change(server_.connection, change);
    return reply && reply->status == 412;  // who may write may lack the right to read, which a copy needs
  }

  Result<Conditions> compare() {
    SHERD_TRY(created, put("If-None-Match", "*"));
    if (!is_success(created)) return Conditions();
    const std::string* const etag = find_header(created.headers, "ETag");
    SHERD_TRY(again, put("If-None-Match", "*"));
    if (again.status != 412 || etag == nullptr) return Conditions();
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
    SHERD_TRY(compare_in_upload(conditions));
    return conditions;
  }

  Result<void> compare_in_upload(Conditions& conditions) {
    auto copying = begin_beside([this] { return refuses_copy(); });
    MultipartUpload upload(server_, key_);
    SHERD_TRY(upload.begin());
    conditions.on_new_copy = copying.get();
    ++requests_of_thread().requests;  // of another thread
    const CopySource other = source_of(server_, key_, kOtherEtag);
    const MultipartUpload::Part copied{.number = 1, .from = &other, .range = {0, kProbe.size()}};
    const auto sent = upload.send({&copied, 1});
    conditions.on_copy = !sent && sent.error().code() == ErrorCode::conflict;
    const MultipartUpload::Part part{.number = 1, .bytes = as_bytes(kProbe)};
    SHERD_TRY(upload.send({&part, 1}));
    SHERD_TRY(reply, upload.try_to_end({{"If-Match", kOtherEtag}}));
    conditions.on_complete = reply.status == 412;
    return {};
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
  const std::string key = ".sherd-probe-" + server.service->marks().next({}, {}).id;
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
