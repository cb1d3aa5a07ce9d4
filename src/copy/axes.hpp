// Arrays that a copy treats as having another order of dimensions, or more dimensions, than they are stored with.
#pragma once

#include <cstddef>
#include <vector>

#include "copy/planned_copy.hpp"

namespace sherd {

/// The node of an array viewed with its dimensions in another order: `order` has the stored dimension for each viewed
/// one. Its chunks are the stored ones, transposed.
[[nodiscard]] NodeDocument permuted(NodeDocument node, const std::vector<std::size_t>& order);
/// The node of an array with a leading dimension of length 1. `unsupported` if a codec does not allow this.
Result<NodeDocument> with_leading_dimension(NodeDocument node);

/// The array of a copy of an array with permuted dimensions: chunks and shards of the same shape, or as set in the
/// options, with elements in C order.
Result<ArraySpec> spec_of_permuted(const Array& source, const NodeLocation& destination, const CopyOptions& options);

}  // namespace sherd
