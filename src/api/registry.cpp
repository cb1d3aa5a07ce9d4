// The tables of all codecs, stores and formats. A new one is a separate file and one row here. (Formats have virtual
// destructors, so they are reached through functions; their table is made at first use.)
#include "api/registry.hpp"

#include <array>
#include <optional>

#include "api/open_hints.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "netcdf/member_notes.hpp"
#include "netcdf/writer.hpp"
#include "node/storage_kind.hpp"
#include "ome/ome.hpp"
#include "remote/gcs_store.hpp"
#include "remote/http_service.hpp"
#include "remote/s3_store.hpp"
#include "store/file_options.hpp"
#include "store/zip.hpp"

namespace sherd {

extern const CodecEntry adler32_codec, astype_codec, base64_codec, bitround_codec, blosc_codec, bytes_codec, bz2_codec,
    cast_value_codec, categorize_codec, conditional_codec, crc32_codec, crc32c_codec, delta_codec,
    fixedscaleoffset_codec, fletcher32_codec, gdeflate_codec, gzip_codec, jenkins_lookup3_codec, json2_codec, lz4_codec,
    lzma_codec, msgpack2_codec, n5_default_codec, numcodecs_bitround_codec, numcodecs_blosc_codec,
    numcodecs_crc32c_codec, numcodecs_gzip_codec, numcodecs_packbits_codec, numcodecs_zstd_codec, optional_codec,
    packbits_codec, pcodec_codec, quantize_codec, reshape_codec, scale_offset_codec, shuffle_codec, squeeze_codec,
    szip_codec, transpose_codec, vlen_array_codec, vlen_bytes_codec, vlen_codec, vlen_utf8_codec, zfp_codec, zfpy_codec,
    zlib_codec, zstd_codec;
const Format& draft2022_format(CodecTable codecs) noexcept;
const Format& precomputed_format() noexcept;
const Format& zarr2_format(CodecTable codecs) noexcept;
const Format& zarr3_format() noexcept;
const StorageKind& dual_format_storage() noexcept;
const StorageKind& volume_storage() noexcept;

namespace {

constexpr const CodecEntry* codec_table[] = {
    &adler32_codec,
    &astype_codec,
    &base64_codec,
    &bitround_codec,
    &blosc_codec,
    &bytes_codec,
    &bz2_codec,
    &cast_value_codec,
    &categorize_codec,
    &conditional_codec,
    &crc32_codec,
    &crc32c_codec,
    &delta_codec,
    &fixedscaleoffset_codec,
    &fletcher32_codec,
    &gdeflate_codec,
    &gzip_codec,
    &jenkins_lookup3_codec,
    &json2_codec,
    &lz4_codec,
    &lzma_codec,
    &msgpack2_codec,
    &n5_default_codec,
    &numcodecs_bitround_codec,
    &numcodecs_blosc_codec,
    &numcodecs_crc32c_codec,
    &numcodecs_gzip_codec,
    &numcodecs_packbits_codec,
    &numcodecs_zstd_codec,
    &optional_codec,
    &packbits_codec,
    &pcodec_codec,
    &quantize_codec,
    &reshape_codec,
    &scale_offset_codec,
    &shuffle_codec,
    &squeeze_codec,
    &szip_codec,
    &transpose_codec,
    &vlen_array_codec,
    &vlen_bytes_codec,
    &vlen_codec,
    &vlen_utf8_codec,
    &zfp_codec,
    &zfpy_codec,
    &zlib_codec,
    &zstd_codec,
};

Result<std::shared_ptr<Store>> open_files(const StoreUrl& url, std::optional<OuterObject> /*in*/,
                                          const Config& config) {
  SHERD_TRY(settings, with_file_options(config));
  auto store = file_store(url.path, settings);
  if (auto file = store ? std::nullopt : hint_at_file(url.path, tables().formats)) return *std::move(file);
  return store;
}

Result<std::shared_ptr<Store>> open_memory(const StoreUrl& url, std::optional<OuterObject> /*in*/,
                                           const Config& config) {
  if (!url.host.empty() || !url.path.empty())
    return invalid_argument("a memory store cannot have a name; write memory:");
  return memory_store(config);
}

Result<std::shared_ptr<Store>> open_zip(const StoreUrl& /*url*/, std::optional<OuterObject> in, const Config& config) {
  SHERD_TRY(settings, with_file_options(config));
  return zip_store(std::move(in->store), std::move(in->key), settings);
}

Result<std::shared_ptr<Store>> open_http(const StoreUrl& url, std::optional<OuterObject> /*in*/, const Config& config) {
  return remote::http_store(url, config);
}

Result<std::shared_ptr<Store>> open_s3(const StoreUrl& url, std::optional<OuterObject> /*in*/, const Config& config) {
  return remote::s3_store(url, config);
}

Result<std::shared_ptr<Store>> open_gs(const StoreUrl& url, std::optional<OuterObject> /*in*/, const Config& config) {
  return remote::gcs_store(url, config);
}

constexpr std::string_view kZipSuffixes[] = {".zip", ".ozx"};
/// The first member of an archive, or the end of one without members.
bool is_zip(std::string_view bytes) { return bytes.starts_with("PK\x03\x04") || bytes.starts_with("PK\x05\x06"); }

constexpr StoreEntry kStores[] = {
    {.scheme = "file", .open = open_files, .options = kFileOptions},
    {.scheme = "memory", .open = open_memory},
    {.scheme = "http",
     .open = open_http,
     .options = remote::kHttpOptions,
     .secrets = remote::kHttpSecrets,
     .is_read_only = true},
    {.scheme = "https",
     .open = open_http,
     .options = remote::kHttpOptions,
     .secrets = remote::kHttpSecrets,
     .is_read_only = true},
    {.scheme = "s3", .open = open_s3, .options = remote::kS3Options, .secrets = remote::kS3Secrets},
    {.scheme = "s3+http", .open = open_s3, .options = remote::kS3Options, .secrets = remote::kS3Secrets},
    {.scheme = "s3+https", .open = open_s3, .options = remote::kS3Options, .secrets = remote::kS3Secrets},
    {.scheme = "gs",
     .open = open_gs,
     .options = remote::kGcsOptions,
     .secrets = remote::kGcsSecrets,
     .is_read_only = true},
    {.scheme = "zip", .open = open_zip, .is_layer = true, .suffixes = kZipSuffixes, .recognizes = is_zip},
};

FormatTable format_table() noexcept {
  static const std::array formats{&zarr3_format(), &zarr2_format(codec_table), &draft2022_format(codec_table),
                                  &precomputed_format()};
  return formats;
}

std::span<const StorageKind* const> storage_table() noexcept {
  static const std::array storages{&dual_format_storage(), &volume_storage()};
  return storages;
}

constexpr SideDocument side_document_table[] = {kOmeXmlDocument};

}  // namespace

Tables tables() noexcept {
  return {.codecs = codec_table,
          .formats = format_table(),
          .storages = storage_table(),
          .changed = netcdf::member_changed,
          .lengths_changed = netcdf::lengths_changed,
          .model_documents = netcdf::kModelDocuments,
          .side_documents = side_document_table};
}

std::span<const StoreEntry> store_table() noexcept { return kStores; }

const Format* find_format(std::string_view name) noexcept {
  for (const Format* format : format_table()) {
    if (format->name() == name) return format;
  }
  return nullptr;
}

}  // namespace sherd
