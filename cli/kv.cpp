// sherd kv: reads and writes values by id in Neuroglancer's shards, one at a time: skeletons, meshes or anything else
// that a shell script moves. The subcommands are similar, and all of them need a location and its sharding.
#include <charconv>

#include "base/buffer.hpp"
#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/input_pipe.hpp"
#include "cli/option_errors.hpp"
#include "cli/options.hpp"
#include "cli/value_file.hpp"
#include "cli/values.hpp"
#include "io/files.hpp"
#include "sherd/sharded_store.hpp"

namespace sherd::cli {
namespace {

using neuroglancer::ShardedStore;

constexpr std::size_t kReadBytes = std::size_t{1} << 20;

/// Reads all of standard input.
Result<std::string> read_stdin(const Config& config) {
  const auto input = InputPipe::standard_input(config);
  const std::uint64_t limit = config.limits.chunk_bytes;
  std::string bytes;
  for (std::size_t size = 0;;) {
    bytes.resize(size + kReadBytes);
    SHERD_TRY(got, input->read_some(std::as_writable_bytes(std::span(bytes)).subspan(size)).in([] {
      return "standard input";
    }));
    bytes.resize(size += got);
    if (size > limit)
      return unsupported("standard input has more than the limit chunk_bytes (" + std::to_string(limit) + ")");
    if (got < kReadBytes) return bytes;
  }
}

Result<std::string> read_input(const std::string& path, const Config& config) {
  if (path == "-") return read_stdin(config);
  SHERD_TRY(file, open_value_file(path, config.limits));
  std::string bytes(static_cast<std::size_t>(file->size_bound()), '\0');
  SHERD_TRY(file->read_at(0, std::as_writable_bytes(std::span(bytes))));
  return bytes;
}

struct Kv {
  std::string action, url, id_text, input = "-", output = "-", gzip_level;
  std::optional<std::string> sharding, preceding;
  UpdateOptions updating;
  bool long_form = false, before = false;

  [[nodiscard]] bool writes() const { return action == "put" || action == "rm" || action == "compact"; }

  [[nodiscard]] Result<std::uint64_t> id() const {
    std::uint64_t number = 0;
    const char* const end = id_text.data() + id_text.size();
    const auto parsed = std::from_chars(id_text.data(), end, number);
    if (parsed.ec != std::errc{} || parsed.ptr != end)
      return invalid_argument("'" + id_text + "' is not an id: a whole number from 0 to 2^64-1");
    return number;
  }

  Result<int> run(Session& session) const {
    if (!id_text.empty()) SHERD_TRY(id());
    Json json;
    if (sharding) {
      SHERD_TRY(given, in_option(parse_json_argument(*sharding), "--sharding"));
      json = std::move(given);
    }
    neuroglancer::ShardedStoreOptions options{.writable = writes(),
                                              .config = writes() ? session.guarded("kv") : session.config()};
    apply_gzip_level(gzip_level, options.config);
    SHERD_TRY(updating.apply(options.config));
    SHERD_TRY(store, at(url, ShardedStore::open(url, json, options)));
    SHERD_TRY(at(store.url(), apply(session, store)));
    return 0;
  }

 private:
  Result<void> apply(Session& session, const ShardedStore& store) const {
    if (action == "ls") return list(session, store);
    if (action == "compact") return compact(session, store);
    SHERD_TRY(number, id());
    if (action == "get") return get(session, store, number);
    if (action == "put") {
      SHERD_TRY(value, read_input(input, store.options().config));
      std::string bytes_before;
      if (preceding) {
        SHERD_TRY(bytes, read_input(*preceding, store.options().config));
        bytes_before = std::move(bytes);
      }
      return store.put({number, as_bytes(value), as_bytes(bytes_before)});
    }
    SHERD_TRY(there, store.erase(number));
    return there ? Result<void>{} : nothing(store);
  }

  [[nodiscard]] Error nothing(const ShardedStore& store) const {
    return not_found("no value of id " + id_text + " in " + store.url());
  }

  Result<void> get(Session& session, const ShardedStore& store, std::uint64_t number) const {
    SHERD_TRY(value, before ? store.get_preceding(number) : store.get(number));
    if (!value) return nothing(store);
    if (output == "-") return session.out().write(as_bytes(*value));
    SHERD_TRY(file, OutputFile::create(output, WriteMode{}));
    SHERD_TRY(file->append(as_bytes(*value)));
    return file->commit();
  }

  Result<void> list(Session& session, const ShardedStore& store) const {
    Result<void> written;
    bool first = true;
    const auto print = [&](std::uint64_t number, std::uint64_t bytes) {
      std::string line = std::to_string(number);
      if (session.json())
        line = std::string(first ? "" : ",\n") + R"({"id": )" + line + R"(, "bytes": )" + std::to_string(bytes) + "}";
      else
        line += (long_form ? "  " + std::to_string(bytes) : "") + "\n";
      first = false;
      written = session.out().write(line);
      return written.has_value();
    };
    if (session.json()) SHERD_TRY(session.out().write("["));
    SHERD_TRY(store.list(print));
    SHERD_TRY(std::move(written));
    return session.json() ? session.out().write("]\n") : Result<void>{};
  }

  static Result<void> compact(Session& session, const ShardedStore& store) {
    SHERD_TRY(compacted, store.compact());
    if (session.json())
      return session.out().print(Json(Json::Object{{"reclaimed", compacted.reclaimed}, {"shards", compacted.shards}}));
    return session.out().write("reclaimed " + print_bytes(compacted.reclaimed) + " in " +
                               print_count(compacted.shards, "shard") + "\n");
  }
};

/// Options of all subcommands, and the id for those that work on one value.
std::shared_ptr<Kv> with_place(Arguments& arguments, const char* action, bool of_one) {
  auto kv = std::make_shared<Kv>();
  kv->action = action;
  arguments.argument("URL", kv->url, "The directory of the shards");
  if (of_one) arguments.argument("ID", kv->id_text, "The value's id");
  arguments.text("--sharding", "JSON|@FILE", kv->sharding,
                 "The sharding, as the member 'sharding' of an info document; default: that of the info document there "
                 "or above");
  return kv;
}

}  // namespace

Run add_kv_get(Arguments& arguments) {
  const auto kv = with_place(arguments, "get", true);
  arguments.text("-o,--output", "FILE|-", kv->output, "The file to write; - is stdout, the default");
  arguments.flag("--preceding", kv->before, "For meshes: the fragments before the manifest instead of the manifest");
  arguments.examples({{"sherd kv get brain/skeletons 17 -o 17.bin", "the skeleton of segment 17"}});
  return [kv](Session& session) { return kv->run(session); };
}

Run add_kv_put(Arguments& arguments) {
  const auto kv = with_place(arguments, "put", true);
  arguments.text("-i,--input", "FILE|-", kv->input, "The value; - is stdin, the default");
  arguments.text("--preceding", "FILE", kv->preceding,
                 "For meshes: a file with the fragments, whose size must be that in the manifest");
  kv->updating.add_to(arguments);
  add_gzip_level(arguments, kv->gzip_level);
  arguments.examples({{"sherd kv put brain/skeletons 17 -i 17.bin", "store it, or replace it in its shard"}});
  return [kv](Session& session) { return kv->run(session); };
}

Run add_kv_ls(Arguments& arguments) {
  const auto kv = with_place(arguments, "ls", false);
  arguments.flag("-l,--long", kv->long_form, "Also print the size of each value in bytes");
  arguments.examples({{"sherd kv ls brain/1_1_1 --sharding @sharding.json", "every id, one per line"}});
  return [kv](Session& session) { return kv->run(session); };
}

Run add_kv_rm(Arguments& arguments) {
  const auto kv = with_place(arguments, "rm", true);
  kv->updating.add_to(arguments);
  arguments.examples({{"sherd kv rm brain/skeletons 17", "remove it; an id without a value is not found"}});
  return [kv](Session& session) { return kv->run(session); };
}

Run add_kv_compact(Arguments& arguments) {
  const auto kv = with_place(arguments, "compact", false);
  arguments.examples({{"sherd kv compact brain/skeletons", "free the bytes of superseded values"}});
  return [kv](Session& session) { return kv->run(session); };
}

}  // namespace sherd::cli
