// The one file that is compiled with the tree's own path in it, so that clones share the objects of all the others.
#include "tests/test_data.hpp"

namespace sherd {

std::string test_data(const std::string& name) { return SHERD_TEST_DATA "/" + name; }

}  // namespace sherd
