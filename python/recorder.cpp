// The process's recorder, used by sherd.record().
#include "python/config.hpp"

#include "python/bindings.hpp"

namespace sherd::python {
namespace {

nb::list requests_to(const std::vector<Recorder::Request>& requests) {
  nb::list list;
  for (const Recorder::Request& request : requests) {
    nb::dict entry;
    entry["op"] = request.op.c_str();
    entry["key"] = nb::str(request.key.data(), request.key.size());
    entry["offset"] = request.offset;
    entry["length"] = request.length;
    list.append(entry);
  }
  return list;
}

nb::dict stats_to(const Recorder::Stats& stats) {
  nb::dict counts;
  counts["requests"] = stats.requests;
  counts["chunks_decoded"] = stats.chunks_decoded;
  counts["chunks_encoded"] = stats.chunks_encoded;
  counts["chunks_moved"] = stats.chunks_moved;
  counts["bytes_read"] = stats.bytes_read;
  counts["bytes_written"] = stats.bytes_written;
  counts["retries"] = stats.retries;
  counts["round_trips"] = stats.round_trips;
  return counts;
}

}  // namespace

void bind_recorder(nb::module_& module) {
  module.def("recorder_start", [] { recorder()->start(); }, "Requests are kept from now on; may be nested.");
  module.def(
      "recorder_stop", [] { return requests_to(recorder()->stop()); },
      nb::sig("def recorder_stop() -> list[dict[str, typing.Any]]"),
      "The requests since the start that belongs to this stop.");
  module.def(
      "recorder_stats", [] { return stats_to(recorder()->stats()); }, nb::sig("def recorder_stats() -> dict[str, int]"),
      "Counts since the process began.");
}

}  // namespace sherd::python
