#include "weir/file/arrow_output_internal.h"

#include "weir/sys/clock.h"

namespace weir::file {

arrow::Status HashingOutput::Write(const void* data, int64_t size) {
  const Bytes bytes(static_cast<const uint8_t*>(data), static_cast<size_t>(size));
  hash_.Append(bytes);
  const sys::Duration start = sys::SteadyNow();
  auto status = file_->Append(bytes);
  write_time_ += sys::SteadyNow() - start;
  if (status.ok()) return arrow::Status::OK();
  failure_ = std::move(status).error();
  return arrow::Status::IOError(failure_->message);
}

// Arrow closes the stream when the footer is written; the file is synced by Finish().
arrow::Status HashingOutput::Close() {
  closed_ = true;
  return arrow::Status::OK();
}

Status HashingOutput::Finish() {
  const sys::Duration start = sys::SteadyNow();
  WEIR_DO(file_->Sync());
  WEIR_DO(file_->Close());
  write_time_ += sys::SteadyNow() - start;
  return Ok();
}

}  // namespace weir::file
