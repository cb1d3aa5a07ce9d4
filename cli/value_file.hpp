// The files that values by id come from.
#pragma once

#include <memory>
#include <string>

#include "io/files.hpp"
#include "sherd/options.hpp"
#include "sherd/result.hpp"

namespace sherd::cli {

/// `unsupported` where the file is larger than a value may be, limits.chunk_bytes.
Result<std::unique_ptr<InputFile>> open_value_file(const std::string& path, const Limits& limits);

}  // namespace sherd::cli
