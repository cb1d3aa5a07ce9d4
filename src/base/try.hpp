// SHERD_TRY(name, expr): declares `name` as the value of a Result, or returns its error.
// For a Result<void> the name is left out: SHERD_TRY(expr).
#pragma once

#include "sherd/result.hpp"

#define SHERD_TRY_CONCAT_(a, b) a##b
#define SHERD_TRY_CONCAT(a, b) SHERD_TRY_CONCAT_(a, b)
#define SHERD_TRY_VALUE_(tmp, name, ...)               \
  auto tmp = (__VA_ARGS__);                            \
  if (!tmp.has_value()) return std::move(tmp).error(); \
  auto name = *std::move(tmp)
#define SHERD_TRY_VOID_(tmp, ...) \
  if (auto tmp = (__VA_ARGS__); !tmp.has_value()) return std::move(tmp).error()
#define SHERD_TRY_1(...) SHERD_TRY_VOID_(SHERD_TRY_CONCAT(sherd_try_, __COUNTER__), __VA_ARGS__)
#define SHERD_TRY_2(name, ...) SHERD_TRY_VALUE_(SHERD_TRY_CONCAT(sherd_try_, __COUNTER__), name, __VA_ARGS__)
#define SHERD_TRY_PICK(_1, _2, _3, _4, _5, _6, _7, _8, which, ...) which
#define SHERD_TRY(...)                                                                                      \
  SHERD_TRY_PICK(__VA_ARGS__, SHERD_TRY_2, SHERD_TRY_2, SHERD_TRY_2, SHERD_TRY_2, SHERD_TRY_2, SHERD_TRY_2, \
                 SHERD_TRY_2, SHERD_TRY_1, )(__VA_ARGS__)
