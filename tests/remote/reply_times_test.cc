#include "src/remote/reply_times.hpp"

#include <gtest/gtest.h>

namespace sherd::remote {
namespace reply_times_test {

using std::chrono::milliseconds;

const Origin server{.scheme = "http", .host = "a", .port = "80"};

TEST(ReplyTimes, SayNothingBeforeSixteenReplies) {
  ReplyTimes times;
  for (int i = 0; i < 15; ++i) times.add(server, milliseconds(200));
  EXPECT_FALSE(times.late(server));
  times.add(server, milliseconds(200));
  EXPECT_EQ(times.late(server), milliseconds(400));
}

TEST(ReplyTimes, CallNoReplyLateWithinATenthOfASecond) {
  ReplyTimes times;
  for (int i = 0; i < 16; ++i) times.add(server, milliseconds(1));
  EXPECT_EQ(times.late(server), milliseconds(100));
}

TEST(ReplyTimes, LeaveOutTheSlowestOfTwentyReplies) {
  ReplyTimes times;
  for (int i = 0; i < 60; ++i) times.add(server, milliseconds(i % 20 == 7 ? 5000 : 100));
  EXPECT_EQ(times.late(server), milliseconds(200));
}

TEST(ReplyTimes, FollowAServerThatBecomesSlowOrFast) {
  ReplyTimes times;
  for (int i = 0; i < 64; ++i) times.add(server, milliseconds(100));
  for (int i = 0; i < 4; ++i) times.add(server, milliseconds(900));
  EXPECT_EQ(times.late(server), milliseconds(1800));
  for (int i = 0; i < 64; ++i) times.add(server, milliseconds(100));
  EXPECT_EQ(times.late(server), milliseconds(200));
}

TEST(ReplyTimes, ForgetAnotherServer) {
  ReplyTimes times;
  for (int i = 0; i < 16; ++i) times.add(server, milliseconds(1));
  const Origin other{.scheme = "http", .host = "b", .port = "80"};
  EXPECT_FALSE(times.late(other));
  times.add(other, milliseconds(1));
  EXPECT_FALSE(times.late(server));
}

}  // namespace reply_times_test
}  // namespace sherd::remote
