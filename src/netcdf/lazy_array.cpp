#include "netcdf/lazy_array.hpp"

#include <utility>

#include "array/hierarchy.hpp"

namespace sherd::netcdf {

LazyArray::LazyArray(Array array) : made_(std::make_unique<Made>()) { made_->array = std::move(array); }

LazyArray::LazyArray(std::shared_ptr<const NodeLocation> location, std::string path, NodeDocument document)
    : made_(std::make_unique<Made>()) {
  made_->location = std::move(location);
  made_->path = std::move(path);
  made_->document = std::move(document);
}

const Array& LazyArray::operator*() const {
  std::call_once(made_->once, [this] {
    if (made_->array) return;
    made_->array = make_array(at_path(*made_->location, made_->path), made_->document).value();
    made_->document = {};
  });
  return *made_->array;
}

std::optional<Array> OpenedArrays::find_like(const ArraySpec& spec) {
  const std::lock_guard hold(mutex_);
  for (const auto& each : opened_)
    if (each && each->spec.stores_like(spec)) return each->array;
  return std::nullopt;
}

void OpenedArrays::add(const Array& array, const ArraySpec& spec) {
  Opened opened{spec, array};
  const std::lock_guard hold(mutex_);
  opened_[next_] = std::move(opened);
  next_ = (next_ + 1) % opened_.size();
}

}  // namespace sherd::netcdf
