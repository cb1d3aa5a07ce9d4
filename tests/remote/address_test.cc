#include "remote/address.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace sherd::remote {
namespace {

bool may_connect_to(const std::string& address, const std::string& host, bool is_trusted) {
  sockaddr_storage storage{};
  auto& v4 = reinterpret_cast<sockaddr_in&>(storage);
  auto& v6 = reinterpret_cast<sockaddr_in6&>(storage);
  if (inet_pton(AF_INET, address.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
  } else {
    EXPECT_EQ(inet_pton(AF_INET6, address.c_str(), &v6.sin6_addr), 1) << address;
    v6.sin6_family = AF_INET6;
  }
  return may_connect(reinterpret_cast<const sockaddr&>(storage), host, is_trusted);
}

TEST(Address, HasSchemeHostAndPort) {
  EXPECT_EQ(origin_of("HTTPS://User:pw@Example.org:8443/a?b#c"), (Origin{"https", "example.org", "8443"}));
  EXPECT_EQ(origin_of("http://[::1]:80/"), (Origin{"http", "::1", "80"}));
  EXPECT_EQ(origin_of("http://[fe80::1]"), (Origin{"http", "fe80::1", ""}));
  EXPECT_EQ(origin_of("http://host?x"), (Origin{"http", "host", ""}));
  EXPECT_EQ(origin_of("no url"), (Origin{}));
}

TEST(Address, OfThisMachineNeedsAHostThatTheUserNamed) {
  for (const char* const address : {"127.0.0.1", "127.9.9.9", "0.0.0.0", "::1", "::", "::ffff:127.0.0.1"}) {
    EXPECT_TRUE(may_connect_to(address, "localhost", true)) << address;
    EXPECT_FALSE(may_connect_to(address, "evil.example", false)) << address;
  }
}

TEST(Address, OfTheProvidersMetadataMustBeWrittenOut) {
  for (const char* const address : {"169.254.169.254", "fe80::1", "::ffff:169.254.169.254", "fd00:ec2::254"}) {
    EXPECT_FALSE(may_connect_to(address, "rebound.example", true)) << address;
    EXPECT_FALSE(may_connect_to(address, address, false)) << address;
    EXPECT_TRUE(may_connect_to(address, address, true)) << address;
  }
}

TEST(Address, ElsewhereIsAllowed) {
  for (const char* const address : {"10.1.2.3", "93.184.216.34", "2001:db8::1"})
    EXPECT_TRUE(may_connect_to(address, "example.org", false)) << address;
}

TEST(Address, OfARedirectIsResolved) {
  const std::string from = "https://a.example:8443/x/y?query";
  EXPECT_EQ(redirected(from, "https://b.example/z").value(), "https://b.example/z");
  EXPECT_EQ(redirected(from, "//b.example/z").value(), "https://b.example/z");
  EXPECT_EQ(redirected(from, "/z?q").value(), "https://a.example:8443/z?q");
  EXPECT_EQ(redirected(from, "z").value(), "https://a.example:8443/x/z");
  EXPECT_EQ(redirected("http://a.example", "z").value(), "http://a.example/z");
  EXPECT_EQ(redirected("http://a.example/", "https://a.example/").value(), "https://a.example/");
}

TEST(Address, OfARedirectNeverHasAnotherProtocol) {
  for (const char* const location : {"http://a.example/", "file:///etc/passwd", "ftp://a.example/x", "gopher://a/"})
    EXPECT_EQ(redirected("https://a.example/", location).error().code(), ErrorCode::io) << location;
}

}  // namespace
}  // namespace sherd::remote
