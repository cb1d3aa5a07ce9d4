// Tracing: prints each request to a store as a line on standard error, if requested by the environment's NCTRACING or
// the command's --trace.
#pragma once

#include <memory>

#include "sherd/options.hpp"
#include "sherd/store.hpp"

namespace sherd {

/// The level set by NCTRACING; 0 if it is not set.
[[nodiscard]] unsigned trace_level() noexcept;
/// Prints what a recorder counts. Level 1: requests that change a store; level 2 and above: every request.
void trace(Recorder& recorder, unsigned level);
/// The configuration with a recorder that traces, if the environment requests it and there is no other recorder.
[[nodiscard]] Config traced(Config config);

}  // namespace sherd
