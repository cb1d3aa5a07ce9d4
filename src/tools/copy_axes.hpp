// Arrays that a copy sees with their dimensions in another order, or with more dimensions, than they are stored with.
#pragma once

#include <cstddef>
#include <vector>

#include "tools/copy.hpp"

namespace sherd {

/// The node of an array as it is seen with its dimensions in another order: `order` has the stored dimension of each
/// seen one. Its chunks are the stored ones, transposed.
[[nodiscard]] NodeDocument permuted(NodeDocument node, const std::vector<std::size_t>& order);
/// The same array with a dimension of length 1 before the others. `unsupported` if a codec does not allow that.
Result<NodeDocument> with_leading_dimension(NodeDocument node);

/// The array that a copy of an array with permuted dimensions becomes: chunks and shards of the same shape, or as the
/// options say, with elements in C order.
Result<ArraySpec> spec_of_permuted(const Array& source, const NodeLocation& destination, const CopyOptions& options);

}  // namespace sherd
