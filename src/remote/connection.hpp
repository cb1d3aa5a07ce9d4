// How servers are reached.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace sherd::remote {

struct Connection {
  unsigned parallel_requests = 32;  ///< of one call
  /// How often a request is sent before its failure is that of the call. An attempt that has brought enough bytes does
  /// not count.
  unsigned attempts = 6;
  std::chrono::milliseconds connect_timeout{10'000};
  /// A transfer that has been nearly still for so long is given up.
  std::chrono::seconds idle_timeout{30};
  std::string proxy = {};  ///< URL; empty: that of the environment
  bool uses_proxy = true;
  std::string ca_bundle = {};               ///< file of certificates; empty: those of the system
  std::vector<long> missing_statuses = {};  ///< that mean, like 404, that an object does not exist
};

}  // namespace sherd::remote
