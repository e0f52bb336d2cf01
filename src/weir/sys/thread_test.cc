#include "weir/sys/thread.h"

#include <pthread.h>

namespace weir::sys {
namespace {

TEST(StartThread, RunsItsBody) {
  int ran = 0;
  StartThread([&] { ran = 1; }).value().join();
  EXPECT_EQ(ran, 1);
}

TEST(StartThread, WhatTheSystemRefusesIsAnError) {
  pthread_attr_t before;
  pthread_attr_t huge;
  ASSERT_EQ(pthread_getattr_default_np(&before), 0);
  ASSERT_EQ(pthread_attr_init(&huge), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&huge, size_t{1} << 50), 0);  // More than addresses reach.
  ASSERT_EQ(pthread_setattr_default_np(&huge), 0);
  const auto refused = StartThread([] {});
  ASSERT_EQ(pthread_setattr_default_np(&before), 0);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kExhausted);
  EXPECT_TRUE(refused.error().message.starts_with("cannot start a thread: "));
}

}  // namespace
}  // namespace weir::sys
