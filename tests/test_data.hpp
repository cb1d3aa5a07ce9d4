// Where the files under tests/data are.
#pragma once

#include <string>

namespace sherd {

/// The path of a file under tests/data, such as test_data("files/u1.npy").
std::string test_data(const std::string& name);

}  // namespace sherd
