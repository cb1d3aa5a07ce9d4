// Encodes or decodes one chunk in one encoding of the precomputed format, from stdin to stdout, for chunk_test.py:
//   chunk_codec encode|decode '[{"name": …}]' DTYPE 1,64,64,64
// Elements are in the codec's order, C order of (channel, z, y, x) or, for images, of (z, y, x, channel).
#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "api/registry.hpp"
#include "base/try.hpp"
#include "codec/chain.hpp"
#include "neuroglancer/codecs.hpp"

namespace {

using namespace sherd;

std::vector<std::byte> all_of(std::FILE* file) {
  std::vector<std::byte> bytes;
  for (std::size_t got = 1; got > 0;) {
    const std::size_t size = bytes.size();
    bytes.resize(size + 65536);
    got = std::fread(bytes.data() + size, 1, 65536, file);
    bytes.resize(size + got);
  }
  return bytes;
}

Shape parse_shape(std::string_view text) {
  Shape shape;
  for (const char* at = text.data(); at < text.data() + text.size(); ++at) {
    std::uint64_t extent = 0;
    at = std::from_chars(at, text.data() + text.size(), extent).ptr;
    shape.push_back(extent);
  }
  return shape;
}

Result<void> run(std::string_view verb, std::string_view codecs, const ChunkType& type) {
  SHERD_TRY(list, Json::parse(codecs));
  SHERD_TRY(specs, parse_codec_list(list));
  SHERD_TRY(chain, CodecChain::build(specs, precomputed_codecs(), type, {}));
  const auto from = all_of(stdin);
  Buffer to;
  if (verb == "encode") {
    SHERD_TRY(chain.encode(type.shape, from, to));
  } else {
    SHERD_TRY(to.resize(*element_count(type.shape) * type.dtype.size()));
    SHERD_TRY(chain.decode(type.shape, from, to.span(), nullptr));
  }
  std::fwrite(to.data(), 1, to.size(), stdout);
  return {};
}

}  // namespace

int main(int count, char** words) {
  if (count != 5) return 2;
  const auto dtype = sherd::DType::parse(words[3]);
  if (!dtype) return 2;
  const auto done = run(words[1], words[2], {*dtype, parse_shape(words[4])});
  if (done) return 0;
  std::fprintf(stderr, "%s\n", done.error().text().c_str());
  return 1;
}
