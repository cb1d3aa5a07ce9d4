// Portable gray- and pixmaps: P5 and P6 (binary), P2 and P3 (decimal), values up to 65535; above 255 they have two
// bytes, big-endian. Values are not scaled by the maximum in the header.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/try.hpp"
#include "io/files.hpp"

namespace sherd {
namespace {

bool is_space(char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }

// The bytes of a file one by one, through a small buffer.
class Scanner {
 public:
  explicit Scanner(ReadSome read, std::size_t at_once = kAtOnce) : read_(std::move(read)), buffer_(at_once) {}
  /// The next byte, or nullopt at the end.
  Result<std::optional<char>> next() {
    if (at_ == filled_) {
      SHERD_TRY(got, read_(position_, buffer_));
      at_ = 0;
      filled_ = got;
      if (got == 0) return std::optional<char>();
    }
    ++position_;
    return std::optional(static_cast<char>(buffer_[at_++]));
  }
  /// A decimal number after white space and comments, and the one byte that ends it.
  Result<std::uint32_t> number() {
    SHERD_TRY(c, next());
    while (c && (is_space(*c) || *c == '#')) {
      for (const bool comment = *c == '#'; comment && c && *c != '\n';) SHERD_TRY(advance(c));
      if (c) SHERD_TRY(advance(c));
    }
    std::uint64_t value = 0;
    bool any = false;
    for (; c && *c >= '0' && *c <= '9'; any = true) {
      value = value * 10 + static_cast<std::uint64_t>(*c - '0');
      if (value > 0x7fffffff) break;
      SHERD_TRY(advance(c));
    }
    if (!any || value > 0x7fffffff || (c && !is_space(*c)))
      return corrupt("pgm: a number is expected at byte " + std::to_string(position_));
    return static_cast<std::uint32_t>(value);
  }
  [[nodiscard]] std::uint64_t position() const noexcept { return position_; }

 private:
  Result<void> advance(std::optional<char>& c) {
    SHERD_TRY(following, next());
    c = following;
    return {};
  }
  static constexpr std::size_t kAtOnce = 16384;
  ReadSome read_;
  std::vector<std::byte> buffer_;
  std::size_t at_ = 0, filled_ = 0;
  std::uint64_t position_ = 0;
};

Result<PnmHeader> parse_header(Scanner& scanner) {
  SHERD_TRY(letter, scanner.next());
  SHERD_TRY(kind, scanner.next());
  if (letter != 'P' || !kind || std::string_view("2356").find(*kind) == std::string_view::npos)
    return unsupported("is not a PGM or PPM file: it does not begin with P2, P3, P5 or P6");
  SHERD_TRY(width, scanner.number());
  SHERD_TRY(height, scanner.number());
  SHERD_TRY(greatest, scanner.number());
  if (greatest == 0 || greatest > 65535)
    return corrupt("pgm: the maximum value is " + std::to_string(greatest) + ", not 1 to 65535");
  const ImageInfo image{height, width, *kind == '3' || *kind == '6' ? 3u : 1u,
                        greatest > 255 ? DType::uint16 : DType::uint8};
  return PnmHeader{image, *kind == '2' || *kind == '3', greatest, scanner.position()};
}

class PnmFile final : public ImageFile {
 public:
  explicit PnmFile(std::unique_ptr<InputFile> file) : file_(std::move(file)) {}
  Result<void> start(const Limits& limits);
  [[nodiscard]] const ImageInfo& info() const noexcept override { return header_.image; }
  Result<void> read_rows(std::uint64_t page, std::uint64_t first, std::span<std::byte> into) override;

 private:
  Result<void> rewind();
  Result<void> read_decimal(std::uint64_t first, std::span<std::byte> into);

  std::unique_ptr<InputFile> file_;
  PnmHeader header_;
  std::unique_ptr<Scanner> scanner_;
  std::uint64_t next_row_ = 0;
};

Result<void> PnmFile::rewind() {
  scanner_ = std::make_unique<Scanner>(
      [this](std::uint64_t offset, std::span<std::byte> into) { return file_->read_some(offset, into); });
  next_row_ = 0;
  SHERD_TRY(header, parse_header(*scanner_).in_key(file_->path()));
  header_ = header;
  return {};
}

Result<void> PnmFile::start(const Limits& limits) {
  SHERD_TRY(rewind());
  const ImageInfo& image = header_.image;
  SHERD_TRY(check_image(image, limits).in_key(file_->path()));
  // A decimal sample needs at least two bytes; the last one may have no space after it.
  const auto samples = checked_mul(image.height, image.width * image.channels);
  const auto least = samples ? checked_mul(*samples, header_.decimal ? 2 : image.dtype.size()) : std::nullopt;
  const std::uint64_t there = file_->size_bound() - header_.bytes + (header_.decimal ? 1 : 0);
  if (!least || *least > there)
    return corrupt("truncated: " + to_string(image) + " does not fit the " + std::to_string(there) +
                   " bytes after the header")
        .in_key(file_->path());
  if (!header_.decimal && there - *least > 1)
    return unsupported(std::to_string(there - *least) +
                       " bytes follow the image; files of several images are not supported")
        .in_key(file_->path());
  return {};
}

Result<void> PnmFile::read_decimal(std::uint64_t first, std::span<std::byte> into) {
  if (first < next_row_) SHERD_TRY(rewind());
  const std::uint64_t row_samples = header_.image.width * header_.image.channels;
  for (std::uint64_t i = next_row_ * row_samples; i < first * row_samples; ++i)
    SHERD_TRY(scanner_->number().in_key(file_->path()));
  for (std::size_t at = 0; at < into.size(); at += header_.image.dtype.size()) {
    SHERD_TRY(value, scanner_->number().in_key(file_->path()));
    if (value > header_.greatest)
      return corrupt("pgm: the value " + std::to_string(value) + " before byte " +
                     std::to_string(scanner_->position()) + " exceeds the maximum, " + std::to_string(header_.greatest))
          .in_key(file_->path());
    if (header_.image.dtype.size() == 1)
      into[at] = static_cast<std::byte>(value);
    else {
      const auto word = static_cast<std::uint16_t>(value);
      std::memcpy(&into[at], &word, sizeof word);
    }
  }
  next_row_ = first + into.size() / header_.image.row_bytes();
  return {};
}

Result<void> PnmFile::read_rows(std::uint64_t /*page*/, std::uint64_t first, std::span<std::byte> into) {
  if (header_.decimal) return read_decimal(first, into);
  SHERD_TRY(file_->read_at(header_.bytes + first * header_.image.row_bytes(), into));
  if (header_.image.dtype.size() == 2 && std::endian::native == std::endian::little) swap_words(into, 2);
  return {};
}

Result<std::unique_ptr<ImageFile>> open_pnm(const std::string& path, const ImportOptions& options) {
  SHERD_TRY(file, InputFile::open(path));
  auto image = std::make_unique<PnmFile>(std::move(file));
  SHERD_TRY(image->start(options.create.config.limits));
  return std::unique_ptr<ImageFile>(std::move(image));
}

class PnmWriter final : public ImageWriter {
 public:
  PnmWriter(std::unique_ptr<OutputFile> file, bool swap) : file_(std::move(file)), swap_(swap) {}
  Result<void> write(std::span<const std::byte> rows) override {
    if (!swap_) return file_->append(rows);
    std::array<std::byte, 16384> part;
    while (!rows.empty()) {
      const auto from = rows.first(std::min(rows.size(), part.size()));
      swap_words(from, std::span(part).first(from.size()), 2);
      SHERD_TRY(file_->append(std::span(part).first(from.size())));
      rows = rows.subspan(from.size());
    }
    return {};
  }
  Result<void> finish() override { return file_->commit(); }

 private:
  std::unique_ptr<OutputFile> file_;
  bool swap_;
};

Result<std::unique_ptr<ImageWriter>> create_pnm(const std::string& path, const ImageInfo& info, WriteMode mode) {
  const auto kind = info.dtype.kind();
  if ((kind != DType::Kind::uint8 && kind != DType::Kind::uint16 && kind != DType::Kind::boolean) ||
      (info.channels != 1 && info.channels != 3))
    return unsupported("a PGM or PPM file holds uint8 and uint16 with 1 or 3 channels, not " + to_string(info))
        .in_key(path);
  SHERD_TRY(file, OutputFile::create(path, mode));
  const bool wide = info.dtype.size() == 2;
  const std::string header = std::string(info.channels == 3 ? "P6\n" : "P5\n") + std::to_string(info.width) + " " +
                             std::to_string(info.height) + (wide ? "\n65535\n" : "\n255\n");
  SHERD_TRY(file->append(as_bytes(header)));
  return std::make_unique<PnmWriter>(std::move(file), wide && std::endian::native == std::endian::little);
}

Result<std::unique_ptr<ArrayFileReader>> open_pgm_files(const std::string& path, const ImportOptions& options) {
  return open_images(path, options, kPgmFiles, open_pnm);
}
Result<std::unique_ptr<ArrayFileWriter>> create_pgm_files(const std::string& path, const FileArray& array,
                                                          WriteMode mode) {
  SHERD_TRY(planes, as_planes(array).in_key(path));
  return create_images(path, array, mode, create_pnm, planes.image.channels == 3 ? ".ppm" : ".pgm");
}

constexpr std::string_view kPgmSuffixes[] = {".pgm", ".ppm", ".pnm"};

}  // namespace

Result<PnmHeader> read_pnm_header(const ReadSome& read) {
  Scanner scanner(read, 1);
  return parse_header(scanner);
}

constinit const FileFormat kPgmFiles{"pgm", kPgmSuffixes, open_pgm_files, create_pgm_files, FileOrder::planes};

}  // namespace sherd
