#include "weir/feed/tpch_generator.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "weir/base/assert.h"
#include "weir/feed/tpch_text_internal.h"

namespace weir::feed {
namespace {

// Days since 1970-01-01 of clause 4.2.2.12's dates, and its spans.
constexpr int64_t kStartDate = 8035;        // 1992-01-01
constexpr int64_t kEndDate = 10591;         // 1998-12-31
constexpr int64_t kCurrentDate = 9298;      // 1995-06-17
constexpr int64_t kLastOrderDate = kEndDate - 151;

constexpr int64_t kMostItems = 7;
constexpr int64_t kSuppliersPerPart = 4;
// One complaint and one recommendation in so many suppliers.
constexpr int64_t kSuppliersPerRemark = 2000;
constexpr uint64_t kRemarkStream = 101;

template <size_t N>
std::string_view Pick(Random& random, const std::string_view (&list)[N]) {
  return list[random.Below(static_cast<int64_t>(N))];
}

int64_t Scaled(double scale_factor, int64_t rows) {
  return std::max<int64_t>(rows / 1000, std::llround(scale_factor * static_cast<double>(rows)));
}

// Clause 4.2.3: the first 8 of every 32 keys are used.
int64_t OrderKey(int64_t unit) {
  const int64_t number = unit + 1;
  return number / 8 * 32 + number % 8;
}

int64_t RetailPriceCents(int64_t part_key) {
  return 90000 + part_key / 10 % 20001 + 100 * (part_key % 1000);
}

std::string RandomString(Random& random) {
  constexpr std::string_view kLetters =
      "0123456789abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ,";
  std::string text(static_cast<size_t>(random.Between(10, 40)), ' ');
  for (char& letter : text) letter = kLetters[static_cast<size_t>(random.Below(64))];
  return text;
}

std::string Phone(Random& random, int64_t nation) {
  const int64_t area = random.Between(100, 999);
  const int64_t exchange = random.Between(100, 999);
  return fmt::format("{}-{}-{}-{}", nation + 10, area, exchange, random.Between(1000, 9999));
}

}  // namespace

// Appends the values of one row from the first column to the last.
class TpchGenerator::Row {
 public:
  explicit Row(std::span<table::ColumnBuilder> builders, int64_t only = kAll)
      : builders_(builders), only_(only) {}

  static constexpr int64_t kAll = -1;

  /// Whether the unit's row `nth` is wanted.
  bool Wants(int64_t nth) const { return only_ == kAll || only_ == nth; }
  Row& Int64(int64_t value) { return Next().AppendValue(value), *this; }
  Row& Int32(int64_t value) { return Next().AppendValue(static_cast<int32_t>(value)), *this; }
  Row& Date(int64_t days) { return Int32(days); }
  Row& Cents(int64_t cents) { return Next().AppendValue(static_cast<__int128>(cents)), *this; }
  Row& Text(std::string_view text) {
    return Next().AppendBytes(AsBytes(text).data(), static_cast<int64_t>(text.size())), *this;
  }

 private:
  table::ColumnBuilder& Next() { return builders_[at_++]; }

  std::span<table::ColumnBuilder> builders_;
  int64_t only_;
  size_t at_ = 0;
};

struct TpchGenerator::Item {
  int64_t part_key;
  int64_t supplier_key;
  int64_t quantity;
  int64_t price_cents;
  int64_t discount_percent;
  int64_t tax_percent;
  int64_t ship_date;
  int64_t commit_date;
  int64_t receipt_date;
  std::string_view return_flag;
  std::string_view instructions;
  std::string_view mode;
  std::string_view comment;

  bool open() const { return ship_date > kCurrentDate; }
  int64_t charged_cents() const {
    return price_cents * (100 - discount_percent) / 100 * (100 + tax_percent) / 100;
  }
};

struct TpchGenerator::Order {
  int64_t customer_key;
  int64_t date;
  std::string_view priority;
  int64_t clerk;
  std::string_view comment;
  int64_t item_count;
  Item items[kMostItems];
};

TpchGenerator::TpchGenerator(double scale_factor, uint64_t seed)
    : seed_(seed),
      suppliers_(Scaled(scale_factor, 10'000)),
      parts_(Scaled(scale_factor, 200'000)),
      customers_(Scaled(scale_factor, 150'000)),
      orders_(Scaled(scale_factor, 1'500'000)),
      clerks_(Scaled(scale_factor, 1'000)),
      text_(std::make_unique<TpchText>(seed)) {}

TpchGenerator::~TpchGenerator() = default;

int64_t TpchGenerator::UnitCount(TpchTable table) const {
  switch (table) {
    case TpchTable::kRegion: return std::ssize(kRegions);
    case TpchTable::kNation: return std::ssize(kNations);
    case TpchTable::kSupplier: return suppliers_;
    case TpchTable::kPart:
    case TpchTable::kPartsupp: return parts_;
    case TpchTable::kCustomer: return customers_;
    case TpchTable::kOrders:
    case TpchTable::kLineitem: return orders_;
  }
  WEIR_ASSERT(false);
}

void TpchGenerator::Append(TpchTable table, int64_t begin, int64_t end, uint64_t version,
                           std::span<table::ColumnBuilder> builders) const {
  for (int64_t unit = begin; unit < end; ++unit) AppendUnit(table, unit, version, Row(builders));
}

int64_t TpchGenerator::RowCount(TpchTable table, int64_t unit, uint64_t version) const {
  if (table == TpchTable::kLineitem) {
    Random random = OrderRandom(unit, version);
    return OrderWithoutItems(random).item_count;
  }
  return table == TpchTable::kPartsupp ? kSuppliersPerPart : 1;
}

void TpchGenerator::AppendRow(TpchTable table, int64_t unit, int64_t nth, uint64_t version,
                              std::span<table::ColumnBuilder> builders) const {
  AppendUnit(table, unit, version, Row(builders, nth));
}

void TpchGenerator::AppendUnit(TpchTable table, int64_t unit, uint64_t version, Row row) const {
  Random random(seed_, static_cast<uint64_t>(table), static_cast<uint64_t>(unit), 0);
  switch (table) {
    case TpchTable::kRegion:
      row.Int64(unit).Text(kRegions[unit]).Text(text_->Cut(random, 31, 115));
      return;
    case TpchTable::kNation:
      row.Int64(unit).Text(kNations[unit].name).Int64(kNations[unit].region);
      row.Text(text_->Cut(random, 31, 114));
      return;
    case TpchTable::kSupplier: return AppendSupplier(unit, random, row);
    case TpchTable::kPart: return AppendPart(unit, random, row);
    case TpchTable::kPartsupp: return AppendPartsupp(unit, random, row);
    case TpchTable::kCustomer: return AppendCustomer(unit, random, row);
    case TpchTable::kOrders: return AppendOrder(unit, version, row);
    case TpchTable::kLineitem: return AppendLineitems(unit, version, row);
  }
}

int64_t TpchGenerator::SupplierOf(int64_t part_key, int64_t nth) const {
  const int64_t step = suppliers_ / kSuppliersPerPart + (part_key - 1) / suppliers_;
  return (part_key + nth * step) % suppliers_ + 1;
}

void TpchGenerator::AppendSupplier(int64_t unit, Random random, Row row) const {
  const int64_t nation = random.Below(std::ssize(kNations));
  row.Int64(unit + 1).Text(fmt::format("Supplier#{:09}", unit + 1)).Text(RandomString(random));
  row.Int64(nation).Text(Phone(random, nation)).Cents(random.Between(-99'999, 999'999));
  std::string comment(text_->Cut(random, 25, 100));
  Random remarks(seed_, kRemarkStream, static_cast<uint64_t>(unit / kSuppliersPerRemark), 0);
  const int64_t complaint = remarks.Below(kSuppliersPerRemark);
  const int64_t praise = (complaint + 1 + remarks.Below(kSuppliersPerRemark - 1)) %
                         kSuppliersPerRemark;
  const int64_t place = unit % kSuppliersPerRemark;
  if (place == complaint) comment.replace(0, 21, "Customer x Complaints");
  if (place == praise) comment.replace(0, 21, "Customer x Recommends");
  row.Text(comment);
}

void TpchGenerator::AppendPart(int64_t unit, Random random, Row row) const {
  const int64_t key = unit + 1;
  std::string name;
  for (int word = 0; word < 5; ++word) {
    if (word > 0) name += ' ';
    name += Pick(random, kColors);
  }
  const int64_t maker = random.Between(1, 5);
  row.Int64(key).Text(name).Text(fmt::format("Manufacturer#{}", maker));
  row.Text(fmt::format("Brand#{}{}", maker, random.Between(1, 5)));
  const std::string_view size = Pick(random, kTypeSizes);
  const std::string_view finish = Pick(random, kTypeFinishes);
  row.Text(fmt::format("{} {} {}", size, finish, Pick(random, kTypeMetals)));
  row.Int32(random.Between(1, 50));
  const std::string_view container_size = Pick(random, kContainerSizes);
  row.Text(fmt::format("{} {}", container_size, Pick(random, kContainers)));
  row.Cents(RetailPriceCents(key)).Text(text_->Cut(random, 5, 22));
}

void TpchGenerator::AppendPartsupp(int64_t unit, Random random, Row row) const {
  for (int64_t nth = 0; nth < kSuppliersPerPart; ++nth) {
    const int64_t quantity = random.Between(1, 9'999);
    const int64_t cost_cents = random.Between(100, 100'000);
    const std::string_view comment = text_->Cut(random, 49, 198);
    if (!row.Wants(nth)) continue;
    Row each = row;
    each.Int64(unit + 1).Int64(SupplierOf(unit + 1, nth)).Int32(quantity);
    each.Cents(cost_cents).Text(comment);
  }
}

void TpchGenerator::AppendCustomer(int64_t unit, Random random, Row row) const {
  const int64_t nation = random.Below(std::ssize(kNations));
  row.Int64(unit + 1).Text(fmt::format("Customer#{:09}", unit + 1)).Text(RandomString(random));
  row.Int64(nation).Text(Phone(random, nation)).Cents(random.Between(-99'999, 999'999));
  row.Text(Pick(random, kSegments)).Text(text_->Cut(random, 29, 116));
}

TpchGenerator::Item TpchGenerator::ItemOf(Random& random, int64_t order_date) const {
  Item item;
  item.part_key = random.Between(1, parts_);
  item.supplier_key = SupplierOf(item.part_key, random.Below(kSuppliersPerPart));
  item.quantity = random.Between(1, 50);
  item.price_cents = item.quantity * RetailPriceCents(item.part_key);
  item.discount_percent = random.Between(0, 10);
  item.tax_percent = random.Between(0, 8);
  item.ship_date = order_date + random.Between(1, 121);
  item.commit_date = order_date + random.Between(30, 90);
  item.receipt_date = item.ship_date + random.Between(1, 30);
  const bool returned = random.Below(2) == 0;
  item.return_flag = item.receipt_date > kCurrentDate ? "N" : returned ? "R" : "A";
  item.instructions = Pick(random, kInstructions);
  item.mode = Pick(random, kShipModes);
  item.comment = text_->Cut(random, 10, 43);
  return item;
}

Random TpchGenerator::OrderRandom(int64_t unit, uint64_t version) const {
  return {seed_, static_cast<uint64_t>(TpchTable::kOrders), static_cast<uint64_t>(unit), version};
}

TpchGenerator::Order TpchGenerator::OrderOf(int64_t unit, uint64_t version) const {
  Random random = OrderRandom(unit, version);
  Order order = OrderWithoutItems(random);
  for (int64_t at = 0; at < order.item_count; ++at) order.items[at] = ItemOf(random, order.date);
  return order;
}

TpchGenerator::Order TpchGenerator::OrderWithoutItems(Random& random) const {
  Order order;
  // A third of the customers never order: those whose key is a multiple of three.
  const int64_t ordering = customers_ - customers_ / 3;
  const int64_t nth = random.Below(ordering);
  order.customer_key = nth / 2 * 3 + nth % 2 + 1;
  order.date = random.Between(kStartDate, kLastOrderDate);
  order.priority = Pick(random, kPriorities);
  order.clerk = random.Between(1, clerks_);
  order.comment = text_->Cut(random, 19, 78);
  order.item_count = random.Between(1, kMostItems);
  return order;
}

void TpchGenerator::AppendOrder(int64_t unit, uint64_t version, Row row) const {
  const Order order = OrderOf(unit, version);
  int64_t total_cents = 0;
  int64_t open = 0;
  for (int64_t at = 0; at < order.item_count; ++at) {
    total_cents += order.items[at].charged_cents();
    open += order.items[at].open() ? 1 : 0;
  }
  const std::string_view status = open == 0 ? "F" : open == order.item_count ? "O" : "P";
  row.Int64(OrderKey(unit)).Int64(order.customer_key).Text(status).Cents(total_cents);
  row.Date(order.date).Text(order.priority).Text(fmt::format("Clerk#{:09}", order.clerk));
  row.Int32(0).Text(order.comment);
}

void TpchGenerator::AppendLineitems(int64_t unit, uint64_t version, Row row) const {
  const Order order = OrderOf(unit, version);
  for (int64_t at = 0; at < order.item_count; ++at) {
    if (!row.Wants(at)) continue;
    const Item& item = order.items[at];
    Row each = row;
    each.Int64(OrderKey(unit)).Int64(item.part_key).Int64(item.supplier_key).Int32(at + 1);
    each.Cents(item.quantity * 100).Cents(item.price_cents).Cents(item.discount_percent);
    each.Cents(item.tax_percent).Text(item.return_flag).Text(item.open() ? "O" : "F");
    each.Date(item.ship_date).Date(item.commit_date).Date(item.receipt_date);
    each.Text(item.instructions).Text(item.mode).Text(item.comment);
  }
}

}  // namespace weir::feed
