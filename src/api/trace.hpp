// Tracing: each request of a store as a line on standard error, as the environment's NCTRACING or the command's --trace
// asks for it.
#pragma once

#include <memory>

#include "sherd/options.hpp"
#include "sherd/store.hpp"

namespace sherd {

/// The level that NCTRACING asks for; 0 if it is not set.
[[nodiscard]] unsigned trace_level() noexcept;
/// Prints what a recorder counts. From level 1 on what changes a store, from 2 on every request.
void trace(Recorder& recorder, unsigned level);
/// The configuration with a recorder that traces, if the environment asks for it and there is no other recorder.
[[nodiscard]] Config traced(Config config);

}  // namespace sherd
