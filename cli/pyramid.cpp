// Parses --pyramid and --factors.
#include "cli/pyramid.hpp"

#include "base/try.hpp"
#include "cli/parser.hpp"
#include "cli/values.hpp"

namespace sherd::cli {
namespace {

Result<Pyramid> parse_pyramid(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string method = text.substr(0, colon);
  if (method != "mean" && method != "mode")
    return invalid_argument("--pyramid: '" + method + "' is neither mean (of images) nor mode (of labels)");
  Pyramid pyramid{.method = method == "mean" ? Pyramid::Method::mean : Pyramid::Method::mode};
  if (colon == text.npos) return pyramid;
  const auto levels = parse_shape(text.substr(colon + 1));
  if (!levels || levels->size() != 1)
    return invalid_argument("--pyramid: '" + text + "': a number of levels follows the colon, as in " + method + ":3");
  pyramid.levels = levels->front();
  return pyramid;
}

/// "1,2,2" or "z=1,y=2,x=2"; "auto" means no factors.
Result<std::vector<Pyramid::Factor>> parse_factors(const std::string& text) {
  std::vector<Pyramid::Factor> factors;
  if (text == "auto") return factors;
  for (const auto& name : parse_names(text)) {
    const std::string word = name.value_or("");
    const std::size_t equals = word.find('=');
    const std::size_t begin = equals == word.npos ? 0 : equals + 1;
    const auto number = parse_shape(word.substr(begin));
    if (!number || number->size() != 1 || equals == 0)
      return invalid_argument("'" + word + "' is not a factor; write 1,2,2 or z=1,y=2,x=2, or auto");
    factors.push_back({begin == 0 ? "" : word.substr(0, equals), number->front()});
  }
  return factors;
}

}  // namespace

void PyramidOptions::add_to(Arguments& arguments) {
  arguments.text("--pyramid", "mean|mode[:LEVELS]", pyramid,
                 "Also compute coarser resolutions: the mean for images, the mode for labels; LEVELS of them, or "
                 "until one chunk holds the image");
  arguments.text("--factors", "1,2,2|auto", factors,
                 "--pyramid: how much coarser each level is: a factor for each of x, y and z in the order of the axes, "
                 "or by name as in z=1,y=2,x=2, also for t and c; default: auto, which halves the axes whose spacing "
                 "is less than twice the finest");
  arguments.flag("--ignore-zero", ignore_zero, "--pyramid mode: use 0 only if there is no other value");
}

Result<std::optional<Pyramid>> PyramidOptions::get() const {
  if (ignore_zero && !pyramid) return invalid_argument("--ignore-zero can only be used with --pyramid mode");
  if (factors && !pyramid) return invalid_argument("--factors can only be used with --pyramid");
  if (!pyramid) return std::optional<Pyramid>();
  SHERD_TRY(wanted, parse_pyramid(*pyramid));
  wanted.ignore_zero = ignore_zero;
  if (factors) {
    SHERD_TRY(parsed, parse_factors(*factors).in([] { return "--factors"; }));
    wanted.factors = std::move(parsed);
  }
  return std::optional(std::move(wanted));
}

}  // namespace sherd::cli
