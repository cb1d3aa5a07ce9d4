#include "netcdf/sink.hpp"

#include "base/try.hpp"

namespace sherd::netcdf {

namespace {

class WriterSink final : public Sink {
 public:
  explicit WriterSink(Writer writer) : writer_(std::move(writer)) {}

  Result<void> define_group(const std::string& path, std::vector<Attribute> attributes) override {
    return writer_.define_group(path, std::move(attributes));
  }
  Result<void> define_dimension(const Dimension& dimension) override {
    return writer_.define_dimension(dimension.group, dimension.name, dimension.length, dimension.unlimited);
  }
  Result<void> define_variable(const std::string& group, NewVariable variable, std::vector<Filter> filters) override {
    if (!filters.empty())
      return unsupported("HDF5's filter " + std::to_string(filters.front().id) + " has no counterpart in Zarr");
    return writer_.define_variable(group, std::move(variable));
  }
  Result<void> end_definitions() override { return writer_.store_definitions(); }
  Result<void> write(const std::string& variable, const Box& box, std::span<const std::byte> elements) override {
    return writer_.write(variable, box, elements);
  }
  Result<void> write_strings(const std::string& variable, const Box& box, std::vector<std::string> texts) override {
    return writer_.write(variable, box, Values(std::move(texts)));
  }
  std::vector<std::string> losses() const override { return writer_.losses(); }
  Result<void> finish() override { return writer_.sync(); }

 private:
  Writer writer_;
};

}  // namespace

std::unique_ptr<Sink> sink_of(Writer writer) { return std::make_unique<WriterSink>(std::move(writer)); }

}  // namespace sherd::netcdf
