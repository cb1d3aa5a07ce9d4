// Any text is either rejected as CDL or makes a dataset. Printing that as CDL and parsing it makes the same dataset.
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include "fuzz/nodes.hpp"
#include "sherd/netcdf.hpp"
#include "sherd/netcdf_cdl.hpp"

namespace {

using namespace sherd;

constexpr std::size_t kLongest = std::size_t{1} << 18U;  ///< of a text that is printed

/// Whether all of it can be written quickly: few variables, and few elements for texts as fill values.
bool is_small(std::string_view text) { return text.size() < 4096; }

std::optional<std::string> printed(const netcdf::Cdl& cdl, const Config& config) {
  const auto store = memory_store();
  auto writer = netcdf::Writer::create(store, {.consolidated = false, .config = config});
  if (!writer) std::abort();  // the store is empty
  if (const auto written = cdl.write(*writer); !written) {
    (void)written.error().text();
    if (!writer->discard()) std::abort();
    return std::nullopt;
  }
  const auto dataset = netcdf::Dataset::open(store, {.config = config});
  if (!dataset) std::abort();
  std::string text;
  const auto collect = [&](std::string_view part) -> Result<void> {
    text += part;
    return text.size() > kLongest ? Result<void>(unavailable("enough")) : Result<void>();
  };
  netcdf::DumpOptions options;
  options.name = "x";
  options.float_digits = 9;
  options.double_digits = 17;
  if (!netcdf::dump(*dataset, options, collect)) return std::nullopt;
  return text;
}

/// ncdump splits a text at newlines, and prints numbers in the way that an attribute requests.
bool is_ambiguous(const std::string& text) {
  return text.find("\\n\",") != text.npos || text.find("C_format") != text.npos;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Config config = fuzz::small_config();
  // A text used as a fill value is written to all elements.
  config.limits.dimensions = 4;
  const auto cdl = netcdf::Cdl::parse(text, {.limits = config.limits});
  if (!cdl) {
    (void)cdl.error().text();
    return 0;
  }
  if (!is_small(text) || text.find("_FillValue") != text.npos) return 0;
  const auto first = printed(*cdl, config);
  if (!first || is_ambiguous(*first)) return 0;
  const auto again = netcdf::Cdl::parse(*first, {.limits = config.limits});
  if (!again) std::abort();
  const auto second = printed(*again, config);
  if (!second || *second != *first) std::abort();
  return 0;
}
