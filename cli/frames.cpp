#include "cli/frames.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "base/endian.hpp"
#include "base/try.hpp"
#include "cli/input_pipe.hpp"
#include "cli/scratch_file.hpp"
#include "cli/values.hpp"
#include "io/files.hpp"

namespace sherd::cli {
namespace {

constexpr std::size_t kMagicBytes = 6;

Error cut_short(std::uint64_t frames, std::uint64_t there, std::uint64_t bytes) {
  return corrupt("ends inside frame " + std::to_string(frames) + ", after " + std::to_string(there) + " of its " +
                 std::to_string(bytes) + " bytes");
}

Error wrong_shape(const Shape& shape, const FrameType& type) {
  return invalid_argument("has shape " + to_string(shape) + ", frames of the array " + to_string(type.shape));
}

/// Elements as in a file, in memory. NumPy treats every byte except 0 as true; in memory a bool is 0 or 1.
void make_native(std::span<std::byte> elements, const DType& dtype, std::span<const WordSwap> swaps) {
  swap_elements(elements, dtype.size(), swaps);
  if (dtype.kind() == DType::Kind::boolean)
    for (std::byte& value : elements) value = static_cast<std::byte>(value != std::byte{0});
}

class RawFrames final : public Frames {
 public:
  RawFrames(std::unique_ptr<InputPipe> pipe, FrameType type) : pipe_(std::move(pipe)), type_(std::move(type)) {}
  Result<std::uint64_t> next(std::span<std::byte> into) override {
    SHERD_TRY(got, pipe_->read_units(into, type_.bytes));
    if (got > 0 && got < type_.bytes) return cut_short(read_, got, type_.bytes);
    make_native(into.first(got), type_.dtype, {});
    read_ += got / type_.bytes;
    return got / type_.bytes;
  }

 private:
  std::unique_ptr<InputPipe> pipe_;
  const FrameType type_;
  std::uint64_t read_ = 0;
};

/// One .npy file, or several, one after the other: each a frame, or frames along its first dimension.
class NpyFrames final : public Frames {
 public:
  NpyFrames(std::unique_ptr<InputPipe> pipe, FrameType type, const Limits& limits)
      : pipe_(std::move(pipe)), type_(std::move(type)), limits_(limits) {}
  Result<std::uint64_t> next(std::span<std::byte> into) override {
    while (left_ == 0) {
      SHERD_TRY(ahead, pipe_->peek(1));
      if (ahead.empty()) return std::uint64_t{0};
      SHERD_TRY(begin_file());
    }
    const std::uint64_t count = std::min<std::uint64_t>(left_, into.size() / type_.bytes);
    const auto part = into.first(count * type_.bytes);
    SHERD_TRY(got, pipe_->read_units(part, type_.bytes));
    if (got < type_.bytes) return cut_short(read_, got, type_.bytes);
    make_native(part.first(got), type_.dtype, header_.layout.swaps);
    left_ -= got / type_.bytes;
    read_ += got / type_.bytes;
    return got / type_.bytes;
  }

 private:
  Result<void> begin_file() {
    SHERD_TRY(header,
              read_npy_header([this](std::uint64_t at, std::span<std::byte> into) { return pipe_->read_at(at, into); },
                              limits_));
    header_ = std::move(header);
    const Shape& shape = header_.array.shape;
    if (header_.array.fortran) return unsupported("is in Fortran order; frames are stored in C order");
    SHERD_TRY(check_file_dtype(header_.array.dtype, type_.dtype));
    const bool is_one = without_ones(shape) == without_ones(type_.shape);
    if (!is_one && (shape.empty() || without_ones({shape.begin() + 1, shape.end()}) != without_ones(type_.shape)))
      return wrong_shape(shape, type_);
    left_ = is_one ? 1 : shape.front();
    return {};
  }

  std::unique_ptr<InputPipe> pipe_;
  const FrameType type_;
  const Limits limits_;
  NpyHeader header_;
  std::uint64_t left_ = 0, read_ = 0;  ///< frames
};

/// Binary PGM or PPM images, one after the other.
class PnmFrames final : public Frames {
 public:
  PnmFrames(std::unique_ptr<InputPipe> pipe, FrameType type) : pipe_(std::move(pipe)), type_(std::move(type)) {}
  Result<std::uint64_t> next(std::span<std::byte> into) override {
    SHERD_TRY(ahead, pipe_->peek(1));
    if (ahead.empty()) return std::uint64_t{0};
    SHERD_TRY(header, read_pnm_header([this](std::uint64_t, std::span<std::byte> some) {
                        return pipe_->read_some(some);
                      }).in([this] { return "frame " + std::to_string(read_); }));
    if (header.decimal) return unsupported("holds numbers as text (P2, P3); binary images (P5, P6) are accepted");
    const ImageInfo& image = header.image;
    SHERD_TRY(check_file_dtype(image.dtype, type_.dtype));
    const Shape shape{image.height, image.width, image.channels};
    if (without_ones(shape) != without_ones(type_.shape)) return wrong_shape(shape, type_);
    const auto frame = into.first(type_.bytes);
    SHERD_TRY(got, pipe_->read_some(frame));
    if (got < frame.size()) return cut_short(read_, got, frame.size());
    if (image.dtype.size() == 2 && std::endian::native == std::endian::little) swap_words(frame, 2);
    ++read_;
    return std::uint64_t{1};
  }

 private:
  std::unique_ptr<InputPipe> pipe_;
  const FrameType type_;
  std::uint64_t read_ = 0;
};

class TiffFrames final : public Frames {
 public:
  TiffFrames(std::optional<ScratchFile> scratch, std::unique_ptr<ArrayFileReader> reader, FrameType type)
      : scratch_(std::move(scratch)), reader_(std::move(reader)), type_(std::move(type)) {}
  Result<void> start() {
    const FileArray& array = reader_->array();
    SHERD_TRY(check_file_dtype(array.dtype, type_.dtype));
    Shape frame = array.shape;
    const Shape wanted = without_ones(type_.shape);
    while (!frame.empty() && without_ones(frame) != wanted) {
      pages_ *= frame.front();
      frame.erase(frame.begin());
    }
    return without_ones(frame) == wanted ? Result<void>() : wrong_shape(array.shape, type_);
  }
  Result<std::uint64_t> next(std::span<std::byte> into) override {
    const std::uint64_t count = std::min<std::uint64_t>(pages_ - read_, into.size() / type_.bytes);
    if (count == 0) return std::uint64_t{0};
    SHERD_TRY(reader_->read(read_ * (type_.bytes / type_.dtype.size()), into.first(count * type_.bytes)));
    read_ += count;
    return count;
  }

 private:
  std::optional<ScratchFile> scratch_;
  std::unique_ptr<ArrayFileReader> reader_;
  const FrameType type_;
  std::uint64_t pages_ = 1, read_ = 0;
};

std::string format_of(std::string_view start) {
  if (start.starts_with("\x93NUMPY")) return "npy";
  if (start.starts_with("P5") || start.starts_with("P6")) return "pgm";
  for (const std::string_view tiff : {std::string_view("II*\0", 4), std::string_view("MM\0*", 4),
                                      std::string_view("II+\0", 4), std::string_view("MM\0+", 4)})
    if (start.starts_with(tiff)) return "tiff";
  return "raw";
}

Result<std::unique_ptr<Frames>> open_tiff(const std::string& input, InputPipe& pipe, FrameType type,
                                          const Config& config) {
  std::optional<ScratchFile> scratch;
  if (input == "-") {
    SHERD_TRY(made, ScratchFile::make());
    SHERD_TRY(made.take_input(pipe));
    scratch.emplace(std::move(made));
  }
  ImportOptions options;
  options.create.config = config;
  const std::string path = scratch ? scratch->path() : input;
  auto reader = kTiffFiles.open(path, options);
  if (!reader) return Error(reader.error().code(), reader.error().message());
  auto frames = std::make_unique<TiffFrames>(std::move(scratch), *std::move(reader), std::move(type));
  SHERD_TRY(frames->start());
  return std::unique_ptr<Frames>(std::move(frames));
}

}  // namespace

Result<std::unique_ptr<Frames>> open_frames(const std::string& input, const std::string& format, FrameType type,
                                            const Config& config) {
  auto pipe = InputPipe::standard_input(config);
  if (input != "-") {
    SHERD_TRY(opened, InputPipe::open(input, config));
    pipe = std::move(opened);
  }
  SHERD_TRY(ahead, pipe->peek(kMagicBytes));
  const std::string as = format.empty() ? format_of(ahead) : format;
  if (as == "tiff") return open_tiff(input, *pipe, std::move(type), config);
  if (as == "npy")
    return std::unique_ptr<Frames>(std::make_unique<NpyFrames>(std::move(pipe), std::move(type), config.limits));
  if (as == "pgm") return std::unique_ptr<Frames>(std::make_unique<PnmFrames>(std::move(pipe), std::move(type)));
  return std::unique_ptr<Frames>(std::make_unique<RawFrames>(std::move(pipe), std::move(type)));
}

}  // namespace sherd::cli
