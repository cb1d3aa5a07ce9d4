// PNG files, read and written through codec/png_rows.hpp.
#include <cstring>

#include "base/checked.hpp"
#include "base/try.hpp"
#include "codec/png_rows.hpp"
#include "io/files.hpp"

namespace sherd {
namespace {

class PngFile final : public ImageFile {
 public:
  PngFile(std::unique_ptr<InputFile> file, const Limits& limits) : file_(std::move(file)), limits_(limits) {}

  /// Reads the header, also to start again for earlier rows.
  Result<void> start();
  [[nodiscard]] const ImageInfo& info() const noexcept override { return info_; }
  Result<void> read_rows(std::uint64_t page, std::uint64_t first, std::span<std::byte> into) override;

 private:
  Result<void> take(std::span<std::byte> into) { return rows_->read_rows(into).in_key(file_->path()); }
  Result<void> read_interlaced();

  std::unique_ptr<InputFile> file_;
  Limits limits_;
  std::uint64_t position_ = 0;
  std::unique_ptr<PngRows> rows_;
  ImageInfo info_;
  Buffer skipped_;
  Buffer whole_;  ///< the image, if it is interlaced
};

Result<void> PngFile::start() {
  position_ = 0;
  rows_ = std::make_unique<PngRows>([this](std::span<std::byte> into) -> Result<void> {
    SHERD_TRY(file_->read_at(position_, into));
    position_ += into.size();
    return {};
  });
  SHERD_TRY(rows_->open(kMaxPngSide * kMaxPngSide).in_key(file_->path()));
  const PngHeader& header = rows_->header();
  info_ = {header.height, header.width, header.channels, header.sample_bytes == 2 ? DType::uint16 : DType::uint8};
  return check_image(info_, limits_).in_key(file_->path());
}

Result<void> PngFile::read_interlaced() {
  if (whole_.size() != 0) return {};
  const auto size = checked_mul(info_.row_bytes(), info_.height);
  if (!size || *size > limits_.chunk_bytes)
    return unsupported("an interlaced image is decoded whole, and this one is larger than the limit 'chunk_bytes' of " +
                       std::to_string(limits_.chunk_bytes))
        .in_key(file_->path());
  SHERD_TRY(whole_.resize(*size));
  auto read = rows_->read_image(whole_.span());
  if (!read) whole_.reset();
  return std::move(read).in_key(file_->path());
}

Result<void> PngFile::read_rows(std::uint64_t /*page*/, std::uint64_t first, std::span<std::byte> into) {
  if (rows_->header().interlaced) {
    SHERD_TRY(read_interlaced());
    std::memcpy(into.data(), whole_.data() + first * info_.row_bytes(), into.size());
    return {};
  }
  if (first < rows_->next_row()) SHERD_TRY(start());
  if (first > rows_->next_row()) SHERD_TRY(skipped_.resize(info_.row_bytes()));
  while (rows_->next_row() < first) SHERD_TRY(take(skipped_.span()));
  return take(into);
}

Result<std::unique_ptr<ImageFile>> open_png_image(const std::string& path, const ImportOptions& options) {
  SHERD_TRY(file, InputFile::open(path));
  auto image = std::make_unique<PngFile>(std::move(file), options.create.config.limits);
  SHERD_TRY(image->start());
  return std::unique_ptr<ImageFile>(std::move(image));
}

// ---- writing ----

class PngFileWriter final : public ImageWriter {
 public:
  PngFileWriter(std::unique_ptr<OutputFile> file, const ImageInfo& info)
      : file_(std::move(file)),
        info_(info),
        png_([this](std::span<const std::byte> bytes) { return file_->append(bytes); }) {}

  Result<void> start() {
    const PngHeader header{info_.width, info_.height, static_cast<unsigned>(info_.channels),
                           static_cast<unsigned>(info_.dtype.size())};
    SHERD_TRY(png_.open(header, std::nullopt).in_key(file_->path()));
    return row_.resize(info_.row_bytes());
  }
  Result<void> write(std::span<const std::byte> rows) override {
    while (!rows.empty()) {
      // A row that arrives in parts is assembled first.
      const auto part = rows.first(std::min(rows.size(), row_.size() - filled_));
      const std::byte* row = part.data();
      if (part.size() != row_.size()) {
        std::memcpy(row_.data() + filled_, part.data(), part.size());
        row = row_.data();
      }
      rows = rows.subspan(part.size());
      filled_ = (filled_ + part.size()) % row_.size();
      if (filled_ == 0) SHERD_TRY(png_.write_row(row).in_key(file_->path()));
    }
    return {};
  }
  Result<void> finish() override {
    SHERD_TRY(png_.finish().in_key(file_->path()));
    return file_->commit();
  }

 private:
  std::unique_ptr<OutputFile> file_;
  ImageInfo info_;
  PngWriter png_;
  Buffer row_;
  std::size_t filled_ = 0;
};

Result<std::unique_ptr<ArrayFileReader>> open_png_files(const std::string& path, const ImportOptions& options) {
  return open_images(path, options, kPngFiles, open_png_image);
}
Result<std::unique_ptr<ArrayFileWriter>> create_png_files(const std::string& path, const FileArray& array,
                                                          WriteMode mode) {
  return create_images(path, array, mode, create_png, ".png");
}

constexpr std::string_view kPngSuffixes[] = {".png"};

}  // namespace

Result<std::unique_ptr<ImageWriter>> create_png(const std::string& path, const ImageInfo& info, WriteMode mode) {
  const auto kind = info.dtype.kind();
  if (kind != DType::Kind::uint8 && kind != DType::Kind::uint16 && kind != DType::Kind::boolean)
    return unsupported("PNG holds uint8 and uint16, not '" + info.dtype.name() + "'").in_key(path);
  if (info.channels > 4 || info.width > kMaxPngSide || info.height > kMaxPngSide)
    return unsupported("PNG cannot store " + to_string(info)).in_key(path);
  SHERD_TRY(file, OutputFile::create(path, mode));
  auto writer = std::make_unique<PngFileWriter>(std::move(file), info);
  SHERD_TRY(writer->start());
  return std::unique_ptr<ImageWriter>(std::move(writer));
}

constinit const FileFormat kPngFiles{"png", kPngSuffixes, open_png_files, create_png_files, FileOrder::planes};

}  // namespace sherd
