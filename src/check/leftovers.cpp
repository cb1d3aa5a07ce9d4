#include "check/leftovers.hpp"

#include <chrono>

#include "base/try.hpp"
#include "node/claim.hpp"
#include "node/path.hpp"
#include "node/stores_above.hpp"
#include "store/key.hpp"
#include "store/listing.hpp"
#include "store/probe.hpp"

namespace sherd {
namespace {

/// A probe is needed for some round trips. Removed too early, it would show its process that the server compares
/// nothing.
constexpr std::chrono::minutes kProbeAge{1};

}  // namespace

Result<bool> LeftoversSeen::visit(const std::string& prefix, ListDepth depth, const OnEntry& visit) {
  return store_->visit(prefix, depth, [&](const ListEntry& entry) -> Result<bool> {
    if (is_ours(split_key(entry.name).name) || is_claim(entry.name)) note(prefix + std::string(entry.name), entry);
    return visit(entry);
  });
}

void LeftoversSeen::note(const std::string& key, const ListEntry& entry) {
  const std::lock_guard guard(mutex_);
  if (entry.is_prefix && is_staging(split_key(entry.name).name)) claims_.insert(key + "/claim");
  if (!entry.is_prefix && is_claim(key)) claims_.insert(key);
  if (!entry.is_prefix && is_probe(key)) probes_.emplace(key, entry.modified);
}

Result<void> LeftoversSeen::report(const NodeLocation& location, bool repairs, CheckReport& report) {
  const auto warn = [&](const std::string& code, const std::string& key, std::string message) {
    report.faults.push_back({Fault::Severity::warning, code, key, {}, {}, std::move(message)});
  };
  const auto now = std::chrono::system_clock::now();
  for (const auto& [key, stored] : probes_) {
    const bool is_old = !stored || now - *stored > kProbeAge;
    const std::string message = "a process has tried out here what the server compares, and was killed";
    if (!repairs || !is_old) {
      warn("probe_left", key, message + (is_old ? "" : ", or does so now: it is younger than a minute"));
      continue;
    }
    SHERD_TRY(store_->erase(key));
    report.repaired.push_back({"probe_removed", key, message});
  }
  claims_.insert(claim_key(location));
  for (const std::string& key : claims_) {
    SHERD_TRY(claim, read_claim(location, key));
    if (claim)
      warn("node_claimed", key,
           "a process is making or erasing the node '" + (claim->path.empty() ? "/" : claim->path) +
               "', or was killed while it did, and so it cannot be created; if none is at work, resume the copy "
               "('--resume') or erase the node ('sherd rm')");
  }
  return {};
}

Result<CheckReport> left_without_node(const NodeLocation& location, bool repairs) {
  CheckReport report;
  const StoreTraits traits = location.store->traits();
  if (traits.locks || traits.read_only) return report;
  const auto look = [&](const std::shared_ptr<Store>& store, const std::string& path) -> Result<bool> {
    NodeLocation there = at_path(location, path);
    there.store = store;
    LeftoversSeen seen(store);
    if (store == location.store) {
      const auto listed = seen.visit(prefix_of(path), ListDepth::children, [](const ListEntry&) { return true; });
      if (!listed.has_value() && !is_unlisted(listed.error())) return listed.error();
    }
    SHERD_TRY(seen.report(there, repairs, report));
    return !report.faults.empty() || !report.repaired.empty();
  };
  SHERD_TRY(is_left, look(location.store, location.path));
  if (!is_left)  // who may read here may not be allowed to read above
    (void)for_each_above(*location.store, [&](const std::shared_ptr<Store>& outer, const std::string& above) {
      return look(outer, join_path(above, location.path));
    });
  return report;
}

}  // namespace sherd
