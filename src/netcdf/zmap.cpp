// netcdf-c's zmap tree over the keys of a store, which have no leading "/". All keys of the tree exist, and some have
// an object; no key with an object is a prefix of another one.
#include "sherd/netcdf_zmap.hpp"

#include <algorithm>

#include "base/try.hpp"
#include "base/utf8.hpp"
#include "node/document.hpp"
#include "store/key.hpp"

namespace sherd::netcdf {

namespace {

/// A key of netcdf-c as a key of the store; empty for the root.
Result<std::string> stored_key(std::string_view key) {
  if (!key.starts_with('/'))
    return invalid_argument("a key must begin with '/': '" + std::string(key.substr(0, 80)) + "'");
  const bool has_control =
      std::ranges::any_of(key, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  if (has_control || !is_utf8(key)) return invalid_argument("a key must be UTF-8 without control characters");
  key.remove_prefix(1);
  if (!key.empty()) SHERD_TRY(check_key(key));
  return std::string(key);
}

Result<bool> has_objects(Store& store, const std::string& prefix) {
  bool found = false;
  SHERD_TRY(store.visit(prefix, ListDepth::all, [&](const ListEntry& entry) -> Result<bool> {
    found = !entry.is_prefix;
    return !found;
  }));
  return found;
}

Result<std::shared_ptr<ByteSource>> object_at(Store& store, const std::string& key) {
  if (key.empty()) return std::shared_ptr<ByteSource>();
  auto source = store.open(key);
  // For example a directory, which is not an object.
  if (!source && is_stored_fault(source.error())) return std::shared_ptr<ByteSource>();
  return source;
}

}  // namespace

std::string_view to_string(ZmapStatus status) noexcept {
  switch (status) {
    case ZmapStatus::found:
      return "NC_NOERR";
    case ZmapStatus::empty:
      return "NC_EEMPTY";
    case ZmapStatus::object:
      return "NC_EOBJECT";
    case ZmapStatus::no_object:
      return "NC_ENOOBJECT";
  }
  return "";
}

Result<Zmap::Object> Zmap::look(std::string_view key) const {
  SHERD_TRY(stored, stored_key(key));
  SHERD_TRY(source, object_at(*store_, stored));
  if (source != nullptr) {
    SHERD_TRY(size, source->size());
    return Object{ZmapStatus::found, size};
  }
  SHERD_TRY(below, has_objects(*store_, prefix_of(stored)));
  return Object{below ? ZmapStatus::empty : ZmapStatus::no_object};
}

Result<ZmapStatus> Zmap::read(std::string_view key, std::uint64_t start, std::span<std::byte> to) const {
  SHERD_TRY(stored, stored_key(key));
  SHERD_TRY(source, object_at(*store_, stored));
  if (source == nullptr) {
    SHERD_TRY(object, look(key));
    return object.status;
  }
  SHERD_TRY(size, source->size());
  if (start > size || to.size() > size - start)
    return invalid_argument("the object has " + std::to_string(size) + " bytes, and the range ends beyond it")
        .in_key(stored);
  if (to.empty()) return ZmapStatus::found;
  const RangeRead range{start, to};
  SHERD_TRY(source->read({&range, 1}));
  return ZmapStatus::found;
}

Result<ZmapStatus> Zmap::write(std::string_view key, std::span<const std::byte> bytes, bool replace) {
  SHERD_TRY(stored, stored_key(key));
  if (stored.empty()) return invalid_argument("the key '/' is the dataset, and has no object");
  SHERD_TRY(check_key_length(*store_, stored));
  for (std::size_t end = stored.find('/'); end != stored.npos; end = stored.find('/', end + 1)) {
    SHERD_TRY(above, object_at(*store_, stored.substr(0, end)));
    if (above != nullptr) return ZmapStatus::object;
  }
  SHERD_TRY(below, has_objects(*store_, prefix_of(stored)));
  if (below) return ZmapStatus::object;
  const auto written = store_->set(stored, bytes, replace ? Condition() : Condition::absent());
  if (!written && !replace && written.error().code() == ErrorCode::conflict) return ZmapStatus::object;
  SHERD_TRY(written);
  return ZmapStatus::found;
}

Result<std::vector<std::string>> Zmap::search(std::string_view prefix) const {
  SHERD_TRY(stored, stored_key(prefix));
  const std::string below = prefix_of(stored);
  std::vector<std::string> names, directories;
  SHERD_TRY(store_->visit(below, ListDepth::children, [&](const ListEntry& entry) -> Result<bool> {
    if (!is_ours(entry.name)) (entry.is_prefix ? directories : names).emplace_back(entry.name);
    return true;
  }));
  for (std::string& name : directories) {
    SHERD_TRY(is_key, has_objects(*store_, below + name + "/"));  // an empty directory is not a key
    if (is_key) names.push_back(std::move(name));
  }
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  return names;
}

Result<void> Zmap::walk(std::string_view key,
                        const std::function<bool(const std::string& key, std::uint64_t size)>& visit) const {
  SHERD_TRY(stored, stored_key(key));
  SHERD_TRY(source, object_at(*store_, stored));
  if (source != nullptr) {
    SHERD_TRY(size, source->size());
    visit("/" + stored, size);
    return {};
  }
  SHERD_TRY(store_->list(prefix_of(stored), [&](const std::string& each, std::uint64_t size) {
    return each.starts_with(kScratchPrefix) || has_ours_below(each) || visit("/" + each, size);
  }));
  return {};
}

}  // namespace sherd::netcdf
