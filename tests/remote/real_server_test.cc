#include "tests/remote/real_server.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/remote/socket.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd::remote {
namespace real_server_test {

TEST(RealServer, HasTheFilesOfAFolderAndIsShared) {
  const TempDir folder;
  std::ofstream(folder.path() + "/k") << "0123456789";
  const auto server = real_server("nginx", folder.path());
  if (!server) GTEST_SKIP() << server.error().message();
  Socket socket = Socket::connect(server->port());
  socket.send("GET /plain/" + server->bucket + "/k HTTP/1.1\r\nHost: x\r\nRange: bytes=-3\r\n\r\n");
  const auto head = socket.read_head();
  ASSERT_TRUE(head);
  EXPECT_EQ(*find_header(head->headers, "Content-Range"), "bytes 7-9/10");
  EXPECT_EQ(socket.read(3), "789");
  EXPECT_TRUE(server->more.find("certificate"));
  const auto again = real_server("nginx");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->url, server->url);
}

}  // namespace real_server_test
}  // namespace sherd::remote
