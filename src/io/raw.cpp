// Raw files: only elements in C order. Shape, type and byte order come from the caller, and the file's size must match
// them exactly.
#include <bit>

#include "base/try.hpp"
#include "io/files.hpp"

namespace sherd {
namespace {

Result<std::unique_ptr<ArrayFileReader>> open_raw(const std::string& path, const ImportOptions& options) {
  if (options.shape.empty() || !options.dtype)
    return invalid_argument("a raw file has no header; give its shape and its dtype").in_key(path);
  if (options.dtype->is_variable())
    return invalid_argument("'" + options.dtype->name() + "' has no fixed size and cannot be stored in a raw file")
        .in_key(path);
  SHERD_TRY(size, array_bytes(options.shape, *options.dtype, options.create.config.limits).in_key(path));
  SHERD_TRY(file, InputFile::open(path));
  if (file->size_bound() != size)
    return invalid_argument("shape " + to_string(options.shape) + " of " + options.dtype->name() + " needs " +
                            std::to_string(size) + " bytes, the file has " + std::to_string(file->size_bound()))
        .in_key(path);
  FlatLayout layout;
  if (options.big_endian != (std::endian::native == std::endian::big)) layout.swaps = word_swaps(*options.dtype);
  FileArray array;
  array.shape = options.shape;
  array.dtype = *options.dtype;
  return flat_reader(std::move(file), std::move(array), std::move(layout)).in_key(path);
}

Result<std::unique_ptr<ArrayFileWriter>> create_raw(const std::string& path, const FileArray& array, WriteMode mode) {
  if (array.dtype.is_variable())
    return unsupported("'" + array.dtype.name() + "' has no fixed size and cannot be stored in a raw file")
        .in_key(path);
  return flat_writer(path, mode, {}, array.dtype.size());
}

constexpr std::string_view kRawSuffixes[] = {".raw", ".bin"};

}  // namespace

constinit const FileFormat kRawFiles{"raw", kRawSuffixes, open_raw, create_raw};

}  // namespace sherd
