// The findings of check() about each key.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sherd/store.hpp"
#include "sherd/tools.hpp"

namespace sherd {

/// The fault of a document that could not be read or lowered.
[[nodiscard]] std::string_view document_code(const Error& error);

/// Slots that lead from an object to a chunk in it, outermost first; empty: the object itself.
using SlotPath = std::vector<std::uint64_t>;

/// The position of a fault in an object.
struct FaultLocation {
  std::optional<std::uint64_t> slot = {};
  std::optional<std::uint64_t> offset = {};
  SlotPath outer = {};  ///< the slots of the shards around it
};

/// The findings about one key. A damaged index can make every slot faulty, so only the first thousand faults are
/// reported individually. Thread-safe.
class Findings {
 public:
  explicit Findings(std::string key) : key_(std::move(key)) {}

  void error(std::string_view code, const FaultLocation& at, const std::string& message);
  void warning(std::string_view code, const FaultLocation& at, const std::string& message);
  /// Adds an error from inspecting stored bytes as a fault; returns an error that means that the check itself cannot
  /// continue (out of memory, interrupted, the object has changed meanwhile).
  Result<void> failed(Error error, std::string_view code, const FaultLocation& at);

  /// Records which version of the object the findings are about.
  Result<void> seen(ByteSource& source);
  /// `conflict` if there are faults and the store now has another version than the one seen.
  Result<void> check_version(Store& store) const;

  [[nodiscard]] const std::string& key() const noexcept { return key_; }
  [[nodiscard]] bool empty() const noexcept { return faults_.empty(); }
  [[nodiscard]] bool has_errors() const noexcept { return has_errors_; }
  /// Whether the findings are about this version.
  [[nodiscard]] bool are_of(const Generation& version) const { return version_ && *version_ == version; }

  /// From now on, remembers what cannot be read, however much of it there is.
  void collect_broken() noexcept { collects_broken_ = true; }
  [[nodiscard]] const std::set<SlotPath>& broken() const noexcept { return broken_; }

  /// Counters; not guarded.
  CheckReport counts;
  /// What was done to the object before these findings.
  std::vector<Repair> repaired;
  /// Whether the index of the object itself cannot be read.
  bool has_torn_index = false;
  /// The faults by offset, the last one saying how many were left out. Ends the findings.
  std::vector<Fault> take_faults();

 private:
  void add(Fault::Severity severity, std::string_view code, const FaultLocation& at, const std::string& message);

  std::string key_;
  std::mutex mutex_;
  std::vector<Fault> faults_;
  std::uint64_t left_out_ = 0;
  bool has_errors_ = false, collects_broken_ = false;
  std::set<SlotPath> broken_;
  std::optional<Generation> version_;
};

/// The function that inspects the object with this key in one version of it. If a writer changes the object meanwhile,
/// it is inspected again, with empty findings; `conflict` if it never stops changing. Called in a parallel loop, with
/// which it is interrupted.
using Look = std::function<Result<void>(Findings& to)>;
Result<std::unique_ptr<Findings>> look_at(Store& store, const std::string& key, const Look& look);

/// Ends the findings.
void add_findings(CheckReport& report, Findings& findings);
/// Reports a document that could not be read as a fault. Returns an error only if the check cannot continue.
Result<void> add_unreadable(const Error& error, const std::string& key, CheckReport& report);
/// Reports a prefix that could not be listed as a fault. Returns an error only if the check cannot continue.
Result<void> add_unlisted(const Error& error, const std::string& prefix, CheckReport& report);

}  // namespace sherd
