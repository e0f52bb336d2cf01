#include <arrow/buffer.h>
#include <parquet/column_page.h>
#include <parquet/encoding.h>
#include <parquet/exception.h>
#include <parquet/metadata.h>
#include <parquet/properties.h>
#include <parquet/statistics.h>

#include <algorithm>
#include <bit>

#include "weir/file/column_chunk_internal.h"
#include "weir/file/page_levels_internal.h"
#include "weir/file/physical_values_internal.h"

namespace weir::file {
namespace {

using table::ColumnData;

// Room before a page's values for its levels; longer ones, of lists, cost a copy of the page.
constexpr int64_t kLevelRoom = 4 << 10;
constexpr int64_t kSliceRows = 1024;
constexpr int64_t kMostPageLevels = 1 << 16;  // Lists have more levels than rows.

// The leaves of some rows of a column: the rows themselves, or what their lists hold.
struct LeafRange {
  const ColumnData& leaf;
  int64_t first;
  int64_t count;
};

LeafRange LeavesOf(const ColumnData& column, int64_t first, int64_t count) {
  if (column.element == nullptr) return {column, first, count};
  const int64_t begin = column.OffsetAt(first);
  return {*column.element, begin, column.OffsetAt(first + count) - begin};
}

// Plain bytes of the values up to `row`, of a column whose values have no fixed width: each has its
// length before it.
int64_t BytesBefore(const ColumnData& column, int64_t row) {
  constexpr int64_t kLengthBytes = 4;
  if (column.element == nullptr) return column.OffsetAt(row) + kLengthBytes * row;
  const int64_t leaf = column.OffsetAt(row);
  if (!column.element->offsets.has_value()) return leaf;
  return column.element->OffsetAt(leaf) + kLengthBytes * leaf;
}

// Rows from `first` on to encode before looking whether the page is full: until `room` bytes are
// reached.
int64_t SliceRows(const ColumnData& column, int64_t first, int64_t room) {
  const int64_t most = std::min(kSliceRows, column.length - first);
  if (!column.offsets.has_value()) return most;
  const int64_t start = BytesBefore(column, first);
  int64_t rows = 1;
  while (rows < most && BytesBefore(column, first + rows) - start < room) ++rows;
  return rows;
}

// One byte per value to one bit per value, in place: bit i lands at or before byte i.
int64_t PackBits(uint8_t* bytes, int64_t count) {
  for (int64_t base = 0; base < count; base += 8) {
    uint8_t packed = 0;
    for (int64_t bit = 0; bit < 8 && base + bit < count; ++bit) {
      packed |= static_cast<uint8_t>(bytes[base + bit] << bit);
    }
    bytes[base / 8] = packed;
  }
  return (count + 7) / 8;
}

template <typename DType>
class TypedChunkWriter final : public ColumnChunkWriter {
 public:
  using T = typename DType::c_type;

  TypedChunkWriter(const parquet::ColumnDescriptor& descriptor, const ChunkOptions& options,
                   std::unique_ptr<parquet::PageWriter> pager,
                   parquet::ColumnChunkMetaDataBuilder& metadata, const ChunkContext& context)
      : descriptor_(descriptor),
        page_bytes_(options.page_bytes),
        pager_(std::move(pager)),
        metadata_(metadata),
        context_(context),
        values_(descriptor.type_length()),
        levels_(descriptor),
        page_(context.blocks) {
    if (options.dictionary && DType::type_num != parquet::Type::BOOLEAN) MakeDictionary();
    if (options.statistics && descriptor.sort_order() != parquet::SortOrder::UNKNOWN) {
      page_statistics_ = parquet::MakeStatistics<DType>(&descriptor, &context.pool);
      chunk_statistics_ = parquet::MakeStatistics<DType>(&descriptor, &context.pool);
    }
  }

  void Append(const ColumnData& column) override {
    for (int64_t first = 0; first < column.length;) {
      const int64_t count = SliceRows(column, first, page_bytes_ - EncodedValueBytes());
      AppendSlice(column, first, count);
      first += count;
      const bool full = EncodedValueBytes() >= page_bytes_ || levels_.rows() >= kMostPageRows ||
                        levels_.size() >= kMostPageLevels;
      if (full) FinishPage();
    }
  }

  int64_t encoded_bytes() const override {
    return pager_->total_compressed_bytes_written() + waiting_bytes_;
  }
  // The pager keeps its pages in a stream that doubles as it grows.
  int64_t held_bytes() const override {
    const auto written = static_cast<uint64_t>(pager_->total_compressed_bytes_written());
    return static_cast<int64_t>(std::bit_ceil(written)) + waiting_bytes_ + page_.capacity();
  }

  int64_t Close() override {
    FinishPage();
    if (dictionary_ != nullptr) WriteDictionary();
    if (chunk_statistics_ != nullptr) metadata_.SetStatistics(Encoded(*chunk_statistics_));
    pager_->Close(has_dictionary_, has_dictionary_ && dictionary_given_up_);
    return written_bytes_;
  }

 private:
  void AppendSlice(const ColumnData& column, int64_t first, int64_t count) {
    if (page_.size() == 0) page_.Extend(kLevelRoom);
    const int64_t levels_before = levels_.size();
    levels_.Add(column, first, count);
    const LeafRange range = LeavesOf(column, first, count);
    const std::span<const T> values = values_.Take(range.leaf, range.first, range.count);
    const auto value_count = static_cast<int64_t>(values.size());
    if (page_statistics_ != nullptr) {
      page_statistics_->Update(values.data(), value_count,
                               levels_.size() - levels_before - value_count);
    }
    if (dictionary_ == nullptr) return AppendPlain(values);
    dictionary_->Put(values.data(), static_cast<int>(value_count));
    if (dictionary_->dict_encoded_size() < page_bytes_) return;
    FinishPage();
    WriteDictionary();
    dictionary_given_up_ = true;
  }

  // Room for a page as large as one gets, rather than one doubled past it.
  uint8_t* ExtendPage(int64_t bytes) {
    const int64_t whole = kLevelRoom + page_bytes_ + page_bytes_ / 8;
    const int64_t needed = page_.size() + bytes;
    if (needed > whole / 2 && needed <= whole) page_.Reserve(whole);
    return page_.Extend(bytes);
  }

  void AppendPlain(std::span<const T> values) {
    if constexpr (std::is_same_v<T, parquet::ByteArray>) {
      int64_t size = 0;
      for (const T& value : values) size += static_cast<int64_t>(sizeof value.len) + value.len;
      uint8_t* at = ExtendPage(size);
      for (const T& value : values) {
        std::memcpy(at, &value.len, sizeof value.len);
        at += sizeof value.len;
        if (value.len != 0) std::memcpy(at, value.ptr, value.len);
        at += value.len;
      }
    } else if constexpr (std::is_same_v<T, parquet::FixedLenByteArray>) {
      const auto width = static_cast<size_t>(descriptor_.type_length());
      uint8_t* at = ExtendPage(static_cast<int64_t>(values.size() * width));
      for (const T& value : values) {
        std::memcpy(at, value.ptr, width);
        at += width;
      }
    } else if (!values.empty()) {
      std::memcpy(ExtendPage(static_cast<int64_t>(values.size_bytes())), values.data(),
                  values.size_bytes());
    }
  }

  int64_t EncodedValueBytes() const {
    // The encoder holds four bytes for each value until the page ends.
    if (dictionary_ != nullptr) return levels_.size() * static_cast<int64_t>(sizeof(int32_t));
    return std::max<int64_t>(0, page_.size() - kLevelRoom);
  }

  void FinishPage() {
    if (levels_.size() == 0) return;
    const bool by_dictionary = dictionary_ != nullptr;
    if (by_dictionary) {
      const auto indices = dictionary_->FlushValues();
      std::memcpy(page_.Extend(indices->size()), indices->data(),
                  static_cast<size_t>(indices->size()));
    } else if constexpr (std::is_same_v<T, bool>) {
      const int64_t count = page_.size() - kLevelRoom;
      page_.DropBack(count - PackBits(page_.data() + kLevelRoom, count));
    }
    if (context_.yield) context_.yield();
    WritePage(PutLevels(), by_dictionary);
    levels_.Clear();
    if (context_.yield) context_.yield();
    // The buffer serves the next page too, unless one huge value made it large.
    if (page_.capacity() > 2 * (page_bytes_ + kLevelRoom)) {
      page_ = table::Buffer(context_.blocks);
    } else {
      page_.DropBack(page_.size());
    }
  }

  // Puts the levels before the values; gives the page.
  Bytes PutLevels() {
    encoded_levels_.clear();
    levels_.AppendEncoded(encoded_levels_);
    const auto size = static_cast<int64_t>(encoded_levels_.size());
    const int64_t value_bytes = page_.size() - kLevelRoom;
    if (size > kLevelRoom) {
      page_.Extend(size - kLevelRoom);
      std::memmove(page_.data() + size, page_.data() + kLevelRoom,
                   static_cast<size_t>(value_bytes));
    }
    const int64_t start = std::max<int64_t>(0, kLevelRoom - size);
    if (size != 0) {
      std::memcpy(page_.data() + start, encoded_levels_.data(), encoded_levels_.size());
    }
    return {page_.data() + start, static_cast<size_t>(size + value_bytes)};
  }

  void WritePage(Bytes bytes, bool by_dictionary) {
    using parquet::Encoding;
    auto data = std::make_shared<arrow::Buffer>(bytes.data(), std::ssize(bytes));
    if (pager_->has_compressor()) {
      PARQUET_ASSIGN_OR_THROW(std::shared_ptr<arrow::ResizableBuffer> compressed,
                              arrow::AllocateResizableBuffer(0, &context_.pool));
      pager_->Compress(*data, compressed.get());
      data = std::move(compressed);
    }
    parquet::EncodedStatistics statistics;
    if (page_statistics_ != nullptr) {
      statistics = Encoded(*page_statistics_);
      chunk_statistics_->Merge(*page_statistics_);
      page_statistics_->Reset();
    }
    if (by_dictionary) {  // The dictionary stands before its pages and is not known yet.
      PARQUET_ASSIGN_OR_THROW(data, data->CopySlice(0, data->size(), &context_.pool));
      waiting_bytes_ += data->size();
    }
    parquet::DataPageV1 page(data, static_cast<int32_t>(levels_.size()),
                             by_dictionary ? Encoding::RLE_DICTIONARY : Encoding::PLAIN,
                             Encoding::RLE, Encoding::RLE, std::ssize(bytes),
                             std::move(statistics), finished_rows_);
    finished_rows_ += levels_.rows();
    if (by_dictionary) {
      waiting_.push_back(std::move(page));
    } else {
      written_bytes_ += pager_->WriteDataPage(page);
    }
  }

  parquet::EncodedStatistics Encoded(parquet::Statistics& statistics) const {
    parquet::EncodedStatistics encoded = statistics.Encode();
    encoded.ApplyStatSizeLimits(parquet::DEFAULT_MAX_STATISTICS_SIZE);
    encoded.set_is_signed(descriptor_.sort_order() == parquet::SortOrder::SIGNED);
    return encoded;
  }

  void MakeDictionary() {
    encoder_ = parquet::MakeEncoder(DType::type_num, parquet::Encoding::PLAIN, true, &descriptor_,
                                    &context_.pool);
    dictionary_ = dynamic_cast<parquet::DictEncoder<DType>*>(encoder_.get());
    WEIR_ASSERT(dictionary_ != nullptr);
  }

  // Writes the dictionary and the pages that waited for it; what follows is plain.
  void WriteDictionary() {
    PARQUET_ASSIGN_OR_THROW(
        std::shared_ptr<arrow::Buffer> bytes,
        arrow::AllocateBuffer(dictionary_->dict_encoded_size(), &context_.pool));
    dictionary_->WriteDict(bytes->mutable_data());
    const parquet::DictionaryPage page(bytes, dictionary_->num_entries(),
                                       parquet::Encoding::PLAIN);
    written_bytes_ += pager_->WriteDictionaryPage(page);
    for (const parquet::DataPageV1& waiting : waiting_) {
      written_bytes_ += pager_->WriteDataPage(waiting);
    }
    waiting_.clear();
    waiting_bytes_ = 0;
    dictionary_ = nullptr;
    encoder_.reset();
    has_dictionary_ = true;
  }

  const parquet::ColumnDescriptor& descriptor_;
  const int64_t page_bytes_;
  const std::unique_ptr<parquet::PageWriter> pager_;
  parquet::ColumnChunkMetaDataBuilder& metadata_;
  const ChunkContext context_;

  PhysicalValues<DType> values_;
  PageLevels levels_;
  table::Buffer page_;  // Room for the levels, then values; empty between pages.
  std::vector<uint8_t> encoded_levels_;
  std::shared_ptr<parquet::TypedStatistics<DType>> page_statistics_;  // Null: none are kept.
  std::shared_ptr<parquet::TypedStatistics<DType>> chunk_statistics_;

  std::unique_ptr<parquet::Encoder> encoder_;
  parquet::DictEncoder<DType>* dictionary_ = nullptr;  // Owned by encoder_; null: plain values.
  std::vector<parquet::DataPageV1> waiting_;
  int64_t waiting_bytes_ = 0;
  bool has_dictionary_ = false;
  bool dictionary_given_up_ = false;

  int64_t finished_rows_ = 0;
  int64_t written_bytes_ = 0;
};

}  // namespace

std::unique_ptr<ColumnChunkWriter> NewColumnChunkWriter(
    const parquet::ColumnDescriptor& descriptor, const ChunkOptions& options,
    std::unique_ptr<parquet::PageWriter> pager, parquet::ColumnChunkMetaDataBuilder& metadata,
    const ChunkContext& context) {
  const auto make = [&]<typename DType>(DType) -> std::unique_ptr<ColumnChunkWriter> {
    return std::make_unique<TypedChunkWriter<DType>>(descriptor, options, std::move(pager),
                                                     metadata, context);
  };
  switch (descriptor.physical_type()) {
    case parquet::Type::BOOLEAN: return make(parquet::BooleanType());
    case parquet::Type::INT32: return make(parquet::Int32Type());
    case parquet::Type::INT64: return make(parquet::Int64Type());
    case parquet::Type::FLOAT: return make(parquet::FloatType());
    case parquet::Type::DOUBLE: return make(parquet::DoubleType());
    case parquet::Type::BYTE_ARRAY: return make(parquet::ByteArrayType());
    case parquet::Type::FIXED_LEN_BYTE_ARRAY: return make(parquet::FLBAType());
    default: AssertionFailed("every kind has a physical type", __FILE__, __LINE__);
  }
}

}  // namespace weir::file
