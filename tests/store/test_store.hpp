// The store of tests that look at requests, act between them, or have them fail.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/try.hpp"
#include "store/forwarding.hpp"

namespace sherd {

/// Kinds of requests, combined with `|`.
struct Op {
  enum Kind : unsigned {
    open = 1U << 0U,
    read = 1U << 1U,   ///< of ranges of an open object
    batch = 1U << 2U,  ///< all reads that are asked for at a time (TestStore::in_batches)
    write = 1U << 3U,
    commit = 1U << 4U,
    amend = 1U << 5U,
    lock = 1U << 6U,
    erase = 1U << 7U,
    erase_all = 1U << 8U,
    erase_prefix = 1U << 9U,
    wait = 1U << 10U,
    move_at_once = 1U << 11U,
    move_all = 1U << 12U,
    visit = 1U << 13U,
  };
  static constexpr unsigned commits = commit | amend;
  static constexpr unsigned changes = write | amend | erase | erase_prefix | move_all;
  /// All but reads of open objects, and erase_all(), which erases one object after the other.
  static constexpr unsigned most = ~(unsigned{read} | erase_all);
};

/// A request to a TestStore.
struct Asked {
  Op::Kind op = Op::open;
  std::string key;                          ///< or the prefix
  std::string to = {};                      ///< where it is moved
  std::span<const ReadRequest> batch = {};  ///< not in TestStore::log()
  std::size_t ranges = 0;                   ///< how many are read
  ByteSource* source = nullptr;             ///< that is read
  ObjectWriter* writer = nullptr;           ///< that commits
};

/// Passes everything on to another store, and calls the functions below at the requests of the kinds `of` whose keys
/// are among `keys`. They are set before requests are made, and may make requests.
class TestStore : public ForwardingStore {
 public:
  explicit TestStore(std::shared_ptr<Store> store) : ForwardingStore(std::move(store)), has(store_->traits()) {}

  StoreTraits has;
  unsigned of = Op::most;
  std::function<bool(const std::string& key)> keys;
  std::function<void(const Asked&)> before, after;
  std::function<Result<void>(const Asked&)> refuse;  ///< after `before`; a failure is the reply
  /// Whether reads are answered in batches of all that the queue has at a time: by the store beneath, or one after the
  /// other if opening is among the kinds.
  bool in_batches = false;

  /// The `number`-th request from now on, counted from 0, of these kinds fails, and all later ones.
  void fail_from(int number, unsigned kinds = Op::commits) {
    refuse = [kinds, left = std::make_shared<std::atomic<int>>(number)](const Asked& asked) -> Result<void> {
      if ((asked.op & kinds) == 0 || (*left)-- > 0) return {};
      return io_error("the disk is gone");
    };
  }
  /// Requests of these kinds for this object fail.
  void fail_at(const std::string& key, unsigned kinds) {
    of |= kinds;
    refuse = [key, kinds](const Asked& asked) -> Result<void> {
      if ((asked.op & kinds) == 0 || asked.key != key) return {};
      return io_error("the disk is broken");
    };
  }
  /// Runs `action` before the `number`-th request from now on, counted from 0.
  void at(int number, std::function<void()> action) {
    has_acted_ = false;
    action_ = std::move(action);
    left_ = number;
  }
  void cancel() { left_ = -1; }
  [[nodiscard]] bool has_acted() const { return has_acted_; }

  /// The keys of requests, in their order.
  [[nodiscard]] std::vector<std::string> log(unsigned kinds = ~0U) const {
    const std::lock_guard hold(mutex_);
    std::vector<std::string> found;
    for (const auto& [op, key] : log_)
      if ((op & kinds) != 0) found.push_back(key);
    return found;
  }
  /// How many requests were made for keys that end so.
  [[nodiscard]] std::size_t count(unsigned kinds = ~0U, std::string_view end = {}) const {
    const auto logged = log(kinds);
    return static_cast<std::size_t>(std::ranges::count_if(logged, [&](const auto& key) { return key.ends_with(end); }));
  }
  void forget() {
    const std::lock_guard hold(mutex_);
    log_.clear();
  }

  [[nodiscard]] StoreTraits traits() const noexcept override { return has; }
  Result<void> read(ReadQueue& queue) override {
    if (!in_batches) return ForwardingStore::read(queue);
    for (std::size_t first = 0;;) {
      std::vector<ReadRequest> batch;
      while (auto request = queue.next(batch.empty())) batch.push_back(*std::move(request));
      if (batch.empty()) return {};
      SHERD_TRY(asked({.op = Op::batch, .key = batch.front().key, .batch = batch}, [&] {
        return read_batch(
            batch, [&](std::size_t i, Result<ReadReply> reply) { return queue.reply(first + i, std::move(reply)); });
      }));
      first += batch.size();
    }
  }
  Result<std::unique_ptr<ObjectWriter>> write(const std::string& key, const WriteHints& hints) override {
    return asked({Op::write, key}, [&]() -> Result<std::unique_ptr<ObjectWriter>> {
      SHERD_TRY(writer, store_->write(key, hints));
      if ((of & Op::commit) == 0) return writer;
      return std::make_unique<Writer>(std::move(writer), key, *this);
    });
  }
  Result<Generation> amend(const std::string& key, const Amendment& amendment) override {
    return asked({Op::amend, key}, [&] { return store_->amend(key, amendment); });
  }
  Result<std::unique_ptr<StoreLock>> lock(const std::string& key) override {
    return asked({Op::lock, key}, [&]() -> Result<std::unique_ptr<StoreLock>> {
      if (store_->traits().locks && !has.locks) return std::make_unique<StoreLock>();
      return store_->lock(key);
    });
  }
  Result<Erased> erase(const std::string& key, const Condition& condition) override {
    return asked({Op::erase, key}, [&] { return store_->erase(key, condition); });
  }
  Result<void> erase_all(std::span<const std::string> objects) override {
    if ((of & Op::erase_all) == 0 || objects.empty()) return Store::erase_all(objects);
    return asked({Op::erase_all, objects.front()}, [&] { return store_->erase_all(objects); });
  }
  Result<void> erase_prefix(const std::string& prefix) override {
    return asked({Op::erase_prefix, prefix}, [&] { return store_->erase_prefix(prefix); });
  }
  Result<void> wait_for_writers(const std::string& prefix) override {
    return asked({Op::wait, prefix}, [&] { return store_->wait_for_writers(prefix); });
  }
  Result<bool> move_at_once(const std::string& from, const std::string& to) override {
    return asked({Op::move_at_once, from, to}, [&] { return ForwardingStore::move_at_once(from, to); });
  }
  Result<void> move_all(const std::string& from, const std::string& to) override {
    return asked({Op::move_all, from, to}, [&] { return ForwardingStore::move_all(from, to); });
  }
  Result<bool> visit(const std::string& prefix, ListDepth depth, const OnEntry& visit) override {
    return asked({Op::visit, prefix}, [&] { return store_->visit(prefix, depth, visit); });
  }

 protected:
  Result<std::shared_ptr<ByteSource>> find(const std::string& key) override {
    return asked({Op::open, key}, [&]() -> Result<std::shared_ptr<ByteSource>> {
      SHERD_TRY(source, store_->open(key));
      if (source == nullptr || (of & Op::read) == 0) return source;
      return std::make_shared<Source>(std::move(source), *this);
    });
  }
  virtual Result<void> read_batch(std::span<const ReadRequest> batch, const OnReply& reply) {
    if ((of & Op::open) == 0) {
      std::vector<ReadRequest> beneath;
      for (const ReadRequest& request : batch) beneath.push_back(unwrapped<Source>(request));
      return store_->read_all(beneath, [&](std::size_t i, Result<ReadReply> answered) {
        // Of an object that was opened without reading any of it.
        if (answered && answered->source && (of & Op::read) != 0 && !batch[i].of && batch[i].length == 0)
          answered->source = std::make_shared<Source>(std::move(answered->source), *this);
        return reply(i, std::move(answered));
      });
    }
    for (std::size_t i = 0; i < batch.size(); ++i) {
      SHERD_TRY(reply(i, [&]() -> Result<ReadReply> {
        if (batch[i].of) return reply_from(batch[i].of, batch[i]);
        SHERD_TRY(source, find(batch[i].key));
        return reply_from(std::move(source), batch[i]);
      }()));
    }
    return {};
  }

 private:
  class Source final : public ForwardingSource {
   public:
    Source(std::shared_ptr<ByteSource> source, TestStore& store) : ForwardingSource(std::move(source)), store_(store) {}
    Result<void> read(std::span<const RangeRead> ranges) override {
      return store_.asked({.op = Op::read, .key = name(), .ranges = ranges.size(), .source = source_.get()},
                          [&] { return source_->read(ranges); });
    }

   private:
    TestStore& store_;
  };
  class Writer final : public ForwardingWriter {
   public:
    Writer(std::unique_ptr<ObjectWriter> writer, std::string key, TestStore& store)
        : ForwardingWriter(std::move(writer)), key_(std::move(key)), store_(store) {}
    Result<void> commit(const Condition& condition) override {
      return store_.asked({.op = Op::commit, .key = key_, .writer = writer_.get()},
                          [&] { return writer_->commit(condition); });
    }

   private:
    const std::string key_;
    TestStore& store_;
  };

  template <class Act>
  auto asked(const Asked& request, const Act& act) -> decltype(act()) {
    if ((of & request.op) == 0 || (keys && !keys(request.key))) return act();
    {
      const std::lock_guard hold(mutex_);
      log_.emplace_back(request.op, request.key);
    }
    if (left_ >= 0 && left_-- == 0) {
      has_acted_ = true;
      action_();
    }
    if (before) before(request);
    if (refuse) SHERD_TRY(refuse(request));
    auto reply = act();
    if (after) after(request);
    return reply;
  }
  std::function<void()> action_;
  std::atomic<int> left_{-1};
  std::atomic<bool> has_acted_{false};
  mutable std::mutex mutex_;
  std::vector<std::pair<Op::Kind, std::string>> log_;
};

}  // namespace sherd
