// The document of an open array: other processes may change it in the store, and handles confirm that it is still
// theirs.
#include <functional>

#include "array/array_state.hpp"
#include "array/storage.hpp"
#include "base/call.hpp"
#include "base/try.hpp"
#include "node/codec_members.hpp"
#include "node/consolidated.hpp"
#include "node/document.hpp"
#include "store/prefetched.hpp"

namespace sherd {

NodeDocument Array::State::document() const { return of_document(std::identity{}); }

Shape Array::State::shape() const {
  return of_document([](const NodeDocument& node) { return node.array->shape; });
}

Result<void> Array::State::edit(const DocumentEdit& change, Renewal renewal, Before before) {
  return as_call(config(), [&]() -> Result<void> {
    const std::lock_guard in_turn(editing_);
    const auto checked = [&](const NodeDocument& now) -> Result<Json> {
      SHERD_TRY(check_same(now));
      return change(now);
    };
    const std::optional<NodeDocument> seen = before == Before::seen ? std::optional(document()) : std::nullopt;
    auto node = edit_document(location, NodeType::array, checked, seen ? &*seen : nullptr);
    if (!node && node.error().code() == ErrorCode::not_found) return replaced_error("erased");
    if (!node) return std::move(node).error();
    adopt(*std::move(node));
    return renewal == Renewal::now ? renew_consolidated(location) : Result<void>();
  });
}

Result<bool> Array::State::saw_attributes() const {
  std::vector<DocumentVersion> others;
  {
    const std::lock_guard hold(mutex_);
    if (document_.versions.size() < 2) return true;
    others.assign(document_.versions.begin(), document_.versions.end() - 1);
  }
  for (const DocumentVersion& version : others) {
    SHERD_TRY(stored, stored_generation(*location.store, version.key));
    if (!stored || stored->token.empty() || !(*stored == version.generation)) return false;
  }
  return true;
}

Result<Shape> Array::State::confirm(Confirmed what) const {
  // At the beginning of a call the document may have changed, and is read at once.
  std::shared_ptr<Store> documents = location.store;
  if (what == Confirmed::attributes) {
    SHERD_TRY(read, prefetched_store(*location.store, {&document_key, 1}));
    documents = std::move(read);
  }
  SHERD_TRY(seen, stored_generation(*documents, document_key));
  if (!seen) return replaced_error("erased");
  SHERD_TRY(storage->confirm(*this));
  const Result<bool> known = what == Confirmed::attributes ? saw_attributes() : true;
  if (!known.has_value()) return known.error();
  if (*known) {
    const std::lock_guard hold(mutex_);
    if (!seen->token.empty() && *seen == document_.generation()) return document_.array->shape;
  }
  SHERD_TRY(node, present_document(*documents));
  Shape now = node.array->shape;
  adopt(std::move(node));
  return now;
}

Result<void> Array::State::confirm_missing() const {
  const bool is_known = of_document([](const NodeDocument& node) { return !node.generation().token.empty(); });
  const bool is_stored = of_document([](const NodeDocument& node) { return !node.versions.empty(); });
  if (!is_known && (!is_stored || location.store->traits().parallel_requests > 1)) return {};
  SHERD_TRY(now, stored_generation(*location.store, document_key));
  if (!now) return replaced_error("erased");
  {
    const std::lock_guard hold(mutex_);
    if (*now == document_.generation() || *now == read_at_) return {};
  }
  if (!is_known) {
    // Consolidated metadata do not contain the versions of documents, and a data model may read a document differently
    // than its format, but not the grid.
    SHERD_TRY(node, location.format->open(*location.store, location.path, location.config.limits));
    const std::lock_guard hold(mutex_);
    if (!node) return replaced_error("erased");
    if (!node->array || !(node->array->grid == document_.array->grid)) return replaced_error("replaced");
    read_at_ = node->generation();
    return {};
  }
  SHERD_TRY(node, present_document(*location.store));
  const std::lock_guard hold(mutex_);
  read_at_ = node.generation();
  return conflict("the array was changed while it was read").in_key(document_key);
}

Result<NodeDocument> Array::State::present_document(Store& documents) const {
  SHERD_TRY(node, location.format->open(documents, location.path, location.config.limits));
  if (!node) return replaced_error("erased");
  SHERD_TRY(check_same(*node));
  return *std::move(node);
}

void Array::State::adopt(NodeDocument node) const {
  const std::lock_guard hold(mutex_);
  node.array->codecs = document_.array->codecs;  // which may contain more than the document
  document_ = std::move(node);
}

Result<void> Array::State::check_same(const NodeDocument& now) const {
  if (!now.array) return replaced_error("replaced");
  const std::lock_guard hold(mutex_);
  if (now.array->shape.size() == document_.array->shape.size() && now.array->stores_like(*document_.array)) return {};
  return replaced_error("replaced");
}

Error Array::State::replaced_error(std::string_view how) const {
  return conflict("the array was " + std::string(how) + " since it was opened; open it again")
      .lasting()
      .in_key(document_key);
}

Result<void> Array::State::check_access() const {
  const std::lock_guard hold(mutex_);
  if (!document_.array->no_access) return {};
  return Error(*document_.array->no_access).in_key(document_key);
}

Result<void> Array::State::check_change() const {
  SHERD_TRY(check_access());
  const std::lock_guard hold(mutex_);
  if (document_.array->no_change) return Error(*document_.array->no_change).in_key(document_key);
  auto encodes = check_encoders(document_.array->codecs, location.codecs()).in_member("codecs");
  if (encodes) return {};
  return chain_error(*location.format, document_, std::move(encodes).error()).in_key(document_key);
}

}  // namespace sherd
