#pragma once
// HashingOutput: an Arrow output stream over one of our files, hashed and timed on the way.
#include <arrow/io/interfaces.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include <memory>
#include <optional>

#include "weir/sys/clock.h"
#include "weir/sys/files.h"
#include "weir/sys/hash.h"

namespace weir::file {

/// Arrow sees an IOError status on a failure; failure() keeps ours, with its code.
class HashingOutput final : public arrow::io::OutputStream {
 public:
  explicit HashingOutput(std::unique_ptr<sys::OutputFile> file) : file_(std::move(file)) {
    set_mode(arrow::io::FileMode::WRITE);
  }

  arrow::Status Write(const void* data, int64_t size) override;
  arrow::Status Close() override;
  bool closed() const override { return closed_; }
  arrow::Result<int64_t> Tell() const override { return file_->size_bytes(); }
  using arrow::io::OutputStream::Write;

  /// Syncs and closes the file below.
  Status Finish();
  std::string HashHex() const { return hash_.Hex(); }
  const std::optional<Error>& failure() const { return failure_; }
  int64_t size_bytes() const { return file_->size_bytes(); }
  sys::Duration write_time() const { return write_time_; }

 private:
  std::unique_ptr<sys::OutputFile> file_;
  sys::Xxh3Stream hash_;
  std::optional<Error> failure_;
  sys::Duration write_time_{0};
  bool closed_ = false;
};

}  // namespace weir::file
