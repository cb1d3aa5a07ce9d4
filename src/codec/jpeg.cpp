// jpeg of Neuroglancer's precomputed format, through libjpeg-turbo: uint8, one channel as gray, three as colour at full
// resolution, because the channels of a chunk need not be colours. Images that are read only need the same number of
// pixels. libjpeg reports errors by longjmp, so the calls into it are in functions without destructors. Its warnings
// (data that end early, meaningless bytes) are errors here, because the pixels would be invented.
#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>

#include <jpeglib.h>

#include "base/try.hpp"
#include "codec/configuration.hpp"
#include "codec/image.hpp"

namespace sherd {
namespace {

// Each scan of a progressive image costs a pass over the whole image; no writer makes more than a dozen.
constexpr int kMaxScans = 100;

/// The data of libjpeg's callbacks; `manager` comes first, because libjpeg passes its address.
struct Session {
  jpeg_error_mgr manager = {};
  std::jmp_buf escape = {};
  char message[JMSG_LENGTH_MAX] = {};
};

Session& session_of(j_common_ptr image) { return *reinterpret_cast<Session*>(image->err); }

[[noreturn]] void on_jpeg_error(j_common_ptr image) {
  Session& session = session_of(image);
  image->err->format_message(image, session.message);
  std::longjmp(session.escape, 1);
}
void on_message(j_common_ptr image, int level) {
  if (level < 0) on_jpeg_error(image);
}
void on_progress(j_common_ptr image) {
  if (reinterpret_cast<j_decompress_ptr>(image)->input_scan_number <= kMaxScans) return;
  Session& session = session_of(image);
  std::strcpy(session.message, "too many scans");
  std::longjmp(session.escape, 1);
}

void start(Session& session) {
  jpeg_std_error(&session.manager);
  session.manager.error_exit = on_jpeg_error;
  session.manager.emit_message = on_message;
}

Error failure(const Session& session, ErrorCode code) { return {code, "jpeg: " + std::string(session.message)}; }

// ---- decoding ----

class JpegReader {
 public:
  JpegReader() {
    start(session_);
    image_.err = &session_.manager;
  }
  ~JpegReader() { jpeg_destroy_decompress(&image_); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  /// Width, height and components are known after this.
  bool read_header(std::span<const std::byte> from) {
    if (setjmp(session_.escape)) return false;
    jpeg_create_decompress(&image_);
    jpeg_mem_src(&image_, reinterpret_cast<const unsigned char*>(from.data()), from.size());
    jpeg_read_header(&image_, TRUE);
    return true;
  }
  bool read_pixels(std::byte* to) {
    if (setjmp(session_.escape)) return false;
    progress_.progress_monitor = on_progress;
    image_.progress = &progress_;
    image_.out_color_space = image_.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_start_decompress(&image_);
    const std::size_t row_bytes = std::size_t{image_.output_width} * static_cast<unsigned>(image_.output_components);
    while (image_.output_scanline < image_.output_height) {
      auto* row = reinterpret_cast<JSAMPROW>(to + image_.output_scanline * row_bytes);
      jpeg_read_scanlines(&image_, &row, 1);
    }
    jpeg_finish_decompress(&image_);
    return true;
  }
  [[nodiscard]] const jpeg_decompress_struct& image() const noexcept { return image_; }
  [[nodiscard]] Error failure() const { return sherd::failure(session_, ErrorCode::corrupt); }

 private:
  Session session_;
  jpeg_progress_mgr progress_ = {};
  jpeg_decompress_struct image_ = {};
};

// ---- encoding ----

/// The destination of libjpeg's output: a Buffer that doubles when it is full.
struct Destination {
  jpeg_destination_mgr manager = {};  // first, because libjpeg passes its address
  Buffer* to = nullptr;
  bool out_of_memory = false;
};

constexpr std::size_t kFirstBytes = std::size_t{16} << 10;

void fill_from(Destination& destination, std::size_t used) noexcept {
  destination.manager.next_output_byte = reinterpret_cast<JOCTET*>(destination.to->data() + used);
  destination.manager.free_in_buffer = destination.to->size() - used;
}

bool grow(Destination& destination) {
  const std::size_t used = destination.to->size();
  destination.out_of_memory = !destination.to->grow(2 * used).has_value();
  if (!destination.out_of_memory) fill_from(destination, used);
  return !destination.out_of_memory;
}

void on_start(j_compress_ptr /*image*/) {}
boolean on_full(j_compress_ptr image) {
  if (!grow(*reinterpret_cast<Destination*>(image->dest))) on_jpeg_error(reinterpret_cast<j_common_ptr>(image));
  return TRUE;
}
void on_end(j_compress_ptr image) {
  auto& destination = *reinterpret_cast<Destination*>(image->dest);
  destination.to->truncate(destination.to->size() - destination.manager.free_in_buffer);
}

class JpegWriter {
 public:
  explicit JpegWriter(Buffer& to) {
    start(session_);
    image_.err = &session_.manager;
    destination_.manager.init_destination = on_start;
    destination_.manager.empty_output_buffer = on_full;
    destination_.manager.term_destination = on_end;
    destination_.to = &to;
    fill_from(destination_, 0);
  }
  ~JpegWriter() { jpeg_destroy_compress(&image_); }
  JpegWriter(const JpegWriter&) = delete;
  JpegWriter& operator=(const JpegWriter&) = delete;

  bool write(const ChunkImage& chunk, int quality, const std::byte* from) {
    if (setjmp(session_.escape)) return false;
    jpeg_create_compress(&image_);
    image_.dest = &destination_.manager;
    image_.image_width = static_cast<JDIMENSION>(chunk.width);
    image_.image_height = static_cast<JDIMENSION>(chunk.height);
    image_.input_components = static_cast<int>(chunk.channels);
    image_.in_color_space = chunk.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&image_);
    image_.comp_info[0].h_samp_factor = image_.comp_info[0].v_samp_factor = 1;
    jpeg_set_quality(&image_, quality, TRUE);
    jpeg_start_compress(&image_, TRUE);
    const std::size_t row_bytes = chunk.width * chunk.channels;
    while (image_.next_scanline < image_.image_height) {
      // libjpeg's rows are not const, but are not written to.
      auto* row = reinterpret_cast<JSAMPROW>(const_cast<std::byte*>(from + image_.next_scanline * row_bytes));
      jpeg_write_scanlines(&image_, &row, 1);
    }
    jpeg_finish_compress(&image_);
    return true;
  }
  [[nodiscard]] Error failure() const {
    if (destination_.out_of_memory) return unavailable("jpeg: out of memory for the encoded image");
    return sherd::failure(session_, ErrorCode::unsupported);
  }

 private:
  Session session_;
  Destination destination_;
  jpeg_compress_struct image_ = {};
};

// ---- the codec ----

class Jpeg final : public ArrayBytesCodec {
 public:
  explicit Jpeg(int quality) noexcept : quality_(quality) {}

  Result<void> check(const ChunkType& in) const override {
    if (in.dtype != DType::uint8) return unsupported("jpeg: elements are uint8, not " + in.dtype.name());
    SHERD_TRY(ChunkImage::check(in, "jpeg"));
    const std::uint64_t channels = ChunkImage(in).channels;
    if (channels == 1 || channels == 3) return {};
    return unsupported("jpeg: an image has 1 channel or 3, not " + std::to_string(channels));
  }
  [[nodiscard]] std::optional<std::uint64_t> encoded_size(const ChunkType&) const override { return std::nullopt; }

  Result<void> encode(const ChunkType& in, std::span<const std::byte> elements, Buffer& to) const override {
    const ChunkImage chunk(in);
    if (chunk.width > JPEG_MAX_DIMENSION || chunk.height > JPEG_MAX_DIMENSION)
      return unsupported("jpeg: an image has at most " + std::to_string(JPEG_MAX_DIMENSION) +
                         " pixels per side, and this chunk becomes one of " + std::to_string(chunk.width) + " x " +
                         std::to_string(chunk.height) + " (x by y times z); choose smaller chunks");
    SHERD_TRY(to.resize(kFirstBytes));
    JpegWriter writer(to);
    if (!writer.write(chunk, quality_, elements.data())) return writer.failure();
    return {};
  }

  Result<void> decode(const ChunkType& in, std::span<const std::byte> encoded, std::span<std::byte> elements,
                      VarBytesArena*) const override {
    JpegReader reader;
    if (!reader.read_header(encoded)) return reader.failure();
    const auto& image = reader.image();
    SHERD_TRY(ChunkImage(in).expect(image.image_width, image.image_height,
                                    static_cast<std::uint64_t>(image.num_components), "jpeg"));
    if (!reader.read_pixels(elements.data())) return reader.failure();
    if (image.src->bytes_in_buffer != 0)
      return corrupt("jpeg: " + std::to_string(image.src->bytes_in_buffer) + " bytes follow the image");
    return {};
  }

 private:
  int quality_;
};

Result<std::unique_ptr<ArrayBytesCodec>> make_jpeg(const CodecSpec& spec, const CodecContext&) {
  SHERD_TRY(configuration, Configuration::open(spec));
  // The precomputed format's own default.
  SHERD_TRY(quality, configuration.integer("quality", {0, 100}, 75));
  SHERD_TRY(configuration.done());
  return std::unique_ptr<ArrayBytesCodec>(std::make_unique<Jpeg>(static_cast<int>(quality)));
}

}  // namespace

extern constinit const CodecEntry jpeg_codec{.name = "jpeg", .aliases = {}, .array_bytes_codec = make_jpeg};

}  // namespace sherd
