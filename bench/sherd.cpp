// Sherd from C++: each cell through the public headers. Results are on huge pages, allocated for every large call.
#include <sherd/sherd.hpp>

#include <memory>

#include "worker.hpp"

namespace {

using bench::Call;
using bench::Keep;
using bench::Key;
using bench::Pages;
using bench::Task;

constexpr std::uint64_t kLarge = std::uint64_t{8} << 20;  // from this size on, a result has memory of its own

sherd::Shape cube(std::uint64_t length) { return {length, length, length}; }

sherd::Box box(const Key& key) {
  return {{key.origin.begin(), key.origin.end()}, {key.shape.begin(), key.shape.end()}};
}

sherd::Config config(const Task& task) {
  sherd::Config chosen;
  chosen.durable = task.synced;
  return chosen;
}

sherd::Array create(const Task& task) {
  const bench::Layout layout = task.target_layout();
  sherd::CreateOptions options{.shape = cube(task.size), .dtype = sherd::DType::uint16, .chunks = cube(layout.chunks)};
  if (layout.shards != 0) options.shards = cube(layout.shards);
  options.codecs.emplace();
  if (layout.zstd)  // as the other peers write it
    options.codecs->push_back(sherd::Json::Object{
        {"name", "zstd"}, {"configuration", sherd::Json::Object{{"level", 3}, {"checksum", false}}}});
  options.config = config(task);
  return sherd::create_array(task.target(), options).value();
}

bench::Prepare reading(const Task& task) {
  const sherd::Array array = sherd::open_array(task.source()).value();
  const auto keys = task.keys();
  return [=](unsigned) -> Call {
    auto result = std::make_shared<std::unique_ptr<Pages>>();
    return [=](const Keep& keep) {
      for (const Key& key : keys) {
        const std::size_t bytes = key.elements() * 2;
        if (*result == nullptr || bytes >= kLarge) {
          result->reset();
          *result = std::make_unique<Pages>(bytes);
        }
        array.read(box(key), (*result)->as<std::uint16_t>()).value();
        keep((*result)->as<const std::byte>());
      }
    };
  };
}

// All results in one block of memory.
bench::Prepare reading_together(const Task& task) {
  const sherd::Array array = sherd::open_array(task.source()).value();
  const auto keys = task.keys();
  return [=](unsigned) -> Call {
    auto result = std::make_shared<std::unique_ptr<Pages>>();
    return [=](const Keep& keep) {
      std::size_t bytes = 0;
      for (const Key& key : keys) bytes += key.elements() * 2;
      *result = std::make_unique<Pages>(bytes);
      std::byte* to = (*result)->data();
      std::vector<sherd::Array::Region> regions;
      for (const Key& key : keys) {
        regions.push_back({box(key), sherd::AnyView::dense(to, sherd::DType::uint16, box(key).shape)});
        to += key.elements() * 2;
      }
      array.read(regions).value();
      keep((*result)->as<const std::byte>());
    };
  };
}

bench::Prepare writing(const Task& task) {
  const auto elements = std::make_shared<const std::vector<std::uint16_t>>(task.elements());
  const sherd::Box all{cube(0), cube(task.size)};
  return [=](unsigned) -> Call {
    return [=](const Keep&) { create(task).write(all, std::span<const std::uint16_t>(*elements)).value(); };
  };
}

bench::Prepare updating(const Task& task) {
  sherd::OpenOptions options;
  options.writable = true;
  options.config = config(task);
  const sherd::Array array = sherd::open_array(task.target(), options).value();
  return [=](unsigned repeat) -> Call {
    return [array, where = box(task.updated(repeat)), values = task.update(repeat)](const Keep&) {
      array.write(where, std::span<const std::uint16_t>(values)).value();
    };
  };
}

bench::Prepare copying(const Task& task) {
  const bench::Layout layout = task.target_layout();
  sherd::CopyOptions options;
  options.chunks = cube(layout.chunks);
  options.shards = cube(layout.shards);
  options.config = config(task);
  return [=](unsigned) -> Call {
    return [=](const Keep&) { sherd::copy(task.source(), task.target(), options).value(); };
  };
}

bench::Prepare program(const Task& task) {
  if (task.cell == "update") return updating(task);
  if (task.cell == "reshard") return copying(task);
  if (task.is_together()) return reading_together(task);
  return task.cell.starts_with("write-") ? writing(task) : reading(task);
}

}  // namespace

int main(int count, char** values) {
  return bench::serve({values, static_cast<std::size_t>(count)}, std::string("sherd ") + sherd::version(), program);
}
