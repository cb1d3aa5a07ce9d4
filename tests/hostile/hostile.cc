// How a row runs: it is prepared here and acted on in a forked process, which sends its outcome back through a pipe.
#include "tests/hostile/hostile.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstring>

#include "base/checksum.hpp"
#include "tests/memory.hpp"

namespace sherd::hostile {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kWatchdogSeconds = 60;
constexpr std::uint64_t kMegabyte = std::uint64_t{1} << 20;
constexpr std::size_t kIndexBytes = 4 * 16 + 4;

std::vector<std::string> state_of(const fs::path& top, const std::function<bool(const fs::path&)>& passed_over) {
  std::vector<std::string> lines;
  if (!fs::exists(top)) return lines;
  for (auto each = fs::recursive_directory_iterator(top); each != fs::recursive_directory_iterator(); ++each) {
    if (passed_over(each->path())) {
      each.disable_recursion_pending();
      continue;
    }
    const auto status = each->symlink_status();
    std::string line = each->path().string();
    if (fs::is_regular_file(status))
      line += " " + std::to_string(each->file_size()) + " " +
              std::to_string(each->last_write_time().time_since_epoch().count());
    lines.push_back(std::move(line));
  }
  std::ranges::sort(lines);
  return lines;
}

std::string in_child(std::uint64_t megabytes, const std::function<std::string()>& body) {
  const std::uint64_t before = memory_field("VmRSS");
  std::string failure = body();
  const std::uint64_t peak = memory_field("VmHWM");
  if (!SHERD_MEASURES_MEMORY || peak <= before + (megabytes + 64) * kMegabyte) return failure;
  return failure + "memory grew by " + std::to_string((peak - before) / kMegabyte) + " MiB; ";
}

void write_whole(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(fd, text.data(), text.size());
    if (count <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

std::string read_whole(int fd) {
  std::string text;
  char block[4096];
  for (ssize_t count = 0; (count = ::read(fd, block, sizeof block)) > 0;)
    text.append(block, static_cast<std::size_t>(count));
  return text;
}

}  // namespace

std::string run_apart(std::uint64_t megabytes, const std::function<std::string()>& body) {
  int ends[2];
  if (::pipe(ends) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child < 0) return "no process";
  if (child == 0) {
    ::close(ends[0]);
    ::alarm(kWatchdogSeconds);
    std::string failure;
    try {
      failure = in_child(megabytes, body);
    } catch (const std::exception& thrown) {
      failure = std::string("threw: ") + thrown.what();
    }
    write_whole(ends[1], failure);
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string failure = read_whole(ends[0]);
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status))
    failure += WTERMSIG(status) == SIGALRM ? "hangs" : "killed by signal " + std::to_string(WTERMSIG(status));
  else if (WEXITSTATUS(status) != 0)
    failure += "ended with status " + std::to_string(WEXITSTATUS(status));
  return failure;
}

World::World(bool files) : files_(files) {
  Config config;
  config.durable = false;
  store_ = files ? file_store(root().string(), config).value() : memory_store();
  CreateOptions options{.shape = {2}, .dtype = DType::uint8, .chunks = {2}};
  options.config = config;
  const Array outsider = create_array((outside() / "a").string(), options).value();
  const std::vector<std::uint8_t> values{1, 2};
  outsider.write(Box{{0}, {2}}, std::span(values)).value();
}

std::vector<std::string> World::outside_state() const {
  return state_of(directory_.path(), [this](const fs::path& path) { return path == root(); });
}
std::vector<std::string> World::inside_state() const {
  return state_of(root(), [](const fs::path&) { return false; });
}

void World::document(std::string_view text) { store_->set("a/zarr.json", text).value(); }

void World::array(const std::string& codecs) { array_of(document_with("{\"codecs\": " + codecs + "}")); }

void World::array_of(const std::string& text) {
  document(text);
  std::vector<std::uint16_t> values;
  for (std::uint64_t i = 0; i < 32; ++i) values.push_back(good(i / 8, i % 8));
  const Array array = open_array(store_, {.path = "a", .writable = true}).value();
  array.write(Box{{0, 0}, {4, 8}}, std::span<const std::uint16_t>(values)).value();
}

std::string World::object() const { return store_->get(kObject).value().value(); }
void World::object(std::string_view bytes) { store_->set(kObject, bytes).value(); }

void World::index(const std::function<void(std::span<std::uint64_t>)>& change) {
  std::string bytes = object();
  char* const begin = bytes.data() + bytes.size() - kIndexBytes;
  std::uint64_t words[8];
  std::memcpy(words, begin, sizeof words);
  change(words);
  std::memcpy(begin, words, sizeof words);
  const std::uint32_t checksum = crc32c(std::as_bytes(std::span(words)));
  std::memcpy(begin + sizeof words, &checksum, sizeof checksum);
  object(bytes);
}

void World::sparse(std::uint64_t size) { fs::resize_file(object_path(), size); }

std::string document_with(std::string_view changes) {
  Json document = Json::parse(R"({"zarr_format": 3, "node_type": "array", "shape": [4, 8], "data_type": "uint16",
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4, 8]}},
    "chunk_key_encoding": {"name": "default"}, "fill_value": 0, "codecs": ["bytes"]})")
                      .value();
  document.set("codecs", Json::parse(sharded()).value());
  const Json overlay = Json::parse(changes).value();
  for (const auto& [key, value] : overlay.members()) document.set(key, value);
  return document.dump();
}

std::string many_keys(std::size_t count) {
  std::string keys;
  for (std::size_t i = 0; i < count; ++i) keys += (i == 0 ? "\"" : ",\"") + std::to_string(10'000'000 + i) + "\":0";
  return "{" + keys + "}";
}

std::string sharded(const std::string& inner, const std::string& location) {
  const std::string bytes = R"({"name": "bytes", "configuration": {"endian": "little"}})";
  return R"([{"name": "sharding_indexed", "configuration": {"chunk_shape": [2, 4], "codecs": [)" + bytes + inner +
         R"(], "index_codecs": [)" + bytes + R"(, {"name": "crc32c"}], "index_location": ")" + location + "\"}}]";
}

std::string chunked(const std::string& codecs) {
  return R"([{"name": "bytes", "configuration": {"endian": "little"}}, )" + codecs + "]";
}

namespace {

std::string verdict(const Error& error, const Case& row) {
  std::string failure;
  if (!row.expected.code) return "refused: " + error.text();
  if (error.code() != *row.expected.code) failure += "code " + std::string(to_string(error.code())) + "; ";
  if (error.text().find(row.expected.says) == std::string::npos)
    failure += "does not say '" + row.expected.says + "'; ";
  if (error.slot() != row.expected.slot) failure += "other slot; ";
  return failure.empty() ? failure : failure + "error: " + error.text();
}

Result<std::string> read_back(const Array& array, const Shape& shape, Value value) {
  std::vector<std::byte> bytes(*element_count(shape) * array.dtype().size());
  VarBytesArena arena;
  auto done =
      array.read(Box{Shape(shape.size(), 0), shape}, AnyView::dense(bytes.data(), array.dtype(), shape), &arena);
  if (!done) return std::move(done).error();
  if (array.dtype() != DType::uint16 || shape.size() != 2) return std::string();
  for (std::uint64_t i = 0; i < *element_count(shape); ++i) {
    std::uint16_t element = 0;
    std::memcpy(&element, bytes.data() + 2 * i, 2);
    const std::uint16_t wanted = value(i / shape[1], i % shape[1]);
    if (element != wanted)
      return "element " + std::to_string(i) + " is " + std::to_string(element) + ", not " + std::to_string(wanted) +
             "; ";
  }
  return std::string();
}

Result<std::string> list_members(const Group& group) {
  auto members = group.members();
  if (!members) return std::move(members).error();
  for (const auto& [name, type] : *members) {
    if (type != NodeType::group) continue;
    auto node = group.open(name);
    if (!node) return std::move(node).error();
    auto below = list_members(std::get<Group>(*node));
    if (!below) return below;
  }
  return std::string();
}

Result<std::string> act(const World& world, const Case& row) {
  // A store follows links or not from the day it is opened.
  const auto store = world.files() ? file_store(world.root().string(), row.config).value() : world.store();
  if (row.act == Act::list) {
    auto group = open_group(store, {.config = row.config});
    if (!group) return std::move(group).error();
    return list_members(*group);
  }
  const bool writes = row.act == Act::write_one || row.act == Act::write_all;
  auto array = open_array(store, {.path = row.path, .writable = writes, .config = row.config});
  if (!array) return std::move(array).error();
  if (row.act == Act::open) return std::string();
  const Shape one(array->ndim(), 1);
  if (row.act == Act::read_one) return read_back(*array, one, row.expected.value);
  if (writes) {
    const Shape shape = row.act == Act::write_one ? one : array->shape();
    std::vector<std::uint16_t> values;
    for (std::uint64_t i = 0; i < *element_count(shape); ++i) values.push_back(good(i / shape[1], i % shape[1]));
    auto done = array->write(Box{{0, 0}, shape}, std::span<const std::uint16_t>(values));
    if (!done) return std::move(done).error();
  }
  return read_back(*array, array->shape(), row.expected.value);
}

std::string judge(const World& world, const Case& row) {
  auto done = act(world, row);
  if (!done) return verdict(done.error(), row);
  return row.expected.code ? *done + "succeeded" : *done;
}

std::string play(bool files, const Case& row) {
  World world(files);
  row.make(world);
  const auto outside = world.outside_state();
  const auto inside = world.inside_state();
  std::string failure = run_apart(row.megabytes, [&] { return judge(world, row); });
  if (world.outside_state() != outside) failure += "touched something outside the root; ";
  const bool writes = row.act == Act::write_one || row.act == Act::write_all;
  if ((!writes || row.expected.code) && world.inside_state() != inside)
    failure += "changed something inside the root; ";
  return failure;
}

std::string judge_stored(const StoredCase& row, const std::string& root) {
  const auto done = row.act(file_store(root).value());
  if (done) return row.code ? "was answered" : "";
  const Error& error = done.error();
  if (!row.code || error.code() != *row.code || error.text().find(row.says) == std::string::npos)
    return "said: " + std::string(to_string(error.code())) + ": " + error.text();
  return "";
}

std::string test_name(int number, const std::string& words) {
  std::string name = "N" + std::to_string(number) + "_" + words;
  std::ranges::replace_if(name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

}  // namespace

void PrintTo(const Case& row, std::ostream* out) { *out << row.number << ": " << row.name; }
void PrintTo(const StoredCase& row, std::ostream* out) { *out << row.number << ": " << row.name; }

std::string name_of(const testing::TestParamInfo<Case>& info) { return test_name(info.param.number, info.param.name); }
std::string stored_name(const testing::TestParamInfo<StoredCase>& info) {
  return test_name(info.param.number, info.param.name);
}

TEST_P(Hostile, IsAnsweredOrRefused) {
  const Case& row = GetParam();
  if (row.where != Where::files) {
    EXPECT_EQ(play(false, row), "") << "in memory";
  }
  if (row.where != Where::memory) {
    EXPECT_EQ(play(true, row), "") << "in files";
  }
}

TEST_P(HostileStore, IsAnsweredOrRefused) {
  const StoredCase& row = GetParam();
  const TempDir dir;
  const std::string root = dir.path() + "/root";
  ASSERT_EQ(run_apart(4096,
                      [&] {
                        Config config;
                        config.durable = false;
                        row.make(*file_store(root, config).value(), root);
                        return std::string();
                      }),
            "");
  const auto before = state_of(root, [](const fs::path&) { return false; });
  EXPECT_EQ(run_apart(row.megabytes, [&] { return judge_stored(row, root); }), "");
  if (row.code) {
    EXPECT_EQ(state_of(root, [](const fs::path&) { return false; }), before) << "what is refused changes nothing";
  }
}

}  // namespace sherd::hostile
