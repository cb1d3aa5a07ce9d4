// Options that several subcommands share. The name and help text of each are defined only here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/parser.hpp"
#include "cli/session.hpp"
#include "sherd/array.hpp"

namespace sherd::cli {

/// --json, --threads and the other options of every subcommand.
void add_everywhere(Arguments& arguments, Everywhere& options);
/// --standalone, for subcommands that create nodes.
void add_standalone(Arguments& arguments, Everywhere& options);

/// --scale and --resolution, for subcommands that open an array.
void add_scale(Arguments& arguments, LevelChoice& scale);

/// --level, its synonym --scale, and --resolution, for subcommands that open an image.
void add_level(Arguments& arguments, LevelChoice& level);

/// --gzip-level: a digit, or empty if not given.
void add_gzip_level(Arguments& arguments, std::string& level);
void apply_gzip_level(const std::string& level, Config& config);

/// The memory that a copy may use, a size; empty if the option is not given.
Result<void> apply_memory(const char* option, const std::string& memory, Config& config);

/// How stored shards are changed, of any kind.
struct UpdateOptions {
  std::string update = "auto";
  std::optional<std::string> max_unused;

  void add_to(Arguments& arguments);
  [[nodiscard]] Result<void> apply(Config& config) const;
};

/// How chunks and shards are written, in any array.
struct WritingOptions {
  UpdateOptions updating;
  std::string chunk_order = "morton", layout = "plain", gzip_level;
  std::optional<std::string> slack;
  bool write_empty_chunks = false, no_durable = false;

  void add_to(Arguments& arguments);
  [[nodiscard]] Result<void> apply(Config& config) const;
};

/// Options as text, in the order of the help.
struct ChunkingOptions {
  std::optional<std::string> chunks, shards;
  std::vector<std::string> codecs;
  std::string index_location;
  WritingOptions writing;

  void add_to(Arguments& arguments);
  [[nodiscard]] Result<void> apply(CreateOptions& create) const;
  [[nodiscard]] std::optional<IndexLocation> location() const noexcept;
};

/// The properties of a new array other than shape and type.
struct ArrayOptions {
  ChunkingOptions chunking;
  std::optional<std::string> fill_value, attributes, dimension_names;
  bool overwrite = false;

  void add_to(Arguments& arguments);
  [[nodiscard]] Result<void> apply(CreateOptions& create) const;
  /// Whether only attributes and overwriting are requested.
  [[nodiscard]] bool is_plain() const noexcept;
  /// Whether nothing is requested that a Neuroglancer volume cannot have.
  [[nodiscard]] bool may_be_volume() const noexcept;
};

}  // namespace sherd::cli
