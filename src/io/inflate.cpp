// A gzip file as decompressed bytes, read front to back through two small buffers, for any size. Reading before the
// current offset starts again. Consecutive members are concatenated; zeros after the last one are padding.
#include <zlib.h>

#include <algorithm>
#include <array>

#include "base/checked.hpp"
#include "base/try.hpp"
#include "io/files.hpp"

namespace sherd {
namespace {

// RFC 1951: a match produces at most 258 bytes and costs at least 2 bits; 1032 to 1.
constexpr std::uint64_t kMaxInflated = 1032;
constexpr std::size_t kBufferBytes = std::size_t{256} << 10;

class InflatedFile final : public FileBytes {
 public:
  explicit InflatedFile(std::unique_ptr<InputFile> file) : file_(std::move(file)) {}
  ~InflatedFile() override { inflateEnd(&stream_); }
  InflatedFile(const InflatedFile&) = delete;
  InflatedFile& operator=(const InflatedFile&) = delete;

  Result<void> start() {
    SHERD_TRY(compressed_.resize(kBufferBytes));
    // 16 + 15: a gzip wrapper, the largest window.
    if (inflateInit2(&stream_, 16 + 15) != Z_OK) return unavailable("no memory for inflate");
    return {};
  }
  [[nodiscard]] bool random_access() const noexcept override { return false; }
  [[nodiscard]] std::uint64_t size_bound() const noexcept override {
    return checked_mul(file_->size_bound(), kMaxInflated).value_or(~std::uint64_t{0});
  }
  Result<void> read_at(std::uint64_t offset, std::span<std::byte> into) override;
  Result<void> check_end() override;

 private:
  Result<std::size_t> inflate_some(std::span<std::byte> into);
  Result<void> fill();
  Result<void> next_member();
  Result<void> discard(std::uint64_t bytes);
  Error damaged(const std::string& what) const {
    return corrupt("gzip: " + what + " at byte " + std::to_string(read_ - stream_.avail_in)).in_key(file_->path());
  }

  std::unique_ptr<InputFile> file_;
  z_stream stream_{};
  Buffer compressed_;
  std::uint64_t read_ = 0;      ///< compressed bytes read from the file
  std::uint64_t position_ = 0;  ///< decompressed bytes returned
  bool ended_ = false;          ///< after the last member
};

Result<void> InflatedFile::fill() {
  if (stream_.avail_in > 0) return {};
  SHERD_TRY(got, file_->read_some(read_, compressed_.span()));
  read_ += got;
  stream_.next_in = reinterpret_cast<Bytef*>(compressed_.data());
  stream_.avail_in = static_cast<uInt>(got);
  return {};
}

Result<void> InflatedFile::next_member() {
  for (;;) {
    SHERD_TRY(fill());
    if (stream_.avail_in == 0) {
      ended_ = true;
      return {};
    }
    if (*stream_.next_in != 0) break;
    ++stream_.next_in;
    --stream_.avail_in;
  }
  inflateReset(&stream_);
  return {};
}

// At least one byte, or 0 at the end.
Result<std::size_t> InflatedFile::inflate_some(std::span<std::byte> into) {
  const auto available = static_cast<uInt>(std::min<std::size_t>(into.size(), std::size_t{1} << 30));
  stream_.next_out = reinterpret_cast<Bytef*>(into.data());
  stream_.avail_out = available;
  while (!ended_ && stream_.avail_out == available) {
    SHERD_TRY(fill());
    if (stream_.avail_in == 0) return damaged("the stream is cut off");
    const int status = inflate(&stream_, Z_NO_FLUSH);
    if (status == Z_MEM_ERROR) return unavailable("no memory for inflate");
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
      return damaged(stream_.msg != nullptr ? stream_.msg : "damaged stream");
    if (status == Z_STREAM_END) {
      SHERD_TRY(next_member());
    }
  }
  const std::size_t got = available - stream_.avail_out;
  position_ += got;
  return got;
}

Result<void> InflatedFile::discard(std::uint64_t bytes) {
  std::array<std::byte, 16384> scrap;
  while (bytes > 0) {
    SHERD_TRY(got, inflate_some(std::span(scrap).first(std::min<std::uint64_t>(bytes, scrap.size()))));
    if (got == 0)
      return corrupt("truncated: it inflates to " + std::to_string(position_) + " bytes").in_key(file_->path());
    bytes -= got;
  }
  return {};
}

Result<void> InflatedFile::read_at(std::uint64_t offset, std::span<std::byte> into) {
  if (offset < position_) {
    inflateReset(&stream_);
    stream_.avail_in = 0;
    read_ = position_ = 0;
    ended_ = false;
  }
  SHERD_TRY(discard(offset - position_));
  while (!into.empty()) {
    SHERD_TRY(got, inflate_some(into));
    if (got == 0)
      return corrupt("truncated: " + std::to_string(into.size()) + " more bytes are wanted, it inflates to " +
                     std::to_string(position_) + " bytes")
          .in_key(file_->path());
    into = into.subspan(got);
  }
  return {};
}

Result<void> InflatedFile::check_end() {
  std::array<std::byte, 16384> scrap;
  for (;;) {
    SHERD_TRY(got, inflate_some(scrap));
    if (got == 0) return {};
  }
}

}  // namespace

Result<std::unique_ptr<FileBytes>> open_inflated(const std::string& path) {
  SHERD_TRY(file, InputFile::open(path));
  std::array<std::byte, 2> magic{};
  SHERD_TRY(got, file->read_some(0, magic));
  if (got < 2 || magic[0] != std::byte{0x1f} || magic[1] != std::byte{0x8b})
    return std::unique_ptr<FileBytes>(std::move(file));
  auto inflated = std::make_unique<InflatedFile>(std::move(file));
  SHERD_TRY(inflated->start());
  return std::unique_ptr<FileBytes>(std::move(inflated));
}

}  // namespace sherd
