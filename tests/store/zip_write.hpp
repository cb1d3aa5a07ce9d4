// Archives in the local file system that a test changes.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "store/zip.hpp"
#include "tests/store/temp_dir.hpp"
#include "tests/test_data.hpp"

namespace sherd {

class ZipWrite : public testing::Test {
 protected:
  std::shared_ptr<Store> opened(const std::string& name = "a.zip") {
    return zip_store(file_store(directory_.path(), {.durable = false}).value(), name, {.durable = false}).value();
  }
  [[nodiscard]] std::string bytes(const std::string& name = "a.zip") const {
    std::ifstream file(directory_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void put(const std::string& archive, const std::string& name = "a.zip") const {
    std::ofstream(directory_ / name, std::ios::binary) << archive;
  }
  void put_golden(const std::string& golden) const {
    std::filesystem::copy_file(test_data("zip/" + golden), directory_ / "a.zip",
                               std::filesystem::copy_options::overwrite_existing);
  }
  /// What Python finds: names and sizes. It compares every checksum, too, unless there is too much to read.
  std::vector<std::string> in_python(const std::string& name = "a.zip", bool reads_members = true) {
    const std::string script =
        "import sys, zipfile\n"
        "with zipfile.ZipFile(sys.argv[1]) as archive:\n" +
        std::string(reads_members ? "    assert archive.testzip() is None\n" : "") +
        "    for each in archive.infolist(): print(each.filename, each.file_size)\n";
    const std::string command =
        "python3 -c \"" + script + "\" '" + directory_ / name + "' > '" + directory_ / "seen" + "'";
    EXPECT_EQ(std::system(command.c_str()), 0);
    std::vector<std::string> lines;
    std::ifstream seen(directory_ / "seen");
    for (std::string line; std::getline(seen, line);) lines.push_back(line);
    std::filesystem::remove(directory_ / "seen");
    return lines;
  }
  /// What a program finds that reads the archive from its beginning.
  [[nodiscard]] std::vector<std::string> laid_out() const {
    const std::string all = bytes();
    const auto number = [&](std::size_t at, int count) {
      std::uint64_t value = 0;
      while (count-- > 0) value = value << 8 | static_cast<unsigned char>(all[at + static_cast<std::size_t>(count)]);
      return value;
    };
    std::vector<std::string> names;
    for (std::size_t at = 0; all.compare(at, 4, "PK\3\4") == 0;) {
      names.push_back(all.substr(at + 30, number(at + 26, 2)));
      at += 30 + number(at + 26, 2) + number(at + 28, 2) + number(at + 18, 4);
      EXPECT_NE(all.find("PK\1\2", at), all.npos);
      if (all.compare(at, 2, "PK") != 0) ADD_FAILURE() << "a gap at " << at;
    }
    return names;
  }

  TempDir directory_;
};

}  // namespace sherd
