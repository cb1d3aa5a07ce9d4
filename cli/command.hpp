// A subcommand: its name, its options and arguments, and the function that runs after parsing. Each new subcommand has
// a file of its own and one row in main.cpp's table.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "sherd/result.hpp"

namespace sherd::cli {

class Arguments;
class Session;

/// Runs the subcommand; returns its exit code.
using Run = std::function<Result<int>(Session&)>;

struct Command {
  std::string_view name;
  std::string_view summary;
  /// Adds arguments, options and examples; parsing stores their values in the Run.
  Run (*add)(Arguments& arguments);
  bool creates = false;  ///< nodes, which may be standalone
};

/// A group of subcommands, such as `sherd kv`.
struct CommandGroup {
  std::string_view name;
  std::string_view summary;
  std::span<const Command> commands;
};

Run add_create(Arguments& arguments);
Run add_info(Arguments& arguments);
Run add_tree(Arguments& arguments);
Run add_ls(Arguments& arguments);
Run add_read(Arguments& arguments);
Run add_write(Arguments& arguments);
Run add_append(Arguments& arguments);
Run add_import(Arguments& arguments);
Run add_export(Arguments& arguments);
Run add_copy(Arguments& arguments);
Run add_check(Arguments& arguments);
Run add_compact(Arguments& arguments);
Run add_attrs(Arguments& arguments);
Run add_resize(Arguments& arguments);
Run add_consolidate(Arguments& arguments);
Run add_rename(Arguments& arguments);
Run add_link(Arguments& arguments);
Run add_rm(Arguments& arguments);
Run add_picture(Arguments& arguments);
Run add_nccopy(Arguments& arguments);
Run add_ncdump(Arguments& arguments);
Run add_ncgen(Arguments& arguments);
Run add_zmap(Arguments& arguments);
Run add_completion(Arguments& arguments);
Run add_annotations_build(Arguments& arguments);
Run add_kv_get(Arguments& arguments);
Run add_kv_put(Arguments& arguments);
Run add_kv_ls(Arguments& arguments);
Run add_kv_rm(Arguments& arguments);
Run add_kv_compact(Arguments& arguments);
Run add_kv_build(Arguments& arguments);

}  // namespace sherd::cli
