// Knows every codec, store and format by name, and nothing else about them. A new one is its own file and one row here.
// (Formats have virtual destructors and so are reached through functions; their table is made on first use.)
#include "registry.hpp"

#include <array>

namespace sherd {

extern const CodecEntry adler32_codec, blosc_codec, bytes_codec, bz2_codec, crc32_codec, crc32c_codec, delta_codec,
    fixedscaleoffset_codec, fletcher32_codec, gzip_codec, lz4_codec, lzma_codec, numcodecs_blosc_codec,
    numcodecs_crc32c_codec, numcodecs_gzip_codec, numcodecs_zstd_codec, packbits_codec, shuffle_codec, transpose_codec,
    vlen_bytes_codec, vlen_utf8_codec, zlib_codec, zstd_codec;
extern const CodecEntry compressed_segmentation_codec, jpeg_codec, png_codec, precomputed_gzip_codec;
const Format& draft2022_format() noexcept;
const Format& precomputed_format() noexcept;
const Format& zarr3_format() noexcept;

namespace {

constexpr const CodecEntry* codec_table[] = {&adler32_codec,
                                             &blosc_codec,
                                             &bytes_codec,
                                             &bz2_codec,
                                             &crc32_codec,
                                             &crc32c_codec,
                                             &delta_codec,
                                             &fixedscaleoffset_codec,
                                             &fletcher32_codec,
                                             &gzip_codec,
                                             &lz4_codec,
                                             &lzma_codec,
                                             &numcodecs_blosc_codec,
                                             &numcodecs_crc32c_codec,
                                             &numcodecs_gzip_codec,
                                             &numcodecs_zstd_codec,
                                             &packbits_codec,
                                             &shuffle_codec,
                                             &transpose_codec,
                                             &vlen_bytes_codec,
                                             &vlen_utf8_codec,
                                             &zlib_codec,
                                             &zstd_codec};

// The encodings of Neuroglancer's precomputed format, with the codecs that its chunks need besides. Its own table: in
// Zarr no codec has these names.
constexpr const CodecEntry* precomputed_codec_table[] = {
    &bytes_codec, &compressed_segmentation_codec, &jpeg_codec, &png_codec, &precomputed_gzip_codec, &transpose_codec};

constexpr StoreEntry stores[] = {
    {StoreUrl::Kind::file, [](const StoreUrl& url, const Config& config) { return file_store(url.path, config); }},
    {StoreUrl::Kind::memory,
     [](const StoreUrl&, const Config& config) -> Result<std::shared_ptr<Store>> { return memory_store(config); }},
};

FormatTable format_table() noexcept {
  static const std::array formats{&zarr3_format(), &draft2022_format(), &precomputed_format()};
  return formats;
}

}  // namespace

Tables tables() noexcept { return {codec_table, precomputed_codec_table, format_table()}; }

CodecTable precomputed_codecs() noexcept { return precomputed_codec_table; }

std::span<const StoreEntry> store_table() noexcept { return stores; }

const Format* find_format(std::string_view name) noexcept {
  for (const Format* format : format_table()) {
    if (format->name() == name) return format;
  }
  return nullptr;
}

}  // namespace sherd
