#include <algorithm>
#include <vector>

#include "weir/delta/merge_internal.h"
#include "weir/delta/record_internal.h"

namespace weir::delta {
namespace {

// A cursor and the update it stands at.
struct Head {
  Cursor& cursor;
  Time since;
  bool more = false;
  Update update = {};

  Status Step() {
    WEIR_TRY(more, cursor.Next(update));
    update.time = std::max(update.time, since);
    return Ok();
  }
};

int Compare(const Update& a, const Update& b) {
  const int order = CompareRows(a.row, b.row);
  return order != 0 ? order : a.time < b.time ? -1 : a.time > b.time ? 1 : 0;
}

int Compare(const Head& left, const Head& right) {
  if (!left.more) return 1;
  return right.more ? Compare(left.update, right.update) : -1;
}

// Steps over all that is the same as `sum`, and adds it up. Only times that were moved together
// make one cursor hold the same twice.
Status AddSame(Head& head, Update& sum) {
  while (head.more && Compare(head.update, sum) == 0) {
    sum.diff += head.update.diff;
    WEIR_DO(head.Step());
  }
  return Ok();
}

Status MergeMoved(Head& left, Head& right, const std::function<Status(const Update&)>& emit) {
  std::vector<uint8_t> row;
  while (left.more || right.more) {
    const Update& first = Compare(left, right) <= 0 ? left.update : right.update;
    row.assign(first.row.begin(), first.row.end());
    row.resize(row.size() + table::kRowSlack);
    Update sum = first;
    sum.row = Bytes(row).first(first.row.size());
    sum.diff = 0;
    WEIR_DO(AddSame(left, sum));
    WEIR_DO(AddSame(right, sum));
    if (sum.diff != 0) WEIR_DO(emit(sum));
  }
  return Ok();
}

}  // namespace

Status MergeTwo(Cursor& left_cursor, Cursor& right_cursor, Time since,
                const std::function<Status(const Update&)>& emit) {
  Head left{left_cursor, since};
  Head right{right_cursor, since};
  WEIR_DO(left.Step());
  WEIR_DO(right.Step());
  if (since > 0) return MergeMoved(left, right, emit);
  while (left.more || right.more) {
    const int order = Compare(left, right);
    Head& first = order <= 0 ? left : right;
    Update sum = first.update;
    if (order == 0) sum.diff += right.update.diff;
    if (sum.diff != 0) WEIR_DO(emit(sum));
    if (order == 0) WEIR_DO(right.Step());
    WEIR_DO(first.Step());
  }
  return Ok();
}

}  // namespace weir::delta
