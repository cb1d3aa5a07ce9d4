// sherd create: creates an array, a group, or a Neuroglancer volume.
#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/describe.hpp"
#include "cli/option_errors.hpp"
#include "cli/options.hpp"
#include "cli/suffix.hpp"
#include "cli/values.hpp"
#include "cli/volume.hpp"

namespace sherd::cli {
namespace {

struct Create {
  std::string url, dtype;
  std::optional<std::string> shape;
  bool group = false;
  ArrayOptions array;
  VolumeOptions volume;

  [[nodiscard]] Result<Node> make_volume(const CreateOptions& options) const {
    if (!array.may_be_volume())
      return invalid_argument(
          "a volume cannot have attributes, dimension names or a fill value, and its chunks are described by "
          "--encoding "
          "and --sharding instead of --codec, --shards and --index-location");
    SHERD_TRY(info, volume.info(options));
    SHERD_TRY(made, at(url, neuroglancer::create_precomputed(
                                url, info, {.overwrite = options.overwrite, .config = options.config})));
    return Node(std::move(made));
  }

  [[nodiscard]] Result<Node> make(const CreateOptions& options) const {
    if (group) {
      SHERD_TRY(made, at(url, create_group(url, options.attributes.value_or(Json()), options.overwrite, options.config,
                                           options.format)));
      return Node(std::move(made));
    }
    if (options.format == kVolumeFormat) return make_volume(options);
    SHERD_TRY(made, at(url, create_array(url, options)));
    return Node(std::move(made));
  }

  Result<int> run(Session& session) const {
    CreateOptions options{.format = session.format(), .config = session.guarded("create")};
    SHERD_TRY(array.apply(options));
    SHERD_TRY(volume.apply(options));
    if (group) {
      if (shape || !dtype.empty() || !array.is_plain() || volume.is_given())
        return invalid_argument("--group can only be used with --attributes and --overwrite");
      if (options.format == kVolumeFormat)
        return invalid_argument(
            "a volume is created with its first scale: use --shape, --dtype and --resolution, not --group");
    } else {
      if (!shape || dtype.empty())
        return invalid_argument("an array needs --shape and --dtype; to create a group, use --group");
      SHERD_TRY(lengths, parse_shape(*shape).in([] { return "--shape"; }));
      SHERD_TRY(type, in_option(parse_dtype_argument(dtype), "--dtype"));
      options.shape = std::move(lengths);
      options.dtype = std::move(type);
    }
    SHERD_TRY(node, make(options));
    warn_of_suffix(session, url, std::visit([](const auto& made) { return made.format(); }, node));
    if (session.json()) SHERD_TRY(session.out().print(describe(node)));
    return 0;
  }
};

}  // namespace

Run add_create(Arguments& arguments) {
  auto create = std::make_shared<Create>();
  arguments.argument("URL", create->url, "Where to create it: a path or a URL");
  arguments.text("--shape", "512,512", create->shape, "Length of each dimension");
  arguments.text("--dtype", "NAME|JSON", create->dtype,
                 "Type of the elements: uint16, float32, string …, or JSON as in metadata");
  create->array.add_to(arguments);
  arguments.flag("--group", create->group, "Create a group; can only be combined with --attributes and --overwrite");
  create->volume.add_to(arguments, "--store-format precomputed, --layout zarr+neuroglancer");
  arguments.examples(
      {{"sherd create a.zarr --shape 512,512,512 --dtype uint16 --chunks 64,64,64 --shards 256,256,256",
        "a sharded array, compressed with zstd"},
       {"sherd create b.zarr --shape 1000 --dtype float32 --fill-value NaN --codec blosc:lz4", "another codec"},
       {"sherd create em --store-format precomputed --shape 1000,900,80 --dtype uint8 --resolution 8,8,40 --sharding "
        "auto",
        "a sharded volume that Neuroglancer shows"},
       {"sherd create em.zarr --layout zarr+neuroglancer --shape 512,512,512 --dtype uint8 --chunks 64,64,64 --shards "
        "256,256,256 --resolution 8,8,40",
        "one set of files that Zarr readers and Neuroglancer open"},
       {"sherd create study.zarr --group --attributes @study.json", "a group with attributes from a file"}});
  return [create](Session& session) { return create->run(session); };
}

}  // namespace sherd::cli
