// One TIFF file as an image: tiff.cpp reads its pages, tiff_metadata.cpp what they are.
#pragma once

#include <tiffio.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/files.hpp"
#include "io/hyperstack.hpp"
#include "io/tiff_session.hpp"

namespace sherd {

template <class T>
T tag_or_default(TIFF* tiff, std::uint32_t tag, T value) {
  TIFFGetFieldDefaulted(tiff, tag, &value);
  return value;
}

class TiffFile final : public ImageFile {
 public:
  TiffFile(std::unique_ptr<InputFile> file, const Limits& limits)
      : file_(std::move(file)), session_(file_->path()), limits_(limits) {}

  Result<void> start(const ImportOptions& options);
  [[nodiscard]] const ImageInfo& info() const noexcept override { return info_; }
  [[nodiscard]] std::uint64_t pages() const noexcept override { return stack_ ? stack_->planes() : pages_.size(); }
  [[nodiscard]] std::optional<PageAxes> page_axes() const override {
    return stack_ ? std::optional(PageAxes{stack_->axes, stack_->lengths, !others_.empty()}) : std::nullopt;
  }
  [[nodiscard]] Json attributes() const override;
  Result<void> read_rows(std::uint64_t page, std::uint64_t first, std::span<std::byte> into) override;

 private:
  // How the present page is divided: a band is a row of tiles, or one strip.
  struct Layout {
    bool tiled = false, planar = false;
    std::uint64_t piece_width = 0, piece_rows = 0, piece_bytes = 0;
  };
  /// Another file of the same image, whose description is not read.
  static Result<std::unique_ptr<TiffFile>> open_other(const std::string& path, const Limits& limits);
  TIFF* tiff() noexcept { return session_.tiff(); }
  Result<void> open();
  Result<ImageInfo> describe();
  Result<void> find_pages();
  Result<std::uint64_t> read_number(std::uint64_t at, std::size_t size);
  Result<void> check_last_directory(std::uint64_t at);
  Result<std::string> read_description();
  void find_facts();
  Result<void> find_stack(const std::string& description);
  Result<void> find_imagej_stack(const std::string& description);
  Result<void> find_ome_stack(std::string description);
  Result<void> open_others(const std::vector<std::string>& names);
  Result<TiffFile*> other(std::size_t number);
  Result<std::string> description_in(const std::string& name);
  Result<void> find_joined(const ImagejDescription& description);
  void read_imagej_tags();
  Result<void> enter(std::uint64_t page);
  Result<void> read_band(std::uint64_t band);
  Result<void> read_piece(std::uint64_t y, std::uint64_t x, std::uint64_t plane);
  void place_piece(std::uint64_t y, std::uint64_t x, std::uint64_t plane);
  Result<void> read_pixels(std::uint64_t page, std::uint64_t first, std::span<std::byte> into);
  Error failure(std::string_view otherwise) { return session_.failure(otherwise); }

  std::unique_ptr<InputFile> file_;
  TiffSession session_;
  Limits limits_;
  ImageInfo info_;                    ///< of the planes
  ImageInfo page_info_;               ///< of the pages
  std::vector<std::uint64_t> pages_;  ///< offsets of their directories in this file, without thumbnails
  std::vector<std::uint64_t> all_;    ///< of all directories
  std::optional<Error> odd_page_;     ///< says which page differs from the first
  std::optional<Hyperstack> stack_;
  PageFacts facts_;                     ///< of the first page
  double millimetres_ = 0;              ///< in the resolution's unit; 0: it has none
  std::vector<std::byte> imagej_data_;  ///< the tags IJMetadata and IJMetadataByteCounts
  std::vector<std::uint32_t> imagej_counts_;
  std::uint64_t joined_ = 0;  ///< consecutive pages without directories; 0: none
  std::uint64_t joined_at_ = 0;
  std::vector<std::string> others_;  ///< paths of the other files of the image, in the order of facts_.others
  std::unique_ptr<TiffFile> open_;   ///< one of them
  std::size_t opened_ = 0;
  std::optional<std::uint64_t> page_;
  std::optional<std::uint64_t> band_at_;
  Layout layout_;
  Buffer band_, piece_, pixels_;
};

}  // namespace sherd
