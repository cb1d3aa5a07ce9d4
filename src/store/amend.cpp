// Amending in a store that cannot change objects: writes a new version, copying the unchanged bytes. Overwrites wait
// for the commit, so that no byte is written twice: stores that upload cannot undo a write.
#include <map>
#include <mutex>
#include <vector>

#include "base/checked.hpp"
#include "base/try.hpp"
#include "sherd/store.hpp"

namespace sherd {
namespace {

class CopyingAmender final : public ObjectWriter {
 public:
  CopyingAmender(std::unique_ptr<ObjectWriter> writer, std::shared_ptr<ByteSource> old, Generation of,
                 std::uint64_t size)
      : writer_(std::move(writer)), old_(std::move(old)), of_(std::move(of)), size_(size) {}

  Result<void> write(std::uint64_t offset, std::span<const std::byte> bytes) override {
    if (offset >= size_) return writer_->write(offset, bytes);
    const auto end = checked_add(offset, bytes.size());
    if (!end || *end > size_) return invalid_argument("a write crosses the object's end").in_key(old_->name());
    const std::lock_guard guard(mutex_);
    overwrites_[offset].assign(bytes.begin(), bytes.end());
    return {};
  }

  Result<void> commit(const Condition& condition) override {
    std::uint64_t at = 0;
    for (const auto& [offset, bytes] : overwrites_) {
      SHERD_TRY(writer_->copy(*old_, at, offset - at, at));
      SHERD_TRY(writer_->write(offset, bytes));
      at = offset + bytes.size();
    }
    SHERD_TRY(writer_->copy(*old_, at, size_ - at, at));
    return writer_->commit(condition.kind == Condition::Kind::always ? Condition::matches(of_) : condition);
  }
  [[nodiscard]] Generation committed() const override { return writer_->committed(); }

 private:
  std::unique_ptr<ObjectWriter> writer_;
  std::shared_ptr<ByteSource> old_;
  const Generation of_;
  const std::uint64_t size_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::vector<std::byte>> overwrites_;
};

}  // namespace

Result<std::unique_ptr<ObjectWriter>> Store::amend(const std::string& key, const Generation& of) {
  SHERD_TRY(writer, write(key));
  SHERD_TRY(source, open(key));
  if (!source) return conflict("another writer has erased the object").in_key(key);
  SHERD_TRY(generation, source->generation());
  if (generation != of) return conflict("another writer has changed the object").in_key(key);
  SHERD_TRY(size, source->size());
  return std::make_unique<CopyingAmender>(std::move(writer), std::move(source), of, size);
}

}  // namespace sherd
