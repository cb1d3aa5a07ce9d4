// An import in two steps, for callers that make more of a file than one array.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "io/files.hpp"

namespace sherd {

/// A file to be imported, and the array to be created.
struct FileImport {
  std::unique_ptr<ArrayFileReader> reader;
  CreateOptions create;  ///< with the shape, type, names and attributes from the file
  /// The dimension of `create` for each one of the array; kNoDimension for one of length 1; empty: the same order.
  std::vector<std::size_t> order;
  static constexpr std::size_t kNoDimension = ~std::size_t{0};
};
Result<FileImport> open_import(const std::string& source, const ImportOptions& options);
/// Fills the array with the file's elements, box by box, within the memory budget. `url` is for messages.
Result<void> fill_array(const FileImport& from, const Array& array, const std::string& url);

/// Reorders those of an array's attributes that have one entry per dimension.
[[nodiscard]] Json permuted_attributes(Json attributes, const std::vector<std::size_t>& order);

}  // namespace sherd
