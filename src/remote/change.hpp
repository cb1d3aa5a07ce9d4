// A request that changes an object, repeated until it is answered.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "remote/bucket_service.hpp"
#include "remote/connection.hpp"
#include "remote/transfer.hpp"

namespace sherd::remote {

class Change final : public Transfer {
 public:
  /// `request.payload` must live until the end. `service` too.
  Change(BucketService& service, ObjectRequest request) : service_(service), request_(std::move(request)) {}

  [[nodiscard]] bool has_ended() const noexcept { return has_ended_; }
  /// After the end: a reply of success, or one that refuses the change and says why: 404 (the object or the upload does
  /// not exist), 409, 412 (a condition does not hold), 400, 405 and 501 (the server cannot do this). An Error in the
  /// body of a reply of success has the status of its code.
  [[nodiscard]] Result<HttpReply> take();
  /// Whether the change may have been carried out, whatever take() says: replies were lost.
  [[nodiscard]] bool may_have_landed() const noexcept { return lost_ > 0; }

 protected:
  Result<Attempt> attempt() override;
  Result<Wants> accept(const HttpHead& head) override;
  Result<bool> receive(std::span<const std::byte> bytes) override;
  Verdict judge(const HttpReply&) override { return {}; }
  Verdict complete() override;
  void finish(Result<bool> exists) override;

 private:
  BucketService& service_;
  const ObjectRequest request_;
  HttpReply reply_;
  unsigned lost_ = 0;  ///< attempts that were not answered, or by a failure of the server
  bool has_ended_ = false;
  std::optional<Error> failure_;
};

/// Whether a reply reports success.
[[nodiscard]] inline bool is_success(const HttpReply& reply) noexcept { return reply.status / 100 == 2; }
/// What a reply without success says, as an error.
[[nodiscard]] Error refusal(const HttpReply& reply);

/// Runs one change to its end.
Result<HttpReply> run_change(const Connection& connection, Change& change);

}  // namespace sherd::remote
