// The forms in which a place is named, with the words of an imaginary table.
#include "store/store_url.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/store/temp_dir.hpp"

namespace sherd {
namespace store_url_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Layer = StoreUrl::Layer;

Result<bool> is_fragment(std::string_view text, bool is_url) {
  if (text.starts_with("mod=")) return invalid_argument("did you mean mode=");
  return is_url || text.starts_with("mode=");
}

constexpr std::string_view kStores[] = {"file", "memory", "https", "s3"}, kLayers[] = {"zip", "tar"};
constexpr UrlWords::FormatWord kFormats[] = {{"zarr3", "zarr3"}, {"zarr2", "zarr2"}, {"zarr", ""}};

Result<StoreUrl> parsed(std::string_view text) {
  return parse_store_url(text, {kStores, kLayers, kFormats, is_fragment});
}
StoreUrl parse(std::string_view text) { return parsed(text).value(); }

TEST(StoreUrl, IsAPathIfNoWordIsKnown) {
  for (const char* path :
       {"a",   "/data/a.zarr", "../a",        "a%20b", "a#b?c", "a:b", "C:x", ":",    "//x", "a b",   "1://x",
        "a|b", "a|b:c",        "run::1.zarr", "a[1]",  "[1]a",  "|",   "::",  "a||b", "zip", "a#mode"}) {
    const StoreUrl url = parse(path);
    EXPECT_TRUE(url.is_file()) << path;
    EXPECT_EQ(url.path, path);
    EXPECT_EQ(url.shown, path);
  }
}

TEST(StoreUrl, OfFilesIsDecodedOnce) {
  EXPECT_EQ(parse("file:///data/a%20b%257C.zarr").path, "/data/a b%7C.zarr");
  EXPECT_EQ(parse("FILE://localhost/a").path, "/a");
}

TEST(StoreUrl, KeepsThePartsOfARemoteOneApart) {
  const StoreUrl url = parse("https://user:pw@host.example:8080/data/a%20b.zarr?sig=1?2#x");
  EXPECT_EQ(url.scheme, "https");
  EXPECT_EQ(url.userinfo, "user:pw");
  EXPECT_EQ(url.host, "host.example");
  EXPECT_EQ(url.port, "8080");
  EXPECT_EQ(url.path, "/data/a%20b.zarr");
  EXPECT_EQ(url.query, "sig=1?2");
  EXPECT_EQ(url.fragment, "x");
  EXPECT_EQ(url.shown, "https://...@host.example:8080/data/a%20b.zarr?...");
  EXPECT_EQ(parse("https://[::1]:80/a").host, "[::1]");
  EXPECT_EQ(parse("https://[::1]/a").port, "");
  EXPECT_EQ(parse("s3://bucket").path, "");
  EXPECT_EQ(parsed("https://host:no/a").error().code(), ErrorCode::invalid_argument);
}

TEST(StoreUrl, IsShownWithoutSecretsInEveryForm) {
  const std::string secret = "https://me:pw@host/a?sig", shown = "https://...@host/a?...";
  const auto is_shown = [](const std::string& text, const std::string& expected) {
    EXPECT_EQ(parse(text).shown, expected);
    EXPECT_EQ(parse(text).userinfo, "me:pw");
  };
  is_shown("zip://x::" + secret, "zip://x::" + shown);
  is_shown("zarr3://" + secret, "zarr3://" + shown);
  is_shown(secret + "|zip:x", shown + "|zip:x");
  is_shown(secret + "|x", shown);
  for (const std::string& text :
       {"a::" + secret, "htps" + secret.substr(5), secret + "|zpi:x", "zarr3://zarr4://" + secret}) {
    EXPECT_THAT(parsed(text).error().text(), testing::Not(testing::AnyOf(HasSubstr("pw"), HasSubstr("sig")))) << text;
    EXPECT_THAT(parsed(text).error().text(), HasSubstr("...@host/a?...")) << text;
  }
}

TEST(StoreUrl, ShowsThatItHasAQueryInFrontOfItsLayers) {
  EXPECT_EQ(with_hidden_query("https://h/a"), "https://h/a?...");
  EXPECT_EQ(with_hidden_query("https://h/a.zip|zip:b/"), "https://h/a.zip?...|zip:b/");
  const StoreUrl url = parse(with_hidden_query("https://h/a.zip|zip:b/"));
  EXPECT_EQ(url.query, kHiddenQuery);
  EXPECT_EQ(url.path, "/a.zip");
  EXPECT_THAT(url.layers, ElementsAre(Layer{"zip", "b"}));
}

TEST(StoreUrl, OfAPipelineHasLayersAndAFormat) {
  const StoreUrl url = parse("s3://b/a.zip|zip:inner/b%7Cc.zip|zip:|zarr3:group/x");
  EXPECT_EQ(url.path, "/a.zip");
  EXPECT_THAT(url.layers, ElementsAre(Layer{"zip", "inner/b|c.zip"}, Layer{"zip", "group/x"}));
  EXPECT_EQ(url.format, "zarr3");
  EXPECT_EQ(parse("a.zarr|zarr2:group/").path, "a.zarr/group");
  EXPECT_EQ(parse("a.zarr|zarr:").format, "");
}

TEST(StoreUrl, OfAChainNamesTheInnermostFirst) {
  const StoreUrl url = parse("zip://inner/::tar::file:///a.tar");
  EXPECT_EQ(url.path, "/a.tar");
  EXPECT_THAT(url.layers, ElementsAre(Layer{"tar"}, Layer{"zip", "inner"}));
  EXPECT_THAT(parse("zip::a/b.zip").layers, ElementsAre(Layer{"zip"}));
  EXPECT_EQ(parse("zip::https://[::1]/a").host, "[::1]");
}

TEST(StoreUrl, MayBeginWithAFormat) {
  EXPECT_EQ(parse("zarr3://https://host/a").format, "zarr3");
  EXPECT_EQ(parse("zarr3://https://host/a").host, "host");
  EXPECT_EQ(parse("zarr2:///data/a").path, "/data/a");
  EXPECT_EQ(parsed("zarr2://a|zarr3:").error().code(), ErrorCode::invalid_argument);
}

TEST(StoreUrl, HasAFragmentOnlyWhereItsWordsAreKnown) {
  EXPECT_EQ(parse("a#1.zarr#mode=zarr").path, "a#1.zarr");
  EXPECT_EQ(parse("a#1.zarr#mode=zarr").fragment, "mode=zarr");
  EXPECT_EQ(parse("[mode=zarr]a#mode=file").fragment, "mode=zarr&mode=file");
  EXPECT_EQ(parse("a.zip|zip:x#mode=zarr").fragment, "mode=zarr");
  EXPECT_EQ(parsed("a#mod=zarr").error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(parsed("#mode=zarr").error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(parsed("a#mode=" + std::string(10000, 'x')).error().code(), ErrorCode::invalid_argument);
}

TEST(StoreUrl, IsThatOfAnExistingPathWhateverItLooksLike) {
  const TempDir directory;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(directory.path());
  for (const char* name : {"memory:", "a.zip|zip:", "zip::a", "a#mode=zarr", "a#mod=zarr", "[mode=zarr]a"}) {
    std::filesystem::create_directory(name);
    EXPECT_EQ(parse(name).path, name);
    EXPECT_THAT(parse(name).layers, IsEmpty());
  }
  for (const char* below : {"a.zip|zip:/n", "zip::a/n/m", "a#mode=zarr/n", "a.zip|zip:/n#x"}) {
    EXPECT_EQ(parse(below).path, below);
    EXPECT_THAT(parse(below).layers, IsEmpty());
  }
  EXPECT_EQ(parse("a.zip|zip:|zip:x").path, "a.zip|zip:");
  EXPECT_EQ(parse("a#mod=zarr#mode=zarr").path, "a#mod=zarr");
  std::filesystem::current_path(before);
}

TEST(StoreUrl, OfAnUnknownSchemeSaysWhatWasTried) {
  const TempDir directory;
  for (const std::string& text :
       {std::string("htps://host/a"), std::string("a::htps://host/a"), std::string("https://host/a|zpi:"),
        std::string("zarr3://htps://host/a"), directory.path() + "|zpi:x", std::string("a.zip|zip:|zar3:"),
        "zop::" + directory.path()}) {
    const auto url = parsed(text);
    ASSERT_FALSE(url) << text;
    EXPECT_EQ(url.error().code(), ErrorCode::unsupported) << text;
    EXPECT_THAT(url.error().text(), HasSubstr("tried\n  a path: it does not exist\n  the scheme '")) << text;
  }
  EXPECT_THAT(parsed("htps://host/a").error().text(), HasSubstr("did you mean 'https'?"));
  const std::string secret(300, 's');
  EXPECT_THAT(parsed("htps://user:" + secret + "@host/a").error().text(), Not(HasSubstr("sss")));
}

TEST(StoreUrl, RefusesWhatNoFormAllows) {
  for (const auto text : {std::string_view(""), std::string_view("a\0b", 3), std::string_view("file://host/a"),
                          std::string_view("file:///a%4g"), std::string_view("file:///a?b"), std::string_view("|zip:"),
                          std::string_view("a.zip|zip:%4g")})
    EXPECT_EQ(parsed(text).error().code(), ErrorCode::invalid_argument) << text;
}

TEST(StoreUrl, IsDividedIntoAStoreAndAKey) {
  const auto divided = [](std::string_view text) {
    const auto object = parent_of(parse(text));
    return object ? (object->store.layers.empty() ? object->store.path : object->store.layers.back().path) + " " +
                        object->key
                  : "none";
  };
  EXPECT_EQ(divided("a.zip"), ". a.zip");
  EXPECT_EQ(divided("x/a.zip/"), "x a.zip");
  EXPECT_EQ(divided("/a.zip"), "/ a.zip");
  EXPECT_EQ(divided("a.zip|zip:b.zip"), " b.zip");
  EXPECT_EQ(divided("a.zip|zip:x/b.zip"), "x b.zip");
  EXPECT_EQ(divided("https://host/a.zip"), "/ a.zip");
  for (const char* text : {"/", "memory:", "a.zip|zip:", "https://host"}) EXPECT_EQ(divided(text), "none") << text;
}

}  // namespace store_url_test
}  // namespace sherd
