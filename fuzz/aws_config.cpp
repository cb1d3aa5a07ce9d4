// Any text as ~/.aws/config and as ~/.aws/credentials is rejected or read; names are in lower case and without spaces
// at their ends. Reading it twice has the same result.
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "base/text.hpp"
#include "remote/aws_config.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sherd;
  using namespace sherd::remote;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const AwsFile kind : {AwsFile::config, AwsFile::credentials}) {
    AwsConfig config;
    const auto parsed = parse_aws_file(text, kind, config);
    if (!parsed) {
      const ErrorCode code = parsed.error().code();
      if (code != ErrorCode::corrupt && code != ErrorCode::unsupported) std::abort();
      continue;
    }
    for (const auto& [profile, settings] : config.profiles) {
      for (const auto& [name, value] : settings) {
        if (name.empty() || name != lowered(trimmed(name)) || value != trimmed(value)) std::abort();
        if (config.find(profile, name) == nullptr && !value.empty()) std::abort();
      }
    }
    AwsConfig again = config;
    if (!parse_aws_file(text, kind, again)) std::abort();
    if (!std::ranges::equal(config.profiles, again.profiles) || config.services != again.services) std::abort();
  }
  return 0;
}
