// sherd create: a new array, or a group.
#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/describe.hpp"
#include "cli/options.hpp"
#include "cli/values.hpp"

namespace sherd::cli {
namespace {

struct Create {
  std::string url, dtype;
  std::optional<std::string> shape;
  bool group = false;
  ArrayOptions array;

  [[nodiscard]] Result<Node> make(const CreateOptions& options) const {
    if (group) {
      SHERD_TRY(made, at(url, create_group(url, options.attributes.value_or(Json()), options.overwrite, options.config,
                                           options.format)));
      return Node(std::move(made));
    }
    SHERD_TRY(made, at(url, create_array(url, options)));
    return Node(std::move(made));
  }

  Result<int> run(Session& session) const {
    CreateOptions options{.format = session.format(), .config = session.guarded("create")};
    SHERD_TRY(array.apply(options));
    if (group) {
      if (shape || !dtype.empty() || !array.is_plain())
        return invalid_argument("--group goes with --attributes and --overwrite only");
    } else {
      if (!shape || dtype.empty())
        return invalid_argument("an array needs --shape and --dtype; for a group give --group");
      SHERD_TRY(lengths, parse_shape(*shape).in([] { return "--shape"; }));
      SHERD_TRY(type, parse_dtype_argument(dtype).in([] { return "--dtype"; }));
      options.shape = std::move(lengths);
      options.dtype = std::move(type);
    }
    SHERD_TRY(node, make(options));
    if (session.json()) SHERD_TRY(session.out().print(describe(node)));
    return 0;
  }
};

}  // namespace

Run add_create(Arguments& arguments) {
  auto create = std::make_shared<Create>();
  arguments.argument("URL", create->url, "Where to make it: a path, file://…");
  arguments.text("--shape", "512,512", create->shape, "Length of each dimension");
  arguments.text("--dtype", "NAME|JSON", create->dtype,
                 "Type of the elements: uint16, float32, string …, or JSON as in metadata");
  create->array.add_to(arguments);
  arguments.flag("--group", create->group, "Make a group: only --attributes and --overwrite go with it");
  arguments.examples(
      {{"sherd create a.zarr --shape 512,512,512 --dtype uint16 --chunks 64,64,64 --shards 256,256,256",
        "a sharded array, compressed with zstd"},
       {"sherd create b.zarr --shape 1000 --dtype float32 --fill-value NaN --codec blosc:lz4", "another codec"},
       {"sherd create study.zarr --group --attributes @study.json", "a group with attributes from a file"}});
  return [create](Session& session) { return create->run(session); };
}

}  // namespace sherd::cli
