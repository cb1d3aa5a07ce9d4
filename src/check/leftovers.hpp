// What killed processes have left in a store without locks as objects, which readers ignore: probes of what the server
// compares, and claims to nodes.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "node/node_location.hpp"
#include "sherd/tools.hpp"
#include "store/forwarding.hpp"

namespace sherd {

/// Notes such objects where others list them, so that they cost no list of their own. Thread-safe.
class LeftoversSeen final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  Result<void> read(ReadQueue& queue) override { return store_->read(queue); }
  Result<void> erase_all(std::span<const std::string> keys) override { return store_->erase_all(keys); }
  [[nodiscard]] std::shared_ptr<ByteSource> listed(const std::string& key, std::uint64_t size,
                                                   const Generation& generation) const override {
    return listed_beneath(key, size, generation);
  }
  Result<bool> visit(const std::string& prefix, ListDepth depth, const OnEntry& visit) override;

  /// Warns of what was seen and of the claim to the node at `location`, which need not exist, or removes what no
  /// process needs any more.
  Result<void> report(const NodeLocation& location, bool repairs, CheckReport& report);

 private:
  using Time = std::chrono::system_clock::time_point;
  void note(const std::string& key, const ListEntry& entry);

  std::mutex mutex_;
  std::map<std::string, std::optional<Time>> probes_;  ///< by key, with when they were stored
  std::set<std::string> claims_;                       ///< keys
};

/// Where there is no node: warns of the claim that a process has left which was making or erasing one, here or as a
/// member of a hierarchy above, and of probes here, which a repair removes if no process can need them any more.
Result<CheckReport> left_without_node(const NodeLocation& location, bool repairs);

}  // namespace sherd
