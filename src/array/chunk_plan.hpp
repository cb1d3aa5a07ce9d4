// The plan of a read, as its two ways share it: of one object by the threads that decode it, and of one among many that
// are read in batches.
#pragma once

#include "array/chunk_reader.hpp"

namespace sherd {

// One shard on the way down, and what is wanted of its inner chunks.
struct ChunkReader::Level {
  const ChunkLayout& layout;  // of the inner chunks
  Shape shape;                // of the inner chunks
  ReadCells cells;
  bool blocks = false;  // the cells are blocks of one raw chunk of `shape`, and all is in stored order
  const ShardLayout* shard = nullptr;
  Shape shard_shape = {};  // where the inner chunks end

  // Which inner chunk the i-th is, and what is wanted of it.
  void get(std::uint64_t i, Shape& cell, Piece& piece) const {
    cells.get(i, cell, piece.parts);
    if (shard != nullptr) piece.shape = shard->inner_shape_at(cell, shard_shape);
  }
};

// One chunk, or one block of a raw chunk.
struct ChunkReader::Job {
  const Level* level;
  std::uint64_t cell;
  std::uint64_t slot;
  Extent extent;
  std::uint64_t skipped;  // raw: bytes of the chunk before the extent
  bool raw = false;

  [[nodiscard]] Piece piece() const {
    Shape at;
    Piece piece{level->layout, level->shape};
    level->get(cell, at, piece);
    return piece;
  }
};

// What reading one object comes to.
struct ChunkReader::Plan {
  std::deque<Level> levels;
  std::vector<Job> jobs;
  std::vector<Job> empty;
  std::vector<Wanted> wanted = {};  // of the jobs, in the order of the runs
  std::vector<Run> runs = {};
};

}  // namespace sherd
