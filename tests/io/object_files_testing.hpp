// SWC, PLY and OBJ files, for their tests.
#pragma once

#include "sherd/object_files.hpp"

#include <gmock/gmock.h>

#include "base/buffer.hpp"
#include "sherd/collection.hpp"
#include "sherd/store.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd::object_files_testing {

using neuroglancer::Mesh;
using neuroglancer::Skeleton;

inline constexpr std::string_view kTree =
    "# two trees\n"
    "  7 1 1.5 2 -3e2 0.5 -1   # the soma\r\n"
    "\n"
    "9 3 2 2 2 1 8\n"
    "8 3 1 1 1 +2 7\n"
    "20 0 0 0 0 0 -1\n";
inline const Mesh kPyramid{{{0, 0, 0}, {1.5, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0.5, 0.5, -2}},
                           {{0, 1, 2}, {0, 2, 3}, {0, 1, 4}}};

}  // namespace sherd::object_files_testing
