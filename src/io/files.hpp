// Files of other formats as arrays: what import reads and export writes.
// A reader and a writer speak of elements in *file order*: C order of FileArray::shape, first element 0.
// Formats are rows of file_formats(); each lives in its own .cpp file.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "array/state.hpp"
#include "base/buffer.hpp"
#include "io/axes.hpp"
#include "sherd/tools.hpp"

namespace sherd {

/// What a file holds. Where `fortran` is set, file order is the reverse of the array's dimensions: shape and names
/// are then given in file order, slowest first.
struct FileArray {
  Shape shape = {};
  DType dtype = {};
  std::vector<std::optional<std::string>> dimension_names = {};  ///< empty: none
  Json attributes = {};                                          ///< an object, or null
  bool fortran = false;
  std::vector<ImageAxis> axes = {};         ///< of a file being written, in file order; empty: not looked for
  std::vector<ImageChannel> channels = {};  ///< likewise
};

/// A file being read. Every error names the file.
class ArrayFileReader {
 public:
  virtual ~ArrayFileReader() = default;
  [[nodiscard]] const FileArray& array() const noexcept { return array_; }
  /// Whether elements may be read in any order at no extra cost; otherwise only front to back is cheap.
  [[nodiscard]] virtual bool random_access() const noexcept { return false; }
  /// The elements from `first` on, as many as `into` takes, in the machine's byte order.
  virtual Result<void> read(std::uint64_t first, std::span<std::byte> into) = 0;
  /// After the last element: what a checksum at the end of the file says.
  virtual Result<void> finish() { return {}; }

 protected:
  FileArray array_;
};

/// A file being written; destroyed before finish() it leaves nothing behind.
class ArrayFileWriter {
 public:
  virtual ~ArrayFileWriter() = default;
  [[nodiscard]] virtual bool random_access() const noexcept { return false; }
  /// What the file cannot say of the array, although others of its kind do; empty: nothing.
  [[nodiscard]] virtual std::string left_out() const { return {}; }
  /// The elements from `first` on; without random access each call continues where the last one ended.
  virtual Result<void> write(std::uint64_t first, std::span<const std::byte> elements) = 0;
  /// Makes the file visible under its name.
  virtual Result<void> finish() = 0;
};

/// How a file comes into being.
struct WriteMode {
  bool overwrite = true;
  bool durable = true;
};

/// How a file's dimensions follow one another: as the array's, as planes of y and x (and the samples of a pixel) after
/// all others, or as c, t, z, y, x.
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
/// The format called `name`, or where that is empty the one of the path's suffix.
[[nodiscard]] Result<const FileFormat*> find_file_format(std::string_view name, const std::string& path);
[[nodiscard]] bool has_suffix(std::string_view path, std::span<const std::string_view> suffixes) noexcept;

// ---- bytes ----

/// Readable bytes of a file.
class FileBytes {
 public:
  virtual ~FileBytes() = default;
  [[nodiscard]] virtual bool random_access() const noexcept = 0;
  /// No more than this many bytes are there: the size, or for compressed bytes what their format can hold.
  [[nodiscard]] virtual std::uint64_t size_bound() const noexcept = 0;
  /// All of `into`, or an error that says at which byte the file ends.
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
  /// As many bytes as there are; 0 at the end.
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

/// The bytes of a file, inflated on the way where it is a gzip file (detected by its first bytes).
Result<std::unique_ptr<FileBytes>> open_inflated(const std::string& path);

/// A file that appears under its name, whole, on commit. What exists there and is not a regular file (a pipe, a device)
/// is written into directly, front to back.
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

/// A directory with a hidden name next to `path`, which is removed with its contents at the end. Making one removes
/// leftovers next to it.
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
/// Renames a file; returns 0 or why it failed: EEXIST if something exists there that may not be replaced.
[[nodiscard]] int put_in_place(const std::string& from, const std::string& to, bool overwrite);
/// Brings the directory of this file to the disk.
Result<void> sync_directory(const std::string& file);
/// "what 'path': why the system refused".
[[nodiscard]] Error file_error(std::string_view what, const std::string& path, int number);

// ---- elements stored densely in a file ----

/// Words inside an element whose bytes are to be turned around.
struct WordSwap {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::size_t word = 1;
};
/// All words of an element of this type.
[[nodiscard]] std::vector<WordSwap> word_swaps(const DType& dtype, std::uint64_t offset = 0);
void swap_elements(std::span<std::byte> elements, std::size_t element_size, std::span<const WordSwap> swaps) noexcept;

/// Elements from `offset` on. Refuses at once where the file cannot hold that many.
struct FlatLayout {
  std::uint64_t offset = 0;
  std::vector<WordSwap> swaps = {};
};
Result<std::unique_ptr<ArrayFileReader>> flat_reader(std::unique_ptr<FileBytes> bytes, FileArray array,
                                                     FlatLayout layout);
/// A header and the elements after it, in the machine's byte order (which the header is to say).
Result<std::unique_ptr<ArrayFileWriter>> flat_writer(const std::string& path, WriteMode mode, std::string header,
                                                     std::size_t element_size);

/// The number of bytes of an array's elements, refused where it does not fit 63 bits or a dimension limit.
Result<std::uint64_t> array_bytes(const Shape& shape, const DType& dtype, const Limits& limits = {});

// ---- images ----

struct ImageInfo {
  std::uint64_t height = 0;
  std::uint64_t width = 0;
  std::uint64_t channels = 1;  ///< 1: the array has no dimension for them
  DType dtype = {};
  friend bool operator==(const ImageInfo&, const ImageInfo&) = default;
  [[nodiscard]] std::uint64_t row_bytes() const noexcept { return width * channels * dtype.size(); }
};
/// "512x400 uint8, 3 channels".
[[nodiscard]] std::string to_string(const ImageInfo& info);
/// Rows no longer than limits.chunk_bytes, sides and channels not 0.
Result<void> check_image(const ImageInfo& info, const Limits& limits);

/// The dimensions before y and x that the pages of a file make up, slowest first.
struct PageAxes {
  std::vector<std::string> names;
  Shape lengths;  ///< their product is the number of pages
};
/// One file with pages of one kind.
class ImageFile {
 public:
  virtual ~ImageFile() = default;
  [[nodiscard]] virtual const ImageInfo& info() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t pages() const noexcept { return 1; }
  /// Rows [first, first + n) of a page, n as `into` takes; cheap where they follow the last ones read.
  virtual Result<void> read_rows(std::uint64_t page, std::uint64_t first, std::span<std::byte> into) = 0;
  /// Where the file says what its pages are; nullopt: they are slices.
  [[nodiscard]] virtual std::optional<PageAxes> page_axes() const { return std::nullopt; }
  /// What the file says beyond its pixels, or null. Of `spacing` and `units` the last entries are of rows and columns;
  /// dimensions before the first entry have none.
  [[nodiscard]] virtual Json attributes() const { return {}; }
};
using OpenImage = Result<std::unique_ptr<ImageFile>> (*)(const std::string& path, const ImportOptions& options);

/// The images that a file, a directory or a pattern (`*`, `?`, `%04d` in the last component) names, in natural order,
/// as (y, x[, c]) for one page of one file, (z, y, x[, c]) for a stack, and as its metadata say for one file that has
/// any.
Result<std::unique_ptr<ArrayFileReader>> open_images(const std::string& source, const ImportOptions& options,
                                                     const FileFormat& format, OpenImage open);
/// The files that a directory or pattern names, or nullopt where `source` is a file or nothing of the kind.
Result<std::optional<std::vector<std::string>>> list_images(const std::string& source,
                                                            std::span<const std::string_view> suffixes);

/// One image being written, row after row.
class ImageWriter {
 public:
  virtual ~ImageWriter() = default;
  virtual Result<void> write(std::span<const std::byte> rows) = 0;
  virtual Result<void> finish() = 0;
};
using CreateImage = Result<std::unique_ptr<ImageWriter>> (*)(const std::string& path, const ImageInfo& info,
                                                             WriteMode mode);
Result<std::unique_ptr<ImageWriter>> create_png(const std::string& path, const ImageInfo& info, WriteMode mode);
/// uint8 of 1 or 3 channels.
Result<std::unique_ptr<ImageWriter>> create_jpeg(const std::string& path, const ImageInfo& info, WriteMode mode);

/// An array as planes: the last dimension is channels where it is called "c" or "channel", or where no dimension has
/// a name and it has length 3 or 4. Leading dimensions number the planes in C order.
struct Planes {
  std::uint64_t count = 1;
  std::size_t leading = 0;  ///< dimensions that number them
  ImageInfo image;
};
Result<Planes> as_planes(const FileArray& array);
/// Whether the last component is a pattern such as slice_%04d.png, which names many files.
[[nodiscard]] bool is_numbered(const std::string& path);
/// One file a plane: `destination` is a file for one plane, a pattern with %d or %04d, or a directory.
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

// ---- blocks ----

/// How an array is cut into boxes that fit a budget.
struct BlockRequest {
  Shape shape;
  Shape coarse;                ///< boxes are multiples of this where they can (the shard); empty: none
  Shape fine;                  ///< otherwise of this (the chunk); empty: none
  std::uint64_t elements = 1;  ///< a box has at most this many (at least one)
  bool random_access = false;  ///< otherwise each box is one run in C order
};
[[nodiscard]] Shape choose_block(const BlockRequest& request);
/// The boxes of `shape` in C order; nothing where it has no elements.
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

/// Moves boxes through two buffers: box i+1 is taken in while box i goes out. Reports progress and polls interruption.
struct Transfer {
  std::function<Result<void>(const Box&, std::span<std::byte>)> take;
  std::function<Result<void>(const Box&, std::span<std::byte>)> give;
};
Result<void> transfer_blocks(const BlockRequest& request, std::size_t element_size, const Config& config,
                             const Transfer& transfer);

/// import_file() at a location (writable, its format given).
Result<void> import_at(const std::string& source, const ImportOptions& options, const NodeLocation& location);

}  // namespace sherd
