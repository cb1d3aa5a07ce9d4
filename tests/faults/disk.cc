#include "tests/faults/disk.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <utility>

namespace faults {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kSector = 512;

ino_t inode_of(const std::string& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) std::abort();
  return status.st_ino;
}

std::shared_ptr<const int> open(const std::string& path) {
  const auto close = [](const int* fd) {
    ::close(*fd);
    delete fd;
  };
  return {new int(::open(path.c_str(), O_PATH | O_CLOEXEC)), close};
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// What is chosen for one of several things: 0 … most.
using Choices = std::vector<std::uint32_t>;

/// Calls visit(choices) for all choices or, if there are too many, for some.
void for_choices(const Choices& most, const std::function<void(const Choices&)>& visit) {
  std::uint64_t count = 1;
  for (const std::uint32_t each : most) count = std::min<std::uint64_t>(count * (each + 1), Disk::kEnumerated + 1);
  Choices chosen(most.size(), 0);
  if (count <= Disk::kEnumerated) {
    for (;;) {
      visit(chosen);
      std::size_t i = 0;
      while (i < most.size() && chosen[i] == most[i]) chosen[i++] = 0;
      if (i == most.size()) return;
      ++chosen[i];
    }
  }
  for (const Choices& base : {Choices(most.size(), 0), most}) {
    visit(base);
    for (std::size_t i = 0; i < most.size(); ++i) {
      chosen = base;
      for (chosen[i] = 0; chosen[i] <= most[i]; ++chosen[i]) visit(chosen);
    }
  }
  std::mt19937_64 random(most.size());
  for (std::uint64_t sample = 0; sample < Disk::kSampled; ++sample) {
    const std::uint64_t bias = random() % 5;  // mostly old, …, mostly new
    for (std::size_t i = 0; i < most.size(); ++i)
      chosen[i] = random() % 5 < bias ? most[i] : static_cast<std::uint32_t>(random() % (most[i] + 1));
    visit(chosen);
  }
}

/// The versions of one file that a power cut may leave.
class Versions {
 public:
  Versions(const std::string& durable, std::span<const Effect> pending, bool tears_direct_writes)
      : durable_(durable), sizes_{{durable.size(), 0}} {
    std::size_t number = 0;
    for (const Effect& effect : pending) {
      ++number;
      const std::uint64_t end = effect.offset + effect.bytes.size(), size = sizes_.back().size;
      if (effect.kind == Effect::Kind::resized) {
        sizes_.push_back({effect.offset, number});
        continue;
      }
      const bool at_once = effect.kind == Effect::Kind::appended && effect.offset >= size && !tears_direct_writes;
      for (std::uint64_t at = effect.offset; at < end; at = (at / kSector + 1) * kSector) {
        const std::uint64_t to = std::min(end, (at / kSector + 1) * kSector);
        if (at_once)
          appended_.push_back({number, at, &effect.bytes[at - effect.offset], to - at});
        else
          sectors_[at / kSector].push_back({number, at, &effect.bytes[at - effect.offset], to - at});
        if (to > size && !at_once) sizes_.push_back({to, number});
      }
      if (at_once) sizes_.push_back({end, number});
    }
  }

  /// How many there are of each choice, less one: the size, and each sector.
  [[nodiscard]] Choices most() const {
    Choices most{static_cast<std::uint32_t>(sizes_.size() - 1)};
    for (const auto& [sector, pieces] : sectors_) most.push_back(static_cast<std::uint32_t>(pieces.size()));
    return most;
  }

  [[nodiscard]] std::string bytes(std::span<const std::uint32_t> chosen) const {
    const Size& size = sizes_[chosen[0]];
    std::string bytes = durable_;
    for (std::uint32_t i = 0; i <= chosen[0]; ++i) bytes.resize(std::min(bytes.size(), sizes_[i].size));
    const auto put = [&](const Piece& piece) {
      if (piece.at >= size.size) return;
      if (bytes.size() < size.size) bytes.resize(size.size);
      bytes.replace(piece.at, std::min(piece.length, size.size - piece.at), piece.from,
                    std::min(piece.length, size.size - piece.at));
    };
    for (std::size_t i = 1; const auto& [sector, pieces] : sectors_) {
      for (std::uint32_t k = 0; k < chosen[i]; ++k) put(pieces[k]);
      ++i;
    }
    for (const Piece& piece : appended_)
      if (piece.number <= size.number) put(piece);
    bytes.resize(size.size);
    return bytes;
  }

 private:
  struct Size {
    std::uint64_t size;
    std::size_t number;  // of the effect that made it so
  };
  struct Piece {
    std::size_t number;
    std::uint64_t at;
    const char* from;
    std::uint64_t length;
  };

  const std::string& durable_;
  std::vector<Size> sizes_;
  std::map<std::uint64_t, std::vector<Piece>> sectors_;
  std::vector<Piece> appended_;  // by direct writes that make the file longer
};

/// Nothing reads what is in a lock, which becomes an object under another name.
bool is_read(const std::string& name) { return !name.ends_with(".sherd-lock"); }

}  // namespace

void Tree::store(const std::string& folder) const {
  fs::remove_all(folder);
  fs::create_directories(folder);
  for (const std::string& name : directories) fs::create_directories(fs::path(folder) / name);
  std::map<const std::string*, fs::path> stored;
  for (const auto& [name, bytes] : files) {
    const fs::path path = fs::path(folder) / name;
    const auto [first, is_new] = stored.try_emplace(bytes.get(), path);
    if (is_new)
      std::ofstream(path, std::ios::binary) << *bytes;
    else
      fs::create_hard_link(first->second, path);
  }
}

std::uint64_t Tree::hash() const {
  std::uint64_t hash = 0;
  const auto add = [&](const std::string& text) {
    hash = (hash ^ std::hash<std::string>()(text)) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 29;
  };
  std::map<const std::string*, const std::string*> first_names;
  for (const auto& [name, bytes] : files) {
    add(name);
    add(*bytes);
    add(*first_names.try_emplace(bytes.get(), &name).first->second);  // of a file with two names
  }
  for (const std::string& name : directories) add(name);
  return hash;
}

Disk::Disk(const std::string& folder) : root_(inode_of(folder)) { read(root_, folder); }

void Disk::read(ino_t directory, const std::string& path) {
  auto& into = names_[directory];
  for (const auto& entry : fs::directory_iterator(path)) {
    const std::string name = entry.path().filename().string();
    const ino_t inode = inode_of(entry.path().string());
    into[name] = {directory, name, inode, entry.is_directory()};
    open_.push_back(open(entry.path().string()));
    if (entry.is_directory())
      read(inode, entry.path().string());
    else
      files_[inode].durable = bytes_of(entry.path().string());
  }
}

void Disk::apply(const Effect& effect) {
  if (effect.kind == Effect::Kind::named) {
    for (const Effect::Name& name : effect.names) {
      if (name.is_directory) names_[name.inode];
      if (!name.is_directory && name.inode != 0) files_[name.inode];
    }
    changes_.push_back({effect.names});
    return;
  }
  if (effect.kind != Effect::Kind::synced) {
    files_[effect.of].pending.push_back(effect);
    return;
  }
  if (const auto file = files_.find(effect.of); file != files_.end()) {
    const Versions versions(file->second.durable, file->second.pending, options_.tears_direct_writes);
    file->second = {versions.bytes(versions.most()), {}};
  }
  for (Change& change : changes_) {
    const auto is_in = [&](const Effect::Name& name) { return name.in == effect.of; };
    if (options_.names_in_order || std::ranges::any_of(change.names, is_in)) change.is_durable = true;
  }
  const auto first = std::ranges::find(changes_, false, &Change::is_durable);
  for (auto change = changes_.begin(); change != first; ++change) set(names_, *change);
  changes_.erase(changes_.begin(), first);
}

void Disk::set(Names& names, const Change& change) {
  for (const Effect::Name& name : change.names) names[name.in][name.name] = name;
}

std::vector<Disk::Names> Disk::names() const {
  std::vector<Names> all;
  if (options_.names_in_order) {
    all.push_back(names_);
    for (const Change& change : changes_) set(all.emplace_back(all.back()), change);
    return all;
  }
  const Choices most(static_cast<std::size_t>(std::ranges::count(changes_, false, &Change::is_durable)), 1);
  for_choices(most, [&](const Choices& chosen) {
    Names& names = all.emplace_back(names_);
    std::size_t i = 0;
    for (const Change& change : changes_)
      if (change.is_durable || chosen[i++] != 0) set(names, change);
  });
  return all;
}

void cut_power(const Recording& recording, const std::function<void(const Tree&, std::size_t)>& visit) {
  Disk disk = recording.disk;
  std::size_t at = 0;
  for (const Effect& effect : recording.effects) {
    if (effect.kind == Effect::Kind::synced) disk.cut([&](const Tree& tree) { visit(tree, at); });
    disk.apply(effect);
    ++at;
  }
  disk.cut([&](const Tree& tree) { visit(tree, at); });
}

void Disk::cut(const std::function<void(const Tree&)>& visit) const {
  for (const Names& each : names()) cut_files(each, visit);
}

void Disk::cut_files(const Names& names, const std::function<void(const Tree&)>& visit) const {
  Tree tree;
  std::map<ino_t, std::vector<std::string>> paths;
  std::set<ino_t> above;  // without their order, changes of names may put a directory into itself
  const std::function<void(ino_t, const std::string&)> walk = [&](ino_t directory, const std::string& prefix) {
    const auto entries = names.find(directory);
    if (entries == names.end() || !above.insert(directory).second) return;
    for (const auto& [name, entry] : entries->second) {
      if (entry.inode == 0) continue;
      if (!entry.is_directory) {
        paths[entry.inode].push_back(prefix + name);
        continue;
      }
      tree.directories.insert(prefix + name);
      walk(entry.inode, prefix + name + "/");
    }
    above.erase(directory);
  };
  walk(root_, "");
  Choices most;
  std::vector<std::pair<const std::vector<std::string>*, Versions>> open;  // files of several versions
  for (const auto& [inode, of] : paths) {
    const File& file = files_.at(inode);
    Versions versions(file.durable, file.pending, options_.tears_direct_writes);
    const bool matters = std::ranges::any_of(of, is_read);
    const auto bytes = std::make_shared<const std::string>(matters ? file.durable : "");
    for (const std::string& path : of) tree.files[path] = bytes;
    if (!matters || file.pending.empty()) continue;
    const Choices more = versions.most();
    most.insert(most.end(), more.begin(), more.end());
    open.emplace_back(&of, std::move(versions));
  }
  for_choices(most, [&](const Choices& chosen) {
    std::size_t at = 0;
    for (const auto& [of, versions] : open) {
      const std::size_t count = versions.most().size();
      const auto bytes = std::make_shared<const std::string>(versions.bytes(std::span(chosen).subspan(at, count)));
      for (const std::string& path : *of) tree.files[path] = bytes;
      at += count;
    }
    visit(tree);
  });
}

}  // namespace faults
