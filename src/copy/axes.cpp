// A permuted array is the stored one with a transpose before its codecs, and with the parts of its keys in the stored
// order. So its chunks can be read and, if only dimensions of length 1 have moved, copied unchanged.
#include "copy/axes.hpp"

#include <algorithm>

#include "base/try.hpp"
#include "codec/chain.hpp"
#include "io/import.hpp"

namespace sherd {
namespace {

template <class T>
void permute(std::vector<T>& values, const std::vector<std::size_t>& order) {
  if (values.empty()) return;
  std::vector<T> result;
  result.reserve(order.size());
  for (const std::size_t d : order) result.push_back(values[d]);
  values = std::move(result);
}

// The dimension of the new array for each stored one.
std::vector<std::size_t> inverse(const std::vector<std::size_t>& order) {
  std::vector<std::size_t> result(order.size());
  for (std::size_t d = 0; d < order.size(); ++d) result[order[d]] = d;
  return result;
}

// Codecs of chunks with a leading dimension of length 1. Codecs that are not listed work on bytes or single elements.
Result<std::vector<CodecSpec>> with_leading(std::vector<CodecSpec> codecs) {
  for (CodecSpec& codec : codecs) {
    if (codec.name == "transpose") {
      Json order{Json::Array{Json(0)}};
      for (const Json& each : codec.configuration.find("order")->elements())
        order.push_back(each.as_uint().value_or(0) + 1);
      codec.configuration.set("order", std::move(order));
    } else if (codec.name == "sharding_indexed") {
      Json shape{Json::Array{Json(1)}};
      for (const Json& each : codec.configuration.find("chunk_shape")->elements()) shape.push_back(each);
      codec.configuration.set("chunk_shape", std::move(shape));
      SHERD_TRY(inner, parse_codec_list(*codec.configuration.find("codecs")));
      SHERD_TRY(changed, with_leading(std::move(inner)));
      codec.configuration.set("codecs", codec_list_json(changed));
    } else if (codec.name == "reshape" || codec.name.find("zfp") != std::string::npos ||
               codec.name.find("png") != std::string::npos || codec.name.find("jpeg") != std::string::npos) {
      return std::move(unsupported("chunks of the codec '" + codec.name +
                                   "' cannot get a third axis; copy the array "
                                   "to other codecs first (--codec)"))
          .in_member("codecs");
    }
  }
  return codecs;
}

}  // namespace

NodeDocument permuted(NodeDocument node, const std::vector<std::size_t>& order) {
  ArraySpec& spec = *node.array;
  const std::vector<std::size_t> stored = inverse(order);
  permute(spec.shape, order);
  permute(spec.dimension_names, order);
  if (auto* regular = std::get_if<RegularGrid>(&spec.grid))
    permute(regular->chunk_shape, order);
  else
    permute(std::get<RectilinearGrid>(spec.grid).axes, order);
  spec.keys.order = stored;
  node.attributes = permuted_attributes(std::move(node.attributes), order);
  Json dimensions{Json::Array{}};
  for (const std::size_t d : stored) dimensions.push_back(std::uint64_t{d});
  spec.codecs.insert(spec.codecs.begin(), CodecSpec{"transpose", Json(Json::Object{{"order", std::move(dimensions)}})});
  return node;
}

Result<NodeDocument> with_leading_dimension(NodeDocument node) {
  ArraySpec& spec = *node.array;
  const std::size_t rank = spec.shape.size();
  auto* regular = std::get_if<RegularGrid>(&spec.grid);
  if (regular == nullptr)
    return std::move(unsupported("chunks that differ in shape cannot get a third axis")).in_member("chunk_grid");
  SHERD_TRY(codecs, with_leading(std::move(spec.codecs)));
  spec.codecs = std::move(codecs);
  spec.shape.insert(spec.shape.begin(), 1);
  regular->chunk_shape.insert(regular->chunk_shape.begin(), 1);
  if (!spec.dimension_names.empty()) spec.dimension_names.insert(spec.dimension_names.begin(), std::nullopt);
  spec.keys.order.clear();
  for (std::size_t d = 0; d < rank; ++d) spec.keys.order.push_back(d + 1);
  return node;
}

Result<ArraySpec> spec_of_permuted(const Array& source, const NodeLocation& destination, const CopyOptions& options) {
  CopyOptions chosen = options;
  if (!chosen.chunks && !source.chunks().empty()) chosen.chunks = source.chunks();
  if (!chosen.shards && !chosen.auto_shards && chosen.chunks) chosen.shards = source.shards().value_or(Shape());
  SHERD_TRY(spec, copied_spec(source.state(), destination, chosen));
  spec.keys.order.clear();
  if (options.codecs) return spec;
  SHERD_TRY(plain, in_c_order(spec));
  return plain ? *std::move(plain) : spec;
}

}  // namespace sherd
