// sherd picture: draws a plane of an array as a PNG or JPEG file.
#include <charconv>

#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/options.hpp"
#include "cli/scratch_file.hpp"
#include "image/picture_plane.hpp"
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
  return invalid_argument("--range: '" + text + "' is not a range; write it as 0,255");
}

// "t=3,c=1".
Result<std::vector<std::pair<AxisId, AxisIndex>>> parse_at(const std::vector<std::string>& given) {
  std::vector<std::pair<AxisId, AxisIndex>> at;
  for (const std::string& each : given) {
    for (std::string_view rest = each; !rest.empty();) {
      const std::string_view one = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(rest.size(), one.size() + 1));
      const auto equals = one.find('=');
      if (equals == 0 || equals == one.npos)
        return invalid_argument("--at: '" + each + "' is not a list of indices; write it as t=3,c=1");
      at.emplace_back(std::string(one.substr(0, equals)), std::string(one.substr(equals + 1)));
    }
  }
  return at;
}

struct Picture {
  std::string url, file;
  std::string axis;
  std::optional<std::string> index, range;
  std::vector<std::string> at;
  LevelChoice level;
  std::optional<std::uint64_t> width;

  [[nodiscard]] Result<PictureOptions> options() const {
    PictureOptions options{.axis = axis, .width = width};
    if (index) options.index = *index;
    if (range) {
      SHERD_TRY(pair, parse_range(*range));
      options.range = pair;
    }
    SHERD_TRY(indices, parse_at(at));
    options.at = std::move(indices);
    return options;
  }

  Result<int> run(Session& session) const {
    SHERD_TRY(options, this->options());
    SHERD_TRY(array, session.open_level(url, session.guarded("picture"), level));
    if (file == "-") {
      SHERD_TRY(scratch, ScratchFile::make());
      if (const auto drawn = picture(array, scratch.path(), options); !drawn) return scratch.of_output(drawn.error());
      SHERD_TRY(scratch.give(session.out()));
      return 0;
    }
    SHERD_TRY(plane, draw_picture(array, file, options));
    session.note("drew " + file);
    if (!session.json()) return 0;
    SHERD_TRY(session.out().print(Json(Json::Object{{"url", array.url()},
                                                    {"file", file},
                                                    {"axis", plane.axis ? Json(std::uint64_t{*plane.axis}) : Json()},
                                                    {"index", plane.axis ? Json(plane.index()) : Json()}})));
    return 0;
  }
};

}  // namespace

Run add_picture(Arguments& arguments) {
  auto picture = std::make_shared<Picture>();
  arguments.argument("URL", picture->url, "An array, a volume or an OME-NGFF image; axes of length 1 are not drawn");
  arguments.argument("OUT", picture->file, "The .png, .jpg or .jpeg file to write; - is standard output, as PNG");
  arguments.text("--axis", "NAME|N", picture->axis,
                 "The axis across which the plane is cut: x, y, z, t, c, or its number. Default: z, so that the "
                 "picture shows x and y; without such names the first");
  arguments.text("--index", "N", picture->index,
                 "The position on that axis; a negative number counts from its end. Default: the middle");
  arguments.repeated(
      "--at", "AXIS=N", picture->at,
      "Indices on axes that are not drawn, such as t=3,c=1; a channel also by its name. Default: the middle of z, 0 of "
      "others, and all channels, each in its colour");
  add_level(arguments, picture->level);
  arguments.number(
      "--width", picture->width,
      "Pixels in a row, from 2 to 65535. Default: one per element, or more along the axis with the wider spacing, so "
      "that proportions are those of the object");
  arguments.text("--range", "LO,HI", picture->range,
                 "The values that are black and white. Default: those of the OME-NGFF image's channels, otherwise the "
                 "smallest and largest of the plane. With a range, labels are drawn as numbers");
  arguments.examples(
      {{"sherd picture brain.zarr slice.png --axis z --index 158", "one plane, as dark and bright as it can be"},
       {"sherd picture cells.ome.zarr cells.jpg --level 1 --at t=3 --width 800", "all channels in their colours"},
       {"sherd picture cells.ome.zarr gfp.png --at c=GFP,t=-1", "one channel, by its name, at the last time"},
       {"sherd picture ct.zarr lung.png --axis x --range -1200,200", "a window of values"}});
  return [picture](Session& session) { return picture->run(session); };
}

}  // namespace sherd::cli
