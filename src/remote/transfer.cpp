#include "remote/transfer.hpp"

#include <algorithm>
#include <random>
#include <utility>

#include "base/call.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "store/request_count.hpp"

namespace sherd::remote {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMaxErrorBytes = 64 << 10;
/// An attempt that has brought so many bytes was worth it, and is not counted.
constexpr std::uint64_t kProgressBytes = 1 << 20;
constexpr milliseconds kFirstDelay{100}, kLongestDelay{10'000}, kLongestAsked{60'000};

milliseconds delay_after(unsigned failures) {
  thread_local std::minstd_rand random{std::random_device{}()};
  const auto longest = std::min(kFirstDelay * (1U << std::min(failures, 10U)), kLongestDelay);
  return milliseconds(std::uniform_int_distribution<long>(longest.count() / 2, longest.count())(random));
}

/// A query may have a signature.
std::string without_query(std::string_view url) { return std::string(url.substr(0, url.find('?'))); }

}  // namespace

milliseconds retry_after(const Headers& headers) {
  constexpr const char* kName = "Retry-After";
  milliseconds asked{0};
  if (const auto seconds = parse_number<unsigned>(header_value(headers, kName))) {
    asked = std::chrono::seconds(*seconds);
  } else if (const auto date = header_date(headers, kName)) {
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    asked = *date - header_date(headers, "Date").value_or(now);
  }
  return std::clamp(asked, milliseconds(0), kLongestAsked);
}

Result<bool> Transfer::head(HttpHead head) {
  SHERD_TRY(wants, accept(head));
  wants_ = wants;
  reply_.status = head.status;
  reply_.headers = std::move(head.headers);
  return wants_ != Wants::nothing;
}

Result<bool> Transfer::body(std::span<const std::byte> bytes) {
  if (wants_ == Wants::body) {
    received_ += bytes.size();
    return receive(bytes);
  }
  reply_.body.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return reply_.body.size() < kMaxErrorBytes;
}

Transfers::~Transfers() {
  for (Transfer* const transfer : under_way_) transport_->drop(*transfer);
}

void Transfers::start(Transfer& transfer) { waiting_.push_back({&transfer, Clock::time_point::min()}); }

Result<void> Transfers::send(Transfer& transfer) {
  SHERD_TRY(attempt, transfer.attempt());
  if (!transport_) {
    SHERD_TRY(made, Transport::make(connection_));
    transport_.emplace(std::move(made));
  }
  transfer.wants_ = Transfer::Wants::verdict;
  const std::string* const token = find_header(attempt.request.headers, "x-amz-security-token");
  transfer.reply_ = {.token = token != nullptr ? *token : ""};
  transfer.received_ = 0;
  transfer.asked_ = attempt.request.method + " " + without_query(attempt.request.url);
  count_request(transfer);
  SHERD_TRY(transport_->send(attempt.request, transfer, attempt.options));
  under_way_.push_back(&transfer);
  return {};
}

void Transfers::end(Transfer& transfer, Result<bool> outcome) {
  has_ended_one_ = true;
  const bool is_named = !outcome.has_value() && outcome.error().code() != ErrorCode::conflict &&
                        outcome.error().code() != ErrorCode::unavailable && !transfer.asked_.empty();
  transfer.finish(is_named ? std::move(outcome).error().in(transfer.asked_) : std::move(outcome));
}

void Transfers::count_request(Transfer& transfer) {
  ++transfer.requests_;
  ++requests_of_thread().requests;
}

void Transfers::count_retry(Transfer& transfer) {
  ++transfer.retries_;
  ++requests_of_thread().retries;
}

void Transfers::retry(Transfer& transfer, Error error, milliseconds least) {
  if (transfer.received_ < kProgressBytes) ++transfer.failures_;
  if (retries_left_ == 0 || transfer.failures_ >= connection_.attempts) {
    if (transfer.requests_ == 1) return end(transfer, std::move(error));
    return end(transfer, std::move(error).in("after " + std::to_string(transfer.requests_) + " requests"));
  }
  --retries_left_;
  count_retry(transfer);
  waiting_.push_back({&transfer, Clock::now() + std::max(least, delay_after(transfer.failures_ - 1))});
}

void Transfers::act_on(Transfer& transfer, Verdict verdict) {
  using Next = Verdict::Next;
  switch (verdict.next) {
    case Next::done:
    case Next::absent:
      return end(transfer, verdict.next == Next::done);
    case Next::fails:
      return end(transfer, verdict.error ? *std::move(verdict.error) : io_error("the server refused the request"));
    case Next::elsewhere:
      return start(transfer);
    case Next::again:
      count_retry(transfer);
      if (++transfer.failures_ < connection_.attempts) return start(transfer);
      return end(transfer, verdict.error ? *std::move(verdict.error) : io_error("the server refused the request"));
    case Next::later:
      return retry(transfer, verdict.error ? *std::move(verdict.error) : io_error("the server is busy"), verdict.delay);
  }
}

void Transfers::settle(Ended ended) {
  Transfer& transfer = static_cast<Transfer&>(*ended.exchange);
  std::erase(under_way_, &transfer);
  if (ended.is_repeated) {
    count_request(transfer);
    count_retry(transfer);
  }
  if (ended.failure) return end(transfer, *std::move(ended.failure));
  if (ended.broken) return retry(transfer, *std::move(ended.broken), milliseconds(0));
  const bool is_judged = transfer.wants_ == Transfer::Wants::verdict;
  act_on(transfer, is_judged ? transfer.judge(transfer.reply_) : transfer.complete());
}

Result<void> Transfers::advance(milliseconds longest) {
  has_ended_one_ = false;
  SHERD_TRY(check_interrupted());
  const auto now = Clock::now();
  auto next = now + std::min(longest, milliseconds(kBetweenPolls));
  std::vector<Transfer*> due;
  const std::size_t under_way = transport_ ? transport_->under_way() : 0;
  std::erase_if(waiting_, [&](const Waiting& each) {
    const bool is_due = each.until <= now && under_way + due.size() < connection_.parallel_requests;
    if (is_due)
      due.push_back(each.transfer);
    else if (each.until > now)
      next = std::min(next, each.until);
    return is_due;
  });
  for (Transfer* const transfer : due)
    if (auto sent = send(*transfer); !sent) end(*transfer, std::move(sent).error());
  if (has_ended_one_ || !transport_) return {};
  SHERD_TRY(ended, transport_->wait(std::chrono::ceil<milliseconds>(next - now)));
  for (Ended& each : ended) settle(std::move(each));
  return {};
}

Result<void> run(const Connection& connection, std::span<Transfer* const> all) {
  Transfers transfers(connection);
  for (Transfer* const each : all) transfers.start(*each);
  while (transfers.count() > 0) SHERD_TRY(transfers.advance(kBetweenPolls));
  return {};
}

Result<void> run(const Connection& connection, Transfer& transfer) {
  Transfer* const one = &transfer;
  return run(connection, {&one, 1});
}

namespace {

class Fetched final : public Transfer {
 public:
  Fetched(const std::function<Result<HttpRequest>()>& make, const std::function<Verdict(const HttpReply&)>& judge,
          std::uint64_t max_bytes)
      : make_(make), judge_(judge), max_bytes_(max_bytes) {}

  [[nodiscard]] Result<HttpReply> take() {
    if (failure_) return *std::move(failure_);
    return std::move(reply_);
  }

 protected:
  Result<Attempt> attempt() override {
    reply_ = {};
    SHERD_TRY(request, make_());
    return Attempt{std::move(request), {.decodes = true}};
  }
  Result<Wants> accept(const HttpHead& head) override {
    reply_.status = head.status;
    reply_.headers = head.headers;
    return Wants::body;
  }
  Result<bool> receive(std::span<const std::byte> bytes) override {
    if (bytes.size() > max_bytes_ - reply_.body.size())
      return unsupported("the server's reply has more than " + std::to_string(max_bytes_) + " bytes");
    reply_.body.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return true;
  }
  Verdict judge(const HttpReply&) override { return {}; }
  Verdict complete() override { return judge_(reply_); }
  void finish(Result<bool> exists) override {
    if (!exists.has_value()) failure_ = std::move(exists).error();
  }

 private:
  const std::function<Result<HttpRequest>()>& make_;
  const std::function<Verdict(const HttpReply&)>& judge_;
  const std::uint64_t max_bytes_;
  HttpReply reply_;
  std::optional<Error> failure_;
};

}  // namespace

Result<HttpReply> fetch(const Connection& connection, const std::function<Result<HttpRequest>()>& make,
                        const std::function<Verdict(const HttpReply&)>& judge, std::uint64_t max_bytes) {
  Fetched fetched(make, judge, max_bytes);
  SHERD_TRY(run(connection, fetched));
  return fetched.take();
}

}  // namespace sherd::remote
