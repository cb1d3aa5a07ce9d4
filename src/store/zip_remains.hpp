// What is left of a zip archive whose directory is missing or damaged.
#pragma once

#include <cstdint>
#include <string>

#include "sherd/result.hpp"
#include "sherd/store.hpp"

namespace sherd {

/// Says how many members at the beginning of the archive are complete, and how to recover them; empty if it does not
/// begin with a member. Follows their local headers with at most `max_reads` reads, and compares no checksums.
Result<std::string> describe_zip_remains(ByteSource& archive, std::uint64_t max_reads);

}  // namespace sherd
