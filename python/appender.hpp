// The class sherd.Appender.
#pragma once

#include "python/access.hpp"
#include "sherd/appender.hpp"

namespace sherd::python {

/// An appender of the engine. If it is destroyed before close(), it warns.
class BoundAppender {
 public:
  BoundAppender(const BoundArray& array, const AppenderOptions& options);
  BoundAppender(const BoundAppender&) = delete;
  BoundAppender& operator=(const BoundAppender&) = delete;
  ~BoundAppender();

  void append(nanobind::handle slices, std::optional<double> timeout);
  void flush();
  void close();
  [[nodiscard]] const Appender& engine() const { return *appender_; }
  [[nodiscard]] const Array& array() const { return array_.array; }

 private:
  const BoundArray array_;
  std::optional<Appender> appender_;
  bool closed_ = false;
};

[[nodiscard]] AppenderOptions appender_options(nanobind::handle technique, nanobind::handle queue_bytes,
                                               nanobind::handle threads);

}  // namespace sherd::python
