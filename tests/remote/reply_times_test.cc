#include "src/remote/reply_times.hpp"

#include <gtest/gtest.h>

#include "src/remote/handles.hpp"

namespace sherd::remote {
namespace reply_times_test {

using std::chrono::milliseconds;

TEST(ReplyTimes, SayNothingBeforeSixteenReplies) {
  ReplyTimes times;
  for (int i = 0; i < 15; ++i) times.add(milliseconds(200));
  EXPECT_FALSE(times.late());
  times.add(milliseconds(200));
  EXPECT_EQ(times.late(), milliseconds(400));
}

TEST(ReplyTimes, CallNoReplyLateWithinATenthOfASecond) {
  ReplyTimes times;
  for (int i = 0; i < 16; ++i) times.add(milliseconds(1));
  EXPECT_EQ(times.late(), milliseconds(100));
}

TEST(ReplyTimes, LeaveOutTheSlowestOfTwentyReplies) {
  ReplyTimes times;
  for (int i = 0; i < 60; ++i) times.add(milliseconds(i % 20 == 7 ? 5000 : 100));
  EXPECT_EQ(times.late(), milliseconds(200));
}

TEST(ReplyTimes, FollowAServerThatBecomesSlowOrFast) {
  ReplyTimes times;
  for (int i = 0; i < 64; ++i) times.add(milliseconds(100));
  for (int i = 0; i < 4; ++i) times.add(milliseconds(900));
  EXPECT_EQ(times.late(), milliseconds(1800));
  for (int i = 0; i < 64; ++i) times.add(milliseconds(100));
  EXPECT_EQ(times.late(), milliseconds(200));
}

TEST(ReplyTimes, AreKeptForSixteenServers) {
  Handles handles;
  const auto server = [](int number) { return Origin{.scheme = "http", .host = std::to_string(number), .port = "80"}; };
  for (int number = 0; number < 17; ++number)
    for (int i = 0; i < 16; ++i) handles.add_time(server(number), milliseconds(100 * number));
  EXPECT_FALSE(handles.late(server(0))) << "seen before all others";
  EXPECT_EQ(handles.late(server(1)), milliseconds(200));
  EXPECT_EQ(handles.late(server(16)), milliseconds(3200));
  EXPECT_FALSE(handles.late(server(17)));
}

}  // namespace reply_times_test
}  // namespace sherd::remote
