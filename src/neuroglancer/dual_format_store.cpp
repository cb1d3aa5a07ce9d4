// Creates the second name of each shard whenever it is written, and erases both. All other objects are passed to the
// store below.
#include "base/try.hpp"
#include "neuroglancer/dual_format.hpp"
#include "store/forwarding.hpp"

namespace sherd {
namespace {

class DualFormatStore final : public ForwardingStore {
 public:
  DualFormatStore(std::shared_ptr<Store> store, std::shared_ptr<const CounterpartKeys> keys, ChunkGrid grid,
                  std::string prefix)
      : ForwardingStore(std::move(store)), keys_(std::move(keys)), grid_(std::move(grid)), prefix_(std::move(prefix)) {}

  Result<void> read(ReadQueue& queue) override { return store_->read(queue); }
  Result<std::unique_ptr<ObjectWriter>> write(const std::string& key, const WriteHints& hints) override {
    SHERD_TRY(writer, store_->write(key, hints));
    if (const auto second = second_of(key)) SHERD_TRY(writer->link(*second));
    return writer;
  }
  [[nodiscard]] StoreTraits traits() const noexcept override {
    StoreTraits traits = store_->traits();
    traits.amend = AmendCost::copy;
    return traits;
  }
  // A shard with two names is replaced, not changed in place: readers of the other name could see a partial change.
  Result<Generation> amend(const std::string& key, const Amendment& amendment) override {
    return Store::amend(key, amendment);
  }
  Result<Erased> erase(const std::string& key, const Condition& condition) override;

 private:
  [[nodiscard]] std::optional<std::string> second_of(std::string_view key) const {
    if (!key.starts_with(prefix_)) return std::nullopt;
    const auto cell = grid_.parse_key(key.substr(prefix_.size()));
    return cell ? std::optional(keys_->key(*cell)) : std::nullopt;
  }

  std::shared_ptr<const CounterpartKeys> keys_;
  ChunkGrid grid_;
  std::string prefix_;
};

// The second name first: if this is interrupted, the object still has its first name, from which the next writer
// creates the second one again.
Result<Erased> DualFormatStore::erase(const std::string& key, const Condition& condition) {
  const auto second = second_of(key);
  if (!second) return store_->erase(key, condition);
  SHERD_TRY(lock, store_->lock(key));
  SHERD_TRY(first_object, store_->open(key));
  SHERD_TRY(second_object, store_->open(*second));
  const auto is_first = [&](const Generation& generation) -> Result<bool> {
    if (first_object == nullptr) return false;
    SHERD_TRY(first_generation, first_object->generation());
    return first_generation == generation;
  };
  if (condition.kind == Condition::Kind::matches) {
    SHERD_TRY(holds, is_first(condition.generation));
    if (!holds) return conflict("another writer has changed the object").in_key(key);
  }
  if (second_object != nullptr) {
    SHERD_TRY(generation, second_object->generation());
    SHERD_TRY(is_same, is_first(generation));
    if (!is_same)
      return conflict("is no longer the same object as '" + key + "'; neither was erased").lasting().in_key(*second);
    SHERD_TRY(store_->erase(*second));
  }
  return store_->erase(key, condition);
}

}  // namespace

std::shared_ptr<Store> dual_format_store(std::shared_ptr<Store> store, std::shared_ptr<const CounterpartKeys> keys,
                                         ChunkGrid grid, std::string prefix) {
  return std::make_shared<DualFormatStore>(std::move(store), std::move(keys), std::move(grid), std::move(prefix));
}

}  // namespace sherd
