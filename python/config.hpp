// Run-time settings: the defaults of the process, and those of one handle.
#pragma once

#include <nanobind/nanobind.h>

#include "sherd/options.hpp"
#include "sherd/store.hpp"

namespace sherd::python {

/// The process's defaults with the keys of `changes` (a dict or None) over them, and with what Python needs: the
/// recorder behind sherd.record(), and signals polled. An unknown key is InvalidArgument.
[[nodiscard]] Config config_from(nanobind::handle changes);
/// The same over the settings of another handle.
[[nodiscard]] Config config_over(Config config, nanobind::handle changes);
/// All settings as a dict that config_from() accepts.
[[nodiscard]] nanobind::dict config_to(const Config& config);
/// Counts every request of every handle of this process.
[[nodiscard]] const std::shared_ptr<Recorder>& recorder();

}  // namespace sherd::python
