// Storage options: a row of the table of stores says which its URLs have, and no other reaches a store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "sherd/sherd.hpp"
#include "tests/store/every_store.hpp"

namespace sherd {
namespace storage_options_test {

namespace fs = std::filesystem;
using testing::HasSubstr;

Config with(std::map<std::string, std::string> options) { return {.storage_options = std::move(options)}; }

TEST(StorageOptions, ReachTheStoreOfTheirRow) {
  EXPECT_TRUE(open_of_rows("testing://").value()->traits().conditional_erase);
  const auto store = open_of_rows("testing://", with({{"conditional_erase", "false"}})).value();
  EXPECT_FALSE(store->traits().conditional_erase);
}

TEST(StorageOptions, ThatAStoreDoesNotHaveAreRefusedAndTheNearestIsNamed) {
  for (const StoreEntry& row : store_rows()) {
    if (row.is_layer) continue;
    const TempDir directory;
    const std::string url = std::string(row.scheme) + "://" + (row.scheme == "memory" ? "" : directory.path());
    const auto refused = open_of_rows(url, with({{"no such option", "1"}}));
    ASSERT_FALSE(refused) << row.scheme;
    EXPECT_EQ(refused.error().code(), ErrorCode::invalid_argument);
    EXPECT_EQ(refused.error().member(), "storage_options");
    EXPECT_THAT(refused.error().message(), HasSubstr("'no such option' is not a storage option"));
  }
  const TempDir directory;
  const auto misspelt = open_store(directory.path(), with({{"follow_symlink", "false"}}));
  ASSERT_FALSE(misspelt);
  EXPECT_THAT(misspelt.error().message(), HasSubstr("did you mean 'follow_symlinks'?"));
}

TEST(StoreSchemes, ThatAreUnknownAreRefusedAndTheKnownOnesNamed) {
  const auto refused = open_of_rows("nothing://bucket/a");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::unsupported);
  EXPECT_THAT(refused.error().message(), HasSubstr("no store for 'nothing://bucket/a'"));
  for (const StoreEntry& row : store_rows())
    EXPECT_THAT(refused.error().message(), HasSubstr(" " + std::string(row.scheme) + ":"));
}

TEST(StoreSchemes, ThatAreKnownNeedNoSlashesAndOthersArePaths) {
  EXPECT_EQ(open_of_rows("testing:").value()->url(), "memory:") << "the row's store is over one";
  EXPECT_EQ(open_store("MEMORY:").value()->url(), "memory:");
  EXPECT_EQ(open_store("memory:x").error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(open_store("").error().code(), ErrorCode::invalid_argument);
  EXPECT_THAT(open_store("nothing:a").value()->url(), testing::EndsWith("/nothing:a"));
}

TEST(StorageOptions, OfFilesAreSettingsOfTheStore) {
  const TempDir directory;
  file_store(directory / "outside").value()->set("object", "text").value();
  fs::create_directory(directory / "store");
  fs::create_directory_symlink(directory / "outside", directory / "store/link");
  EXPECT_EQ(open_store(directory / "store").value()->get("link/object").value(), "text");
  const auto strict = open_store(directory / "store", with({{"follow_symlinks", "false"}})).value();
  EXPECT_FALSE(strict->open("link/object"));
  EXPECT_FALSE(strict->parent().value()->store->open("store/link/object")) << "the store around it has them, too";
  const auto wrong = open_store(directory / "store", with({{"durable", "yes"}}));
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().member(), "storage_options.durable");
  EXPECT_THAT(wrong.error().message(), HasSubstr("must be true or false, not 'yes'"));
}

TEST(StorageOptions, OfAHandleReachItsStore) {
  const TempDir directory;
  CreateOptions options{.shape = {4}, .dtype = DType::uint8, .chunks = {2}};
  options.config = with({{"durable", "false"}});
  EXPECT_TRUE(create_array(directory / "a.zarr", options));
  EXPECT_TRUE(open_array(directory / "a.zarr", {.config = options.config}));
  EXPECT_FALSE(open_array(directory / "a.zarr", {.config = with({{"durability", "false"}})}));
}

}  // namespace storage_options_test
}  // namespace sherd
