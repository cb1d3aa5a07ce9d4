// One codec's decoder: any bytes are rejected or decode to exactly one chunk; decoding blocks or a part has the same
// result as decoding the whole; and a chunk that is decoded and encoded again decodes to the same elements (with a
// filter, from the second time on; with jpeg, to any elements). The environment variable SHERD_FUZZ_CODEC selects the
// row of the table, such as "zstd".
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "api/registry.hpp"
#include "base/try.hpp"
#include "codec/chain.hpp"
#include "neuroglancer/codecs.hpp"
#include "tests/codec/examples.hpp"

#ifndef SHERD_FUZZ_ROWS
#error "SHERD_FUZZ_ROWS has all rows, such as ROW(gzip) ROW(zstd)"
#endif

namespace sherd {
#define ROW(codec) extern const CodecEntry codec##_codec;
SHERD_FUZZ_ROWS
#undef ROW
}  // namespace sherd

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

using namespace sherd;

constexpr std::pair<std::string_view, const CodecEntry*> kRows[] = {
#define ROW(codec) {#codec, &codec##_codec},
    SHERD_FUZZ_ROWS
#undef ROW
};

const CodecEntry& chosen_row() {
  const char* const wanted = std::getenv("SHERD_FUZZ_CODEC");
  for (const auto& [row, entry] : kRows)
    if (wanted != nullptr && row == wanted) return *entry;
  std::fprintf(stderr, "fuzz: SHERD_FUZZ_CODEC is not the name of a codec's row\n");
  std::exit(2);
}

const CodecEntry& kEntry = chosen_row();
const std::string_view kCodec = kEntry.name;
constexpr std::uint64_t kElements = 512;

/// The encodings of the precomputed format, which encode chunks of four dimensions.
bool is_precomputed() { return kCodec == "compressed_segmentation" || kCodec == "jpeg" || kCodec == "png"; }

CodecTable table() { return is_precomputed() ? precomputed_codecs() : tables().codecs; }

/// 512 elements: two channels whose blocks are clipped along every dimension, or an image.
Shape shape() {
  if (kCodec == "compressed_segmentation") return {2, 4, 8, 8};
  if (kCodec == "jpeg") return {8, 8, 8, 1};
  return kCodec == "png" ? Shape{4, 8, 8, 2} : Shape{32, 16};
}

/// The type that reaches most code; nullopt: the first type that the codec accepts.
std::optional<DType> preferred_dtype() {
  if (kCodec == "compressed_segmentation") return DType::uint64;
  if (kCodec == "png") return DType::uint16;
  if (kCodec == "packbits") return DType::bool_;
  if (kCodec == "zfp" || kCodec == "numcodecs.zfpy" || kCodec == "numcodecs.pcodec") return DType::float32;
  if (kCodec == "numcodecs.fixedscaleoffset" || kCodec == "numcodecs.quantize") return DType::float32;
  if (kCodec == "vlen-array") return DType::bytes;
  if (kCodec == "numcodecs.json2" || kCodec == "numcodecs.msgpack2") return DType::string;
  return std::nullopt;
}

Json codec_list(const DType& dtype) {
  Json codec = test::example_codec(kEntry);
  if (kCodec == "compressed_segmentation") {
    codec.set("configuration", Json::parse(R"({"block_size": [3, 5, 7]})").value());
  } else if (codec.find("configuration") == nullptr && kEntry.short_form != nullptr) {
    if (const auto short_form = kEntry.short_form("", dtype); short_form && !short_form->is_null())
      codec.set("configuration", *short_form);
  }
  Json list(Json::Array{});
  const Json bytes = Json::parse(R"({"name": "bytes", "configuration": {"endian": "little"}})").value();
  if (kEntry.bytes_codec != nullptr) list.push_back(bytes);
  list.push_back(codec);
  if (kEntry.array_codec != nullptr) list.push_back(bytes);
  return list;
}

/// The chain, and its element type.
struct Subject {
  DType dtype;
  CodecChain chain;
};

const Subject& subject() {
  static const Subject found = [] {
    Limits limits;
    limits.chunk_bytes = std::uint64_t{1} << 20;
    std::vector<DType> types = test::example_types();
    if (const auto preferred = preferred_dtype()) types = {*preferred};
    for (const DType& dtype : types) {
      const auto specs = parse_codec_list(codec_list(dtype)).value();
      if (auto chain = CodecChain::build(specs, table(), {dtype, shape()}, limits))
        return Subject{dtype, *std::move(chain)};
    }
    std::abort();  // a codec that needs a configuration is missing in tests/codec/examples.hpp
  }();
  return found;
}
const CodecChain& chain() { return subject().chain; }
const DType& dtype() { return subject().dtype; }

// A decoded chunk; its variable-length elements are valid as long as it lives.
struct Chunk {
  std::vector<std::byte> elements = std::vector<std::byte>(kElements * dtype().size());
  VarBytesArena arena;

  Result<void> decode(std::span<const std::byte> from) { return chain().decode(shape(), from, elements, &arena); }
  [[nodiscard]] bool operator==(const Chunk& other) const {
    if (!dtype().is_variable()) return elements == other.elements;
    const auto* mine = reinterpret_cast<const VarBytes*>(elements.data());
    const auto* others = reinterpret_cast<const VarBytes*>(other.elements.data());
    return std::equal(mine, mine + kElements, others,
                      [](const VarBytes& a, const VarBytes& b) { return a.view() == b.view(); });
  }
};

void check_blocks(std::span<const std::byte> from, const Result<void>& whole, const Chunk& chunk) {
  std::vector<std::byte> block(192);
  std::vector<std::byte> gathered(chunk.elements.size());
  const auto done =
      chain().decode_blocks(shape(), from, block, [&](std::uint64_t offset, std::span<const std::byte> bytes) {
        if (offset + bytes.size() > gathered.size()) std::abort();
        std::memcpy(gathered.data() + offset, bytes.data(), bytes.size());
        return true;
      });
  if (whole && done.has_value() && *done && gathered != chunk.elements) std::abort();
  // Blocks of deflate are decoded by another library, and the two accept different invalid streams. zstd's own streams
  // are stricter than its frames: only streams reject a block larger than the window.
  if (kCodec == "gzip" || kCodec == "numcodecs.zlib") return;
  if (whole && !done.has_value() && kCodec != "zstd") std::abort();
  if (!whole && done.has_value() && *done) std::abort();
}

/// A part of a valid chunk is that part of the whole. A part of an invalid one may be valid: what is not decoded is not
/// verified.
void check_part(std::span<const std::byte> from, const Result<void>& whole, const Chunk& chunk) {
  const std::size_t size = chunk.elements.size();
  const std::size_t begin = size / 8 * (from.empty() ? 0 : std::to_integer<std::size_t>(from.back()) % 8);
  const std::size_t end = begin + size / 8;
  Buffer part;
  const auto at = chain().decode_part(shape(), from, {begin, end}, part);
  if (!at || !*at) return whole && !at ? std::abort() : void();
  if (**at > begin || **at + part.size() < end || **at + part.size() > size) std::abort();
  if (whole && std::memcmp(part.data(), chunk.elements.data() + **at, part.size()) != 0) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto from = std::as_bytes(std::span(data, size));
  Chunk chunk;
  const auto whole = chunk.decode(from);
  check_blocks(from, whole, chunk);
  check_part(from, whole, chunk);
  if (!whole) return 0;
  Buffer encoded;
  if (!chain().encode(shape(), chunk.elements, encoded)) return 0;
  Chunk again;
  if (!again.decode(encoded.span())) std::abort();
  if (kCodec == "jpeg" || again == chunk) return 0;
  // A filter may lose some information when it encodes, but no more when its result is encoded again.
  Chunk last;
  if (kEntry.array_codec == nullptr || !chain().encode(shape(), again.elements, encoded)) std::abort();
  if (!last.decode(encoded.span()) || !(last == again)) std::abort();
  return 0;
}

// A quarter of the inputs are encodings: of the input's decoded chunk, changed, or of the input's own bytes.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  if (seed % 4 == 0 && !dtype().is_variable()) {
    Chunk chunk;
    if (!chunk.decode(std::as_bytes(std::span(data, size))) && size != 0)
      std::memcpy(chunk.elements.data(), data, std::min(size, chunk.elements.size()));
    LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(chunk.elements.data()), chunk.elements.size(),
                     chunk.elements.size());
    Buffer encoded;
    if (chain().encode(shape(), chunk.elements, encoded) && encoded.size() <= max_size) {
      std::memcpy(data, encoded.data(), encoded.size());
      return encoded.size();
    }
  }
  return LLVMFuzzerMutate(data, size, max_size);
}
