#include "netcdf/lazy_array.hpp"

#include <utility>

#include "array/nodes.hpp"
#include "node/path.hpp"

namespace sherd::netcdf {

LazyArray::LazyArray(Array array) : made_(std::make_unique<Made>()) { made_->array = std::move(array); }

LazyArray::LazyArray(std::shared_ptr<const NodeLocation> location, std::string path, Json document,
                     std::vector<DocumentVersion> versions)
    : made_(std::make_unique<Made>()) {
  made_->location = std::move(location);
  made_->path = std::move(path);
  made_->document = std::move(document);
  made_->versions = std::move(versions);
}

const Array& LazyArray::operator*() const {
  std::call_once(made_->once, [this] {
    if (made_->array) return;
    NodeLocation location = at_path(*made_->location, made_->path);
    NodeDocument node = location.format->lower(made_->document, location.config.limits).value();
    node.versions = made_->versions;
    made_->array = make_array(std::move(location), std::move(node)).value();
    made_->document = {};
    made_->versions = {};
  });
  return *made_->array;
}

}  // namespace sherd::netcdf
