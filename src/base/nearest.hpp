// Suggestions for misspelt names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sherd {

/// The name in `known` that `word` is most likely a misspelling of, or empty where none is near.
/// A swapped pair of letters counts as one edit; the case of letters does not count. The start of a name, of four
/// letters or more, stands for it if no other name begins with it.
[[nodiscard]] std::string_view nearest_name(std::string_view word, const std::vector<std::string_view>& known);
/// "; did you mean 'encoding'?", or empty where no name is near.
[[nodiscard]] std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace sherd
