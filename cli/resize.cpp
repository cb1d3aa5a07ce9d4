// sherd resize: changes the shape of an array.
#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/options.hpp"
#include "cli/values.hpp"

namespace sherd::cli {
namespace {

struct Resize {
  std::string url, shape;
  UpdateOptions updating;

  Result<int> run(Session& session) const {
    SHERD_TRY(lengths, parse_shape(shape).in([] { return "SHAPE"; }));
    Config config = session.guarded("resize");
    SHERD_TRY(updating.apply(config));
    SHERD_TRY(array, at(url, open_array(url, session.opening(std::move(config), true))));
    if (lengths.size() != array.ndim())
      return invalid_argument("SHAPE: " + to_string(lengths) + " has " + print_count(lengths.size(), "length") + "; " +
                              url + " has shape " + to_string(array.shape()));
    const Shape before = array.shape();
    SHERD_TRY(at(url, array.resize(lengths)));
    SHERD_TRY(session.finish());
    if (session.json())
      SHERD_TRY(session.out().print(
          Json(Json::Object{{"before", Json::numbers(before)}, {"shape", Json::numbers(lengths)}})));
    session.note("resized from " + to_string(before) + " to " + to_string(lengths));
    return 0;
  }
};

}  // namespace

Run add_resize(Arguments& arguments) {
  auto resize = std::make_shared<Resize>();
  arguments.argument("URL", resize->url, "The array");
  arguments.argument("SHAPE", resize->shape, "The new length of each dimension, such as 512,512");
  resize->updating.add_to(arguments);
  arguments.examples({{"sherd resize movie.zarr 2000,512,512",
                       "new elements have the fill value; elements outside the new shape are erased"}});
  return [resize](Session& session) { return resize->run(session); };
}

}  // namespace sherd::cli
