// Import and export of SWC, PLY and OBJ files, which hold objects of a collection rather than arrays.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/parser.hpp"
#include "cli/session.hpp"
#include "sherd/object_files.hpp"

namespace sherd::cli {

/// Adds --id, under its own heading.
void add_object_id(Arguments& arguments, std::optional<std::uint64_t>& id, const std::string& help);

Result<int> run_import_object(Session& session, const std::string& source, const std::string& url,
                              ObjectFileOptions options);
/// `options` does not include config and note.
Result<int> run_export_object(Session& session, const std::string& url, const std::string& destination,
                              ObjectFileOptions options);

}  // namespace sherd::cli
