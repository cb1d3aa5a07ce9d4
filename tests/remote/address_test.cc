#include "remote/address.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "src/remote/proxy.hpp"

namespace sherd::remote {
namespace address_test {

TEST(Address, HasSchemeHostAndPort) {
  EXPECT_EQ(origin_of("HTTPS://User:pw@Example.org:8443/a?b#c"), (Origin{"https", "example.org", "8443"}));
  EXPECT_EQ(origin_of("http://[::1]:80/"), (Origin{"http", "::1", "80"}));
  EXPECT_EQ(origin_of("http://[fe80::1]"), (Origin{"http", "fe80::1", ""}));
  EXPECT_EQ(origin_of("http://host?x"), (Origin{"http", "host", ""}));
  EXPECT_EQ(origin_of("no url"), (Origin{}));
}

TEST(Address, OfThisMachineNeedsAHostThatTheUserNamed) {
  for (const char* const address : {"127.0.0.1", "127.9.9.9", "0.0.0.0", "::1", "::", "::ffff:127.0.0.1"}) {
    EXPECT_TRUE(may_connect(address, "localhost", true)) << address;
    EXPECT_FALSE(may_connect(address, "evil.example", false)) << address;
  }
}

TEST(Address, OfTheProvidersMetadataMustBeWrittenOut) {
  for (const char* const address : {"169.254.169.254", "fe80::1", "::ffff:169.254.169.254", "fd00:ec2::254"}) {
    EXPECT_FALSE(may_connect(address, "rebound.example", true)) << address;
    EXPECT_FALSE(may_connect(address, address, false)) << address;
    EXPECT_TRUE(may_connect(address, address, true)) << address;
  }
}

TEST(Address, MayBeTheNameOfThisMachine) {
  for (const char* const name : {"localhost", "localhost.", "a.localhost", "127.0.0.1."}) {
    EXPECT_FALSE(may_connect(name, name, false)) << name;
    EXPECT_TRUE(may_connect(name, name, true)) << name;
  }
  EXPECT_TRUE(may_connect("localhost.example", "localhost.example", false));
}

TEST(Address, OfAConnectionIsThatOfTheSocket) {
  sockaddr_in v4{.sin_family = AF_INET, .sin_port = htons(80), .sin_addr = {htonl(0x7F000001)}, .sin_zero = {}};
  EXPECT_EQ(peer_of(reinterpret_cast<const sockaddr&>(v4)), (Peer{"127.0.0.1", 80}));
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(81);
  v6.sin6_addr.s6_addr[15] = 1;
  EXPECT_EQ(peer_of(reinterpret_cast<const sockaddr&>(v6)), (Peer{"::1", 81}));
}

TEST(Address, OfTheProxyIsTheOneThatTheUserNamed) {
  EXPECT_TRUE(is_proxy({"127.0.0.1", 3128}, "http://me:pw@localhost:3128"));
  EXPECT_TRUE(is_proxy({"::1", 1080}, "[::1]"));
  EXPECT_TRUE(is_proxy({"127.0.0.1", 443}, "https://proxy.example/"));
  EXPECT_FALSE(is_proxy({"127.0.0.1", 80}, "http://127.0.0.1:3128"));
  EXPECT_FALSE(is_proxy({"169.254.169.254", 80}, "http://proxy.example:80"));
  EXPECT_FALSE(is_proxy({"127.0.0.1", 80}, ""));
}

TEST(Address, ElsewhereIsAllowed) {
  for (const char* const address : {"10.1.2.3", "93.184.216.34", "2001:db8::1"})
    EXPECT_TRUE(may_connect(address, "example.org", false)) << address;
}

TEST(Address, OfARedirectIsResolved) {
  const std::string from = "https://a.example:8443/x/y?query";
  EXPECT_EQ(redirected(from, "https://b.example/z").value(), "https://b.example/z");
  EXPECT_EQ(redirected(from, "//b.example/z").value(), "https://b.example/z");
  EXPECT_EQ(redirected(from, "/z?q").value(), "https://a.example:8443/z?q");
  EXPECT_EQ(redirected(from, "z").value(), "https://a.example:8443/x/z");
  EXPECT_EQ(redirected("http://a.example", "z").value(), "http://a.example/z");
  EXPECT_EQ(redirected(from, "?x=1").value(), "https://a.example:8443/x/y?x=1");
  EXPECT_EQ(redirected(from, "z?next=http://b.example/c").value(),
            "https://a.example:8443/x/z?next=http://b.example/c");
  EXPECT_EQ(redirected(from, "../z/k").value(), "https://a.example:8443/z/k");
  EXPECT_EQ(redirected(from, "/a b%20c?d e").value(), "https://a.example:8443/a%20b%20c?d+e");
  EXPECT_EQ(redirected("http://a.example/", "https://a.example/").value(), "https://a.example/");
}

TEST(Address, OfARedirectIsNormalAndHasNoUser) {
  EXPECT_EQ(redirected("http://a.example/", "http://me:pw@b.example/x#f").value(), "http://b.example/x");
  EXPECT_EQ(redirected("http://a.example/", "http://0x7f.1/x").value(), "http://127.0.0.1/x");
  EXPECT_EQ(redirected("http://a.example/", "http://[::1").error().code(), ErrorCode::io);
}

TEST(Address, OfARedirectNeverHasAnotherProtocol) {
  for (const char* const location : {"http://a.example/", "file:///etc/passwd", "ftp://a.example/x", "gopher://a/"})
    EXPECT_EQ(redirected("https://a.example/", location).error().code(), ErrorCode::io) << location;
}

}  // namespace address_test
}  // namespace sherd::remote
