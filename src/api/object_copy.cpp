// Copies of all objects, between two stores or the stores of two names.
#include "sherd/object_copy.hpp"

#include "api/location.hpp"
#include "api/open_hints.hpp"
#include "api/registry.hpp"
#include "api/whole.hpp"
#include "base/call.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "copy/objects.hpp"

namespace sherd {

Result<ObjectCopyReport> copy_objects(std::shared_ptr<Store> source, std::shared_ptr<Store> destination,
                                      const ObjectCopyOptions& options) {
  return as_call(options.config, [&]() -> Result<ObjectCopyReport> {
    const bool one_store = source == destination;
    if (destination->read_only()) return invalid_argument("the store " + destination->url() + " is read-only");
    SHERD_TRY(from, make_location(std::move(source), "", options.config));
    SHERD_TRY(to, make_location(std::move(destination), "", options.config));
    SHERD_TRY(check_apart(from, to, one_store));
    return copy_all_objects(from, to, options);
  });
}

Result<ObjectCopyReport> copy_objects(std::string_view source, std::string_view destination,
                                      const ObjectCopyOptions& options) {
  return as_call(options.config, [&]() -> Result<ObjectCopyReport> {
    SHERD_TRY(there, parse_url(source));
    SHERD_TRY(here, parse_url(destination));
    SHERD_TRY(from, open_store(there, config_beside(there, here, options.config)));
    SHERD_TRY(to, open_store(here, config_beside(here, there, options.config)));
    begin_whole(*to);
    SHERD_TRY(report, copy_objects(from, to, options));
    if (report.objects == 0 && report.skipped == 0) {
      if (auto missing = missing_store(from)) return *std::move(missing);
      return not_found("no objects at " + from->url());
    }
    SHERD_TRY(finish_whole(to));
    return report;
  });
}

}  // namespace sherd
