// Which store a name means: directories, archives found by their names or first bytes, and nodes in them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "api/registry.hpp"
#include "store/zip.hpp"
#include "tests/store/temp_dir.hpp"
#include "tests/store/zip_bytes.hpp"

namespace sherd {
namespace store_test {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::EndsWith;
using testing::IsEmpty;

class Names : public testing::Test {
 protected:
  void put(const std::string& name, const std::string& bytes) const {
    std::ofstream(directory_ / name, std::ios::binary) << bytes;
  }
  [[nodiscard]] StoreUrl parsed(const std::string& name) const { return parse_url(directory_ / name).value(); }
  /// The path of the file, a space, and the path in the archive; only the path without an archive.
  [[nodiscard]] std::string meaning(const std::string& name) const {
    const StoreUrl url = parsed(name);
    const std::string file = url.path.substr(directory_.path().size());
    return url.layers.empty() ? file : file + " " + url.layers.front().path;
  }

  const TempDir directory_;
};

TEST_F(Names, FindAnArchiveByItsSuffixAlsoIfItDoesNotExist) {
  put("b.ozx", ZipBytes().add({"a", "1"}).finish());
  EXPECT_EQ(meaning("a.zip"), "/a.zip ");
  EXPECT_EQ(meaning("a.zip/x/y/"), "/a.zip x/y");
  EXPECT_EQ(meaning("b.ozx//x"), "/b.ozx x");
  EXPECT_EQ(meaning("a.zip/b.zip"), "/a.zip b.zip");
  EXPECT_EQ(meaning("a.zip.old"), "/a.zip.old");
}

TEST_F(Names, FindAnArchiveByItsFirstBytes) {
  put("archive", ZipBytes().add({"a", "1"}).finish());
  put("none", ZipBytes().finish());
  put("text", "text");
  EXPECT_EQ(meaning("archive/x"), "/archive x");
  EXPECT_EQ(meaning("none"), "/none ");
  EXPECT_EQ(meaning("text"), "/text");
}

TEST_F(Names, OfDirectoriesAreNotThoseOfArchives) {
  fs::create_directories(directory_ / "a.zip/b");
  EXPECT_EQ(meaning("a.zip"), "/a.zip");
  EXPECT_EQ(meaning("a.zip/b"), "/a.zip/b");
  EXPECT_EQ(meaning("c.zip#mode=nczarr,file"), "/c.zip");
  EXPECT_EQ(meaning("c#mode=nczarr,zip"), "/c ");
  EXPECT_EQ(meaning("a.zip#mode=nczarr,zip"), "/a.zip ") << "refused when it is opened";
}

TEST_F(Names, OfOneArchiveAreOneStoreWhileItShowsThePresentVersion) {
  const Config config{.open_stores = std::make_shared<OpenStores>()};
  const auto open = [&](const std::string& name) { return open_store(directory_ / name, config).value(); };
  const auto store = open("a.zip");
  EXPECT_EQ(open("./a.zip"), store);
  store->set("a", "1").value();
  EXPECT_EQ(open("a.zip"), store);
  config.open_stores->finish().value();
  EXPECT_EQ(open("a.zip"), store);
  put("a.zip", ZipBytes().add({"b", "2"}).finish());
  const auto later = open("a.zip");
  EXPECT_NE(later, store);
  EXPECT_EQ(later->get("b").value(), "2");
}

TEST_F(Names, KeepChangesOfAnArchiveThatNoHandleHasUntilTheyAreFinished) {
  const Config config{.open_stores = std::make_shared<OpenStores>()};
  open_store(directory_ / "a.zip", config).value()->set("a", "1").value();
  EXPECT_FALSE(fs::exists(directory_ / "a.zip"));
  config.open_stores->finish().value();
  EXPECT_EQ(open_store(directory_ / "a.zip", {}).value()->get("a").value(), "1");
  open_store(directory_ / "b.zip", {}).value()->set("a", "1").value();
  EXPECT_FALSE(fs::exists(directory_ / "b.zip")) << "nothing keeps it";
}

TEST_F(Names, OfNodesBeginInTheOnlyDirectoryOfAnArchiveIfItIsANode) {
  put("node.zip", ZipBytes().add({"a.zarr/zarr.json", "{}"}).add({"a.zarr/x/zarr.json", "{}"}).finish());
  put("other.zip", ZipBytes().add({"a.zarr/x", "{}"}).finish());
  const auto url = [&](const std::string& name, const auto& open) {
    return open(parsed(name), Config{}, store_table()).value()->url();
  };
  EXPECT_THAT(url("node.zip", open_sought), EndsWith("node.zip|zip:a.zarr"));
  EXPECT_THAT(url("node.zip/x", open_sought), EndsWith("node.zip|zip:a.zarr/x"));
  EXPECT_THAT(url("node.zip/a.zarr/x", open_sought), EndsWith("node.zip|zip:a.zarr/x"));
  EXPECT_THAT(url("node.zip|zip:", open_sought), EndsWith("node.zip|zip:"));
  EXPECT_THAT(url("other.zip", open_sought), EndsWith("other.zip|zip:"));
  const auto from_root = [](const StoreUrl& name, const Config& config, std::span<const StoreEntry> table) {
    return open_store(name, config, table);
  };
  EXPECT_THAT(url("node.zip", from_root), EndsWith("node.zip|zip:"));
}

TEST_F(Names, OfAnObjectInNoStoreAreRefused) {
  const auto refused = open_store("memory:|zip:");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::invalid_argument);
  EXPECT_THAT(parse_url("memory:").value().layers, IsEmpty());
  EXPECT_THAT(parse_url("a|zip:b").value().layers, ElementsAre(StoreUrl::Layer{.scheme = "zip", .path = "b"}));
}

TEST_F(Names, WithAFragmentMayLeadThroughAnArchive) {
  put("b.bin", ZipBytes().add({"a", "1"}).finish());
  EXPECT_EQ(meaning("a.zip/x/y#mode=nczarr,zip"), "/a.zip x/y");
  EXPECT_EQ(meaning("b.bin/x#mode=zarr,zip"), "/b.bin x");
  EXPECT_EQ(meaning("a.zip#mode=zip"), "/a.zip ");
  EXPECT_EQ(meaning("new.bin#mode=zip"), "/new.bin ");
}

TEST(StorageOptions, AreShownOnlyIfARowSaysSoAndTheirValueHasNoPassword) {
  for (const StoreEntry& row : store_table()) {
    for (const std::string_view name : row.options) EXPECT_TRUE(is_public_option(name, "7")) << row.scheme << name;
    for (const std::string_view name : row.secrets) EXPECT_FALSE(is_public_option(name, "7")) << row.scheme << name;
  }
  EXPECT_TRUE(is_public_option("proxy", "http://host:3128"));
  EXPECT_FALSE(is_public_option("proxy", "http://me:password@host:3128"));
  EXPECT_FALSE(is_public_option("no_row_has_this", "7"));
}

}  // namespace store_test
}  // namespace sherd
