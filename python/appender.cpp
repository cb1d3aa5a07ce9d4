// Streams of slices: array.appender().
#include "python/appender.hpp"

#include <nanobind/stl/optional.h>

#include <algorithm>

#include "base/size.hpp"
#include "python/bindings.hpp"

namespace sherd::python {
namespace {

std::uint64_t bytes_from(nb::handle value) {
  if (nb::isinstance<nb::str>(value)) {
    auto bytes = parse_size(text_of(value, "queue_bytes"));
    if (!bytes) throw Exception(std::move(bytes).error().in_member("queue_bytes"));
    return *bytes;
  }
  std::uint64_t bytes = 0;
  if (!nb::try_cast(value, bytes) || bytes == 0)
    throw Exception(invalid_argument("a positive number of bytes or a size such as \"256MiB\", not " + quoted(value))
                        .in_member("queue_bytes"));
  return bytes;
}

Technique technique_from(nb::handle value) {
  const std::string name = nb::cast<std::string>(nb::str(value));
  for (const auto technique : {Technique::whole_shards, Technique::append, Technique::preallocated, Technique::arrival})
    if (name == std::to_string(static_cast<int>(technique))) return technique;
  if (name == "auto") return Technique::automatic;
  throw Exception(invalid_argument("\"auto\" or 1 to 4, not " + quoted(value)).in_member("technique"));
}

nb::dict stats(const BoundAppender& self) {
  const Appender::Stats stats = self.engine().stats();
  nb::dict result;
  result["appended"] = stats.appended;
  result["stored"] = stats.stored;
  result["length"] = stats.length;
  result["queued_bytes"] = stats.queued_bytes;
  result["queue_bytes"] = stats.queue_bytes;
  result["flushes"] = stats.flushes;
  result["waited"] = stats.waited;
  return result;
}

}  // namespace

AppenderOptions appender_options(nb::handle technique, nb::handle queue_bytes, nb::handle threads) {
  AppenderOptions options{.technique = technique_from(technique)};
  if (!queue_bytes.is_none()) options.queue_bytes = bytes_from(queue_bytes);
  if (!threads.is_none() && (!nb::try_cast(threads, options.threads) || options.threads == 0))
    throw Exception(invalid_argument("a positive number of threads, not " + quoted(threads)).in_member("threads"));
  return options;
}

BoundAppender::BoundAppender(const BoundArray& array, const AppenderOptions& options)
    : arrays_{{{}, array}},
      url_(array.array.url()),
      store_(array.array.store()),
      appender_(call(*store_, [&] { return array.array.appender(options); })) {}

BoundAppender::BoundAppender(const Group& group, std::vector<NamedArray> arrays, const AppenderOptions& options)
    : arrays_(std::move(arrays)), url_(group.url()), store_(group.store()) {
  std::vector<AppendedArray> appended;
  for (const NamedArray& each : arrays_) appended.push_back({each.name, each.axis});
  appender_.emplace(call(*store_, [&] { return group.appender(appended, options); }));
}

BoundAppender::~BoundAppender() {
  if (!closed_) {
    PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
    PyErr_Fetch(&type, &value, &trace);
    if (PyErr_WarnFormat(PyExc_ResourceWarning, 1, "unclosed appender of %s; its errors are lost", url_.c_str()) != 0)
      PyErr_WriteUnraisable(nullptr);
    PyErr_Restore(type, value, trace);
  }
  const WithoutGil released;
  appender_.reset();
}

std::vector<Elements> BoundAppender::elements_of(nb::handle slices) const {
  std::vector<Elements> elements;
  if (arrays_.front().name.empty()) {
    elements.emplace_back(arrays_.front().array, slices);
    return elements;
  }
  const auto wrong = [](const std::string& what) { return Exception(invalid_argument(what).in_member("slices")); };
  if (!nb::isinstance<nb::dict>(slices))
    throw wrong("a dict of slices by the names of the arrays, not " + quoted(slices));
  const auto given = nb::borrow<nb::dict>(slices);
  for (const NamedArray& each : arrays_) {
    if (!given.contains(each.name)) throw wrong("slices of '" + each.name + "' are missing");
    elements.emplace_back(each.array, nb::object(given[each.name.c_str()]));
  }
  for (const nb::handle name : given.keys())
    if (std::ranges::none_of(arrays_, [&](const NamedArray& each) { return nb::str(each.name.c_str()).equal(name); }))
      throw wrong(quoted(name) + " is not an array of this appender");
  return elements;
}

void BoundAppender::append(nb::handle slices, std::optional<double> timeout) {
  const std::vector<Elements> elements = elements_of(slices);
  std::vector<ConstAnyView> views;
  for (const Elements& each : elements) views.push_back(constant(each.view()));
  call(*store_, [&] { return appender_->append(views, timeout.value_or(Appender::kForever)); });
}

void BoundAppender::flush() {
  call(*store_, [&] { return appender_->flush(); });
}

void BoundAppender::close() {
  closed_ = true;
  call(*store_, [&] { return appender_->close(); });
}

void bind_appender(nb::module_& module) {
  nb::class_<BoundAppender>(
      module, "Appender",
      "A stream of slices that array.appender() or group.appender() has begun. append() copies them into a queue; a "
      "thread stores rows of whole shards as\n"
      "soon as they are complete, and others at flush() and close(). Elements are durable before the shape shows them, "
      "so other\n"
      "programs can read the array meanwhile, and a killed stream is continued by another appender. While it is open, "
      "others\n"
      "cannot change the array's shape. The first error ends the stream with the last complete flush, and every "
      "further call\n"
      "raises it. A context manager; any number of threads may use it.")
      .def(
          "append", &BoundAppender::append, nb::arg("slices"), nb::arg("timeout") = nb::none(),
          nb::sig("def append(self, slices: typing.Any, timeout: float | None = None) -> None"),
          "Queues one slice (an array without the axis), or several (with the axis, of any length). Of a group: a dict "
          "with the slices of each\n"
          "array by its name, as many of each. Waits while the queue is full;\n"
          "Unavailable after `timeout` seconds (None: waits as long as needed; 0: does not wait). The slices before "
          "were then accepted:\n"
          "the message and `stats` say how many.")
      .def("flush", &BoundAppender::flush,
           "Stores everything that was appended before, and the shape that contains it; the array then has that shape.")
      .def("close", &BoundAppender::close,
           "Stores everything that was appended, and ends the stream. Raises the error that ended it, if any, also if "
           "another call has\n"
           "raised it before. May be called again.")
      .def(
          "estimate_memory", [](const BoundAppender& self) { return self.engine().estimate_memory(); },
          "The most memory in bytes that the appender needs: the queue, encoding, and indexes of shards.")
      .def_prop_ro("stats", stats,
                   "A dict: slices `appended` and `stored`, the stored `length` along the axis, `queued_bytes` of at "
                   "most `queue_bytes`,\n"
                   "`flushes` (how often the shape was stored), `waited` (seconds, for a full queue).",
                   nb::sig("def stats(self) -> dict[str, typing.Any]"))
      .def(
          "__enter__", [](nb::handle self) { return nb::borrow(self); }, nb::sig("def __enter__(self) -> Appender"))
      .def(
          "__exit__", [](BoundAppender& self, const nb::args&) { self.close(); },
          nb::sig("def __exit__(self, *error: object) -> None"))
      .def("__repr__", [](const BoundAppender& self) {
        const Appender::Stats stats = self.engine().stats();
        return "<sherd.Appender of " + self.url() + ", " + std::to_string(stats.stored) + " of " +
               std::to_string(stats.appended) + " slices stored>";
      });
}

}  // namespace sherd::python
