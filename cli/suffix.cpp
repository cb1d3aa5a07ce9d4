#include "cli/suffix.hpp"

#include <algorithm>
#include <array>

#include "cli/values.hpp"
#include "cli/volume.hpp"
#include "io/files.hpp"

namespace sherd::cli {

void warn_of_suffix(Session& session, std::string_view url, std::string_view format) {
  constexpr std::array<std::string_view, 1> kZarr{".zarr"};
  constexpr std::array<std::string_view, 3> kOthers{".h5", ".hdf5", ".n5"};
  const std::string name = last_component(url);
  const auto is_file = [&](const FileFormat* file) { return has_suffix(name, file->suffixes); };
  std::string advice;
  if (format == kVolumeFormat && has_suffix(name, kZarr))
    advice = "choose a name without it, or the format zarr3 for a Zarr array";
  else if (std::ranges::any_of(file_formats(), is_file))
    advice = "'sherd export' writes such a file";
  else if (has_suffix(name, kOthers))
    advice = "choose a name without it";
  else
    return;
  session.note("warning: " + std::string(url) + " is a directory of the format " + std::string(format) +
               ", although its suffix is another format's; " + advice);
}

}  // namespace sherd::cli
