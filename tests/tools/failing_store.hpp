// A store that begins to fail: at the n-th commit, or when an object is read or written.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "store/forwarding.hpp"

namespace sherd::tools_testing {

class FailingStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  std::atomic<int> commits_left{1 << 30};  ///< then every commit is an error
  std::string unreadable;                  ///< the key whose reads are errors
  std::string unwritable;                  ///< the key whose commits are errors

  Result<std::shared_ptr<ByteSource>> open(const std::string& key) override {
    auto source = store_->open(key);
    if (source && *source && key == unreadable) return std::make_shared<Source>(*std::move(source));
    return source;
  }
  Result<std::unique_ptr<ObjectWriter>> write(const std::string& key, std::uint64_t size_hint) override {
    auto writer = store_->write(key, size_hint);
    if (!writer) return writer;
    return std::make_unique<Writer>(*std::move(writer), *this, key);
  }
  Result<std::unique_ptr<ObjectWriter>> amend(const std::string& key) override {
    auto writer = store_->amend(key);
    if (!writer) return writer;
    return std::make_unique<Writer>(*std::move(writer), *this, key);
  }

 private:
  class Source final : public ByteSource {
   public:
    explicit Source(std::shared_ptr<ByteSource> source) : source_(std::move(source)) {}
    [[nodiscard]] const std::string& name() const noexcept override { return source_->name(); }
    Result<std::uint64_t> size() override { return source_->size(); }
    Result<Generation> generation() override { return source_->generation(); }
    Result<void> read(std::span<const RangeRead>) override {
      return io_error("the disk is broken");
    }

   private:
    std::shared_ptr<ByteSource> source_;
  };
  class Writer final : public ObjectWriter {
   public:
    Writer(std::unique_ptr<ObjectWriter> writer, FailingStore& store, std::string key)
        : writer_(std::move(writer)), store_(store), key_(std::move(key)) {}
    Result<void> write(std::uint64_t offset, std::span<const std::byte> bytes) override {
      return writer_->write(offset, bytes);
    }
    Result<void> copy(ByteSource& from, std::uint64_t from_offset, std::uint64_t length,
                      std::uint64_t to_offset) override {
      return writer_->copy(from, from_offset, length, to_offset);
    }
    Result<void> commit(const Condition& condition) override {
      if (key_ == store_.unwritable || store_.commits_left-- <= 0) return io_error("no space left on device");
      return writer_->commit(condition);
    }

   private:
    std::unique_ptr<ObjectWriter> writer_;
    FailingStore& store_;
    std::string key_;
  };
};

}  // namespace sherd::tools_testing
