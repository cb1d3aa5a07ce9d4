// Storage options that a process has for all stores, such as those of `sherd.config` in Python.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "sherd/options.hpp"

namespace sherd {

/// From now on, stores ignore options that equal these, if they do not have such an option: they may be for other
/// stores. Thread-safe.
void set_process_options(std::map<std::string, std::string> options);
/// Without the options that the stores of a name ignore for this reason.
[[nodiscard]] Config without_process_options(std::string_view url, Config config);

}  // namespace sherd
