#include "tests/faults/judge.hpp"

#include <sstream>

#include "tests/faults/faults.hpp"

namespace faults {

using golden::Seen;

std::string text_of(const Seen& seen) {
  std::ostringstream text;
  for (std::size_t chunk = 0; chunk < seen.size(); ++chunk)
    if (seen[chunk] != golden::missing) text << chunk << ":" << seen[chunk] << " ";
  return text.str();
}

std::string Judge::fault(const Tree& tree, bool is_acknowledged) {
  const auto [at, is_new] = outcomes_.try_emplace(tree.hash());
  if (is_new) {
    tree.store(folder_);
    at->second = look();
  }
  return fault_of(at->second, is_acknowledged);
}

std::string Judge::fault_of(const Outcome& outcome, bool is_acknowledged) const {
  const bool is_compacted = change_.compacts() && is_acknowledged;
  if (is_compacted && outcome.dead_bytes > 0) return "acknowledged, but there are dead bytes";
  if (!outcome.fault.empty() || is_allowed(outcome.seen, is_acknowledged)) return outcome.fault;
  return std::string(is_acknowledged ? "" : "not ") + "acknowledged, but there is " + text_of(outcome.seen) +
         "instead of " + text_of(new_) + "or " + text_of(old_);
}

bool Judge::is_allowed(const Seen& seen, bool is_acknowledged) const {
  if (seen == new_) return true;
  if (is_acknowledged) return false;
  if (seen == golden::amid(change_, old_)) return true;
  if (of_.is_atomic() && change_.overwrites.empty()) return seen == old_;
  for (std::size_t chunk = 0; chunk < seen.size(); ++chunk)
    if (seen[chunk] != old_[chunk] && seen[chunk] != new_[chunk] && !change_.overwrites.contains(chunk)) return false;
  return true;
}

/// Of a check. `torn` is set if the index is written in part, which is a fault if it is null.
std::string Judge::fault_of(const sherd::CheckReport& report, bool* torn) const {
  for (const sherd::Fault& each : report.faults) {
    if (each.severity == sherd::Fault::Severity::warning) continue;
    if (each.slot && change_.overwrites.contains(*each.slot)) continue;
    if (each.code != "index_checksum" || torn == nullptr) return "check: " + each.code + ": " + each.message;
    *torn = true;
  }
  return {};
}

Judge::Outcome Judge::look() const {
  Outcome outcome;
  try {
    outcome.seen = golden::see(of_, folder_);
    bool torn = false;
    const sherd::CheckReport report = golden::check(of_, folder_);
    outcome.dead_bytes = report.dead_bytes;
    outcome.fault = fault_of(report, of_.overwrites_index() ? &torn : nullptr);
    if (outcome.fault.empty() && torn) outcome.fault = repair(outcome.seen);
    if (outcome.fault.empty()) outcome.fault = update(outcome.seen);
  } catch (const sherd::Exception& failure) {
    outcome.fault = failure.error().text();
  }
  return outcome;
}

/// The next update succeeds, and leaves nothing of an interrupted one.
std::string Judge::update(const Seen& seen) const {
  const golden::Change next{"Next", {{7, 9}}};
  golden::begin(of_, next, folder_)();
  const Seen now = golden::see(of_, folder_), expected = golden::after(next, seen);
  if (now != expected) return "after the next update there is " + text_of(now) + "instead of " + text_of(expected);
  for (const std::string& name : files(folder_)) {
    // The 2022 draft has documents in a directory of their own, which the next change of a document cleans.
    if (of_.kind == golden::Kind::draft2022 && name.starts_with("meta/")) continue;
    if (name.find(".sherd-") != name.npos) return "the next update leaves " + name;
  }
  const std::string fault = fault_of(golden::check(of_, folder_));
  return fault.empty() ? fault : "after the next update: " + fault;
}

/// Of a copy.
std::string Judge::repair(const Seen& seen) const {
  const std::string copy = folder_ + "-repaired";
  copy_tree(folder_, copy);
  const std::string fault = fault_of(golden::check(of_, copy, true));
  if (!fault.empty()) return "after a repair: " + fault;
  const Seen now = golden::see(of_, copy);
  return now == seen ? "" : "after a repair there is " + text_of(now) + "instead of " + text_of(seen);
}

}  // namespace faults
