// Servers of tests/servers for tests in C++. They are shared by all tests that one ctest runs, and end with it.
#pragma once

#include <cstdint>
#include <string>

#include "sherd/json.hpp"
#include "sherd/result.hpp"

namespace sherd::remote {

struct RealServer {
  std::string url;  ///< scheme, 127.0.0.1 and port
  std::string key, secret, region;
  std::string bucket;  ///< new, with the files of the folder that was named
  Json more;           ///< what only this kind has, such as nginx's "certificate"; see tests/servers/server.py

  [[nodiscard]] std::uint16_t port() const;
};

/// A running server: nginx, radosgw, swift, seaweedfs or fake_gcs. The files of `folder`, unless that is empty, are put
/// into a new bucket, each under its path. `not_found` if the server is not installed; then the test is to be skipped,
/// which counts as a failure in CI, because this has added one.
Result<RealServer> real_server(const std::string& name, const std::string& folder = "");

}  // namespace sherd::remote
