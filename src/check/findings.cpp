// The findings about each key, collected from several threads, and the report of all of them.
#include "check/findings.hpp"

#include <algorithm>
#include <tuple>

#include "base/try.hpp"
#include "store/retry.hpp"

namespace sherd {
namespace {

constexpr std::size_t kToldFaults = 1000;  // of one key

/// Faults that make a chunk, or a shard and its chunks, unreadable for good. What exceeds a limit, or could not be read
/// from the disk, may be readable another time.
constexpr std::string_view kBroken[] = {"chunk_size",      "chunk_decode",         "shard_decode",
                                        "index_size",      "index_checksum",       "entry_half_empty",
                                        "extent_overflow", "extent_out_of_bounds", "extent_in_index"};

SlotPath path_of(const FaultLocation& at) {
  SlotPath path = at.outer;
  if (at.slot) path.push_back(*at.slot);
  return path;
}

std::string described(const Error& error) {
  return error.member().empty() ? error.message() : "'" + error.member() + "': " + error.message();
}

Json number_or_null(const std::optional<std::uint64_t>& number) { return number ? Json(*number) : Json(); }

}  // namespace

std::string_view document_code(const Error& error) {
  return error.code() == ErrorCode::unsupported ? "document_unsupported" : "document_corrupt";
}

void add_findings(CheckReport& report, Findings& findings) {
  report.shards += findings.counts.shards;
  report.chunks += findings.counts.chunks;
  report.live_bytes += findings.counts.live_bytes;
  report.dead_bytes += findings.counts.dead_bytes;
  for (Repair& each : findings.repaired) report.repaired.push_back(std::move(each));
  for (Fault& fault : findings.take_faults()) report.faults.push_back(std::move(fault));
}

Result<void> add_unreadable(const Error& error, const std::string& key, CheckReport& report) {
  Findings findings(key);
  SHERD_TRY(findings.failed(error, document_code(error), {}));
  ++report.documents;
  add_findings(report, findings);
  return {};
}

Result<void> add_unlisted(const Error& error, const std::string& prefix, CheckReport& report) {
  Findings findings(prefix);
  SHERD_TRY(findings.failed(error, "unreadable", {}));
  add_findings(report, findings);
  return {};
}

void Findings::add(Fault::Severity severity, std::string_view code, const FaultLocation& at,
                   const std::string& message) {
  const std::lock_guard hold(mutex_);
  has_errors_ = has_errors_ || severity == Fault::Severity::error;
  if (faults_.size() == kToldFaults) {
    ++left_out_;
    return;
  }
  std::string text;
  for (const std::uint64_t slot : at.outer) text += "slot " + std::to_string(slot) + ": ";
  faults_.push_back({severity, std::string(code), key_, at.slot, at.offset, text + message});
}

void Findings::error(std::string_view code, const FaultLocation& at, const std::string& message) {
  add(Fault::Severity::error, code, at, message);
  if (!collects_broken_ || std::ranges::find(kBroken, code) == std::end(kBroken)) return;
  const std::lock_guard hold(mutex_);
  broken_.insert(path_of(at));
}

void Findings::warning(std::string_view code, const FaultLocation& at, const std::string& message) {
  add(Fault::Severity::warning, code, at, message);
}

Result<void> Findings::failed(Error error, std::string_view code, const FaultLocation& at) {
  if (error.code() == ErrorCode::unavailable || error.code() == ErrorCode::conflict) return error;
  if (error.code() == ErrorCode::corrupt)
    this->error(code, at, described(error));
  else
    add(Fault::Severity::error, error.code() == ErrorCode::io ? "unreadable" : code, at, described(error));
  return {};
}

Result<void> Findings::seen(ByteSource& source) {
  SHERD_TRY(generation, source.generation());
  version_ = std::move(generation);
  return {};
}

Result<void> Findings::check_version(Store& store) const {
  if (faults_.empty() || !version_) return {};
  const auto now = store.open(key_);
  if (now && *now != nullptr) {
    SHERD_TRY(generation, (*now)->generation());
    if (generation == *version_ || generation.token.empty()) return {};
  }
  return std::move(conflict("kept changing while it was checked; check again when no other process writes to it"))
      .in_key(key_);
}

Result<std::unique_ptr<Findings>> look_at(Store& store, const std::string& key, const Look& look) {
  return retry_limited(Config(), [&]() -> Result<std::unique_ptr<Findings>> {
    auto findings = std::make_unique<Findings>(key);
    SHERD_TRY(look(*findings).in_key(key));
    SHERD_TRY(findings->check_version(store));
    return findings;
  });
}

std::vector<Fault> Findings::take_faults() {
  std::ranges::sort(faults_, {}, [](const Fault& fault) {
    const bool is_reason = fault.code == "not_repaired";  // of all others
    return std::tuple(is_reason, fault.offset.value_or(0), fault.slot.value_or(0), std::string_view(fault.code));
  });
  if (left_out_ > 0)
    faults_.push_back(
        {Fault::Severity::error, "more_faults", key_, {}, {}, std::to_string(left_out_) + " more faults here"});
  return std::move(faults_);
}

bool CheckReport::ok() const noexcept {
  return std::none_of(faults.begin(), faults.end(),
                      [](const Fault& fault) { return fault.severity == Fault::Severity::error; });
}

Json CheckReport::to_json() const {
  Json::Array list;
  for (const Fault& fault : faults)
    list.push_back(Json::Object{{"severity", fault.severity == Fault::Severity::error ? "error" : "warning"},
                                {"code", fault.code},
                                {"key", fault.key},
                                {"slot", number_or_null(fault.slot)},
                                {"offset", number_or_null(fault.offset)},
                                {"message", fault.message}});
  Json::Array done;
  for (const Repair& repair : repaired)
    done.push_back(Json::Object{{"action", repair.action},
                                {"key", repair.key},
                                {"message", repair.message},
                                {"backup", repair.backup.empty() ? Json() : Json(repair.backup)}});
  return Json::Object{{"ok", ok()},
                      {"checked", Json::Object{{"documents", documents}, {"shards", shards}, {"chunks", chunks}}},
                      {"space", Json::Object{{"live", live_bytes}, {"slack", slack_bytes}, {"dead", dead_bytes}}},
                      {"faults", std::move(list)},
                      {"repaired", std::move(done)}};
}

}  // namespace sherd
