// How stores are named.
#include "base/url.hpp"

#include <gtest/gtest.h>

namespace sherd {
namespace url_test {

std::string file(std::string_view text) { return file_path(text).value(); }
ErrorCode refusal(std::string_view text) {
  const auto path = file_path(text);
  return path ? ErrorCode::io : path.error().code();
}

TEST(Url, UsesAPlainPathUnchanged) {
  for (const char* path : {"a", "/data/a.zarr", "../a", "a%20b", "a#b?c", "a:b", "C:x", ":", "//x", "a b", "1://x"}) {
    EXPECT_EQ(file(path), path);
  }
}

TEST(Url, DecodesAFileUrlOnce) {
  EXPECT_EQ(file("file:///data/a%20b.zarr"), "/data/a b.zarr");
  EXPECT_EQ(file("file:///a%252e"), "/a%2e");
  EXPECT_EQ(file("file:///%2E%2e%2fa%41"), "/../aA");
  EXPECT_EQ(file("FILE:///a"), "/a");
  EXPECT_EQ(file("file://localhost/a"), "/a");
  EXPECT_EQ(file("file:/a"), "/a");
}

TEST(Url, HasASchemeInLowerCase) {
  EXPECT_EQ(scheme_of("S3://bucket/a"), "s3");
  EXPECT_EQ(scheme_of("memory:"), "memory");
  for (const char* path : {"a", "/data/a:b", ":", "1://x", ""}) EXPECT_EQ(scheme_of(path), "") << path;
  EXPECT_TRUE(is_url("s3://bucket/a"));
  for (const char* text : {"memory:", "file:/a", "a:b", "a", "://"}) EXPECT_FALSE(is_url(text)) << text;
}

TEST(Url, OfAStoreMayBeOnlyItsScheme) {
  EXPECT_TRUE(is_anonymous("memory:"));
  EXPECT_TRUE(is_anonymous("memory://"));
  for (const char* url : {"memory:x", "memory:/", "file:///a", "a", ""}) EXPECT_FALSE(is_anonymous(url)) << url;
}

TEST(Url, OfAFileStoreIsAPath) {
  EXPECT_EQ(path_of_store("file:///a%20b"), "/a b");
  EXPECT_EQ(path_of_store("memory:"), std::nullopt);
  EXPECT_EQ(path_of_store("file://host/a"), std::nullopt);
  EXPECT_EQ(path_of_store("file:///a.zip|zip:"), std::nullopt) << "a store inside a file";
  EXPECT_EQ(path_of_store(file_url("/a|b")), "/a|b");
}

TEST(Url, RefusesWhatItDoesNotUnderstand) {
  for (const auto text :
       {std::string_view(""), std::string_view("file://host/a"), std::string_view("file://localhost"),
        std::string_view("file:a"), std::string_view("file://"), std::string_view("file:///a?b"),
        std::string_view("file:///a#b"), std::string_view("file:///a%"), std::string_view("file:///a%4"),
        std::string_view("file:///a%4g"), std::string_view("file:///a%00b"), std::string_view("a\0b", 3),
        std::string_view("s3://bucket/a"), std::string_view("https://host/a")}) {
    EXPECT_EQ(refusal(text), ErrorCode::invalid_argument) << text;
  }
}

TEST(Url, OfAPathReturnsThePath) {
  std::string path = "/";
  for (int c = 1; c < 256; ++c) path.push_back(static_cast<char>(c));
  EXPECT_EQ(file(file_url(path)), path);
  EXPECT_EQ(file_url("/data/a.zarr"), "file:///data/a.zarr");
  EXPECT_EQ(file_url("/a b%\xc3\xa9"), "file:///a%20b%25%C3%A9");
}

TEST(Url, OfTheStoreIsAddedToErrorsThatNameAKey) {
  const Error error = corrupt("truncated").in_member("codecs[0]").in_slot(7).in_key("c/0");
  EXPECT_EQ(in_store(error, "file:///a").text(), "'c/0' slot 7 codecs[0]: truncated (in file:///a)");
  EXPECT_EQ(in_store(error, "file:///a").code(), ErrorCode::corrupt);
  EXPECT_EQ(in_store(in_store(error, "file:///a"), "file:///a").text(), in_store(error, "file:///a").text());
  EXPECT_EQ(in_store(corrupt("no key"), "file:///a").text(), "no key");
}

TEST(Url, OfANodeIsThatOfItsStoreAndItsPathEscaped) {
  EXPECT_EQ(url_below("file:///a.zarr", "x/y z"), "file:///a.zarr/x/y%20z");
  EXPECT_EQ(url_below("file:///", "x"), "file:///x");
  EXPECT_EQ(url_below("file:///a%20b", ""), "file:///a%20b");
}

}  // namespace url_test
}  // namespace sherd
