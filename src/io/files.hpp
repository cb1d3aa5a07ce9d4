// Files of other formats as arrays: what import reads and export writes.
// Readers and writers use *file order*: C order of FileArray::shape, first element 0.
// Formats are rows of file_formats(); each is in its own .cpp file.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/buffer.hpp"
#include "io/axes.hpp"
#include "node/node_location.hpp"
#include "sherd/tools.hpp"

namespace sherd {

/// The contents of a file. If `fortran` is set, file order is the reverse of the array's dimensions: shape and names
/// are then in file order, slowest first.
struct FileArray {
  Shape shape = {};
  DType dtype = {};
  std::vector<std::optional<std::string>> dimension_names = {};  ///< empty: none
  Json attributes = {};                                          ///< an object, or null
  bool fortran = false;
  std::vector<ImageAxis> axes = {};         ///< of a file being written, in file order; empty: not determined
  std::vector<ImageChannel> channels = {};  ///< of a file being written; empty: not determined
};

/// A file being read. Every error names the file.
class ArrayFileReader {
 public:
  virtual ~ArrayFileReader() = default;
  [[nodiscard]] const FileArray& array() const noexcept { return array_; }
  /// Whether elements can be read in any order at no extra cost; otherwise only front to back is cheap.
  [[nodiscard]] virtual bool random_access() const noexcept { return false; }
  /// Reads elements beginning at `first`, as many as fit into `into`, in native byte order.
  virtual Result<void> read(std::uint64_t first, std::span<std::byte> into) = 0;
  /// To be called after the last element: verifies a checksum at the end of the file.
  virtual Result<void> finish() { return {}; }

 protected:
  FileArray array_;
};

/// A file being written; if destroyed before finish() it leaves nothing behind.
class ArrayFileWriter {
 public:
  virtual ~ArrayFileWriter() = default;
  [[nodiscard]] virtual bool random_access() const noexcept { return false; }
  /// Properties of the array that this file cannot express, although other files of its kind can; empty: none.
  [[nodiscard]] virtual std::string left_out() const { return {}; }
  /// Writes elements beginning at `first`; without random access each call must continue where the previous one ended.
  virtual Result<void> write(std::uint64_t first, std::span<const std::byte> elements) = 0;
  /// Makes the file visible under its name.
  virtual Result<void> finish() = 0;
};

/// How a file is created.
struct WriteMode {
  bool overwrite = true;
  bool durable = true;
};

/// The order of a file's dimensions: as in the array; planes of y and x (and the samples of a pixel) after all others;
/// or c, t, z, y, x.
enum class FileOrder : std::uint8_t { stored, planes, space };

struct FileFormat {
  std::string_view name;
  std::span<const std::string_view> suffixes;  ///< lower case, with the dot
  Result<std::unique_ptr<ArrayFileReader>> (*open)(const std::string& path, const ImportOptions& options);
  Result<std::unique_ptr<ArrayFileWriter>> (*create)(const std::string& path, const FileArray& array, WriteMode mode);
  FileOrder order = FileOrder::stored;  ///< which create() expects
};

extern const FileFormat kNiftiFiles, kNpyFiles, kRawFiles, kPngFiles, kPgmFiles, kTiffFiles;
[[nodiscard]] std::span<const FileFormat* const> file_formats() noexcept;
/// The format called `name` or, if that is empty, the one of the path's suffix.
[[nodiscard]] Result<const FileFormat*> find_file_format(std::string_view name, const std::string& path);
[[nodiscard]] bool has_suffix(std::string_view path, std::span<const std::string_view> suffixes) noexcept;

/// The path of a file to import or to write: a plain path, or that of a `file:` URL. `unsupported`, with advice, for a
/// URL of anything else.
[[nodiscard]] Result<std::string> path_to_import(const std::string& name);
[[nodiscard]] Result<std::string> path_to_export(const std::string& name);

// ---- bytes ----

/// Readable bytes of a file.
class FileBytes {
 public:
  virtual ~FileBytes() = default;
  [[nodiscard]] virtual bool random_access() const noexcept = 0;
  /// An upper bound on the number of bytes: the size or, for compressed bytes, the maximum for their format.
  [[nodiscard]] virtual std::uint64_t size_bound() const noexcept = 0;
  /// Fills `into`, or returns an error that gives the byte at which the file ends.
  virtual Result<void> read_at(std::uint64_t offset, std::span<std::byte> into) = 0;
  virtual Result<void> check_end() { return {}; }
};

/// A regular file, open for reading.
class InputFile final : public FileBytes {
 public:
  static Result<std::unique_ptr<InputFile>> open(const std::string& path);
  ~InputFile() override;
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  [[nodiscard]] bool random_access() const noexcept override { return true; }
  [[nodiscard]] std::uint64_t size_bound() const noexcept override { return size_; }
  Result<void> read_at(std::uint64_t offset, std::span<std::byte> into) override;
  /// Reads as many bytes as there are; returns 0 at the end.
  Result<std::size_t> read_some(std::uint64_t offset, std::span<std::byte> into);
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

 private:
  InputFile(std::string path, int descriptor, std::uint64_t size)
      : path_(std::move(path)), descriptor_(descriptor), size_(size) {}
  std::string path_;
  int descriptor_;
  std::uint64_t size_;
};

/// The bytes of a file, decompressed while reading if it is a gzip file (detected by its first bytes).
Result<std::unique_ptr<FileBytes>> open_inflated(const std::string& path);

/// A file that appears under its name, whole, on commit. If something exists there that is not a regular file (a pipe,
/// a device), it is written directly, front to back.
class OutputFile {
 public:
  static Result<std::unique_ptr<OutputFile>> create(const std::string& path, WriteMode mode);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  [[nodiscard]] bool random_access() const noexcept { return !direct_; }
  Result<void> write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  Result<void> append(std::span<const std::byte> bytes) { return write_at(end_, bytes); }
  Result<void> commit();
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  OutputFile(std::string path, int descriptor, WriteMode mode)
      : path_(std::move(path)), descriptor_(descriptor), mode_(mode) {}
  int put_in_place();
  std::string path_;     ///< after following links
  std::string hidden_;   ///< the name until commit; empty: none
  bool direct_ = false;  ///< `path_` itself is written
  int descriptor_;
  WriteMode mode_;
  std::uint64_t end_ = 0;  ///< of the last write
};

/// A directory with a hidden name next to `path`, removed with its contents at the end. Creating one removes leftovers
/// next to it.
class TemporaryDirectory {
 public:
  TemporaryDirectory() = default;
  static Result<TemporaryDirectory> make(const std::string& path, mode_t access);
  TemporaryDirectory(TemporaryDirectory&& other) noexcept
      : path_(std::exchange(other.path_, {})), descriptor_(std::exchange(other.descriptor_, -1)) {}
  TemporaryDirectory& operator=(TemporaryDirectory&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~TemporaryDirectory();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  TemporaryDirectory(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  std::string path_;
  int descriptor_ = -1;
};
/// Renames a file; returns 0 or an errno: EEXIST if something exists there that may not be replaced.
[[nodiscard]] int put_in_place(const std::string& from, const std::string& to, bool overwrite);
/// Syncs the directory of this file to disk.
Result<void> sync_directory(const std::string& file);
/// "what 'path': the system's reason".
[[nodiscard]] Error file_error(std::string_view what, const std::string& path, int number);

// ---- elements stored densely in a file ----

/// Words inside an element whose bytes are to be swapped.
struct WordSwap {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::size_t word = 1;
};
/// All words of an element of this type.
[[nodiscard]] std::vector<WordSwap> word_swaps(const DType& dtype, std::uint64_t offset = 0);
void swap_elements(std::span<std::byte> elements, std::size_t element_size, std::span<const WordSwap> swaps) noexcept;

/// Elements beginning at `offset`. Refused at once if the file cannot contain that many.
struct FlatLayout {
  std::uint64_t offset = 0;
  std::vector<WordSwap> swaps = {};
};
Result<std::unique_ptr<ArrayFileReader>> flat_reader(std::unique_ptr<FileBytes> bytes, FileArray array,
                                                     FlatLayout layout);
/// A header and the elements after it, in native byte order (which the header must state).
Result<std::unique_ptr<ArrayFileWriter>> flat_writer(const std::string& path, WriteMode mode, std::string header,
                                                     std::size_t element_size);

/// The number of bytes of an array's elements; refused if it does not fit in 63 bits or exceeds a dimension limit.
Result<std::uint64_t> array_bytes(const Shape& shape, const DType& dtype, const Limits& limits = {});

// ---- images ----

struct ImageInfo {
  std::uint64_t height = 0;
  std::uint64_t width = 0;
  std::uint64_t channels = 1;  ///< 1: the array has no channel dimension
  DType dtype = {};
  friend bool operator==(const ImageInfo&, const ImageInfo&) = default;
  [[nodiscard]] std::uint64_t row_bytes() const noexcept { return width * channels * dtype.size(); }
};
/// "512x400 uint8, 3 channels".
[[nodiscard]] std::string to_string(const ImageInfo& info);
/// Requires that rows have at most limits.chunk_bytes, and that sides and channels are not 0.
Result<void> check_image(const ImageInfo& info, const Limits& limits);

/// The dimensions before y and x that are formed by the pages of a file, slowest first.
struct PageAxes {
  std::vector<std::string> names;
  Shape lengths;  ///< their product is the number of pages
  bool in_several_files = false;
};
/// One file with pages of one kind.
class ImageFile {
 public:
  virtual ~ImageFile() = default;
  [[nodiscard]] virtual const ImageInfo& info() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t pages() const noexcept { return 1; }
  /// Reads rows [first, first + n) of a page, with n given by `into`; cheap if they follow the last ones read.
  virtual Result<void> read_rows(std::uint64_t page, std::uint64_t first, std::span<std::byte> into) = 0;
  /// What the pages are, according to the file; nullopt: slices.
  [[nodiscard]] virtual std::optional<PageAxes> page_axes() const { return std::nullopt; }
  /// The file's metadata other than its pixels, or null. The last entries of `spacing` and `units` are of rows and
  /// columns; dimensions before the first entry have none.
  [[nodiscard]] virtual Json attributes() const { return {}; }
};
using OpenImage = Result<std::unique_ptr<ImageFile>> (*)(const std::string& path, const ImportOptions& options);

/// The images named by a file, a directory or a pattern (`*`, `?`, `%04d` in the last component), in natural order: as
/// (y, x[, c]) for one file with one page, as (z, y, x[, c]) for a stack, and according to its metadata for one file
/// that has any.
Result<std::unique_ptr<ArrayFileReader>> open_images(const std::string& source, const ImportOptions& options,
                                                     const FileFormat& format, OpenImage open);
/// The files that a directory or pattern names; nullopt if `source` is neither.
Result<std::optional<std::vector<std::string>>> list_images(const std::string& source,
                                                            std::span<const std::string_view> suffixes);

/// One image being written, row by row.
class ImageWriter {
 public:
  virtual ~ImageWriter() = default;
  virtual Result<void> write(std::span<const std::byte> rows) = 0;
  virtual Result<void> finish() = 0;
};
using CreateImage = Result<std::unique_ptr<ImageWriter>> (*)(const std::string& path, const ImageInfo& info,
                                                             WriteMode mode);
Result<std::unique_ptr<ImageWriter>> create_png(const std::string& path, const ImageInfo& info, WriteMode mode);
/// uint8 with 1 or 3 channels.
Result<std::unique_ptr<ImageWriter>> create_jpeg(const std::string& path, const ImageInfo& info, WriteMode mode);

/// An array as planes: the last dimension is channels if it is called "c" or "channel", or if no dimension has a name
/// and it has length 3 or 4. Leading dimensions number the planes in C order.
struct Planes {
  std::uint64_t count = 1;
  std::size_t leading = 0;  ///< dimensions that number them
  ImageInfo image;
};
Result<Planes> as_planes(const FileArray& array);
/// Whether the last component is a numbered pattern such as slice_%04d.png.
[[nodiscard]] bool is_numbered(const std::string& path);
/// One file per plane: `destination` is a file for a single plane, a pattern with %d or %04d, or a directory.
Result<std::unique_ptr<ArrayFileWriter>> create_images(const std::string& destination, const FileArray& array,
                                                       WriteMode mode, CreateImage create, std::string_view suffix);

// ---- npy ----

struct NpyHeader {
  FileArray array;
  FlatLayout layout;
};
/// `read(offset, into)` reads the file's bytes.
Result<NpyHeader> read_npy_header(const std::function<Result<void>(std::uint64_t, std::span<std::byte>)>& read,
                                  const Limits& limits);

// ---- pgm ----

struct PnmHeader {
  ImageInfo image;
  bool decimal = false;        ///< numbers as text
  std::uint32_t greatest = 0;  ///< value
  std::uint64_t bytes = 0;     ///< of the header
};
/// `read(offset, into)` reads some bytes and returns how many, 0 at the end of the file.
using ReadSome = std::function<Result<std::size_t>(std::uint64_t offset, std::span<std::byte> into)>;
/// Reads a header byte by byte, and nothing after it.
Result<PnmHeader> read_pnm_header(const ReadSome& read);

// ---- blocks ----

/// How an array is divided into boxes that fit a budget.
struct BlockRequest {
  Shape shape;
  Shape coarse;                ///< boxes are multiples of this if possible (the shard); empty: none
  Shape fine;                  ///< otherwise multiples of this (the chunk); empty: none
  std::uint64_t elements = 1;  ///< a box has at most this many (at least one)
  bool random_access = false;  ///< otherwise each box is one run in C order
};
[[nodiscard]] Shape choose_block(const BlockRequest& request);
/// The boxes of `shape` in C order; none if it has no elements.
class BlockWalk {
 public:
  BlockWalk(Shape shape, Shape block);
  [[nodiscard]] std::optional<Box> next();

 private:
  Shape shape_, block_, at_;
  bool done_;
};
/// Calls visit(first element of `shape`, first element of the box, count) for every run of the box in C order.
Result<void> for_each_run(const Shape& shape, const Box& box,
                          const std::function<Result<void>(std::uint64_t, std::uint64_t, std::uint64_t)>& visit);

/// Moves boxes through two buffers: box i+1 is read while box i is written. Reports progress and polls interruption.
struct Transfer {
  std::function<Result<void>(const Box&, std::span<std::byte>)> take;
  std::function<Result<void>(const Box&, std::span<std::byte>)> give;
};
Result<void> transfer_blocks(const BlockRequest& request, std::size_t element_size, const Config& config,
                             const Transfer& transfer);

/// import_file() at a location (writable, its format given).
Result<void> import_at(const std::string& source, const ImportOptions& options, const NodeLocation& location);

}  // namespace sherd
