// Does one operation on the store in a directory; the tests kill it, starve it of space, or run many at once:
//   crash_writer DIRECTORY OPERATION [ARGUMENT]
// operations.py describes what exists before each operation and what it leaves. A failure is printed as
// `CODE: MESSAGE`, with exit status 1.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "sherd/netcdf_writer.hpp"
#include "tests/crash/operations.hpp"

namespace {

using operations::config_of;
using operations::open;
using operations::Values;
using operations::write;
using sherd::Array;
using sherd::Box;
using sherd::Result;

[[noreturn]] void fail(const sherd::Error& error) {
  std::fprintf(stderr, "%s: %s\n", std::string(sherd::to_string(error.code())).c_str(), error.message().c_str());
  std::exit(1);
}

template <class T>
T must(Result<T> result) {
  if (!result.has_value()) fail(result.error());
  return std::move(result).value();
}
void must(const Result<void>& result) {
  if (!result) fail(result.error());
}

/// A netCDF dataset that is synced and then, after the mark, changed and synced again.
void write_netcdf(const std::string& directory, const sherd::Config& config) {
  using namespace sherd::netcdf;
  using Ints = std::vector<std::int32_t>;
  Writer writer = must(Writer::create(directory, {.config = config}));
  must(writer.set_attribute("/", {"title", std::string("first")}));
  must(writer.define_dimension("/", "t", 0, true));
  must(writer.define_dimension("/", "x", 3));
  must(writer.define_variable("/", {.name = "v", .dimensions = {"t", "x"}, .chunks = {1, 3}}));
  must(writer.write("v", {{0, 0}, {2, 3}}, Ints{1, 2, 3, 4, 5, 6}));
  must(writer.sync());
  (void)::getppid();
  must(writer.set_attribute("/", {"title", std::string("second")}));
  must(writer.define_group("/g"));
  must(writer.define_variable("/g", {.name = "w", .dimensions = {"x"}}));
  must(writer.write("/g/w", {{0}, {3}}, Ints{7, 8, 9}));
  must(writer.write("v", {{2, 0}, {1, 3}}, Ints{10, 11, 12}));
  must(writer.sync());
}

/// Prints the length after each flush.
void stream(Array& array, sherd::Technique technique) {
  operations::stream(array, technique, [](std::uint64_t length) {
    std::printf("%llu\n", static_cast<unsigned long long>(length));
    std::fflush(stdout);
  });
}

void run_operation(const std::string& directory, const std::string& name, std::uint16_t value,
                   const sherd::Config& config) {
  if (name == "netcdf") return write_netcdf(directory, config);
  if (name == "create") {
    (void)::getppid();
    return operations::create(directory, "end", config);
  }
  if (name == "stream-prepare") return operations::create_streamed(directory, static_cast<sherd::Technique>(value));
  Array array = open(directory, config);
  if (name == "stream") return stream(array, static_cast<sherd::Technique>(value));
  (void)::getppid();  // shows in a trace that everything before it was preparation
  operations::changes().at(name)(array, value);
}

/// What list and check report about the store: one key per line, then the faults.
void look(const std::string& directory) {
  const auto store = must(sherd::file_store(directory));
  must(store->list("", [](const std::string& key, std::uint64_t) { return std::puts(key.c_str()) >= 0; }));
  const auto report = sherd::check(store, {.data = true});
  if (!report && report.error().code() == sherd::ErrorCode::not_found) return;
  for (const auto& fault : must(report).faults) std::printf("fault %s %s\n", fault.code.c_str(), fault.message.c_str());
}

// Many writers of one shard of 8x8 inner chunks, each counting in an inner chunk of its own.

constexpr std::uint64_t kProcesses = 8, kThreads = 8;

Box chunk_of(std::uint64_t process, std::uint64_t thread) { return {{process * 16, thread * 16}, {16, 16}}; }

void create_crowd(const std::string& directory) {
  const sherd::CreateOptions options{
      .shape = {128, 128}, .dtype = sherd::DType::uint16, .chunks = {16, 16}, .shards = {128, 128}};
  write(must(sherd::create_array(must(sherd::file_store(directory)), "a", options)), {{0, 0}, {128, 128}}, 1);
}

/// Rewrites the whole shard with incompressible values.
void write_noise(const std::string& directory) {
  Values values(std::size_t{128} * 128);
  std::uint32_t noise = 1;
  for (auto& value : values) {
    noise = noise * 1664525 + 1013904223;
    value = static_cast<std::uint16_t>(noise >> 16);
  }
  must(open(directory, config_of(1)).write(Box{{0, 0}, {128, 128}}, std::span<const std::uint16_t>(values)));
}

void write_crowd(const std::string& directory, std::uint16_t rounds) {
  std::vector<pid_t> children;
  for (std::uint64_t p = 0; p < kProcesses; ++p) {
    const pid_t child = ::fork();
    if (child == 0) {
      const Array array = open(directory, config_of(2));
      std::vector<std::thread> threads;
      for (std::uint64_t t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
          for (std::uint16_t value = 2; value < 2 + rounds; ++value) write(array, chunk_of(p, t), value);
        });
      }
      for (auto& thread : threads) thread.join();
      std::_Exit(0);
    }
    children.push_back(child);
  }
  bool good = true;
  for (const pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    good = good && status == 0;
  }
  if (!good) std::exit(1);
}

/// Reads single chunks until standard input ends. A chunk must contain one value and never an older one than before.
void read_crowd(const std::string& directory, sherd::CacheMode cache) {
  sherd::Config config;
  config.cache = cache;
  const Array array = open(directory, config);
  std::thread waiting([] {
    char byte = 0;
    while (::read(0, &byte, 1) > 0) {
    }
  });
  std::atomic<bool> done{false};
  std::thread end([&] {
    waiting.join();
    done = true;
  });
  std::uint64_t reads = 0, torn = 0, backwards = 0;
  std::vector<std::uint16_t> newest(kProcesses * kThreads, 0);
  for (std::uint64_t i = 0; !done; i = (i + 11) % newest.size()) {
    Values values(256);
    must(array.read(chunk_of(i / kThreads, i % kThreads), std::span(values)));
    for (const auto value : values) torn += value != values[0];
    backwards += values[0] < newest[i];
    newest[i] = values[0];
    ++reads;
  }
  end.join();
  std::printf("%llu %llu %llu\n", static_cast<unsigned long long>(reads), static_cast<unsigned long long>(torn),
              static_cast<unsigned long long>(backwards));
}

/// A slightly compressible volume, written slab by slab: `mebibytes` of uint16, shards of 128^3, inner chunks of 32^3.
void create_volume(const std::string& directory, std::uint64_t mebibytes) {
  const std::uint64_t planes = mebibytes * 2;  // of 512x512
  sherd::CreateOptions options{
      .shape = {planes, 512, 512}, .dtype = sherd::DType::uint16, .chunks = {32, 32, 32}, .shards = {128, 128, 128}};
  options.codecs = {sherd::Json("zstd:1")};
  options.config.durable = false;
  const Array array = must(sherd::create_array(must(sherd::file_store(directory)), "a", options));
  Values slab(128 * 512 * 512);
  std::uint32_t noise = 1;
  for (std::uint64_t z = 0; z < planes; z += 128) {
    const std::uint64_t count = std::min<std::uint64_t>(128, planes - z);
    for (std::uint64_t i = 0; i < count * 512 * 512; ++i) {
      noise = noise * 1664525 + 1013904223;
      slab[i] = static_cast<std::uint16_t>((i >> 9) + z * 31 + (noise >> 31));
    }
    must(array.write(Box{{z, 0, 0}, {count, 512, 512}}, std::span(slab).first(count * 512 * 512)));
  }
}

/// The elements of both halves, one line each, in the order of the array.
void look_at_dual_format(const std::string& directory) {
  for (const char* format : {"zarr3", "precomputed"}) {
    const Values values = operations::read_dual(directory, format);
    for (const std::uint16_t value : values) std::printf("%u ", value);
    std::printf("\n");
  }
}

void change_dual_format(const std::string& directory, const std::string& operation, std::uint16_t value) {
  const Array array = operations::open_dual(directory, operation);
  (void)::getppid();
  operations::change_dual(array, operation, value);
}

/// One line for each id, with its value.
void look_at_ids(const std::string& directory) {
  for (const auto& [id, value] : operations::read_ids(directory))
    std::printf("%llu %s\n", static_cast<unsigned long long>(id), value.c_str());
}

void change_ids(const std::string& directory, const std::string& operation, std::uint16_t value) {
  const auto ids = operations::open_ids(directory);
  (void)::getppid();
  operations::change_ids(ids, operation, value);
}

int run(int count, char** words) {
  if (count < 3) return 2;
  const std::string directory = words[1], operation = words[2], argument = count > 3 ? words[3] : "";
  const auto number = static_cast<std::uint16_t>(std::atoi(argument.c_str()));
  const char* threads = std::getenv("CRASH_THREADS");
  sherd::Config config = config_of(threads != nullptr ? static_cast<unsigned>(std::atoi(threads)) : 1);
  if (std::getenv("CRASH_APPENDS") != nullptr) {  // which shards this small otherwise do without
    config.update = sherd::Update::append;
    config.max_unused = 1000;
  }
  if (operation == "prepare")
    operations::create(directory, argument, config);
  else if (operation == "look")
    look(directory);
  else if (operation == "create-crowd")
    create_crowd(directory);
  else if (operation == "noise")
    write_noise(directory);
  else if (operation == "write-crowd")
    write_crowd(directory, number);
  else if (operation == "read-crowd")
    read_crowd(directory, static_cast<sherd::CacheMode>(number));
  else if (operation == "create-volume")
    create_volume(directory, number);
  else if (operation == "dual-format-prepare")
    operations::create_dual(directory);
  else if (operation == "dual-format-look")
    look_at_dual_format(directory);
  else if (operation.starts_with("dual-format-"))
    change_dual_format(directory, operation, number);
  else if (operation == "ids-prepare")
    operations::create_ids(directory);
  else if (operation == "ids-look")
    look_at_ids(directory);
  else if (operation.starts_with("ids-"))
    change_ids(directory, operation, number);
  else
    run_operation(directory, operation, number, config);
  return 0;
}

}  // namespace

int main(int count, char** words) {
  try {
    return run(count, words);
  } catch (const sherd::Exception& failure) {
    fail(failure.error());
  }
}
