// Shards of the sharding transformer, for the tests of its operations on values.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/resource.h>

#include <limits>

#include "tests/draft2022/transformer_testing.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd::draft::transformer_values_testing {

/// While this exists, the process may open at most 128 files.
class FewFiles {
 public:
  FewFiles() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit few{128, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &few);
  }
  FewFiles(const FewFiles&) = delete;
  FewFiles& operator=(const FewFiles&) = delete;
  ~FewFiles() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

// ---- reading
// ---- writing
// ---- erasing

}  // namespace sherd::draft::transformer_values_testing
