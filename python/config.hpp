// Run-time settings: the defaults of the process, and those of a single handle.
#pragma once

#include <nanobind/nanobind.h>

#include "sherd/options.hpp"
#include "sherd/store.hpp"

namespace sherd::python {

/// The process's defaults, overridden by `changes` (a dict or None), plus what Python needs: the recorder for
/// sherd.record(), and polling for signals. An unknown key is InvalidArgument.
[[nodiscard]] Config config_from(nanobind::handle changes);
/// The settings of another handle, overridden by `changes` (a dict or None). An unknown key is InvalidArgument.
[[nodiscard]] Config config_over(Config config, nanobind::handle changes);
/// All settings but secrets, as a dict that config_from() accepts where a pickle of a handle at `url` is loaded.
[[nodiscard]] nanobind::dict config_to(const Config& config, std::string_view url);
/// `settings`, a dict, without secrets, for a pickle of a handle at `url`.
[[nodiscard]] nanobind::dict public_settings(nanobind::handle settings, std::string_view url);
/// Counts every request of all handles in this process.
[[nodiscard]] const std::shared_ptr<Recorder>& recorder();

}  // namespace sherd::python
