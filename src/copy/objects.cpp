// Objects are listed twice: all but documents are copied while they are listed, a batch at a time, then the documents,
// so that a reader of the destination finds no array before its chunks. A claim (node/claim.hpp) shows that a copy is
// being made; if the copy fails or is killed, the claim says to whom the objects belong. Memory is the windows of the
// threads and one batch of keys; keys of documents are kept.
#include "copy/objects.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/buffer.hpp"
#include "base/call.hpp"
#include "base/checksum.hpp"
#include "base/pool.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "node/claim.hpp"
#include "node/document_keys.hpp"
#include "store/archive_of.hpp"
#include "store/capabilities.hpp"
#include "store/listing.hpp"
#include "store/prefetched.hpp"
#include "store/probe.hpp"
#include "store/read_into.hpp"
#include "store/with_writers.hpp"

namespace sherd {
namespace {

constexpr std::size_t kBatch = 1024;
/// Of a document, read when it is opened: most are sent again sooner than a server copies them.
constexpr std::uint64_t kDocumentBytes = std::uint64_t{64} << 10;
constexpr std::uint64_t kLeastWindow = std::uint64_t{64} << 10, kMostWindow = std::uint64_t{8} << 20;

/// How long a claim that was confirmed is relied on.
constexpr std::chrono::seconds kConfirmed{1};

/// An object as the list has shown it.
struct ListedObject {
  std::string key;
  std::uint64_t size = 0;
  Generation generation;
};

/// The size of an object, and the checksums of its windows.
struct Contents {
  std::uint64_t size = 0;
  std::vector<std::uint32_t> checksums = {};
  friend bool operator==(const Contents&, const Contents&) = default;
};

class ObjectCopier {
 public:
  ObjectCopier(const NodeLocation& source, const NodeLocation& destination, const ObjectCopyOptions& options)
      : source_(*source.store),
        destination_(*destination.store),
        from_(source),
        to_(destination),
        formats_(source.tables.formats),
        options_(options),
        config_(with_copies(options.config, source_.traits(), destination_.traits())),
        window_(
            std::clamp(options.config.memory_budget / (2 * thread_count(config_.threads)), kLeastWindow, kMostWindow)),
        writers_(options.config.memory_budget / 2) {}

  Result<ObjectCopyReport> copy() {
    SHERD_TRY(total, survey());
    SHERD_TRY(check_replaced());
    const auto lock = lock_node(to_);
    if (!lock && lock.error().code() != ErrorCode::unsupported) return lock.error();  // objects are written as a whole
    auto copied = copy_all(total);
    if (!copied && claim_ && !has_written_) claim_->undo();
    SHERD_TRY(std::move(copied));
    if (claim_)
      SHERD_TRY(in_store(claim_->end_confirmed(), destination_.url()).in([] {
        return "everything is copied, but the claim that a copy is being made remains";
      }));
    return ObjectCopyReport{objects_, bytes_, skipped_};
  }

 private:
  Result<void> copy_all(std::uint64_t total) {
    const std::shared_future<Result<void>> checked = begin_beside([this] { return take_place(); }).share();
    const Config watched = with_progress(config_, done_, total);
    std::vector<ListedObject> batch, documents;
    SHERD_TRY(all, source_.visit("", ListDepth::all, [&](const ListEntry& entry) -> Result<bool> {
      if (entry.name == claim_key_) SHERD_TRY(in_store(refuse_claim(from_, claim_key_), source_.url()));
      if (is_passing(entry.name)) return true;
      (is_document_of(formats_, entry.name) ? documents : batch)
          .push_back({std::string(entry.name), entry.size, {std::string(entry.generation)}});
      if (batch.size() < kBatch) return true;
      SHERD_TRY(checked.get());
      SHERD_TRY(copy_batch(std::exchange(batch, {}), watched));
      return true;
    }));
    SHERD_TRY(checked.get());
    SHERD_TRY(while_claimed([&] { return copy_batch(batch, watched); }));
    first_bytes_ = kDocumentBytes;
    SHERD_TRY(while_claimed([&] { return copy_batch(documents, watched); }));
    (void)all;
    if (options_.config.progress) options_.config.progress({done_, total});
    return {};
  }

  /// Takes the claim, where there are no locks, and checks that there is nothing else.
  Result<void> take_place() {
    std::string note(may_exist() ? "" : ClaimText::kAllObjects);
    const auto existing = options_.resume ? Claim::Existing::is_taken_over : Claim::Existing::is_conflict;
    // The list at the same time: no other process claims, copies and ends within one request.
    auto listed = begin_beside([this] { return check_empty(); });
    SHERD_TRY(claim, in_store(Claim::take_for_objects(to_, std::move(note), existing), destination_.url()));
    claim_ = std::move(claim);
    auto empty = listed.get();
    if (!empty && claim_) std::exchange(claim_, std::nullopt)->undo();
    return empty;
  }

  /// Confirms the claim beside a copy and, if that takes longer than a confirmation can be relied on, after it.
  template <class Copy>
  Result<void> while_claimed(const Copy& copy) const {
    if (!claim_) return copy();
    const auto confirm = [this] { return in_store(claim_->confirm(), destination_.url()); };
    const auto began = std::chrono::steady_clock::now();
    auto confirmed = begin_beside(confirm);
    auto copied = copy();
    const auto is_ours = confirmed.get();
    SHERD_TRY(std::move(copied));
    SHERD_TRY(is_ours);
    return std::chrono::steady_clock::now() - began > kConfirmed ? confirm() : Result<void>();
  }

  /// What is there while processes make something is not copied.
  static bool is_passing(std::string_view key) { return is_probe(key) || is_claim(key); }

  Result<void> check_empty() const {
    if (may_exist()) return {};
    SHERD_TRY(nothing, destination_.visit("", ListDepth::all, [this](const ListEntry& entry) {
      return entry.name == claim_key_ || is_probe(entry.name);
    }));
    if (nothing) return {};
    return conflict("the destination " + destination_.url() +
                    " contains objects; resume the copy, overwrite, or choose another destination");
  }

  /// Chunks and documents that the source does not have would be mixed with those of the copy.
  Result<void> check_replaced() const {
    if (!options_.overwrite) return {};
    std::string other;
    SHERD_TRY(is_replaced, destination_.visit("", ListDepth::all, [&](const ListEntry& entry) {
      if (!is_of_node(entry.name) || std::ranges::binary_search(source_keys_, hash_of(entry.name))) return true;
      other = entry.name;
      return false;
    }));
    if (is_replaced) return {};
    return conflict("the destination " + destination_.url() + " contains '" + other +
                    "', which the source does not have; erase the destination, or choose another one");
  }

  /// Whether this is a document, or named like a chunk below some path.
  [[nodiscard]] bool is_of_node(std::string_view key) const {
    if (is_document_of(formats_, key)) return true;
    for (;;) {
      if (std::ranges::any_of(formats_, [&](const Format* each) { return each->names_chunk(key); })) return true;
      const std::size_t end = key.find('/');
      if (end == key.npos) return false;
      key.remove_prefix(end + 1);
    }
  }

  static std::uint64_t hash_of(std::string_view key) { return std::hash<std::string_view>()(key); }

  /// The number of bytes, for the progress; and which keys there are, to overwrite the destination. An archive may have
  /// documents in front, which are copied last.
  Result<std::uint64_t> survey() {
    ArchiveStore* const archive = archive_around(destination_);
    std::uint64_t total = 0, bytes = 0, count = 0;
    if (archive == nullptr && !options_.config.progress && !options_.overwrite) return total;
    SHERD_TRY(all, source_.visit("", ListDepth::all, [&](const ListEntry& entry) -> Result<bool> {
      if (is_passing(entry.name)) return true;
      total += entry.size;
      if (options_.overwrite) source_keys_.push_back(hash_of(entry.name));
      if (is_document_of(formats_, entry.name)) {
        bytes += entry.name.size() + entry.size;
        ++count;
      }
      return true;
    }));
    (void)all;
    std::ranges::sort(source_keys_);
    if (archive != nullptr) archive->expect_first(bytes, count);
    return total;
  }

  Result<void> copy_batch(const std::vector<ListedObject>& objects, const Config& config) {
    const WriteOrder order(config, destination_.traits(), objects.size());
    return parallel_for(objects.size(), config, [&](std::size_t i) { return copy_object(objects[order(i)]); });
  }

  Result<std::shared_ptr<ByteSource>> open_source(const std::string& key) {
    return first_bytes_ > 0 ? open_with(source_, {.key = key, .length = first_bytes_}) : source_.open(key);
  }

  [[nodiscard]] bool is_copied_by_server(const ByteSource& from) const {
    const auto* const store = dynamic_cast<const CopyingStore*>(&destination_);
    return store != nullptr && store->copies_itself(from);
  }

  /// The server is told which version the list has shown; if there is another one by now, that is opened.
  Result<void> copy_object(const ListedObject& object) {
    const std::string& key = object.key;
    if (const auto listed = listed_source(source_, key, object.size, object.generation)) {
      auto copied = copy_from(key, *listed);
      if (copied || copied.error().code() != ErrorCode::conflict) return copied;
    }
    SHERD_TRY(from, in_store(open_source(key), source_.url()));
    if (from == nullptr) return in_store(Error(conflict("was erased while it was copied").in_key(key)), source_.url());
    return copy_from(key, *from);
  }

  Result<void> copy_from(const std::string& key, ByteSource& from) {
    if (options_.resume) {
      SHERD_TRY(is_there, has_same(key, from));
      if (is_there) {
        ++skipped_;
        return {};
      }
    }
    return !from.view() && is_copied_by_server(from) ? copy_on_server(key, from) : copy_through(key, from);
  }

  /// Copies by reading and writing, and reads what was written.
  Result<void> copy_through(const std::string& key, ByteSource& from) {
    SHERD_TRY(contents, write(key, from));
    const std::uint64_t first = std::clamp<std::uint64_t>(contents.size, 1, window_);
    SHERD_TRY(to, in_store(open_with(destination_, {.key = key, .length = first}), destination_.url()));
    SHERD_TRY(written, to == nullptr ? Contents{} : in_store(contents_of(*to), destination_.url()));
    if (to == nullptr || written != contents)
      return in_store(Error(corrupt("does not read back as it was written").in_key(key)), destination_.url());
    ++objects_;
    bytes_ += contents.size;
    return {};
  }

  /// The server answers for the bytes.
  Result<void> copy_on_server(const std::string& key, ByteSource& from) {
    SHERD_TRY(size, in_store(from.size(), source_.url()));
    SHERD_TRY(writer, open_writer(key, size));
    SHERD_TRY(in_store(writer->copy(from, 0, size, 0), destination_.url()));
    SHERD_TRY(in_store(writer->commit(may_exist() ? Condition{} : Condition::absent()), destination_.url()));
    ++objects_;
    bytes_ += size;
    done_ += size;
    return {};
  }

  Result<std::unique_ptr<ObjectWriter>> open_writer(const std::string& key, std::uint64_t size) {
    has_written_ = true;
    return in_store(destination_.write(key, {.size = size}), destination_.url());
  }

  [[nodiscard]] bool may_exist() const { return options_.resume || options_.overwrite; }

  Result<bool> has_same(const std::string& key, ByteSource& from) {
    SHERD_TRY(there, in_store(destination_.open(key), destination_.url()));
    if (there == nullptr) return false;
    SHERD_TRY(size, from.size());
    SHERD_TRY(size_there, there->size());
    if (size != size_there) return false;
    SHERD_TRY(wanted, in_store(contents_of(from), source_.url()));
    SHERD_TRY(found, in_store(contents_of(*there), destination_.url()));
    if (wanted == found) done_ += size;
    return wanted == found;
  }

  Result<Contents> write(const std::string& key, ByteSource& from) {
    SHERD_TRY(size, in_store(from.size(), source_.url()));
    const auto share = writers_.take(writer_bytes(destination_.traits(), size));
    SHERD_TRY(writer, open_writer(key, size));
    Contents contents;
    auto written = in_store(for_each_window(from, size,
                                            [&](std::uint64_t offset, std::span<const std::byte> bytes) {
                                              contents.checksums.push_back(crc32c(bytes));
                                              done_ += bytes.size();
                                              contents.size += bytes.size();
                                              return in_store(writer->write(offset, bytes), destination_.url());
                                            }),
                            source_.url());
    if (written)
      written = in_store(writer->commit(may_exist() ? Condition{} : Condition::absent()), destination_.url());
    if (written) return contents;
    done_ -= contents.size;  // another version may be copied instead
    return std::move(written).error();
  }

  Result<Contents> contents_of(ByteSource& source) const {
    SHERD_TRY(size, source.size());
    Contents contents{.size = size};
    SHERD_TRY(for_each_window(source, size, [&](std::uint64_t, std::span<const std::byte> bytes) -> Result<void> {
      contents.checksums.push_back(crc32c(bytes));
      return {};
    }));
    return contents;
  }

  template <class Visit>
  Result<void> for_each_window(ByteSource& source, std::uint64_t size, const Visit& visit) const {
    const auto whole = source.view();
    Buffer buffer;
    for (std::uint64_t offset = 0; offset < size; offset += window_) {
      const Extent window{offset, std::min(window_, size - offset)};
      if (!whole) SHERD_TRY(read_into(source, window, buffer));
      const auto bytes = whole ? whole->subspan(offset, window.length) : std::span<const std::byte>(buffer.span());
      SHERD_TRY(visit(offset, bytes));
    }
    return {};
  }

  Store& source_;
  Store& destination_;
  const NodeLocation &from_, &to_;  ///< the roots, without a format
  const std::string claim_key_ = claim_key(to_);
  std::optional<Claim> claim_ = {};
  std::atomic<bool> has_written_{false};
  const FormatTable formats_;
  const ObjectCopyOptions& options_;
  const Config config_;
  const std::uint64_t window_;                   ///< bytes
  std::uint64_t first_bytes_ = 0;                ///< that are read when an object is opened
  std::vector<std::uint64_t> source_keys_ = {};  ///< their hashes, sorted
  Budget writers_;                               ///< what the destination's writers hold
  std::atomic<std::uint64_t> objects_{0}, bytes_{0}, skipped_{0}, done_{0};
};

}  // namespace

Result<ObjectCopyReport> copy_all_objects(const NodeLocation& source, const NodeLocation& destination,
                                          const ObjectCopyOptions& options) {
  return ObjectCopier(source, destination, options).copy();
}

}  // namespace sherd
