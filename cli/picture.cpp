// sherd picture: a plane of an array as a PNG.
#include <charconv>

#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/options.hpp"
#include "cli/scratch_file.hpp"
#include "sherd/tools.hpp"

namespace sherd::cli {
namespace {

Result<std::pair<double, double>> parse_range(const std::string& text) {
  double low = 0, high = 0;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, low);
  if (first.ec == std::errc{} && first.ptr != end && *first.ptr == ',') {
    const auto second = std::from_chars(first.ptr + 1, end, high);
    if (second.ec == std::errc{} && second.ptr == end) return std::pair(low, high);
  }
  return invalid_argument("--range: '" + text + "' is no range; write it as 0,255");
}

struct Picture {
  std::string url, png;
  std::size_t axis = 0;
  std::optional<std::uint64_t> index;
  std::uint64_t scale = 0;
  std::optional<std::string> range;

  Result<int> run(Session& session) const {
    SHERD_TRY(array, at(url, open_array(url, session.opening(session.guarded("picture"), false, scale))));
    PictureOptions options{.axis = axis};
    const Shape shape = array.shape();
    const bool cut = shape.size() > 2;
    if (index)
      options.index = *index;
    else if (cut && axis < shape.size())
      options.index = shape[axis] / 2;
    if (range) {
      SHERD_TRY(pair, parse_range(*range));
      options.range = pair;
    }
    if (png == "-") {
      SHERD_TRY(file, ScratchFile::make());
      SHERD_TRY(picture(array, file.path(), options));
      SHERD_TRY(file.give(session.out()));
      return 0;
    }
    SHERD_TRY(picture(array, png, options));
    session.note("drew " + png);
    if (session.json())
      SHERD_TRY(session.out().print(Json(Json::Object{{"url", array.url()},
                                                      {"file", png},
                                                      {"axis", cut ? Json(std::uint64_t{axis}) : Json()},
                                                      {"index", cut ? Json(options.index) : Json()}})));
    return 0;
  }
};

}  // namespace

Run add_picture(Arguments& arguments) {
  auto picture = std::make_shared<Picture>();
  arguments.argument("URL", picture->url, "An array of two or more dimensions");
  arguments.argument("OUT", picture->png, "The PNG to write; - is standard output");
  arguments.number("--axis", picture->axis, "The axis across which the plane is cut; 0 where absent");
  arguments.number("--index", picture->index, "Where on that axis; the middle where absent");
  add_scale(arguments, picture->scale);
  arguments.text("--range", "LO,HI", picture->range,
                 "The values that are black and white; the least and the greatest where absent");
  arguments.examples(
      {{"sherd picture brain.zarr slice.png --axis 0 --index 158", "one plane, as dark and bright as it can be"},
       {"sherd picture ct.zarr lung.png --axis 2 --range -1200,200", "a window of values"}});
  return [picture](Session& session) { return picture->run(session); };
}

}  // namespace sherd::cli
