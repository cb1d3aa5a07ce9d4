// What the pages of a TIFF file are: by ImageJ's description, or by OME-XML, which may be in another file and describe
// pages of several files.
#include <algorithm>
#include <cstring>
#include <filesystem>

#include "base/checked.hpp"
#include "base/try.hpp"
#include "io/image.hpp"
#include "io/tiff_file.hpp"
#include "os/calls.hpp"

namespace sherd {

Result<void> TiffFile::find_stack(const std::string& description) {
  if (is_ome_xml(description)) return find_ome_stack(description);
  if (ImagejDescription::is_one(description)) return find_imagej_stack(description);
  return {};
}

// OME-XML counts all directories, and those of its other images may have different pixels.
Result<void> TiffFile::find_ome_stack(std::string description) {
  facts_.pages = all_.size();
  SHERD_TRY(files, ome_files(description, facts_, limits_));
  facts_.uuid = std::move(files.uuid);
  if (!files.metadata.empty()) {
    SHERD_TRY(there, description_in(files.metadata));
    description = std::move(there);
    SHERD_TRY(listed, ome_files(description, facts_, limits_));
    files = std::move(listed);
  }
  SHERD_TRY(open_others(files.others));
  SHERD_TRY(stack, ome_hyperstack(description, facts_, limits_));
  const bool all_alike = !odd_page_ && all_.size() == pages_.size();
  for (const std::uint64_t page : all_alike ? std::vector<std::uint64_t>() : stack.pages) {
    if (page >= all_.size()) continue;
    if (TIFFSetSubDirectory(tiff(), all_[page]) != 1) return failure("damaged directory");
    SHERD_TRY(info, describe());
    if (info != page_info_)
      return invalid_argument("page " + std::to_string(page) + " is " + to_string(info) + ", but the first is " +
                              to_string(page_info_));
  }
  pages_ = std::move(all_);
  stack_ = std::move(stack);
  return {};
}

// The files of an image are next to each other.
Result<void> TiffFile::open_others(const std::vector<std::string>& names) {
  const std::filesystem::path folder = std::filesystem::path(file_->path()).parent_path();
  std::string missing;
  std::size_t count = 0;
  for (const std::string& name : names) {
    if (os::exists((folder / name).c_str())) continue;
    if (count++ == 0) missing = name;
  }
  if (count > 0)
    return not_found("is one of the " + std::to_string(names.size() + 1) +
                     " files of an OME-TIFF image, and next to it '" + metadata_text(missing) + "'" +
                     (count > 1 ? " and " + std::to_string(count - 1) + " more are" : " is") +
                     " missing; put the files into one directory, or name the dimensions of this file's pages with "
                     "'axes' to import only those");
  for (const std::string& name : names) {
    others_.push_back((folder / name).string());
    SHERD_TRY(file, other(others_.size() - 1));
    if (file->odd_page_) return *file->odd_page_;
    if (file->page_info_ != page_info_)
      return invalid_argument("is " + to_string(file->page_info_) + ", but the pages of '" + facts_.name + "' are " +
                              to_string(page_info_))
          .in_key(others_.back());
    facts_.others.push_back({name, facts_.pages, file->all_.size()});
    facts_.pages += file->all_.size();
  }
  return {};
}

Result<std::unique_ptr<TiffFile>> TiffFile::open_other(const std::string& path, const Limits& limits) {
  SHERD_TRY(file, InputFile::open(path));
  auto other = std::make_unique<TiffFile>(std::move(file), limits);
  SHERD_TRY(other->open());
  SHERD_TRY(other->find_pages());
  other->pages_ = other->all_;  // as OME-XML counts them
  return other;
}

// One at a time: an image may have more files than a process can have open.
Result<TiffFile*> TiffFile::other(std::size_t number) {
  if (open_ != nullptr && opened_ == number) return open_.get();
  open_ = nullptr;
  SHERD_TRY(file, open_other(others_[number], limits_));
  open_ = std::move(file);
  opened_ = number;
  return open_.get();
}

// The OME-XML in another TIFF file, or in a file that contains nothing else.
Result<std::string> TiffFile::description_in(const std::string& name) {
  const std::string path = (std::filesystem::path(file_->path()).parent_path() / name).string();
  auto opened = InputFile::open(path);
  if (!opened && opened.error().code() == ErrorCode::not_found)
    return not_found("is described by '" + metadata_text(name) +
                     "', which must be next to it; name the dimensions of this file's pages with 'axes' to import only "
                     "those");
  if (!opened) return std::move(opened).error();
  const std::unique_ptr<InputFile> file = *std::move(opened);
  std::string text(std::min<std::uint64_t>(file->size_bound(), limits_.metadata_bytes), '\0');
  SHERD_TRY(file->read_at(0, std::as_writable_bytes(std::span(text))));
  if (!text.starts_with("II") && !text.starts_with("MM")) return text;
  SHERD_TRY(other, open_other(path, limits_));
  if (TIFFSetSubDirectory(other->tiff(), other->all_.front()) != 1) return other->failure("damaged directory");
  return other->read_description();
}

Result<void> TiffFile::find_imagej_stack(const std::string& description) {
  facts_.pages = pages_.size();
  const ImagejDescription parsed = ImagejDescription::parse(description, facts_);
  if (odd_page_) return *odd_page_;
  if (pages_.size() == 1 && parsed.pages(facts_.samples) != 1) SHERD_TRY(find_joined(parsed));
  if (joined_ > 0) facts_.pages = joined_;
  SHERD_TRY(stack, imagej_hyperstack(parsed, facts_));
  add_imagej_tags(stack, {imagej_data_, imagej_counts_});
  stack_ = std::move(stack);
  return {};
}

// libtiff does not know either tag, and takes their types from the file.
void TiffFile::read_imagej_tags() {
  constexpr std::uint32_t kCounts = 50838, kData = 50839;
  const auto get = [&](std::uint32_t tag, TIFFDataType type, std::uint64_t size, auto& values) {
    const TIFFField* field = TIFFFindField(tiff(), tag, TIFF_ANY);
    if (field == nullptr || TIFFFieldDataType(field) != type || TIFFFieldPassCount(field) == 0 ||
        TIFFFieldReadCount(field) != TIFF_VARIABLE2)
      return;
    std::uint32_t count = 0;
    const void* data = nullptr;
    if (TIFFGetField(tiff(), tag, &count, &data) != 1 || data == nullptr || count * size > limits_.metadata_bytes)
      return;
    values.resize(count);
    std::memcpy(values.data(), data, count * size);
  };
  get(kCounts, TIFF_LONG, 4, imagej_counts_);
  get(kData, TIFF_BYTE, 1, imagej_data_);
}

// Of the first directory, the only one that describes the pages. libtiff ignores text that it cannot read, and the
// pages would be taken for slices.
Result<std::string> TiffFile::read_description() {
  const char* text = nullptr;
  if (TIFFGetField(tiff(), TIFFTAG_IMAGEDESCRIPTION, &text) == 1 && text != nullptr) return std::string(text);
  const bool big = TIFFIsBigTIFF(tiff()) != 0;
  const std::uint64_t at = TIFFCurrentDirOffset(tiff());
  SHERD_TRY(entries, read_number(at, big ? 8 : 2));
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(entries, 65535); ++i) {
    const std::uint64_t entry = at + (big ? 8 + 20 * i : 2 + 12 * i);
    SHERD_TRY(tag, read_number(entry, 2));
    if (tag != TIFFTAG_IMAGEDESCRIPTION) continue;
    SHERD_TRY(type, read_number(entry + 2, 2));
    SHERD_TRY(count, read_number(entry + 4, big ? 8 : 4));
    if (type != TIFF_ASCII || count == 0) continue;
    return corrupt(
        "tiff: its description cannot be read; name the dimensions of the pages with 'axes' to import without it");
  }
  return std::string();
}

// Above 4 GiB ImageJ writes one directory, and all planes after the first, uncompressed.
Result<void> TiffFile::find_joined(const ImagejDescription& description) {
  SHERD_TRY(enter(0));
  const auto count = description.pages(facts_.samples);
  const auto plane = checked_mul(page_info_.row_bytes(), page_info_.height);
  const auto size = plane && count ? checked_mul(*plane, *count) : std::nullopt;
  joined_at_ = TIFFGetStrileOffset(tiff(), 0);
  const auto end = size ? checked_add(*size, joined_at_) : std::nullopt;
  const bool plain = tag_or_default<std::uint16_t>(tiff(), TIFFTAG_COMPRESSION, COMPRESSION_NONE) == COMPRESSION_NONE &&
                     !layout_.tiled && !layout_.planar && page_info_.dtype != DType::bool_;
  // Bio-Formats may count samples as images.
  const bool agrees = description.images == 1 || description.images == count || facts_.samples > 1;
  if (plain && agrees && end && *end <= file_->size_bound()) {
    // A sparse file may have any size, and each page needs a number in memory.
    if (*count > limits_.metadata_bytes / sizeof(std::uint64_t))
      return unsupported("tiff: its description says " + std::to_string(*count) +
                         " images, whose numbers are larger than the limit 'metadata_bytes' of " +
                         std::to_string(limits_.metadata_bytes));
    joined_ = *count;
    return {};
  }
  return corrupt("tiff: its description says " + std::to_string(std::max(description.images, count.value_or(0))) +
                 " images, the file has one page and " + std::to_string(file_->size_bound()) +
                 " bytes; name the dimensions of the page with 'axes' to ignore the description");
}

// Resolution is pixels per centimetre or inch; without a unit it is unrelated to space.
Json TiffFile::attributes() const {
  std::map<char, AxisStep> steps;
  if (millimetres_ > 0 && facts_.x_resolution > 0) {
    steps['x'] = {millimetres_ / facts_.x_resolution, "mm"};
    steps['y'] = {millimetres_ / facts_.y_resolution, "mm"};
  }
  std::string axes;
  if (stack_) {
    for (const std::string& axis : stack_->axes) axes += axis;
    for (const auto& [axis, step] : stack_->steps)
      if (step.size > 0) steps[axis] = step;
  }
  axes += "yx";
  Json::Array spacing, units, offsets;
  bool any = false, displaced = false;
  for (const char axis : axes) {
    const AxisStep& step = steps[axis];
    any = any || step.size > 0;
    spacing.push_back(step.size > 0 ? Json(step.size) : Json());
    units.push_back(step.unit.empty() ? Json() : Json(step.unit));
    offsets.push_back(step.size > 0 ? Json(tidy(step.origin / step.size)) : Json());
    displaced = displaced || step.origin != 0;
  }
  Json attributes;
  if (any) attributes = Json::Object{{"spacing", std::move(spacing)}, {"units", std::move(units)}};
  if (displaced) attributes.set("voxel_offset", std::move(offsets));
  if (stack_ && !stack_->channels.is_null()) attributes.set("channels", stack_->channels);
  if (stack_ && !stack_->labels.is_null()) attributes.set("slice_labels", stack_->labels);
  if (stack_ && !stack_->name.empty()) attributes.set("image_name", stack_->name);
  return attributes;
}

}  // namespace sherd
