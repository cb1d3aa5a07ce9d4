// The encodings of the precomputed format, and the codecs that its chunks need in addition.
#include "neuroglancer/codecs.hpp"

namespace sherd {

extern const CodecEntry bytes_codec, compressed_segmentation_codec, jpeg_codec, png_codec, gzip_member_codec,
    transpose_codec;

namespace {

constexpr const CodecEntry* table[] = {
    &bytes_codec, &compressed_segmentation_codec, &jpeg_codec, &png_codec, &gzip_member_codec, &transpose_codec};

}  // namespace

CodecTable precomputed_codecs() noexcept { return table; }

}  // namespace sherd
