// Elements stored densely in a file after a header, in either byte order: npy, raw and NIfTI. The size that a header
// claims is compared with the file's before memory is allocated.
#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/try.hpp"
#include "io/files.hpp"

namespace sherd {
namespace {

class FlatReader final : public ArrayFileReader {
 public:
  FlatReader(std::unique_ptr<FileBytes> bytes, FileArray array, FlatLayout layout)
      : bytes_(std::move(bytes)), layout_(std::move(layout)) {
    array_ = std::move(array);
  }
  [[nodiscard]] bool random_access() const noexcept override { return bytes_->random_access(); }
  Result<void> read(std::uint64_t first, std::span<std::byte> into) override {
    SHERD_TRY(bytes_->read_at(layout_.offset + first * array_.dtype.size(), into));
    swap_elements(into, array_.dtype.size(), layout_.swaps);
    // NumPy treats every byte except 0 as true; in memory a bool is 0 or 1.
    if (array_.dtype.kind() == DType::Kind::boolean)
      for (std::byte& value : into) value = static_cast<std::byte>(value != std::byte{0});
    return {};
  }
  Result<void> finish() override { return bytes_->check_end(); }

 private:
  std::unique_ptr<FileBytes> bytes_;
  FlatLayout layout_;
};

class FlatWriter final : public ArrayFileWriter {
 public:
  FlatWriter(std::unique_ptr<OutputFile> file, std::uint64_t offset, std::size_t element_size)
      : file_(std::move(file)), offset_(offset), element_size_(element_size) {}
  [[nodiscard]] bool random_access() const noexcept override { return file_->random_access(); }
  Result<void> write(std::uint64_t first, std::span<const std::byte> elements) override {
    return file_->write_at(offset_ + first * element_size_, elements);
  }
  Result<void> finish() override { return file_->commit(); }

 private:
  std::unique_ptr<OutputFile> file_;
  std::uint64_t offset_;
  std::size_t element_size_;
};

}  // namespace

std::vector<WordSwap> word_swaps(const DType& dtype, std::uint64_t offset) {
  if (dtype.kind() != DType::Kind::structure) {
    if (dtype.word_size() <= 1) return {};
    return {{offset, dtype.size(), dtype.word_size()}};
  }
  std::vector<WordSwap> swaps;
  for (const DTypeField& field : dtype.fields()) {
    const auto inner = word_swaps(field.dtype, offset);
    swaps.insert(swaps.end(), inner.begin(), inner.end());
    offset += field.dtype.size();
  }
  return swaps;
}

void swap_elements(std::span<std::byte> elements, std::size_t element_size, std::span<const WordSwap> swaps) noexcept {
  if (swaps.size() == 1 && swaps[0].bytes == element_size) return swap_words(elements, swaps[0].word);
  if (swaps.empty()) return;
  for (std::size_t at = 0; at + element_size <= elements.size(); at += element_size)
    for (const WordSwap& swap : swaps) swap_words(elements.subspan(at + swap.offset, swap.bytes), swap.word);
}

Result<std::uint64_t> array_bytes(const Shape& shape, const DType& dtype, const Limits& limits) {
  if (shape.size() > limits.dimensions)
    return unsupported("has " + std::to_string(shape.size()) + " dimensions, more than the limit 'dimensions' of " +
                       std::to_string(limits.dimensions));
  const auto count = element_count(shape);
  const auto bytes = count ? checked_mul(*count, dtype.size()) : std::nullopt;
  if (!bytes || *bytes > (std::uint64_t{1} << 62))
    return corrupt("the shape " + to_string(shape) + " requires more bytes than any file has");
  return *bytes;
}

Result<std::unique_ptr<ArrayFileReader>> flat_reader(std::unique_ptr<FileBytes> bytes, FileArray array,
                                                     FlatLayout layout) {
  SHERD_TRY(size, array_bytes(array.shape, array.dtype));
  const auto end = checked_add(layout.offset, size);
  if (!end || *end > bytes->size_bound())
    return corrupt("truncated: shape " + to_string(array.shape) + " of " + array.dtype.name() + " from byte " +
                   std::to_string(layout.offset) + " needs " + std::to_string(size) + " bytes, the file has at most " +
                   std::to_string(bytes->size_bound()) + " in all");
  return std::make_unique<FlatReader>(std::move(bytes), std::move(array), std::move(layout));
}

Result<std::unique_ptr<ArrayFileWriter>> flat_writer(const std::string& path, WriteMode mode, std::string header,
                                                     std::size_t element_size) {
  SHERD_TRY(file, OutputFile::create(path, mode));
  SHERD_TRY(file->append(as_bytes(header)));
  return std::make_unique<FlatWriter>(std::move(file), header.size(), element_size);
}

}  // namespace sherd
