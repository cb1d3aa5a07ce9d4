// Builds shards of values by id for sherd.neuroglancer, from the items of any iterable, one batch at a time. The
// interpreter is needed only to produce the next batch, not while values are encoded.
#include "sherd/sharded_build.hpp"

#include <algorithm>
#include <deque>

#include "base/size.hpp"
#include "python/bindings.hpp"
#include "python/columns.hpp"
#include "python/config.hpp"
#include "python/json.hpp"
#include "python/node.hpp"
#include "python/numpy.hpp"
#include "python/precomputed.hpp"

namespace sherd::python {
namespace {

using namespace neuroglancer;

constexpr std::size_t kBatchValues = 4096;
constexpr std::uint64_t kMinBatchBytes = std::uint64_t{1} << 20;

/// Python values that a builder refers to, kept alive until it is done with them.
class Batch {
 public:
  Batch(ShardedBuilder& builder, std::uint64_t memory)
      : builder_(builder), max_bytes_(std::max(kMinBatchBytes, memory / 16)) {}

  void add(nb::handle item) {
    constexpr const char* kAsWhat = "an item must be a pair of an id and its bytes, or both and the bytes before them";
    const nb::object given = nb::steal(PySequence_Fast(item.ptr(), kAsWhat));
    if (!given.is_valid()) throw nb::python_error();
    const Py_ssize_t size = PySequence_Fast_GET_SIZE(given.ptr());
    if (size != 2 && size != 3) throw Exception(invalid_argument(std::string(kAsWhat) + ", not " + quoted(item)));
    PyObject** const parts = PySequence_Fast_ITEMS(given.ptr());
    ShardedBuilder::Value value{.id = id_from(parts[0]), .bytes = views_.emplace_back(nb::handle(parts[1])).bytes()};
    if (size == 3) value.preceding = views_.emplace_back(nb::handle(parts[2])).bytes();
    values_.push_back(value);
    bytes_ += value.bytes.size() + value.preceding.size();
    if (values_.size() >= kBatchValues || bytes_ >= max_bytes_) flush();
  }

  void flush() {
    call([&] { return builder_.add(values_); });
    values_.clear();
    views_.clear();
    bytes_ = 0;
  }

 private:
  ShardedBuilder& builder_;
  const std::uint64_t max_bytes_;
  std::deque<BytesView> views_;
  std::vector<ShardedBuilder::Value> values_;
  std::uint64_t bytes_ = 0;
};

/// `options`: overwrite, temporary and config.
nb::dict build_shards(nb::handle location, nb::handle sharding, nb::handle items, const nb::dict& options) {
  BuildOptions build{.overwrite = nb::cast<bool>(options["overwrite"]),
                     .temporary = nb::cast<std::string>(options["temporary"]),
                     .config = config_from(options["config"])};
  const std::uint64_t memory = build.config.memory_budget;
  const std::shared_ptr<Store> store = store_from(location, build.config);
  const Json parameters = json_from(sharding);
  ShardedBuilder builder = call(*store, [&] { return ShardedBuilder::create(store, parameters, std::move(build)); });
  Batch batch(builder, memory);
  for (const nb::handle item : items) batch.add(item);
  batch.flush();
  const BuildReport report = call(*store, [&] { return builder.finish(); });
  nb::dict counts;
  counts["ids"] = report.ids;
  counts["shards"] = report.shards;
  counts["bytes"] = report.bytes;
  return counts;
}

}  // namespace

void bind_sharded_build(nb::module_& module) {
  module.attr("TARGET_SHARD_BYTES") = kTargetShardBytes;
  module.def("build_shards", build_shards, nb::arg("store"), nb::arg("sharding"), nb::arg("items"), nb::arg("options"),
             nb::sig("def build_shards(store: object, sharding: object, items: object, options: dict[str, typing.Any]) "
                     "-> dict[str, int]"),
             "Builds the shards of a store.");
  module.def(
      "parse_size", [](const std::string& text) { return parse_size(text).value(); }, nb::arg("text"),
      "\"64MiB\" as bytes.");
  module.def(
      "choose_sharding",
      [](nb::handle shape, nb::handle chunk_shape, nb::handle dtype, const nb::tuple& options) {
        const VolumeToShard volume{shape_from(shape, "shape"), shape_from(chunk_shape, "chunk_shape"),
                                   dtype_from(dtype), nb::cast<std::string>(options[0]),
                                   nb::cast<std::uint64_t>(options[1])};
        return json_to(choose_sharding(volume).value());
      },
      nb::arg("shape"), nb::arg("chunk_shape"), nb::arg("dtype"), nb::arg("options"),
      nb::sig("def choose_sharding(shape: typing.Sequence[int], chunk_shape: typing.Sequence[int], dtype: object, "
              "options: tuple[str, int]) -> dict[str, typing.Any]"),
      "The parameters for a volume.");
  module.def(
      "choose_sharding_for_values",
      [](std::uint64_t count, std::uint64_t mean_bytes, std::uint64_t target_shard_bytes) {
        return json_to(choose_sharding(ValuesToShard{count, mean_bytes, target_shard_bytes}).value());
      },
      nb::arg("count"), nb::arg("mean_bytes"), nb::arg("target_shard_bytes"),
      nb::sig("def choose_sharding_for_values(count: int, mean_bytes: int, target_shard_bytes: int) "
              "-> dict[str, typing.Any]"),
      "The parameters for values under ids without an order.");
}

}  // namespace sherd::python
