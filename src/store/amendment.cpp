// Amending in a store that cannot change objects: writes a new version, copying the unchanged bytes.
#include "store/amendment.hpp"

#include <algorithm>
#include <cstring>

#include "base/checked.hpp"
#include "base/try.hpp"
#include "store/reply.hpp"

namespace sherd {
namespace {

Result<void> write_copy(const Amendment& amendment, ByteSource& old, ObjectWriter& to) {
  std::uint64_t at = 0;
  for (const auto& [offset, bytes] : amendment.overwrites) {
    SHERD_TRY(to.copy(old, at, offset - at, at));
    SHERD_TRY(to.write(offset, bytes));
    at = offset + bytes.size();
  }
  SHERD_TRY(to.copy(old, at, amendment.size - at, at));
  at = appended_at(amendment);
  for (const auto& bytes : amendment.appended) {
    SHERD_TRY(to.write(at, bytes));
    at += bytes.size();
  }
  return {};
}

}  // namespace

Result<void> check_amendment(const Amendment& amendment) {
  if (amendment.of.token.empty())
    return unsupported("this store does not identify versions, so an object can only be replaced as a whole");
  std::uint64_t end = 0;
  for (const auto& [offset, bytes] : amendment.overwrites) {
    SHERD_TRY(check_range(offset, bytes.size(), amendment.size));
    if (offset < end) return invalid_argument("overwrites overlap, or are not in order");
    end = offset + bytes.size();
  }
  return {};
}

std::uint64_t appended_at(const Amendment& amendment) noexcept {
  return amendment.alignment == 0 ? amendment.size
                                  : ceil_div(amendment.size, amendment.alignment) * amendment.alignment;
}

Result<void> AmendmentWriter::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  if (bytes.empty()) return {};
  // An overwritten chunk at the end of the object and the one appended after it are written together.
  const auto inside = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), size_ - std::min(offset, size_)));
  SHERD_TRY(keep(offset, bytes.first(inside)));
  return keep(offset + inside, bytes.subspan(inside));
}

Result<void> AmendmentWriter::keep(std::uint64_t offset, std::span<const std::byte> bytes) {
  if (bytes.empty()) return {};
  Buffer piece;
  SHERD_TRY(piece.grow(bytes.size()));
  std::memcpy(piece.data(), bytes.data(), bytes.size());
  const std::lock_guard guard(mutex_);
  pieces_.insert_or_assign(offset, std::move(piece));
  return {};
}

Result<void> AmendmentWriter::commit(const Condition&) {
  return invalid_argument("an amendment is applied by Store::amend()");
}

Result<Amendment> AmendmentWriter::amendment() const {
  Amendment amendment{.of = of_, .size = size_, .alignment = alignment_};
  std::uint64_t end = appended_at(amendment);
  for (const auto& [offset, bytes] : pieces_) {
    if (offset < size_) {
      amendment.overwrites.push_back({offset, bytes.span()});
      continue;
    }
    if (offset != end) return invalid_argument("an amendment has a gap at byte " + std::to_string(end));
    amendment.appended.emplace_back(bytes.span());
    end += bytes.size();
  }
  if (alignment_ != 0 && end % alignment_ != 0)
    return invalid_argument("an amendment ends at byte " + std::to_string(end) + ", which is not aligned");
  return amendment;
}

Result<Generation> Store::amend(const std::string& key, const Amendment& amendment) {
  SHERD_TRY(check_amendment(amendment).in_key(key));
  std::uint64_t size = appended_at(amendment);
  for (const auto& bytes : amendment.appended) size += bytes.size();
  SHERD_TRY(writer, write(key, {.size = size, .is_conditional = true}));
  SHERD_TRY(source, open(key));
  if (!source) return conflict("another writer has erased the object").in_key(key);
  SHERD_TRY(generation, source->generation());
  if (generation != amendment.of) return conflict("another writer has changed the object").in_key(key);
  SHERD_TRY(write_copy(amendment, *source, *writer));
  SHERD_TRY(writer->commit(Condition::matches(amendment.of)));
  return writer->committed();
}

}  // namespace sherd
