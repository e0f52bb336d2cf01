#include "weir/file/csv_writer.h"

#include "weir/file/value_text.h"
#include "weir/sys/clock.h"
#include "weir/sys/hash.h"

namespace weir::file {
namespace {

constexpr size_t kBufferBytes = 256 << 10;

// RFC 4180, section 2: quote what holds a quote, a comma or a line break. An empty string is quoted
// as well, to tell it from NULL.
void AppendField(std::string_view text, std::string& out) {
  if (!text.empty() && text.find_first_of("\",\r\n") == text.npos) {
    out += text;
    return;
  }
  out += '"';
  for (size_t at = 0; at < text.size();) {
    const size_t quote = std::min(text.find('"', at), text.size());
    out += text.substr(at, quote - at);
    if (quote < text.size()) out += "\"\"";
    at = quote + 1;
  }
  out += '"';
}

class CsvWriter final : public TableWriter {
 public:
  CsvWriter(std::unique_ptr<sys::OutputFile> file, std::string relative_path,
            const table::Schema& schema, Yield yield)
      : relative_path_(std::move(relative_path)),
        file_(std::move(file)),
        yield_(std::move(yield)) {
    for (const table::Column& column : schema.columns) {
      if (!buffer_.empty()) buffer_ += ',';
      AppendField(column.name, buffer_);
    }
    buffer_ += "\r\n";
  }

  Status Write(table::Batch batch) override {
    const sys::Duration start = sys::SteadyNow();
    for (int64_t row = 0; row < batch.row_count; ++row) {
      AppendRow(batch, row);
      if (buffer_.size() >= kBufferBytes) WEIR_DO(Flush());
      YieldAfter(row);
    }
    rows_ += batch.row_count;
    encode_ += sys::SteadyNow() - start;
    return Ok();
  }

  Result<FilePart> Finish() override {
    const sys::Duration start = sys::SteadyNow();
    WEIR_DO(Flush());
    const sys::Duration flushed = sys::SteadyNow();
    WEIR_DO(file_->Sync());
    WEIR_DO(file_->Close());
    write_ += sys::SteadyNow() - flushed;
    encode_ += sys::SteadyNow() - start;
    return FilePart{relative_path_, rows_, file_->size_bytes(), hash_.Hex()};
  }

  int64_t file_bytes() const override { return file_->size_bytes(); }
  WriteTimes times() const override { return {(encode_ - write_).count(), write_.count()}; }

 private:
  void AppendRow(const table::Batch& batch, int64_t row) {
    for (size_t column = 0; column < batch.columns.size(); ++column) {
      if (column != 0) buffer_ += ',';
      if (batch.columns[column].IsNull(row)) continue;
      value_.clear();
      AppendValueText(batch.columns[column], row, value_);
      AppendField(value_, buffer_);
    }
    buffer_ += "\r\n";
  }

  void YieldAfter(int64_t row) {
    constexpr int64_t kRowsPerYield = 64;
    if (yield_ && row % kRowsPerYield == 0) yield_();
  }

  Status Flush() {
    const sys::Duration start = sys::SteadyNow();
    hash_.Append(AsBytes(buffer_));
    WEIR_DO(file_->Append(AsBytes(buffer_)));
    buffer_.clear();
    write_ += sys::SteadyNow() - start;
    return Ok();
  }

  const std::string relative_path_;
  std::unique_ptr<sys::OutputFile> file_;
  const Yield yield_;
  sys::Xxh3Stream hash_;
  std::string buffer_;
  std::string value_;
  int64_t rows_ = 0;
  sys::Duration encode_{0};  // Writing included.
  sys::Duration write_{0};
};

}  // namespace

Result<std::unique_ptr<TableWriter>> NewCsvWriter(sys::Files& files, const std::string& path,
                                                  const std::string& relative_path,
                                                  const table::Schema& schema, Yield yield) {
  WEIR_TRY(auto file, files.Create(path));
  return std::unique_ptr<TableWriter>(
      std::make_unique<CsvWriter>(std::move(file), relative_path, schema, std::move(yield)));
}

}  // namespace weir::file
