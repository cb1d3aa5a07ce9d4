// The files from which values by id are read.
#pragma once

#include <memory>
#include <string>

#include "io/files.hpp"
#include "sherd/options.hpp"
#include "sherd/result.hpp"

namespace sherd::cli {

/// `unsupported` if the file is larger than the maximum size of a value, limits.chunk_bytes.
Result<std::unique_ptr<InputFile>> open_value_file(const std::string& path, const Limits& limits);

}  // namespace sherd::cli
