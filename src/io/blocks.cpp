// Moves a whole array through bounded memory: how it is divided into boxes, their order, and two buffers, so that one
// box can be read while the previous one is written. Boxes follow shards first, then chunks, so that each stored object
// is written once if the budget allows it.
#include <algorithm>

#include "base/pool.hpp"
#include "base/try.hpp"
#include "io/files.hpp"

namespace sherd {
namespace {

std::uint64_t product_without(const Shape& shape, std::size_t skipped) {
  std::uint64_t product = 1;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (d != skipped) product *= shape[d];
  return product;
}

// The largest multiple of `grain` that is at most `most` and, if possible, divides `whole`.
std::uint64_t aligned(std::uint64_t most, std::uint64_t grain, std::uint64_t whole) {
  const std::uint64_t largest = most / grain;
  if (whole % grain == 0)
    for (std::uint64_t k = largest; k > largest / 2 && k > 1; --k)
      if ((whole / grain) % k == 0) return k * grain;
  return largest * grain;
}

// Reduces dimensions to the grain, slowest first, until the box fits.
void shrink(Shape& block, const Shape& grain, std::uint64_t elements) {
  for (std::size_t d = 0; d < block.size(); ++d) {
    const std::uint64_t others = product_without(block, d);
    if (block[d] * others <= elements) return;
    const std::uint64_t fitting = elements / others;
    const std::uint64_t step = std::min(grain[d], block[d]);
    if (fitting >= step) {
      block[d] = aligned(fitting, step, block[d]);
      return;
    }
    block[d] = step;
  }
}

// A box that is one run in C order: ones, one reduced dimension, whole dimensions.
void shrink_to_run(Shape& block, const BlockRequest& request) {
  for (std::size_t d = 0; d < block.size(); ++d) {
    std::uint64_t rest = 1;
    for (std::size_t e = d + 1; e < block.size(); ++e) rest *= block[e];
    if (block[d] * rest <= request.elements) return;
    const std::uint64_t fitting = request.elements / rest;
    if (fitting == 0) {
      block[d] = 1;
      continue;
    }
    if (!request.coarse.empty() && fitting >= request.coarse[d])
      block[d] = aligned(fitting, request.coarse[d], 0);
    else if (!request.fine.empty() && fitting >= request.fine[d])
      block[d] = aligned(fitting, request.fine[d], request.coarse.empty() ? 0 : request.coarse[d]);
    else
      block[d] = fitting;
    return;
  }
}

}  // namespace

Shape choose_block(const BlockRequest& request) {
  Shape block = request.shape;
  if (std::find(block.begin(), block.end(), 0) != block.end()) return block;
  if (!request.random_access) {
    shrink_to_run(block, request);
    return block;
  }
  if (!request.coarse.empty()) shrink(block, request.coarse, request.elements);
  if (!request.fine.empty()) shrink(block, request.fine, request.elements);
  shrink(block, Shape(block.size(), 1), request.elements);
  return block;
}

BlockWalk::BlockWalk(Shape shape, Shape block)
    : shape_(std::move(shape)),
      block_(std::move(block)),
      at_(shape_.size(), 0),
      done_(std::find(shape_.begin(), shape_.end(), 0) != shape_.end()) {}

std::optional<Box> BlockWalk::next() {
  if (done_) return std::nullopt;
  Box box{at_, block_};
  for (std::size_t d = 0; d < shape_.size(); ++d) box.shape[d] = std::min(block_[d], shape_[d] - at_[d]);
  std::size_t d = shape_.size();
  for (; d > 0; --d) {
    if (shape_[d - 1] - at_[d - 1] > block_[d - 1]) {
      at_[d - 1] += block_[d - 1];
      break;
    }
    at_[d - 1] = 0;
  }
  done_ = d == 0;
  return box;
}

Result<void> for_each_run(const Shape& shape, const Box& box,
                          const std::function<Result<void>(std::uint64_t, std::uint64_t, std::uint64_t)>& visit) {
  const std::uint64_t total = element_count(box.shape).value_or(0);
  if (total == 0) return {};
  // The dimensions from `inner` form one run.
  std::size_t inner = shape.size();
  std::uint64_t run = 1;
  while (inner > 0) {
    --inner;
    run *= box.shape[inner];
    if (box.shape[inner] != shape[inner]) break;
  }
  Shape at(inner, 0);
  for (std::uint64_t done = 0; done < total; done += run) {
    std::uint64_t first = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) first = first * shape[d] + box.origin[d] + (d < inner ? at[d] : 0);
    SHERD_TRY(visit(first, done, run));
    for (std::size_t d = inner; d > 0 && ++at[d - 1] == box.shape[d - 1]; --d) at[d - 1] = 0;
  }
  return {};
}

Result<void> transfer_blocks(const BlockRequest& request, std::size_t element_size, const Config& config,
                             const Transfer& transfer) {
  const Shape block = choose_block(request);
  BlockWalk walk(request.shape, block);
  Buffer buffers[2];
  const std::uint64_t block_bytes = element_count(block).value_or(0) * element_size;
  Progress progress{0, element_count(request.shape).value_or(0) * element_size};
  std::optional<Box> going, coming = walk.next();
  for (std::size_t turn = 0; going || coming; ++turn) {
    if (config.interrupted && config.interrupted()) return unavailable("interrupted");
    Buffer& in = buffers[turn % 2];
    Buffer& out = buffers[(turn + 1) % 2];
    if (coming && in.size() == 0) SHERD_TRY(in.resize(block_bytes));
    const auto bytes = [&](Buffer& buffer, const Box& box) {
      return buffer.span().first(*element_count(box.shape) * element_size);
    };
    SHERD_TRY(parallel_for(2, config, [&](std::size_t i) -> Result<void> {
      if (i == 0) return going ? transfer.give(*going, bytes(out, *going)) : Result<void>{};
      return coming ? transfer.take(*coming, bytes(in, *coming)) : Result<void>{};
    }));
    if (going) progress.done += *element_count(going->shape) * element_size;
    if (going && config.progress) config.progress(progress);
    going = std::move(coming);
    coming = going ? walk.next() : std::nullopt;
  }
  return {};
}

}  // namespace sherd
