// The plan of a read, shared by its two forms: reading one object with the threads that decode it, and reading many
// objects in batches.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "array/region.hpp"
#include "shard/layout.hpp"
#include "shard/reader.hpp"

namespace sherd {

/// The elements requested of one chunk of `shape`: at least one part, none empty. In array order of its layout.
struct Piece {
  const ChunkLayout& layout;
  Shape shape;
  std::vector<ReadPart> parts = {};
  std::uint64_t first_id = 0;  ///< the lowest id of a shard whose chunks have ids
};

/// The plan for reading one object.
struct ReadPlan {
  // A shard on the way down, and the elements requested of its inner chunks.
  struct Level {
    const ChunkLayout& layout;  // of the inner chunks
    Shape shape;                // of the inner chunks
    ReadCells cells;
    bool blocks = false;  // the cells are blocks of one raw chunk of `shape`, and everything is in stored order
    const ShardLayout* shard = nullptr;
    Shape shard_shape = {};  // where the inner chunks end

    // The i-th inner chunk, and the elements requested of it.
    void get(std::uint64_t i, Shape& cell, Piece& piece) const {
      cells.get(i, cell, piece.parts);
      if (shard != nullptr) piece.shape = shard->inner_shape_at(cell, shard_shape);
    }
  };

  // One chunk, or one block of a raw chunk.
  struct Job {
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

  std::deque<Level> levels;
  std::vector<Job> jobs;
  std::vector<Job> empty;
  std::vector<Wanted> wanted = {};  // of the jobs, in the order of the runs
  std::vector<Run> runs = {};
};

}  // namespace sherd
