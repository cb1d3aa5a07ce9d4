// Knows every codec, store and format by name, and nothing else about them. A new one is its own file and one row here.
// (Formats have virtual destructors and so are reached through functions; their table is made on first use.)
#include "api/registry.hpp"

#include <array>

namespace sherd {

extern const CodecEntry adler32_codec, blosc_codec, bytes_codec, bz2_codec, crc32_codec, crc32c_codec, delta_codec,
    fixedscaleoffset_codec, fletcher32_codec, gzip_codec, lz4_codec, lzma_codec, numcodecs_blosc_codec,
    numcodecs_crc32c_codec, numcodecs_gzip_codec, numcodecs_zstd_codec, packbits_codec, shuffle_codec, transpose_codec,
    vlen_bytes_codec, vlen_utf8_codec, zlib_codec, zstd_codec;
const Format& draft2022_format() noexcept;
const Format& precomputed_format() noexcept;
const Format& zarr2_format() noexcept;
const Format& zarr3_format() noexcept;
const StorageKind& dual_format_storage() noexcept;
const StorageKind& volume_storage() noexcept;

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

constexpr StoreEntry stores[] = {
    {StoreUrl::Kind::file, [](const StoreUrl& url, const Config& config) { return file_store(url.path, config); }},
    {StoreUrl::Kind::memory,
     [](const StoreUrl&, const Config& config) -> Result<std::shared_ptr<Store>> { return memory_store(config); }},
};

FormatTable format_table() noexcept {
  static const std::array formats{&zarr3_format(), &zarr2_format(), &draft2022_format(), &precomputed_format()};
  return formats;
}

std::span<const StorageKind* const> storage_table() noexcept {
  static const std::array storages{&dual_format_storage(), &volume_storage()};
  return storages;
}

}  // namespace

Tables tables() noexcept { return {codec_table, format_table(), storage_table()}; }

std::span<const StoreEntry> store_table() noexcept { return stores; }

const Format* find_format(std::string_view name) noexcept {
  for (const Format* format : format_table()) {
    if (format->name() == name) return format;
  }
  return nullptr;
}

}  // namespace sherd
