// The class sherd.Appender.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "python/access.hpp"
#include "sherd/group.hpp"

namespace sherd::python {

/// An array of an appender; of a group's, with the name by which it was requested.
struct NamedArray {
  std::string name;
  BoundArray array;
  std::size_t axis = 0;
};

/// An appender of the engine. If it is destroyed before close(), it warns.
class BoundAppender {
 public:
  BoundAppender(const BoundArray& array, const AppenderOptions& options);
  BoundAppender(const Group& group, std::vector<NamedArray> arrays, const AppenderOptions& options);
  BoundAppender(const BoundAppender&) = delete;
  BoundAppender& operator=(const BoundAppender&) = delete;
  ~BoundAppender();

  void append(nanobind::handle slices, std::optional<double> timeout);
  void flush();
  void close();
  [[nodiscard]] const Appender& engine() const { return *appender_; }
  /// That of the array or the group.
  [[nodiscard]] const std::string& url() const { return url_; }

 private:
  /// Of each array, in the order of `arrays_`.
  [[nodiscard]] std::vector<Elements> elements_of(nanobind::handle slices) const;

  const std::vector<NamedArray> arrays_;
  const std::string url_;
  const std::shared_ptr<Store> store_;
  std::optional<Appender> appender_;
  bool closed_ = false;
};

[[nodiscard]] AppenderOptions appender_options(nanobind::handle technique, nanobind::handle queue_bytes,
                                               nanobind::handle threads);

}  // namespace sherd::python
