// Files of skeletons and meshes, and the collection of a URL.
#include "copy/object_files.hpp"
#include "api/location.hpp"
#include "base/call.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "io/files.hpp"

namespace sherd {

Result<ObjectFileReport> import_object(const std::string& file, std::string_view url,
                                       const ObjectFileOptions& options) {
  return as_call(options.config, [&]() -> Result<ObjectFileReport> {
    SHERD_TRY(path, path_to_import(file));
    SHERD_TRY(store, open_store(url, options.config));
    SHERD_TRY(location, collection_location(store, "", true, options.config));
    SHERD_TRY(report, import_object_at(path, std::move(location), options));
    SHERD_TRY(in_store(store->finish(), store->url()));
    return report;
  });
}

Result<ObjectFileReport> export_object(std::string_view url, const std::string& file,
                                       const ObjectFileOptions& options) {
  return as_call(options.config, [&]() -> Result<ObjectFileReport> {
    SHERD_TRY(path, path_to_export(file));
    SHERD_TRY(store, open_store(url, options.config));
    SHERD_TRY(location, collection_location(std::move(store), "", false, options.config));
    return export_object_from(std::move(location), path, options);
  });
}

}  // namespace sherd
