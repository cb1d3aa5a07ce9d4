// Stacks of images: which files a directory or a pattern names, their order, and how planes become one array. All
// headers are read before anything is created, so that a plane of different size is found at once and not after hours.
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <set>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "io/files.hpp"
#include "os/directory.hpp"

namespace sherd {
namespace {

namespace fs = std::filesystem;

// Digits compare as numbers, so that slice_10 follows slice_9; equal numbers compare by their text.
bool natural_less(const std::string& a, const std::string& b) {
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (!is_digit(a[i]) || !is_digit(b[j])) {
      if (a[i] != b[j]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
      ++i, ++j;
      continue;
    }
    const auto number = [](const std::string& text, std::size_t& at) {
      while (at < text.size() && text[at] == '0') ++at;
      const std::size_t begin = at;
      while (at < text.size() && is_digit(text[at])) ++at;
      return std::string_view(text).substr(begin, at - begin);
    };
    const std::string_view x = number(a, i), y = number(b, j);
    if (x.size() != y.size()) return x.size() < y.size();
    if (x != y) return x < y;
  }
  if (a.size() - i != b.size() - j) return a.size() - i < b.size() - j;
  return a < b;
}

// "slice_%04d.png": the text before and after the number, and its minimum width.
struct Numbered {
  std::string before, behind;
  std::size_t width = 1;
  [[nodiscard]] std::string name(std::uint64_t index) const {
    const std::string digits = std::to_string(index);
    return before + std::string(width > digits.size() ? width - digits.size() : 0, '0') + digits + behind;
  }
  [[nodiscard]] bool matches(std::string_view text) const {
    if (text.size() < before.size() + behind.size() + width || !text.starts_with(before) || !text.ends_with(behind))
      return false;
    const auto digits = text.substr(before.size(), text.size() - before.size() - behind.size());
    return std::all_of(digits.begin(), digits.end(), is_digit) &&
           (digits.size() == width || digits[0] != '0' || width == 1);
  }
};

std::optional<Numbered> parse_numbered(const std::string& name) {
  const auto percent = name.find('%');
  if (percent == std::string::npos) return std::nullopt;
  std::size_t at = percent + 1;
  while (at < name.size() && is_digit(name[at])) ++at;
  if (at >= name.size() || name[at] != 'd') return std::nullopt;
  Numbered numbered{name.substr(0, percent), name.substr(at + 1), 1};
  std::from_chars(name.data() + percent + 1, name.data() + at, numbered.width);
  if (numbered.width == 0 || numbered.width > 20) numbered.width = 1;
  return numbered;
}

class StackReader final : public ArrayFileReader {
 public:
  StackReader(std::vector<std::string> files, OpenImage open, const ImportOptions& options)
      : files_(std::move(files)), open_(open), options_(options) {}

  // Examines every file and determines the shape; `single`: a file, not a stack.
  Result<void> start(bool single);
  Result<void> read(std::uint64_t first, std::span<std::byte> into) override;

 private:
  Result<void> describe(const PageAxes& axes);
  Result<void> read_plane(std::uint64_t plane, std::uint64_t row, std::span<std::byte> into);

  std::vector<std::string> files_;
  std::vector<std::uint64_t> ends_;  ///< number of planes up to and including each file
  OpenImage open_;
  ImportOptions options_;
  ImageInfo info_;
  std::unique_ptr<ImageFile> file_;
  std::size_t opened_ = 0;
  Buffer row_;  ///< for reads that begin or end inside a row
};

Result<void> StackReader::start(bool single) {
  std::uint64_t planes = 0;
  std::optional<PageAxes> axes;
  for (std::size_t i = 0; i < files_.size(); ++i) {
    SHERD_TRY(file, open_(files_[i], options_));
    axes = file->page_axes();
    if (!single && axes && axes->in_several_files)
      return invalid_argument("is one of several files of one image; import one of them, and the others are found")
          .in_key(files_[i]);
    if (!single && axes && !axes->names.empty() && axes->names.front() != "z")
      return invalid_argument("holds several channels or times, which cannot be stacked; import the file alone")
          .in_key(files_[i]);
    if (i == 0) {
      info_ = file->info();
      array_.attributes = file->attributes();
    } else if (file->info() != info_) {
      return invalid_argument("is " + to_string(file->info()) + ", but the first of the stack is " + to_string(info_))
          .in_key(files_[i]);
    }
    planes += file->pages();
    ends_.push_back(planes);
    file_ = std::move(file);
    opened_ = i;
  }
  options_.note = nullptr;  // files that are opened again have nothing new to report
  if (!single) {
    axes = PageAxes{{"z"}, {planes}};
    array_.attributes.erase("slice_labels");  // they belong to the first file's pages
  }
  if (!axes) axes = planes == 1 ? PageAxes{} : PageAxes{{"z"}, {planes}};
  return describe(*axes);
}

Result<void> StackReader::describe(const PageAxes& axes) {
  array_.dtype = info_.dtype;
  array_.shape = axes.lengths;
  array_.dimension_names.assign(axes.names.begin(), axes.names.end());
  array_.shape.insert(array_.shape.end(), {info_.height, info_.width});
  array_.dimension_names.insert(array_.dimension_names.end(), {"y", "x"});
  const std::size_t described = array_.shape.size();
  if (info_.channels > 1) {
    array_.shape.push_back(info_.channels);
    array_.dimension_names.emplace_back("c");
  }
  // The file's entries end with rows and columns; the other dimensions have none.
  for (const char* name : {"spacing", "units", "voxel_offset"}) {
    Json* known = array_.attributes.find(name);
    if (known == nullptr) continue;
    Json::Array all(described - std::min(described, known->size()));
    for (const Json& entry : known->elements().last(std::min(described, known->size()))) all.push_back(entry);
    all.resize(array_.shape.size());
    *known = Json(std::move(all));
  }
  SHERD_TRY(array_bytes(array_.shape, array_.dtype, options_.create.config.limits));
  return row_.resize(info_.row_bytes());
}

Result<void> StackReader::read_plane(std::uint64_t plane, std::uint64_t row, std::span<std::byte> into) {
  const auto at = static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), plane) - ends_.begin());
  if (file_ == nullptr || opened_ != at) {
    file_ = nullptr;
    SHERD_TRY(file, open_(files_[at], options_));
    const std::uint64_t pages = ends_[at] - (at == 0 ? 0 : ends_[at - 1]);
    if (file->info() != info_ || file->pages() != pages)
      return conflict("changed while it was imported; import again").in_key(files_[at]);
    file_ = std::move(file);
    opened_ = at;
  }
  return file_->read_rows(plane - (at == 0 ? 0 : ends_[at - 1]), row, into);
}

Result<void> StackReader::read(std::uint64_t first, std::span<std::byte> into) {
  const std::uint64_t row_bytes = info_.row_bytes();
  std::uint64_t byte = first * array_.dtype.size();
  while (!into.empty()) {
    const std::uint64_t row = byte / row_bytes, inside = byte % row_bytes;
    const std::uint64_t plane = row / info_.height, y = row % info_.height;
    std::uint64_t taken = 0;
    if (inside == 0 && into.size() >= row_bytes) {
      taken = std::min(into.size() / row_bytes, info_.height - y) * row_bytes;
      SHERD_TRY(read_plane(plane, y, into.first(taken)));
    } else {
      SHERD_TRY(read_plane(plane, y, row_.span()));
      taken = std::min<std::uint64_t>(into.size(), row_bytes - inside);
      std::copy_n(row_.data() + inside, taken, into.data());
    }
    byte += taken;
    into = into.subspan(taken);
  }
  return {};
}

// The destination of planes.
struct Stack {
  fs::path folder;                 ///< empty: a single file, not a stack
  std::vector<std::string> names;  ///< in the folder
  std::vector<std::string> stale;  ///< additional files of an earlier, longer stack
  bool is_new = false;             ///< the folder is created with the planes
};

// Planes are written into a separate folder, so that a failure leaves what existed before and nothing else.
class StackWriter final : public ArrayFileWriter {
 public:
  static Result<std::unique_ptr<ArrayFileWriter>> make(Stack stack, Planes planes, WriteMode mode, CreateImage create);
  ~StackWriter() override { image_ = nullptr; }  // before its directory
  StackWriter(const StackWriter&) = delete;
  StackWriter& operator=(const StackWriter&) = delete;

  Result<void> write(std::uint64_t first, std::span<const std::byte> elements) override;
  Result<void> finish() override;

 private:
  StackWriter(Stack stack, Planes planes, WriteMode mode, CreateImage create)
      : stack_(std::move(stack)), planes_(std::move(planes)), mode_(mode), create_(create) {}
  Result<void> place_planes() const;

  Stack stack_;
  Planes planes_;
  WriteMode mode_;
  CreateImage create_;
  TemporaryDirectory scratch_;
  std::unique_ptr<ImageWriter> image_;
  std::uint64_t plane_ = 0, left_ = 0;
};

Result<std::unique_ptr<ArrayFileWriter>> StackWriter::make(Stack stack, Planes planes, WriteMode mode,
                                                           CreateImage create) {
  std::unique_ptr<StackWriter> writer(new StackWriter(std::move(stack), std::move(planes), mode, create));
  const Stack& made = writer->stack_;
  if (made.folder.empty()) return std::unique_ptr<ArrayFileWriter>(std::move(writer));
  // Planes that other users may not read are also hidden while they are written.
  const fs::path hidden = made.is_new ? made.folder : made.folder / "planes";
  SHERD_TRY(scratch, TemporaryDirectory::make(hidden.string(), made.is_new ? 0777 : 0700));
  writer->scratch_ = std::move(scratch);
  return std::unique_ptr<ArrayFileWriter>(std::move(writer));
}

Result<void> StackWriter::write(std::uint64_t /*first*/, std::span<const std::byte> elements) {
  const std::uint64_t plane_bytes = planes_.image.row_bytes() * planes_.image.height;
  while (!elements.empty()) {
    if (left_ == 0) {
      const std::string& name = stack_.names[plane_];
      auto image = create_((fs::path(scratch_.path()) / name).string(), planes_.image, mode_);
      if (!image && image.error().code() == ErrorCode::unsupported)
        return Error(image.error().code(), image.error().message()).in_key((stack_.folder / name).string());
      if (!image) return std::move(image).error();
      image_ = *std::move(image);
      left_ = plane_bytes;
    }
    const auto part = elements.first(std::min<std::uint64_t>(elements.size(), left_));
    SHERD_TRY(image_->write(part));
    elements = elements.subspan(part.size());
    left_ -= part.size();
    if (left_ > 0) continue;
    ++plane_;
    if (plane_ == planes_.count) break;
    SHERD_TRY(image_->finish());
    image_ = nullptr;
  }
  return {};
}

Result<void> StackWriter::finish() {
  if (image_ == nullptr || plane_ != planes_.count)
    return invalid_argument("only " + std::to_string(plane_) + " of " + std::to_string(planes_.count) +
                            " planes have been written");
  SHERD_TRY(image_->finish());
  image_ = nullptr;
  if (stack_.folder.empty()) return {};
  SHERD_TRY(place_planes());
  if (mode_.durable) SHERD_TRY(sync_directory((stack_.folder / "plane").string()));
  if (mode_.durable && stack_.is_new) SHERD_TRY(sync_directory(stack_.folder.string()));
  return {};
}

Result<void> StackWriter::place_planes() const {
  if (stack_.is_new) {
    if (const int code = put_in_place(scratch_.path(), stack_.folder.string(), true))
      return file_error("cannot be moved into place", stack_.folder.string(), code);
    return {};
  }
  for (const std::string& name : stack_.names) {
    const fs::path from = scratch_.path() / fs::path(name), to = stack_.folder / name;
    struct stat old{};
    if (os::fstatat(AT_FDCWD, to.c_str(), old) == 0 && S_ISREG(old.st_mode) &&
        os::fchmodat(AT_FDCWD, from.c_str(), old.st_mode & 07777) != 0)
      return file_error("cannot set the mode of", to.string(), errno);
    if (const int code = put_in_place(from.string(), to.string(), mode_.overwrite))
      return file_error("cannot be moved into place", to.string(), code);
  }
  for (const std::string& name : stack_.stale) {
    const std::string path = (stack_.folder / name).string();
    if (os::unlinkat(AT_FDCWD, path.c_str(), 0) != 0 && errno != ENOENT)
      return file_error("cannot remove", path, errno);
  }
  return {};
}

// Finds files in the folder that the planes replace, or that would be mistaken for more of them.
Result<void> find_stale(Stack& stack, const Numbered& planes, bool overwrite) {
  const std::set<std::string_view> names(stack.names.begin(), stack.names.end());
  os::Directory entries(AT_FDCWD, stack.folder.c_str());
  while (const dirent64* entry = entries.next()) {
    const std::string_view name = entry->d_name;
    const bool is_one = names.contains(name);
    if (!is_one && (!planes.matches(name) || os::is_directory((stack.folder / name).c_str()))) continue;
    if (!overwrite)
      return conflict("exists already; overwrite it or choose another path").in_key((stack.folder / name).string());
    if (!is_one) stack.stale.emplace_back(name);
  }
  if (entries.error() != 0) return file_error("cannot list the directory", stack.folder.string(), entries.error());
  return {};
}

Result<Stack> plan_stack(const std::string& destination, std::uint64_t count, WriteMode mode, std::string_view suffix) {
  fs::path path(destination);
  auto planes = parse_numbered(path.filename().string());
  Stack stack;
  if (planes) {
    stack.folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    for (std::uint64_t i = 0; i < count; ++i) stack.names.push_back(planes->name(i));
    stack.is_new = !os::exists(stack.folder.c_str());
    if (!stack.is_new) SHERD_TRY(find_stale(stack, *planes, mode.overwrite));
    return stack;
  }
  const std::string_view suffixes[] = {suffix};
  const bool directory = os::is_directory(path.c_str());
  if (!directory && count == 1) {
    stack.names = {destination};
    return stack;
  }
  if (!directory && has_suffix(destination, suffixes))
    return invalid_argument(std::to_string(count) + " planes need a directory or a pattern such as slice_%04d" +
                            std::string(suffix))
        .in_key(destination);
  stack.folder = path.has_filename() ? path : path.parent_path();
  stack.is_new = !directory;
  const Numbered names{{}, std::string(suffix), std::to_string(count - 1).size()};
  for (std::uint64_t i = 0; i < count; ++i) stack.names.push_back(names.name(i));
  if (directory) SHERD_TRY(find_stale(stack, {{}, std::string(suffix), 1}, mode.overwrite));
  return stack;
}

}  // namespace

std::string to_string(const ImageInfo& info) {
  return std::to_string(info.width) + "x" + std::to_string(info.height) + " " + info.dtype.name() +
         (info.channels > 1 ? ", " + std::to_string(info.channels) + " channels" : "");
}

Result<void> check_image(const ImageInfo& info, const Limits& limits) {
  if (info.width == 0 || info.height == 0 || info.channels == 0) return corrupt("the image has no pixels");
  const auto samples = checked_mul(info.width, info.channels);
  const auto row = samples ? checked_mul(*samples, info.dtype.size()) : std::nullopt;
  if (!row || *row > limits.chunk_bytes)
    return unsupported("a row of " + std::to_string(info.width) + " pixels is larger than the limit 'chunk_bytes' of " +
                       std::to_string(limits.chunk_bytes));
  return {};
}

Result<std::optional<std::vector<std::string>>> list_images(const std::string& source,
                                                            std::span<const std::string_view> suffixes) {
  const fs::path path(source);
  const bool directory = os::is_directory(path.c_str());
  const std::string pattern = path.filename().string();
  const auto numbered = parse_numbered(pattern);
  const bool globbed = pattern.find_first_of("*?[") != std::string::npos;
  if (!directory && (os::exists(path.c_str()) || (!numbered && !globbed)))
    return std::optional<std::vector<std::string>>();
  const fs::path folder = directory ? path : path.parent_path().empty() ? fs::path(".") : path.parent_path();
  std::vector<std::string> names;
  os::Directory entries(AT_FDCWD, folder.c_str());
  while (const dirent64* entry = entries.next()) {
    const std::string name = entry->d_name;
    const bool wanted = directory  ? name[0] != '.' && has_suffix(name, suffixes)
                        : numbered ? numbered->matches(name)
                                   : ::fnmatch(pattern.c_str(), name.c_str(), FNM_PERIOD) == 0;
    if (wanted) names.push_back(name);
  }
  if (entries.error() != 0) return file_error("cannot list the directory", folder.string(), entries.error());
  if (names.empty()) return not_found("no file matches").in_key(source);
  std::sort(names.begin(), names.end(), natural_less);
  for (std::string& name : names)
    name = (directory || path.has_parent_path() ? folder / name : fs::path(name)).string();
  return std::optional(std::move(names));
}

Result<std::unique_ptr<ArrayFileReader>> open_images(const std::string& source, const ImportOptions& options,
                                                     const FileFormat& format, OpenImage open) {
  SHERD_TRY(listed, list_images(source, format.suffixes));
  const bool single = !listed;
  auto reader = std::make_unique<StackReader>(single ? std::vector{source} : std::move(*listed), open, options);
  SHERD_TRY(reader->start(single).in_key(source));
  return std::unique_ptr<ArrayFileReader>(std::move(reader));
}

Result<Planes> as_planes(const FileArray& array) {
  const Shape& shape = array.shape;
  const auto& names = array.dimension_names;
  const bool named = std::any_of(names.begin(), names.end(), [](const auto& name) { return name.has_value(); });
  const bool coloured = shape.size() > 2 && (named ? names.back() == "c" : shape.back() == 3 || shape.back() == 4);
  const std::size_t rank = shape.size() - (coloured ? 1 : 0);
  if (rank < 2) return invalid_argument("an image has two dimensions, the array has shape " + to_string(shape));
  Planes planes;
  planes.image = {shape[rank - 2], shape[rank - 1], coloured ? shape.back() : 1, array.dtype};
  planes.leading = rank - 2;
  for (std::size_t d = 0; d < planes.leading; ++d) planes.count *= shape[d];
  if (element_count(shape).value_or(0) == 0)
    return invalid_argument("the array has no elements, shape " + to_string(shape));
  return planes;
}

bool is_numbered(const std::string& path) {
  return parse_numbered(std::filesystem::path(path).filename().string()).has_value();
}

Result<std::unique_ptr<ArrayFileWriter>> create_images(const std::string& destination, const FileArray& array,
                                                       WriteMode mode, CreateImage create, std::string_view suffix) {
  SHERD_TRY(planes, as_planes(array).in_key(destination));
  SHERD_TRY(stack, plan_stack(destination, planes.count, mode, suffix));
  return StackWriter::make(std::move(stack), std::move(planes), mode, create);
}

}  // namespace sherd
