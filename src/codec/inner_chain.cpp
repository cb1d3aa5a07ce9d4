#include "codec/inner_chain.hpp"

#include <algorithm>
#include <string>

#include "base/try.hpp"

namespace sherd {

Result<CodecChain> inner_chain(std::string_view codec, Configuration& configuration, std::string_view key,
                               const CodecContext& context) {
  const std::string place = "configuration." + std::string(key), begin = std::string(codec) + ": ";
  const Json* list = configuration.find(key);
  if (list == nullptr) return configuration_error(key, begin + "'" + std::string(key) + "' is missing");
  SHERD_TRY(specs, parse_codec_list(*list).in_member(place));
  const Limits limits = context.limits != nullptr ? *context.limits : Limits();
  SHERD_TRY(chain, CodecChain::build(specs, context.table, context.in, limits).in_member(place));
  if (chain.sharding() || !std::ranges::is_sorted(chain.permutation()))
    return unsupported(begin + "'sharding_indexed' and 'transpose' inside are not supported").in_member(place);
  if (context.remarks != nullptr)
    context.remarks->insert(context.remarks->end(), chain.remarks().begin(), chain.remarks().end());
  return chain;
}

}  // namespace sherd
