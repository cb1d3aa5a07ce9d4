// How stores are named.
#include "base/url.hpp"

#include <gtest/gtest.h>

namespace sherd {
namespace {

using Kind = StoreUrl::Kind;

std::string file(std::string_view text) {
  const auto url = parse_url(text);
  return url && url->kind == Kind::file ? url->path : "no file";
}
ErrorCode refusal(std::string_view text) {
  const auto url = parse_url(text);
  return url ? ErrorCode::io : url.error().code();
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

TEST(Url, KnowsMemory) {
  EXPECT_EQ(parse_url("memory:").value().kind, Kind::memory);
  EXPECT_EQ(parse_url("memory://").value().kind, Kind::memory);
}

TEST(Url, RefusesWhatItDoesNotUnderstand) {
  for (const auto text :
       {std::string_view(""), std::string_view("file://host/a"), std::string_view("file://localhost"),
        std::string_view("file:a"), std::string_view("file://"), std::string_view("file:///a?b"),
        std::string_view("file:///a#b"), std::string_view("file:///a%"), std::string_view("file:///a%4"),
        std::string_view("file:///a%4g"), std::string_view("file:///a%00b"), std::string_view("a\0b", 3),
        std::string_view("memory:x")}) {
    EXPECT_EQ(refusal(text), ErrorCode::invalid_argument) << text;
  }
  EXPECT_EQ(refusal("s3://bucket/a"), ErrorCode::unsupported);
  EXPECT_EQ(refusal("https://host/a"), ErrorCode::unsupported);
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

}  // namespace
}  // namespace sherd
