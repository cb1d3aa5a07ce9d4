// An import in two steps, for what is made of a file's array beyond it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "io/files.hpp"

namespace sherd {

/// A file that is to become an array, and the array.
struct FileImport {
  std::unique_ptr<ArrayFileReader> reader;
  CreateOptions create;  ///< with the shape, type, names and attributes of the file
  /// The dimension of `create` for each of the array, or kNoDimension for one of length 1; empty: the same.
  std::vector<std::size_t> order;
  static constexpr std::size_t kNoDimension = ~std::size_t{0};
};
Result<FileImport> open_import(const std::string& source, const ImportOptions& options);
/// Fills the array with the file's elements, box by box, within the memory budget. `url` is for messages.
Result<void> fill_array(const FileImport& from, const Array& array, const std::string& url);

/// What has one entry per dimension among an array's attributes, in another order of dimensions.
[[nodiscard]] Json permuted_attributes(Json attributes, const std::vector<std::size_t>& order);

}  // namespace sherd
