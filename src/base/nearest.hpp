// Suggestions for misspelt names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sherd {

/// The name in `known` that `word` most likely misspells; empty if none is close. Swapping two letters counts as one
/// edit; case is ignored. A prefix of four letters or more matches a name if no other name begins with it.
[[nodiscard]] std::string_view nearest_name(std::string_view word, const std::vector<std::string_view>& known);
/// "; did you mean 'encoding'?", or empty if no name is close.
[[nodiscard]] std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace sherd
