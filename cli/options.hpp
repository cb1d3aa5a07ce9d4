// Options that several subcommands share, each with its name and its sentence of help here only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/parser.hpp"
#include "cli/session.hpp"
#include "sherd/array.hpp"

namespace sherd::cli {

/// --json, --threads and the others of every subcommand.
void add_everywhere(Arguments& arguments, Everywhere& options);

/// --scale and --resolution, for what opens an array.
void add_scale(Arguments& arguments, LevelChoice& scale);

/// --level, with --scale for the same, and --resolution: for what opens an image.
void add_level(Arguments& arguments, LevelChoice& level);

/// --gzip-level: a digit, or empty where it is not given.
void add_gzip_level(Arguments& arguments, std::string& level);
void apply_gzip_level(const std::string& level, Config& config);

/// How chunks and shards are written, for any array.
struct WritingOptions {
  std::string chunk_order = "morton", layout = "plain", gzip_level;
  std::optional<std::string> max_unused;
  bool write_empty_chunks = false, no_durable = false;

  void add_to(Arguments& arguments);
  [[nodiscard]] Result<void> apply(Config& config) const;
};

/// Options as text, in the order in which help shows them.
struct ChunkingOptions {
  std::optional<std::string> chunks, shards;
  std::vector<std::string> codecs;
  std::string index_location;
  WritingOptions writing;

  void add_to(Arguments& arguments);
  [[nodiscard]] Result<void> apply(CreateOptions& create) const;
  [[nodiscard]] std::optional<IndexLocation> location() const noexcept;
};

/// What a new array is, apart from shape and type.
struct ArrayOptions {
  ChunkingOptions chunking;
  std::optional<std::string> fill_value, attributes, dimension_names;
  bool overwrite = false;

  void add_to(Arguments& arguments);
  [[nodiscard]] Result<void> apply(CreateOptions& create) const;
  /// Whether nothing is asked for but attributes and overwriting.
  [[nodiscard]] bool is_plain() const noexcept;
  /// Whether nothing is asked for that a volume of Neuroglancer's cannot have.
  [[nodiscard]] bool may_be_volume() const noexcept;
};

}  // namespace sherd::cli
