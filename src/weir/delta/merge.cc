#include "weir/delta/merge.h"

#include <algorithm>
#include <vector>

#include "weir/delta/record_internal.h"

namespace weir::delta {
namespace {

int Compare(const Update& a, const Update& b) {
  const int order = CompareRows(a.row, b.row);
  return order != 0 ? order : a.time < b.time ? -1 : a.time > b.time ? 1 : 0;
}

// A cursor and the update it stands at.
struct Head {
  std::unique_ptr<Cursor> cursor;
  bool more = false;
  Update update = {};

  Status Step(Time since) {
    WEIR_TRY(more, cursor->Next(update));
    update.time = std::max(update.time, since);
    return Ok();
  }
};

int Compare(const Head& left, const Head& right) {
  if (!left.more) return 1;
  return right.more ? Compare(left.update, right.update) : -1;
}

class Empty final : public Cursor {
 public:
  Result<bool> Next(Update&) override { return false; }
  Status SkipTo(Bytes) override { return Ok(); }
};

class Merge final : public Cursor {
 public:
  Merge(std::unique_ptr<Cursor> left, std::unique_ptr<Cursor> right)
      : left_{std::move(left)}, right_{std::move(right)} {}

  Result<bool> Next(Update& update) override {
    do {
      // What was handed out holds until now.
      if (step_left_) WEIR_DO(left_.Step(0));
      if (step_right_) WEIR_DO(right_.Step(0));
      if (!left_.more && !right_.more) return step_left_ = step_right_ = false;
      const int order = Compare(left_, right_);
      step_left_ = order <= 0;
      step_right_ = order >= 0;
      update = step_left_ ? left_.update : right_.update;
      if (order == 0) update.diff += right_.update.diff;
    } while (update.diff == 0);
    return true;
  }

  Status SkipTo(Bytes row) override {
    WEIR_DO(Skip(left_, step_left_, row));
    return Skip(right_, step_right_, row);
  }

 private:
  // `step`: its update was handed out, or there is none yet.
  static Status Skip(Head& head, bool& step, Bytes row) {
    if (!step && (!head.more || CompareRows(head.update.row, row) >= 0)) return Ok();
    step = true;
    return head.cursor->SkipTo(row);
  }

  Head left_;
  Head right_;
  bool step_left_ = true;
  bool step_right_ = true;
};

class MovingMerge final : public Cursor {
 public:
  MovingMerge(std::unique_ptr<Cursor> left, std::unique_ptr<Cursor> right, Time since)
      : left_{std::move(left)}, right_{std::move(right)}, since_(since) {}

  Result<bool> Next(Update& update) override {
    WEIR_DO(Start());
    do {
      if (!left_.more && !right_.more) return false;
      const Update& first = Compare(left_, right_) <= 0 ? left_.update : right_.update;
      row_.assign(first.row.begin(), first.row.end());
      row_.resize(row_.size() + table::kRowSlack);
      update = {Bytes(row_).first(first.row.size()), first.key_size, first.time, 0};
      WEIR_DO(AddSame(left_, update));
      WEIR_DO(AddSame(right_, update));
    } while (update.diff == 0);
    return true;
  }

  Status SkipTo(Bytes row) override {
    WEIR_DO(Start());
    WEIR_DO(Skip(left_, row));
    return Skip(right_, row);
  }

 private:
  Status Start() {
    if (std::exchange(started_, true)) return Ok();
    WEIR_DO(left_.Step(since_));
    return right_.cursor == nullptr ? Ok() : right_.Step(since_);
  }

  Status Skip(Head& head, Bytes row) const {
    if (!head.more || CompareRows(head.update.row, row) >= 0) return Ok();
    WEIR_DO(head.cursor->SkipTo(row));
    return head.Step(since_);
  }

  // Steps over all that is the same as `sum`, and adds it up.
  Status AddSame(Head& head, Update& sum) const {
    while (head.more && Compare(head.update, sum) == 0) {
      sum.diff += head.update.diff;
      WEIR_DO(head.Step(since_));
    }
    return Ok();
  }

  Head left_;
  Head right_;
  const Time since_;
  bool started_ = false;
  std::vector<uint8_t> row_;
};

}  // namespace

std::unique_ptr<Cursor> MergeCursors(std::unique_ptr<Cursor> left, std::unique_ptr<Cursor> right,
                                     Time since) {
  if (since == 0) return std::make_unique<Merge>(std::move(left), std::move(right));
  return std::make_unique<MovingMerge>(std::move(left), std::move(right), since);
}

std::unique_ptr<Cursor> MergeAll(std::vector<std::unique_ptr<Cursor>> cursors) {
  if (cursors.empty()) return std::make_unique<Empty>();
  for (size_t apart = 1; apart < cursors.size(); apart *= 2) {
    for (size_t at = 0; at + apart < cursors.size(); at += 2 * apart) {
      cursors[at] = MergeCursors(std::move(cursors[at]), std::move(cursors[at + apart]), 0);
    }
  }
  return std::move(cursors.front());
}

std::unique_ptr<Cursor> MoveTimes(std::unique_ptr<Cursor> cursor, Time since) {
  return std::make_unique<MovingMerge>(std::move(cursor), nullptr, since);
}

}  // namespace weir::delta
